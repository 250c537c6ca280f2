package gauntlet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookkit/brepl/hookkit/proc"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/text"
)

// gitTime bounds one call of git: a network file system that hangs must not hold us.
const gitTime = 2 * time.Minute

// repository is the work tree that holds the project.
type repository struct {
	dir     string   // the project's root: git runs here, and paths are relative to it
	env     []string // of git's calls
	index   string   // git's own index, absolute
	objects string   // git's own objects, absolute

	gitFacts                          // after learn
	ask      func() (gitFacts, error) // asks git, once
}

// gitFacts is what git knows of a repository.
type gitFacts struct {
	indexPath, objectsPath string
	shallow                bool
	head                   string // the commit checked out; "" without commits
	branch                 string // "" when detached, or without commits
}

// errNoGit says that there is nothing that could tell what has changed.
var errNoGit = errors.New("git is needed to tell what has changed")

// openRepository finds the repository that holds dir. The error says what is missing, and what to do. The facts are there after learn.
func openRepository(ctx context.Context, dir string, env []string) (*repository, error) {
	if _, err := proc.LookPath("git", env); err != nil {
		return nil, fmt.Errorf("%w, and there is no git on the PATH", errNoGit)
	}
	r := &repository{dir: dir, env: project.GitEnv(env)}
	r.ask = sync.OnceValues(func() (gitFacts, error) { return r.revParse(ctx) })
	own := filepath.Join(dir, ".git")
	if info, err := os.Lstat(own); err == nil && info.IsDir() {
		// The usual case: the snapshot need not wait for the answer.
		r.index, r.objects = filepath.Join(own, "index"), filepath.Join(own, "objects")
		go func() { _, _ = r.ask() }() // learn has the error
		return r, nil
	}
	return r, r.learn()
}

// learn waits for git's answer.
func (r *repository) learn() error {
	facts, err := r.ask()
	if err != nil {
		return err
	}
	r.gitFacts, r.index, r.objects = facts, facts.indexPath, facts.objectsPath
	return nil
}

// revParse asks git everything in one call: starting it is a good part of its time.
func (r *repository) revParse(ctx context.Context) (facts gitFacts, err error) {
	ask := []string{"rev-parse", "--path-format=absolute", "--is-shallow-repository", "--git-path", "index", "--git-path", "objects"}
	out, err := r.git(ctx, append(ask, "HEAD", "--symbolic-full-name", "HEAD")...)
	if err != nil {
		out, err = r.git(ctx, ask...) // no commits yet
	}
	if err != nil {
		if strings.Contains(err.Error(), "not a git repository") {
			return facts, fmt.Errorf("%w, and %s is in no git repository; `git init` makes one", errNoGit, r.dir)
		}
		return facts, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 3 && len(lines) != 5 {
		return facts, fmt.Errorf("git rev-parse answered %q; this git is too old, or the repository's path has a line end in it", out)
	}
	facts = gitFacts{shallow: lines[0] == "true", indexPath: lines[1], objectsPath: lines[2]}
	if len(lines) == 5 {
		facts.head = lines[3]
		facts.branch, _ = strings.CutPrefix(lines[4], "refs/heads/")
		if facts.branch == "HEAD" { // detached
			facts.branch = ""
		}
	}
	return facts, nil
}

// gitError is a call of git that failed.
type gitError struct {
	command string
	exit    int
	text    string
}

func (e *gitError) Error() string { return fmt.Sprintf("git %s: %s", e.command, e.text) }

// git runs git in the project and returns what it printed.
func (r *repository) git(ctx context.Context, args ...string) ([]byte, error) {
	return r.gitWith(ctx, nil, args...)
}

// gitWith is git with more variables.
func (r *repository) gitWith(ctx context.Context, more []string, args ...string) ([]byte, error) {
	return r.gitFed(ctx, more, nil, args...)
}

// gitFed is gitWith with an input.
func (r *repository) gitFed(ctx context.Context, more []string, stdin []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	program, err := proc.LookPath("git", r.env)
	if err != nil {
		return nil, err
	}
	// The user's post-index-change is for the user's index.
	args = append([]string{"--no-optional-locks", "-c", "core.hooksPath=" + os.DevNull}, args...)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = r.dir
	cmd.Env = append(slices.Clip(r.env), more...)
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// A child of git's that hangs must not hold us; but on a busy machine git's own last words take their time.
	cmd.WaitDelay = 2 * time.Second
	err = cmd.Run()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return stdout.Bytes(), nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("git %s: %w", command(args), context.Cause(ctx))
	}
	failed := &gitError{command: command(args), exit: -1, text: text.Brief(stderr.String())}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		failed.exit = exit.ExitCode()
	}
	if failed.text == "" {
		failed.text = err.Error()
	}
	return stdout.Bytes(), failed
}

// command is the word of git's arguments that says what it does.
func command(args []string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-c":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		}
	}
	return ""
}

// commit resolves a name to a commit's id.
func (r *repository) commit(ctx context.Context, name string) (id string, ok bool, err error) {
	out, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if failed, isGit := errors.AsType[*gitError](err); isGit && failed.exit == 1 {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return strings.TrimSpace(string(out)), true, nil
}

// emptyTree is the id of the tree without files, in the repository's kind of hash.
func (r *repository) emptyTree(ctx context.Context) (string, error) {
	out, err := r.git(ctx, "hash-object", "-t", "tree", "--stdin")
	return strings.TrimSpace(string(out)), err
}

// quoteAlternate writes a path for the list of alternates, which is split at the system's separator unless it is quoted.
func quoteAlternate(path string) string {
	if !strings.ContainsRune(path, filepath.ListSeparator) && !strings.HasPrefix(path, `"`) {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}
