package gauntlet

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/proc"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/settings"
)

// initCommand is the seed's dialogue.
func initCommand() cli.Command {
	var yes bool
	return plain(cli.Command{
		Name:  "init",
		Usage: "[-y]",
		Short: "Write a configuration for this project, and offer the stop hook",
		Long: `Writes .gauntlet/ with the checks that the project itself shows to have, and asks whether to install the stop hook into
.claude/settings.local.json. A configuration that is there stays as it is.`,
		Options: func(flags *flag.FlagSet) {
			for _, name := range []string{"y", "yes"} {
				flags.BoolVar(&yes, name, false, "install the stop hook without asking")
			}
		},
	}, func(ctx context.Context, p *cli.Program) int {
		if err := initialise(ctx, p, yes); err != nil {
			return fail(p, err)
		}
		return exitOK
	})
}

func initialise(ctx context.Context, p *cli.Program, yes bool) error {
	root, err := projectRoot(p)
	if err != nil {
		return err
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(p.Stdout, format+"\n", args...) }
	if project.Exists(filepath.Join(root, filepath.FromSlash(configName))) {
		say("%s is there already and stays as it is", configName)
	} else {
		say("Creating %s...", configName)
		s := scaffoldOf(root, p.Env)
		if err := s.write(root); err != nil {
			return err
		}
		say("✓ Configuration created")
		s.tell(say)
	}
	say("")
	if !yes && !asked(p, "Install Claude Code stop hook? (y/n): ") {
		say("No hook installed; run `agent-gauntlet init` again to be asked again")
		return nil
	}
	return installStopHook(ctx, p, root, say)
}

// projectRoot is the root of the git work tree.
func projectRoot(p *cli.Program) (string, error) {
	if !filepath.IsAbs(p.Dir) {
		return "", project.ErrNoDirectory
	}
	return gitRoot(p.Dir)
}

// asked asks a question and takes the answer from stdin. No answer is no.
func asked(p *cli.Program, question string) bool {
	_, _ = io.WriteString(p.Stdout, question)
	line, _ := bufio.NewReader(p.Stdin).ReadString('\n') // the end of stdin is an answer too
	answer := strings.ToLower(strings.TrimSpace(line))
	if !p.Terminal(p.Stdin) {
		_, _ = fmt.Fprintln(p.Stdout, answer) // a terminal shows what is typed, with its line end
	}
	return answer == "y" || answer == "yes"
}

func installStopHook(ctx context.Context, p *cli.Program, root string, say func(string, ...any)) error {
	site, err := settings.NewEnv(root, p.Getenv).Site(settings.Local)
	if err != nil {
		return err
	}
	verb := "Creating"
	if project.Exists(site.Path()) {
		verb = "Changing"
	}
	say("%s %s...", verb, filepath.ToSlash(rel(root, site.Path())))
	hooks := Hooks()
	out, err := site.Install(ctx, &hooks, false)
	if err != nil {
		return err
	}
	for _, warning := range slices.Concat(site.Warnings, out.Warnings) {
		_, _ = fmt.Fprintf(p.Stderr, "agent-gauntlet: %s\n", warning)
	}
	if !out.Changed() {
		say("✓ Stop hook is installed already")
		return nil
	}
	say("✓ Stop hook installed - gauntlet will run automatically when agent stops")
	return nil
}

// scaffold is the configuration that init writes.
type scaffold struct {
	base    string
	checks  []scaffoldCheck
	tools   []string // review tools that are installed
	entries []string // folders with checks, in order
}

type scaffoldCheck struct {
	proposal
	entry string
}

// scaffoldOf looks at the project: at its root, and at the folders in it where the root shows nothing.
func scaffoldOf(root string, env []string) scaffold {
	s := scaffold{base: baseBranchOf(root)}
	s.add(".", propose(folder(root)), "")
	if len(s.checks) == 0 {
		entries, _ := os.ReadDir(root) // what cannot be read shows nothing
		for _, e := range entries {
			if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && session.SafeName(e.Name()) == e.Name() {
				s.add(e.Name(), propose(folder(filepath.Join(root, e.Name()))), e.Name()+"-")
			}
		}
	}
	for _, tool := range adapters {
		if _, err := proc.LookPath(tool.command[0], env); err == nil {
			s.tools = append(s.tools, tool.name)
		}
	}
	return s
}

func (s *scaffold) add(entry string, list []proposal, prefix string) {
	for _, one := range list {
		one.name = prefix + one.name
		s.checks = append(s.checks, scaffoldCheck{one, entry})
	}
	if len(list) > 0 {
		s.entries = append(s.entries, entry)
	}
}

// baseBranchOf is the branch that the remote names as its own, as the repository remembers it; the default where it does not.
func baseBranchOf(root string) string {
	const head = "ref: refs/remotes/"
	data, err := os.ReadFile(filepath.Join(root, ".git", "refs", "remotes", "origin", "HEAD"))
	if branch, ok := strings.CutPrefix(strings.TrimSpace(string(data)), head); err == nil && ok {
		return branch
	}
	return "origin/main"
}

// reviewName is the review that init writes where a tool for it is installed.
const reviewName = "code-quality"

const reviewText = `---
num_reviews: 1
---
Look for bugs that a test would show: wrong conditions, errors that are not handled, races, resources that are not released,
input that is trusted. Say for each how it shows. Leave out style, naming and what a linter finds.
`

// write creates the files, the configuration last: until it is there, there is no gauntlet. A file that is there stays.
func (s *scaffold) write(root string) error {
	files := map[string]string{}
	for _, c := range s.checks {
		files[checksDir+"/"+c.name+".yml"] = "# Found in " + c.why + ".\ncommand: " + quoteYAML(c.command) + "\n"
	}
	if len(s.tools) > 0 {
		files[reviewsDir+"/"+reviewName+".md"] = reviewText
	}
	for _, name := range append(slices.Sorted(maps.Keys(files)), configName) {
		text, ok := files[name]
		if !ok {
			text = s.config()
		}
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a folder of the project, as git makes it
			return err
		}
		if project.Exists(path) {
			continue
		}
		if err := session.WriteFile(path, []byte(text), session.WriteOptions{Mode: 0o644, Absent: true, Sync: true}); err != nil {
			return err
		}
	}
	return nil
}

// config is the text of config.yml.
func (s *scaffold) config() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Gates for what an agent changes. `agent-gauntlet validate` checks this file.\nbase_branch: %s\nlog_dir: gauntlet_logs\n", quoteYAML(s.base))
	if len(s.tools) > 0 {
		fmt.Fprintf(&b, "\ncli:\n  # In this order; a tool that cannot answer is passed over.\n  default_preference: [%s]\n", strings.Join(s.tools, ", "))
	}
	b.WriteString("\n# Which gates are for which files.\nentry_points:")
	if len(s.entries) == 0 && len(s.tools) == 0 {
		b.WriteString(" []\n#  - path: \".\"\n#    checks: [tests]        # .gauntlet/checks/tests.yml, with `command: make test`\n")
	} else {
		b.WriteString("\n")
	}
	entries := s.entries
	if len(s.tools) > 0 && !slices.Contains(entries, ".") {
		entries = append([]string{"."}, entries...)
	}
	for _, entry := range entries {
		fmt.Fprintf(&b, "  - path: %s\n", quoteYAML(entry))
		var names []string
		for _, c := range s.checks {
			if c.entry == entry {
				names = append(names, c.name)
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, "    checks: [%s]\n", strings.Join(names, ", "))
		}
		if len(s.tools) > 0 && entry == "." {
			fmt.Fprintf(&b, "    reviews: [%s]\n", reviewName)
		}
	}
	b.WriteString("\nstop_hook:\n  # An agent that was blocked stops again. rerun: the gates run again; allow: that stop is let through unchecked.\n  on_active: rerun\n")
	return b.String()
}

// tell says what was found, and what init chose.
func (s *scaffold) tell(say func(string, ...any)) {
	for _, c := range s.checks {
		say("  check %s: %s (%s)", c.name, c.command, c.why)
	}
	if len(s.checks) == 0 {
		say("  no checks were found in this project; write your own in %s", checksDir)
	}
	if len(s.tools) > 0 {
		say("  review %s, by the first that can of: %s", reviewName, strings.Join(s.tools, ", "))
	}
	say("  stop_hook.on_active: rerun (gates run again when a blocked agent stops again)")
}

// quoteYAML writes a text as a YAML scalar in double quotes.
func quoteYAML(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
