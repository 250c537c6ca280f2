package gauntlet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/text"
)

func pauseCommand() cli.Command {
	return cli.Command{
		Name:  "pause",
		Usage: "[DURATION]",
		Short: "Let stops pass for a while: 30m, 2h; without a duration until resumed",
		Long: `Lets stops pass without gates: those of this session when it is called inside an agent's session, otherwise those of the project.
Without a duration a session's pause lasts until it ends, a project's until "agent-gauntlet resume".`,
		Run: func(_ context.Context, p *cli.Program, args []string) int {
			var until time.Time
			switch len(args) {
			case 0:
			case 1:
				d, err := time.ParseDuration(args[0])
				if err != nil || d <= 0 {
					return p.UsageError(fmt.Errorf("%q is no duration; write it like 30m or 2h", args[0]))
				}
				until = time.Now().Add(d)
			default:
				return p.UsageError(errTwoArguments)
			}
			s, whose, err := pauseSession(p)
			if err == nil {
				err = s.Pause(pauseName, until)
			}
			if err != nil {
				return fail(p, fmt.Errorf("cannot pause: %w", err))
			}
			end := ""
			if !until.IsZero() {
				end = text.Clock(until, time.Now()) + ", or until "
			}
			_, _ = fmt.Fprintf(p.Stdout, "The gates of %s are paused until %s`agent-gauntlet resume`.\n", whose, end)
			return exitOK
		},
	}
}

func resumeCommand() cli.Command {
	return plain(cli.Command{Name: "resume", Short: "End a pause"}, func(_ context.Context, p *cli.Program) int {
		ended, err := endPauses(p)
		switch {
		case err != nil:
			return fail(p, fmt.Errorf("cannot resume: %w", err))
		case ended:
			_, _ = fmt.Fprintln(p.Stdout, "The gates run again.")
		default:
			_, _ = fmt.Fprintln(p.Stdout, "The gates were not paused.")
		}
		return exitOK
	})
}

// hostSession is the agent's session that the command runs in, nil outside of one.
func hostSession(p *cli.Program) (*session.Session, error) {
	id := session.HostID(p.Getenv)
	if id == "" {
		return nil, nil //nolint:nilnil // outside of a session
	}
	return session.Open(p.Getenv, id)
}

// pauseSession is whose stops a pause is for.
func pauseSession(p *cli.Program) (s *session.Session, whose string, err error) {
	if s, err = hostSession(p); s != nil || err != nil {
		return s, "this session", err
	}
	root, err := projectHere(p)
	if err != nil {
		return nil, "", err
	}
	s, err = projectPause(p, root)
	return s, "the project " + root, err
}

func projectHere(p *cli.Program) (string, error) {
	root, ok := findRoot(p.Dir)
	if !ok {
		return "", fmt.Errorf("%w in %s or above it", errNoConfig, p.Dir)
	}
	return root, nil
}

// endPauses ends the session's pause and the project's.
func endPauses(p *cli.Program) (ended bool, err error) {
	inSession, err := hostSession(p)
	if err != nil {
		return false, err
	}
	if inSession != nil {
		ended, err = inSession.EndPause(pauseName)
	}
	root, rootErr := projectHere(p)
	if rootErr != nil {
		if inSession == nil {
			err = rootErr
		}
		return ended, err
	}
	s, openErr := projectPause(p, root)
	if openErr != nil {
		return ended, errors.Join(err, openErr)
	}
	endedHere, endErr := s.EndPause(pauseName)
	return ended || endedHere, errors.Join(err, endErr)
}
