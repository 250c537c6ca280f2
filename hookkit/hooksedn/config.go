// Package hooksedn is .brepl/hooks.edn: where it is, whether it may be believed, and what it says. The stop hooks and the edit hooks read
// the same file by the same schema. Reading never evaluates anything.
//
// It serves the programs of this repository and carries no promise of stability.
package hooksedn

import (
	"path/filepath"
	"time"

	"github.com/hookkit/brepl/hookkit/proc"
	"github.com/hookkit/brepl/hookkit/project"
)

// Path is where the file is, below the project's directory.
const Path = ".brepl/hooks.edn"

// Bounds of the configuration file: a larger or deeper one is refused.
const (
	maxBytes = 1 << 20
	maxDepth = 512
)

// Config is a checked .brepl/hooks.edn.
type Config struct {
	Path string // the file, absolute
	Dir  string // the project's directory: hooks run here

	Hooks               []*Hook // :stop, in order
	Subagents           bool    // :subagents? — run for sub-agents too
	SkipWhileBackground bool    // :skip-while-background? — postpone while background tasks run
	InformUser          bool    // :inform :user — never spend an agent's turn on a report

	Exclude []string // :validate {:exclude …}: glob patterns of files that are broken on purpose, for [Matches]
	Eval    Eval     // :eval

	Doubts []Remark // what is probably a mistake but no error; `hook check` shows it

	src []byte
}

// Eval is what `hook eval` does after an edit.
type Eval struct {
	Exclude  []string // :exclude: glob patterns of files that are never loaded, for [Matches]
	KeepGone bool     // :unmap false: what left a file stays in the REPL
}

// Type says what runs a hook.
type Type string

// The types of hooks.
const (
	REPL  Type = ":repl"
	Bash  Type = ":bash"
	Tests Type = ":tests"
)

// Hook is one entry of :stop. The fields are those of the specification, with its defaults filled in.
type Hook struct {
	Type       Type
	Name       string
	Retry      bool          // :retry-on-failure? (old name :loop-on-failure?)
	MaxRetries int           // :max-retries; 0: no limit
	Required   bool          // :required?
	Timeout    time.Duration // :timeout, whole seconds

	Code string // :code as it is sent, for REPL

	Command string     // :command, for Bash
	Cwd     string     // :cwd, relative to the project
	Env     []proc.Var // :env

	Tests TestOptions // for Tests

	WhenChanged []string // :when-changed, glob patterns

	Source string // the entry as written: another text is another hook
}

// TestOptions say which tests a hook of :type :tests runs; the zero value: all.
type TestOptions struct {
	Namespaces  string   // :namespaces, a regular expression that is found in the name; "": what holds tests
	Paths       []string // :paths, glob patterns of files
	Exclude     []string // :exclude, the same
	Focus, Skip []string // :focus, :skip: keywords in the metadata of tests or namespaces, without the colon
	ChangedOnly bool     // :changed-only?, only what the changes since the last pass can reach
	// NamespaceTimeout is :namespace-timeout, how long one namespace may take, whole seconds; 0: half of the timeout.
	NamespaceTimeout time.Duration
}

// Budget is the longest time that all hooks together may take by their own timeouts.
func (c *Config) Budget() time.Duration {
	var sum time.Duration
	for _, h := range c.Hooks {
		sum += h.Timeout
	}
	return sum
}

// Locate finds the project whose hooks apply: the directory dir. Only when a host runs us, which hostDir
// (CLAUDE_PROJECT_DIR) tells, and dir has no configuration, the host's project directory and then its git root:
// that is where the host found the settings that called us, and a gate must not vanish
// because somebody stands in a sub-directory. ok is false when there is no configuration.
func Locate(dir, hostDir string) (root string, ok bool) {
	if dir != "" && project.Exists(filepath.Join(dir, Path)) {
		return dir, true
	}
	if hostDir == "" {
		return dir, false
	}
	if project.Exists(filepath.Join(hostDir, Path)) {
		return hostDir, true
	}
	if root, found := project.GitRoot(hostDir); found && project.Exists(filepath.Join(root, Path)) {
		return root, true
	}
	return dir, false
}
