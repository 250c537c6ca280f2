package triage

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/debuglog"
	"github.com/hookkit/brepl/hookkit/session"
)

// Root is the program: without the name of a command it is the hook.
func Root() cli.Command {
	root := hookCommand()
	root.Name = ""
	root.Long = `memory-triage asks a coding agent to save what is worth remembering, when it stops.
Without a command it is the hook: it reads a Stop event from stdin.`
	root.Sub = []cli.Command{hookCommand(), sessionEndCommand(), explainCommand(), evalCommand()}
	return root
}

func hookCommand() cli.Command {
	var (
		host           string
		explain, debug bool
	)
	return cli.Command{
		Name:  "hook",
		Usage: "[--host HOST] [--explain] [--debug]",
		Short: "When the agent stops: ask once for what is worth saving",
		Long: `Reads a Stop event from stdin and the end of the session's transcript.
Exit 0: the agent can stop. Exit 2: it is asked to save what stderr lists. No failure of its own blocks.
With --explain it only prints every hit of every rule, asks no model and keeps nothing.`,
		FailOpen: true,
		Options: func(flags *flag.FlagSet) {
			flags.StringVar(&host, "host", "", "the agent's `HOST`: claude, portable, codex, eca, gemini, copilot, cursor")
			flags.BoolVar(&explain, "explain", false, "decide nothing: print every hit, and for near misses why they count for nothing")
			debuglog.Flag(flags, &debug)
		},
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			if len(args) > 0 {
				return p.UsageError(fmt.Errorf("unexpected argument %q", args[0]))
			}
			options := []hookkit.Option{hookkit.Expect(hookkit.EventStop), hookkit.FailOpen(), hookkit.Discreet()}
			if host != "" {
				agent, err := hookkit.ParseHost(host)
				if err != nil {
					return p.UsageError(err)
				}
				options = append(options, hookkit.ForHost(agent))
			}
			k := &hook{env: p.Getenv, stderr: p.Stderr, now: time.Now, note: func(string, ...any) {}}
			if explain {
				k.explain = p.Stdout
			}
			if debuglog.Wanted(p, debug) {
				log := debuglog.New(p, "memory-triage", true)
				log.Event, log.Clean, log.QuietBlocks = eventForLog, mask, true
				options = append(options, log.Option())
				k.note = log.Note
			}
			streams := p.HookIO()
			streams.Err = named{p.Stderr, &k.blocks}
			return failOpen(hookkit.Run(ctx, streams, hookkit.Handlers{Stop: k.stop}, options...))
		},
	}
}

// eventForLog is what the debug log tells of an event: where things are, and of the rest, which holds what people said, only how long it is.
func eventForLog(event []byte) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(event, &fields); err != nil {
		return "no JSON object"
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := string(fields[name])
		switch name {
		case "session_id", "transcript_path", "cwd", "hook_event_name", "stop_hook_active", "permission_mode":
			value = mask(value)
		default:
			value = fmt.Sprintf("(%d bytes)", len(value))
		}
		list = append(list, mask(name)+" "+value)
	}
	return strings.Join(list, ", ")
}

// named masks what a run says on stderr and puts the program's name in front, unless it has it, or is the agent's text of a block.
type named struct {
	w      io.Writer
	blocks *bool
}

// Write writes one message.
func (n named) Write(data []byte) (int, error) {
	if *n.blocks {
		return n.w.Write(data)
	}
	const name = programName + ": "
	if _, err := io.WriteString(n.w, name+mask(strings.TrimPrefix(string(data), name))); err != nil {
		return 0, err
	}
	return len(data), nil
}

// failOpen lets the agent stop whatever went wrong, a panic too: only a decision blocks.
func failOpen(code int) int {
	if code == 2 {
		return code
	}
	return 0
}

func sessionEndCommand() cli.Command {
	return cli.Command{
		Name:  "session-end",
		Usage: "[SESSION]",
		Short: "When the session ends: take its flag down",
		Long: `Reads a SessionEnd event from stdin, or takes the session's id as argument. It always exits with 0.
The notes of what was asked for stay for when the session is resumed, until nothing was added for seven days; after the
reason clear, and with an id as argument, they go too.`,
		FailOpen: true,
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			end := func(state, id string, forget bool, project string, more ...string) error {
				s, err := openNotes(p.Getenv, state)
				if err != nil {
					return oneLineError(err)
				}
				err = endSession(s, id, forget, append(more, project)...)
				session.Sweep(p.Getenv, time.Now(), session.SweepAge)
				return oneLineError(err)
			}
			if len(args) > 0 && args[0] != "" {
				if err := end(session.IDIn(args[0], p.Getenv, p.Dir), args[0], true, p.Dir); err != nil {
					_, _ = fmt.Fprintf(p.Stderr, "memory-triage: %v\n", err)
				}
				return 0
			}
			streams := p.HookIO()
			streams.Err = named{p.Stderr, new(bool)}
			return failOpen(hookkit.Run(ctx, streams, hookkit.Handlers{
				SessionEnd: func(_ context.Context, e *hookkit.SessionEnd) error {
					return end(session.IDOf(e.Base()), e.SessionID, e.Reason == "clear", e.ProjectDir(), e.CWD)
				},
			}, hookkit.Expect(hookkit.EventSessionEnd), hookkit.FailOpen(), hookkit.Discreet()))
		},
	}
}

func explainCommand() cli.Command {
	var last string
	return cli.Command{
		Name:  "explain",
		Usage: "[--last TEXT] TRANSCRIPT",
		Short: "Show what a transcript holds, with every hit of every rule",
		Long: `Prints for each category its score and every hit: the quote, who said it, the rule, its weight, and what damped it;
for near misses why they count for nothing. Secrets are masked. No model is asked and nothing is kept.`,
		Options: func(flags *flag.FlagSet) {
			flags.StringVar(&last, "last", "", "the agent's last message, `TEXT` that the transcript may lack")
		},
		Mixed: true,
		Run: func(_ context.Context, p *cli.Program, args []string) int {
			if len(args) != 1 {
				return p.UsageError(errors.New("name one transcript"))
			}
			config, warnings := loadConfig(p.Dir, p.Getenv)
			for _, w := range warnings {
				_, _ = fmt.Fprintln(p.Stderr, w)
			}
			path := args[0]
			if !filepath.IsAbs(path) {
				path = filepath.Join(p.Dir, path)
			}
			f, size, err := openTranscript(path)
			if err == nil {
				defer func() { _ = f.Close() }() // only read
				var a *analysis
				if a, err = analyseFile(f, size, &config, p.Dir, last); err == nil {
					_, err = p.Stdout.Write([]byte(a.explain(&config)))
				}
			}
			if err != nil {
				_, _ = fmt.Fprintf(p.Stderr, "%s: %v\n", p.Path(), oneLineError(err))
				return 1
			}
			return 0
		},
	}
}
