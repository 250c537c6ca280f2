package gauntlet

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/text"
)

// skipCommand records that a violation stays, and why.
func skipCommand() cli.Command {
	var reason string
	return cli.Command{
		Name:  "skip",
		Usage: "GATE ID --reason WHY",
		Short: "Mark a review's violation as skipped",
		Long: `Marks a violation as skipped: it fails its review no longer, but the verdict is "passed with warnings", and the user is told of it by name.
Only violations of reviews can be skipped, never checks.`,
		Mixed: true,
		Options: func(flags *flag.FlagSet) {
			flags.StringVar(&reason, "reason", "", "`WHY` the violation stays; the user is told it")
		},
		Run: func(_ context.Context, p *cli.Program, args []string) int {
			if len(args) != 2 {
				return p.UsageError(errors.New("expected GATE and ID"))
			}
			if strings.TrimSpace(reason) == "" {
				return p.UsageError(errors.New("give a --reason: the user is told it"))
			}
			c, err := loadHere(p, nil)
			if err != nil {
				return fail(p, err)
			}
			v, err := skip(c, args[0], args[1], text.Line(reason))
			if err != nil {
				return fail(p, err)
			}
			_, _ = fmt.Fprintf(p.Stdout, "skipped %s: %s:%d %s\n", v.ID, text.Name(v.File), v.Line, text.Brief(v.Issue))
			return exitOK
		},
	}
}

// skip finds a violation of a gate, at whatever entry point, and marks it.
func skip(c *Config, gate, id, reason string) (Violation, error) {
	if err := (&scopeFlags{gates: []string{gate}}).known(c); err != nil {
		return Violation{}, err
	}
	if c.gate(Review, gate) == nil {
		return Violation{}, fmt.Errorf("%s is a check: only violations of reviews can be skipped", gate)
	}
	dir := stateDir(c.LogDir)
	folders, err := os.ReadDir(dir.path(violationsDir))
	if err != nil && !os.IsNotExist(err) {
		return Violation{}, err
	}
	var known []string
	for _, folder := range folders {
		kept, err := loadViolations(dir.path(violationsDir, folder.Name()))
		if err != nil {
			return Violation{}, err
		}
		for _, r := range kept.records {
			if r.Gate != gate {
				continue
			}
			if r.ID == id {
				return r.Violation, kept.skip(id, reason)
			}
			known = append(known, r.ID)
		}
	}
	if len(known) == 0 {
		return Violation{}, fmt.Errorf("%s has no violations now", gate)
	}
	slices.Sort(known)
	return Violation{}, fmt.Errorf("%s has no violation %q; there are: %s", gate, id, strings.Join(known, ", "))
}
