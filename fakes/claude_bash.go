package fakes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookkit/brepl/fakes/claudecode"
)

func (c *Claude) bash(a *actor, command string, description []string) *Turn {
	input := bashInput(command)
	if len(description) > 0 {
		input.set("description", description[0])
	}
	return c.use(a, "Bash "+firstLine(command), call{
		name: "Bash", input: input,
		run: func(t *Turn, input json.RawMessage) outcome { return c.runBash(t, a, input) },
	})
}

type bashCall struct {
	Command     *string  `json:"command"`
	Description string   `json:"description"`
	Timeout     *float64 `json:"timeout"` // milliseconds
	Background  bool     `json:"run_in_background"`
}

// runBash runs a command as the Bash tool does: standard error merged into
// standard output, the folder it ends in kept.
func (c *Claude) runBash(t *Turn, a *actor, input json.RawMessage) outcome {
	var in bashCall
	if claudecode.ReadFields(input, &in) != nil || in.Command == nil {
		return invalidInput("Bash")
	}
	limit := c.opts.limit
	if in.Timeout != nil && *in.Timeout > 0 {
		limit = min(limit, time.Duration(*in.Timeout*float64(time.Millisecond)))
	}
	before := takeStamps(c.dir)
	where, err := os.CreateTemp("", "fake-claude-cwd-")
	if err != nil {
		return outcome{failure: err.Error()}
	}
	_ = where.Close()
	defer func() { _ = os.Remove(where.Name()) }()
	cmd, err := c.command(a, `trap 'pwd -P >"$2"' EXIT; eval "$1"`, *in.Command, where.Name())
	if err != nil {
		return outcome{failure: err.Error()}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 500 * time.Millisecond // a child in the background may hold the streams
	if err := cmd.Start(); err != nil {
		return outcome{failure: err.Error()}
	}
	timer := time.AfterFunc(limit, func() { killGroup(cmd.Process) })
	_ = cmd.Wait() // the exit code tells
	timedOut := !timer.Stop()
	if data, err := os.ReadFile(where.Name()); err == nil && len(bytes.TrimSpace(data)) > 0 {
		a.cwd = strings.TrimSuffix(string(data), "\n")
	}
	t.stamped(before, takeStamps(c.dir), c.dir)
	c.leftBehind(cmd.Process)
	code := cmd.ProcessState.ExitCode()
	switch {
	case timedOut:
		return outcome{failure: fmt.Sprintf("Command timed out after %v\n%s", limit, strings.TrimRight(out.String(), "\n"))}
	case code != 0:
		if code < 0 {
			code = 137
		}
		return outcome{failure: fmt.Sprintf("Exit code %d\n%s", code, strings.TrimRight(out.String(), "\n"))}
	}
	text := strings.Trim(out.String(), "\n")
	return outcome{result: text, response: object{
		{"stdout", text}, {"stderr", ""}, {"interrupted", false}, {"isImage", false}, {"noOutputExpected", false},
	}}
}

// command makes a command of the Bash tool: script gets args from $1 on.
func (c *Claude) command(a *actor, script string, args ...string) (*exec.Cmd, error) {
	shell, err := findProgram("bash", c.env)
	if err != nil {
		if shell, err = findProgram("sh", c.env); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(shell, append([]string{"-c", script, "bash"}, args...)...)
	cmd.Dir = a.cwd
	cmd.Env = append(slices.Clone(c.env), "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID="+c.sessionID)
	ownGroup(cmd)
	return cmd, nil
}

// stamp tells whether a file changed without reading it.
type stamp struct {
	size int64
	time time.Time
}

// maxStamps bounds how many files are looked at around a command.
const maxStamps = 5_000

// takeStamps looks at the files of a project, .git and node_modules left out.
// nil: there are too many to say what a command changed.
func takeStamps(dir string) map[string]stamp {
	stamps := map[string]stamp{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read is not looked at
		}
		if d.IsDir() {
			if d.Name() == ".git" || d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		if len(stamps) >= maxStamps {
			return os.ErrInvalid
		}
		if info, err := d.Info(); err == nil {
			stamps[path] = stamp{info.Size(), info.ModTime()}
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return stamps
}

// stamped notes what a command changed; the content before is not known.
func (t *Turn) stamped(before, after map[string]stamp, dir string) {
	if before == nil || after == nil {
		return
	}
	var changes []FileChange
	for path, now := range after {
		was, had := before[path]
		if !had || was != now {
			changes = append(changes, FileChange{Path: slashPath(dir, path), After: stateOf(path).content, Created: !had})
		}
	}
	for path := range before {
		if _, has := after[path]; !has {
			changes = append(changes, FileChange{Path: slashPath(dir, path), Removed: true})
		}
	}
	slices.SortFunc(changes, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	t.Files = append(t.Files, changes...)
}

func slashPath(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}
