package settings

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookkit/brepl/hookkit/project"
)

// Hooks are what one program puts into an agent's settings. Each feature gives its own as data; package install makes the commands.
type Hooks struct {
	Program string   // the name of the program's file, without .exe
	Events  []string // that are its to arrange, in the order in which new ones are written
	// Own recognises its handlers: all of them in Events are replaced, and all of them anywhere are taken out.
	Own func(Handler) bool
	// Mentions recognises foreign lines that call its hooks inside, for a warning; nil: there are none to warn of.
	Mentions func(Handler) bool
	// Flags declares what install takes beside the flags that all programs have; nil: nothing.
	Flags func(*flag.FlagSet)
	// RunBy is how the project at root runs the program where that is not by its file; nil or "": by its file.
	RunBy func(root string) string
	// Entries are the handlers that shall be there. It may add to the site's notes and warnings.
	Entries func(*Site) ([]Entry, error)
}

// Env is the part of the world that installing looks at. No other folder is touched than Dir's project and the state folder.
type Env struct {
	Dir        string // where the person stands; absolute
	Executable string // the running binary; "" if it cannot be told
	Getenv     func(string) string
}

// NewEnv is the Env of this process, in dir.
func NewEnv(dir string, getenv func(string) string) Env {
	executable, err := os.Executable()
	if err != nil {
		executable = "" // Install says so when it is needed
	}
	return Env{Dir: filepath.Clean(dir), Executable: executable, Getenv: getenv}
}

// A Site is where hooks are put and taken out again: the settings file of a scope in a project.
type Site struct {
	Env
	Root            string // the project's folder
	Scope           Scope
	Word            string   // how a shell line calls the program there; Install sets it
	Notes, Warnings []string // lines for people
}

// Site finds the project: the root of the git work tree, else Dir. A work tree that is the home folder (dotfiles kept in git) is not
// taken for the project of a folder in it.
func (e Env) Site(scope Scope) (Site, error) {
	s := Site{Env: e, Scope: scope}
	if !filepath.IsAbs(e.Dir) {
		return s, project.ErrNoDirectory
	}
	s.Root = filepath.Clean(e.Dir)
	git, ok := project.GitRoot(s.Root)
	switch {
	case !ok || git == s.Root:
	case e.isHome(git):
		s.Notes = append(s.Notes, fmt.Sprintf("%s is a git work tree, but it is the home folder; the project is taken to be %s", git, s.Root))
	default:
		s.Notes = append(s.Notes, "the project is the git work tree "+git)
		s.Root = git
	}
	return s, nil
}

// Path is the site's settings file.
func (s *Site) Path() string { return s.Scope.PathIn(s.Root) }

// Present are the program's handlers in the site's file: what an earlier install, or somebody by hand, has put there.
func (s *Site) Present(own func(Handler) bool) []Handler {
	return slices.DeleteFunc(Handlers(s.Path()), func(h Handler) bool { return !own(h) })
}

// IsHome says whether the project is the user's home folder.
func (s *Site) IsHome() bool { return s.isHome(s.Root) }

func (e Env) isHome(dir string) bool {
	home := Home(e.Getenv)
	return home != "" && sameFile(home, dir)
}

// Refuse says why the folder is no place to install in. The root of the file system is none. In the home folder the project's settings
// are the user's, which count everywhere; the local ones are allowed.
func (s *Site) Refuse() error {
	switch {
	case filepath.Dir(s.Root) == s.Root:
		return fmt.Errorf("%s is no project; change to your project and try again", s.Root)
	case s.Scope == Project && s.IsHome():
		return fmt.Errorf("%s counts for every project of yours, not for one; change to your project and try again", s.Path())
	}
	return nil
}

// Install puts what h wants into the site's file. What is already as wanted is not touched, and everything else stays byte for byte.
// The outcome has no Path where nothing was tried.
func (s *Site) Install(ctx context.Context, h *Hooks, dryRun bool) (Outcome, error) {
	if err := s.Refuse(); err != nil {
		return Outcome{}, err
	}
	if s.IsHome() {
		s.Notes = append(s.Notes, "this is the home folder: the hooks run only when the agent is started right here")
	}
	if err := s.findWord(h); err != nil {
		return Outcome{}, err
	}
	want, err := h.Entries(s)
	if err != nil {
		return Outcome{}, err
	}
	return s.apply(ctx, s.Path(), dryRun, h, Spec{Want: want})
}

func (s *Site) findWord(h *Hooks) (err error) {
	if h.RunBy != nil {
		s.Word = h.RunBy(s.Root)
	}
	if s.Word == "" {
		var warnings []string
		s.Word, warnings, err = s.word(h.Program, s.Scope)
		s.Warnings = append(s.Warnings, warnings...)
	}
	return err
}

// Installed are the files to take hooks out of: the site's, and the one in the folder where the person stands if there are some in it,
// because programs that know no git root have installed where they stood.
func (s *Site) Installed(h *Hooks) []string {
	paths := []string{s.Path()}
	if here := s.Scope.PathIn(filepath.Clean(s.Dir)); here != paths[0] && slices.ContainsFunc(Handlers(here), h.Own) {
		paths = append(paths, here)
	}
	return paths
}

// Uninstall takes the handlers of h out of one file, in all events. Where install had found none of them, the file is as it was before,
// byte for byte, if nobody else has changed it.
func (s *Site) Uninstall(ctx context.Context, h *Hooks, path string, dryRun bool) (Outcome, error) {
	return s.apply(ctx, path, dryRun, h, Spec{Everywhere: true})
}

func (s *Site) apply(ctx context.Context, path string, dryRun bool, h *Hooks, spec Spec) (Outcome, error) {
	spec.Own, spec.Events = h.Own, h.Events
	return Apply(ctx, Job{Path: path, StateDir: StateDir(h.Program, s.Getenv), DryRun: dryRun, Spec: spec})
}
