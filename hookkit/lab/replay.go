package lab

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookkit/brepl/hookkit/cli"
)

func replayCommand() cli.Command {
	var f replayFlags
	return cli.Command{
		Name:  "replay",
		Usage: "FILE... [--settings FILE] [--command COMMAND] [--update] [--json]",
		Short: "play recorded events to hooks and compare what they answer",
		Long: `Plays recordings (NAME.jsonl, see docs/recordings.md) to hooks, in a scratch copy of
the recorded project, and compares decision, streams, exit code and files with
NAME.expect.json beside the recording, and where that says nothing with what was
recorded. Once an answer differs, the rest of that session is not comparable: the
agent would have gone another way. The exit code is 1 when something differs.

A recording names commands, and this runs them: look at one that is not yours first.`,
		Mixed: true,
		Options: func(flags *flag.FlagSet) {
			f = replayFlags{}
			flags.StringVar(&f.settings, "settings", "", "play the hooks of the settings in `FILE`, not of the recorded ones")
			flags.StringVar(&f.command, "command", "", "run this `COMMAND` in place of every recorded hook")
			flags.BoolVar(&f.update, "update", false, "write what the hooks answer now to NAME.expect.json")
			flags.BoolVar(&f.json, "json", false, "print the outcome as one JSON object a recording")
		},
		Run: func(ctx context.Context, p *cli.Program, files []string) int { return runReplay(ctx, p, f, files) },
	}
}

type replayFlags struct {
	settings, command string
	update, json      bool
}

func runReplay(ctx context.Context, p *cli.Program, f replayFlags, files []string) int {
	if len(files) == 0 {
		return p.UsageError(errors.New("give at least one recording"))
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	var settings []byte
	if f.settings != "" {
		var err error
		if settings, err = os.ReadFile(inDir(p, f.settings)); err != nil {
			return fail(p, err)
		}
	}
	exit := 0
	for _, file := range files {
		out, err := replayFile(ctx, p, inDir(p, file), settings, f)
		if err != nil { // the other files can still be played
			exit = fail(p, err)
			if ctx.Err() != nil {
				return exit
			}
			continue
		}
		if out.Count(Different) > 0 && !f.update || out.Count(NotStarted) > 0 {
			exit = 1
		}
		if f.json {
			line, err := encodeLine(out)
			if err == nil {
				_, err = p.Stdout.Write(line)
			}
			if err != nil {
				return fail(p, err)
			}
			continue
		}
		_, _ = fmt.Fprint(p.Stdout, visible(out.Text()))
		if out.Updated != "" {
			_, _ = fmt.Fprintf(p.Stdout, "updated %s\n", out.Updated)
		}
	}
	return exit
}

func inDir(p *cli.Program, path string) string {
	if filepath.IsAbs(path) || p.Dir == "" {
		return path
	}
	return filepath.Join(p.Dir, path)
}

func replayFile(ctx context.Context, p *cli.Program, path string, settings []byte, f replayFlags) (Replayed, error) {
	r, err := ReadRecording(path)
	if err != nil {
		return Replayed{}, err
	}
	expect, err := r.ReadExpect()
	if err != nil {
		return Replayed{}, err
	}
	out, err := Play{Recording: r, Expect: expect, Settings: settings, Command: f.command, Env: p.Env}.Run(ctx)
	if err == nil && f.update {
		var written bool
		if written, err = r.Update(expect, out); written {
			out.Updated = r.ExpectPath()
		}
	}
	return out, err
}

// Update writes all that was answered to the recording's expected answers, if that changes them. expect is what ReadExpect returned.
func (r *Recording) Update(expect *Expect, out Replayed) (written bool, err error) {
	if expect == nil {
		expect = &Expect{Answers: []ExpectedAnswer{}}
	}
	before, err := json.Marshal(expect)
	if err != nil {
		return false, err
	}
	for _, s := range out.Steps {
		if s.Got != nil {
			expect.set(*s.Got)
		}
	}
	after, err := json.Marshal(expect)
	if err != nil || string(after) == string(before) {
		return false, err
	}
	return true, r.WriteExpect(expect)
}

// Text is the outcome for people: one line, and what differs.
func (r Replayed) Text() string {
	var b strings.Builder
	var counts []string
	for _, status := range []Status{Same, Different, NotStarted, New, NotComparable, NotPlayed} {
		if n := r.Count(status); n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, status))
		}
	}
	fmt.Fprintf(&b, "%s: %s\n", r.Name, strings.Join(counts, ", "))
	for _, s := range r.Steps {
		if s.Status == Different {
			fmt.Fprintf(&b, "call %d, %s, %s:\n%s", s.Seq, s.Event, s.Command, s.Diff)
		}
		if s.Status == NotStarted {
			fmt.Fprintf(&b, "call %d, %s, %s: %s\n", s.Seq, s.Event, s.Command, s.Reason)
		}
		if s.Status == New {
			fmt.Fprintf(&b, "call %d, %s, %s: new, exit %s\n", s.Seq, s.Event, s.Command, ending(s.Got.answer()))
		}
	}
	return b.String()
}

func fail(p *cli.Program, err error) int {
	_, _ = fmt.Fprintf(p.Stderr, "%s: %v\n", p.Path(), err)
	return 1
}
