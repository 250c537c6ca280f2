// Package pause lets the stops of a session, or of a whole project, pass for a while: the commands pause and resume of a program, and what
// its hook asks before it runs.
//
// It serves the programs of this repository and carries no promise of stability.
package pause

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/text"
)

// Gate is what a program does at a stop, and what its texts call it.
type Gate struct {
	Program string // begins its messages, such as "brepl"
	What    string // in the plural, such as "stop hooks"
	Resume  string // how a person calls the command resume

	File string // of the pause, in a session's folder: each program has its own
	Kind string // of the [session.ProjectID] to which a project's pause belongs
	// Project finds the project that somebody means who is in p.Dir.
	Project func(p *cli.Program) (dir string, err error)

	// WithSession says that a project's pause without a duration ends with a session in it, see [Gate.EndWithSession].
	WithSession bool
}

// Commands are pause and resume. Both end with 0, or with 1 and the reason.
func (g Gate) Commands() []cli.Command { return []cli.Command{g.pause(), g.resume()} }

func (g Gate) pause() cli.Command {
	end, sessions := "until resumed", "`"+g.Resume+"`"
	if g.WithSession {
		end, sessions = "until the session ends", "a session in it ends"
	}
	return cli.Command{
		Name: "pause", Usage: "[DURATION]",
		Short: "Let stops pass for a while: 30m, 2h; without a duration " + end,
		Long: fmt.Sprintf(`Lets stops pass without %s: those of this session when it is called inside an agent's session, otherwise those of the project.
Without a duration a session's pause lasts until it ends, a project's until %s.
It is for the user. When an agent calls it in its shell, the user is told at each stop; with {:pause :user-only} in
~/.config/brepl/config.edn it is refused there.`, g.What, sessions),
		Run: func(_ context.Context, p *cli.Program, args []string) int {
			pause := session.Pause{ByAgent: session.InAgent(p.Getenv)}
			switch len(args) {
			case 0:
			case 1:
				d, err := time.ParseDuration(args[0])
				if err != nil || d <= 0 {
					return p.UsageError(fmt.Errorf("%q is no duration; write it like 30m or 2h", args[0]))
				}
				pause.Until = time.Now().Add(d)
			default:
				return p.UsageError(errors.New("one duration at the most"))
			}
			if err := g.allowed(p, pause); err != nil {
				return g.fail(p, "pause", err)
			}
			s, whose, err := g.here(p)
			if err == nil {
				err = s.Pause(g.File, pause)
			}
			if err != nil {
				return g.fail(p, "pause", err)
			}
			_, _ = fmt.Fprintf(p.Stdout, "%s of %s are paused until %s`%s`.\n", g.title(), whose, g.endOf(whose, pause.Until), g.Resume)
			return 0
		},
	}
}

// allowed is why a pause may not begin here: the user's own configuration keeps the agent from it. What cannot be read may say so, and the
// gate stays up.
func (g Gate) allowed(p *cli.Program, pause session.Pause) error {
	if !pause.ByAgent {
		return nil
	}
	user, err := hooksedn.LoadUser(p.Getenv)
	for _, unbelieved := range user.Unbelieved {
		_, _ = fmt.Fprintf(p.Stderr, "%s: %s\n", g.Program, text.Escaped(unbelieved.Error(), ""))
	}
	if user.PauseOnly != "" {
		return fmt.Errorf("only the user may, in a terminal of their own; %s says `:pause :user-only`. Tell the user what cannot pass", text.Escaped(user.PauseOnly, ""))
	}
	if err != nil {
		return fmt.Errorf("whether an agent may is not known: %s", text.Escaped(err.Error(), "\n\t"))
	}
	return nil
}

func (g Gate) resume() cli.Command {
	return cli.Command{
		Name: "resume", Short: "End a pause",
		Run: func(_ context.Context, p *cli.Program, args []string) int {
			if len(args) > 0 {
				return p.UsageError(fmt.Errorf("unexpected argument %q", args[0]))
			}
			ended, err := g.end(p)
			switch {
			case err != nil:
				return g.fail(p, "resume", err)
			case ended:
				_, _ = fmt.Fprintf(p.Stdout, "%s run again.\n", g.title())
			default:
				_, _ = fmt.Fprintf(p.Stdout, "%s were not paused.\n", g.title())
			}
			return 0
		},
	}
}

func (g Gate) title() string { return strings.ToUpper(g.What[:1]) + g.What[1:] }

func (g Gate) fail(p *cli.Program, what string, err error) int {
	_, _ = fmt.Fprintf(p.Stderr, "%s: cannot %s: %v\n", g.Program, what, err)
	return 1
}

const thisSession = "this session"

// endOf says when a pause ends if nobody ends it.
func (g Gate) endOf(whose string, until time.Time) string {
	switch {
	case !until.IsZero():
		return text.Clock(until, time.Now()) + ", or until "
	case !g.WithSession:
		return ""
	case whose == thisSession:
		return "it ends, or until "
	}
	return "a session in it ends, or until "
}

// here is whose stops a pause is for: the agent's session in which the command runs, else the project, whatever session comes.
func (g Gate) here(p *cli.Program) (s *session.Session, whose string, err error) {
	if s, err = inSession(p); s != nil || err != nil {
		return s, thisSession, err
	}
	dir, err := g.Project(p)
	if err != nil {
		return nil, "", err
	}
	s, err = g.ofProject(p.Getenv, dir)
	return s, "the project " + dir, err
}

// inSession is the agent's session in which the command runs, nil outside of one.
func inSession(p *cli.Program) (*session.Session, error) {
	id := session.HostID(p.Getenv, p.Dir)
	if id == "" {
		return nil, nil //nolint:nilnil // outside of a session
	}
	return session.Open(p.Getenv, id)
}

// ofProject is where a project's pause is kept.
func (g Gate) ofProject(env func(string) string, dir string) (*session.Session, error) {
	if dir == "" { // it would be a pause for every project
		return nil, project.ErrNoDirectory
	}
	return session.Open(env, session.ProjectID(g.Kind, dir))
}

// end ends the session's pause and the project's. In a session it is no fault that nobody knows the project.
func (g Gate) end(p *cli.Program) (ended bool, err error) {
	s, err := inSession(p)
	if err != nil {
		return false, err
	}
	if s != nil {
		ended, err = s.EndPause(g.File)
	}
	dir, dirErr := g.Project(p)
	if dirErr != nil {
		if s == nil {
			err = dirErr
		}
		return ended, err
	}
	whole, openErr := g.ofProject(p.Getenv, dir)
	if openErr != nil {
		return ended, errors.Join(err, openErr)
	}
	endedHere, endErr := whole.EndPause(g.File)
	return ended || endedHere, errors.Join(err, endErr)
}

// Paused gives the pause of the session with that id of [session.IDOf], or of the project in dir, that lets stops pass at the time now.
func (g Gate) Paused(env func(string) string, id, dir string, now time.Time) (p session.Pause, paused bool) {
	if s, err := session.Open(env, id); err == nil {
		if p, paused = s.Paused(g.File, now); paused {
			return p, true
		}
	}
	whole, err := g.ofProject(env, dir)
	if err != nil {
		return p, false
	}
	return whole.Paused(g.File, now)
}

// EndWithSession ends a project's pause that has no end of its own, when a session in it ends: a pause that stays is said at the next stop.
func (g Gate) EndWithSession(env func(string) string, dir string, now time.Time) {
	if whole, err := g.ofProject(env, dir); err == nil {
		if p, paused := whole.Paused(g.File, now); paused && p.Until.IsZero() {
			_, _ = whole.EndPause(g.File)
		}
	}
}

// Line tells the user of a stop that passed because of a pause, and of one that the agent has begun.
func (g Gate) Line(p session.Pause, now time.Time) string {
	how := ""
	if p.ByAgent {
		how = " by the agent"
	}
	if !p.Until.IsZero() {
		how += " until " + text.Clock(p.Until, now)
	}
	return fmt.Sprintf("%s: %s are paused%s; `%s` ends this", g.Program, g.What, how, g.Resume)
}
