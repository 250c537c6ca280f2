package fakes

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Project is a folder with files, for one test. Paths given to its methods are
// relative to it, with slashes.
type Project struct {
	t   T
	dir string
}

// ProjectOption adds something to a new project. Options are applied in order,
// after the files.
type ProjectOption func(*Project)

// NewProject makes a folder with these files, path to content, 0644 each.
// Folders are made as needed. The folder's path has no symlink in it and is
// removed with the test.
func NewProject(t T, files map[string]string, opts ...ProjectOption) *Project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatalf("fakes: the project's folder: %v", err)
	}
	p := &Project{t: t, dir: dir}
	for name, content := range files {
		p.Write(name, content)
	}
	for _, o := range opts {
		o(p)
	}
	return p
}

// WithFile adds a file with a mode.
func WithFile(name, content string, mode fs.FileMode) ProjectOption {
	return func(p *Project) {
		p.t.Helper()
		p.Write(name, content)
		p.check(os.Chmod(p.Path(name), mode)) // the umask has no say
	}
}

// WithDir adds an empty folder with a mode.
func WithDir(name string, mode fs.FileMode) ProjectOption {
	return func(p *Project) {
		p.t.Helper()
		p.check(os.MkdirAll(p.Path(name), 0o750))
		p.check(os.Chmod(p.Path(name), mode))
	}
}

// WithSymlink adds a symbolic link. target is written as it is.
func WithSymlink(name, target string) ProjectOption {
	return func(p *Project) {
		p.t.Helper()
		p.parent(name)
		p.check(os.Symlink(target, p.Path(name)))
	}
}

// WithHooks writes .brepl/hooks.edn.
func WithHooks(edn string) ProjectOption {
	return func(p *Project) {
		p.t.Helper()
		p.Write(".brepl/hooks.edn", edn)
	}
}

// WithPort writes .nrepl-port, without a newline as nREPL does.
func WithPort(port int) ProjectOption {
	return func(p *Project) {
		p.t.Helper()
		p.Write(".nrepl-port", strconv.Itoa(port))
	}
}

// WithGit makes the project a git repository on branch main and commits what
// is there so far. Without a git on the PATH the test is skipped if T has a
// Skipf, and fails if not.
func WithGit() ProjectOption {
	return func(p *Project) {
		p.t.Helper()
		if _, err := exec.LookPath("git"); err != nil {
			reason := "fakes: this test needs git on the PATH, and nothing of it was run: %v"
			if s, ok := p.t.(interface {
				Skipf(format string, args ...any)
			}); ok {
				s.Skipf(reason, err)
			}
			p.t.Fatalf(reason, err)
			return
		}
		p.Git("init", "--quiet", "--template=", "--initial-branch=main")
		p.Git("add", "--all")
		p.Git("commit", "--quiet", "--allow-empty", "--message=start")
	}
}

// Dir returns the project's absolute path.
func (p *Project) Dir() string { return p.dir }

// Path returns the absolute path of a file or folder in the project.
func (p *Project) Path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// Write writes a file, and the folders above it where they are missing. The
// mode of a file that exists stays.
func (p *Project) Write(name, content string) {
	p.t.Helper()
	p.parent(name)
	p.check(writeUnforked(p.Path(name), content, 0o644)) // it may be a program
}

// Read returns a file's content.
func (p *Project) Read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(p.Path(name))
	p.check(err)
	return string(data)
}

// Remove removes a file, or a folder with all that is in it. What does not
// exist is fine.
func (p *Project) Remove(name string) {
	p.t.Helper()
	p.check(os.RemoveAll(p.Path(name)))
}

// Git runs git in the project, apart from the user's and the system's
// configuration, and returns its standard output.
func (p *Project) Git(args ...string) string {
	p.t.Helper()
	var out, errs strings.Builder
	cmd := exec.Command("git", args...)
	cmd.Dir = p.dir
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = p.GitEnv()
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("fakes: git %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String()
}

// GitEnv returns the whole environment in which [Project.Git] runs git: no
// configuration but the repository's, a fixed author and date, the C locale.
// Nothing of this process's environment is in it.
func (p *Project) GitEnv() []string {
	env := []string{
		"HOME=" + p.dir, "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(p.dir), "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Fake", "GIT_AUTHOR_EMAIL=fake@example.org", "GIT_AUTHOR_DATE=2024-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=Fake", "GIT_COMMITTER_EMAIL=fake@example.org", "GIT_COMMITTER_DATE=2024-01-01T00:00:00Z",
	}
	if git, err := exec.LookPath("git"); err == nil {
		env = append(env, "PATH="+filepath.Dir(git))
	}
	return env
}

func (p *Project) parent(name string) {
	p.t.Helper()
	p.check(os.MkdirAll(filepath.Dir(p.Path(name)), 0o755)) //nolint:gosec // the folders of a project are readable
}

func (p *Project) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("fakes: project: %v", err)
	}
}
