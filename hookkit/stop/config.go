package stop

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hookkit/brepl/hookkit/proc"
	"github.com/hookkit/brepl/hookkit/project"
)

// ConfigPath is where the hooks are, below the project's directory.
const ConfigPath = ".brepl/hooks.edn"

// Bounds of the configuration file: a larger or deeper one is refused.
const (
	maxConfigBytes = 1 << 20
	maxConfigDepth = 512
)

// Config is a checked .brepl/hooks.edn.
type Config struct {
	Path string // the file, absolute
	Dir  string // the project's directory: hooks run here

	Hooks               []*Hook // :stop, in order
	Subagents           bool    // :subagents? — run for sub-agents too
	SkipWhileBackground bool    // :skip-while-background? — postpone while background tasks run
	InformUser          bool    // :inform :user — never spend an agent's turn on a report

	Doubts []Remark // what is probably a mistake but no error; `hook check` shows it

	src []byte
}

// Type says what runs a hook.
type Type string

// The types of hooks.
const (
	REPL Type = ":repl"
	Bash Type = ":bash"
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

	WhenChanged []string // :when-changed, glob patterns

	source string // the entry as written: another text is another hook for :when-changed
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
	if dir != "" && project.Exists(filepath.Join(dir, ConfigPath)) {
		return dir, true
	}
	if hostDir == "" {
		return dir, false
	}
	if project.Exists(filepath.Join(hostDir, ConfigPath)) {
		return hostDir, true
	}
	if root, found := project.GitRoot(hostDir); found && project.Exists(filepath.Join(root, ConfigPath)) {
		return root, true
	}
	return dir, false
}

// Load reads and checks the configuration of the project in dir. All errors are reported at once,
// as a *ConfigError. Reading never evaluates anything.
func Load(dir string) (*Config, error) {
	path := filepath.Join(dir, ConfigPath)
	data, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	return parse(path, dir, data)
}

func readConfig(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the hooks: %w", err)
	}
	if err = checkTrust(path, info); err != nil {
		return nil, err
	}
	if info.Size() > maxConfigBytes {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that a configuration may have", path, info.Size(), maxConfigBytes)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the hooks: %w", err)
	}
	return data, nil
}

// checkTrust refuses a file that somebody else could have written: its commands would run as the user.
func checkTrust(path string, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case worldWritable(info):
		return fmt.Errorf("%s can be written by every user of this machine, so its hooks are not run; `chmod o-w %s`", path, path)
	case foreignOwner(info):
		return fmt.Errorf("%s belongs to another user, so its hooks are not run; copy it or change its owner", path)
	}
	return nil
}

// TimeNeeded is the longest time that the stop hooks of the project in dir may take together; 0 without a configuration.
func TimeNeeded(dir string) (time.Duration, error) {
	if !project.Exists(filepath.Join(dir, ConfigPath)) {
		return 0, nil
	}
	config, err := Load(dir)
	if err != nil {
		return 0, err
	}
	return config.Budget(), nil
}
