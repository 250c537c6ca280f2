package fakes

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookkit/brepl/fakes/claudecode"
)

// Claude plays Claude Code 2.1.329: it reads the project's real settings
// files, fires the events of a session around turns that the test scripts,
// runs the hooks as real processes, and takes their answers as the client
// does; the rules are those of [claudecode]. There is no model: a turn method
// says what the agent does next, and the [Turn] it returns says what came of
// it.
//
//	claude := fakes.NewClaude(t, dir)
//	claude.Write("src/a.clj", "(ns a)\n")
//	stop := claude.Stop()
//	assert.Assert(t, !stop.Blocked, claude.Story())
//
// What a session needs and the test leaves out happens by itself: the first
// turn starts the session, and a turn without a prompt before it is prompted.
// A Claude is for one goroutine at a time; many of them can run side by side.
type Claude struct {
	t    T // nil: made by StartClaude
	opts claudeOptions
	dir  string // where the session was started
	home string
	env  []string // of hooks and commands, without the client's own variables

	sessionID string
	sessions  []string
	promptID  string
	prompts   int
	toolUses  int
	agents    int
	saved     atomic.Int64 // runs of hooks, for the names of files that hold long texts
	uuids     atomic.Int64 // of lines in the transcripts
	started   bool
	exited    bool
	refused   bool // the last prompt

	main  *actor
	tasks []*task
	known map[string]bool // files whose content the agent has seen

	log   *transcript
	turns []*Turn

	mu        sync.Mutex
	leftovers []*os.Process
	removeTmp string
}

// actor is the agent, or one of its sub-agents.
type actor struct {
	id, kind string // "" of the agent itself
	cwd      string
	working  bool // between a prompt and the stop that was let go
	active   bool // stop_hook_active
	cap      *claudecode.Cap
	log      string // agent_transcript_path
	parent   any    // uuid of the last line in the transcript, nil at first
}

type claudeOptions struct {
	env      []string
	home     string
	mode     string
	session  string
	model    string
	headless bool
	approve  func(tool string, input json.RawMessage) bool
	allow    map[string]bool
	limit    time.Duration
	lag      time.Duration
}

// ClaudeOption changes a [Claude].
type ClaudeOption func(*claudeOptions)

// ClaudeEnv is the whole environment of the client, to which it adds its own
// variables for the hooks. Without it: that of this process, without what
// another agent put there, and with a fresh HOME.
func ClaudeEnv(env []string) ClaudeOption { return func(o *claudeOptions) { o.env = env } }

// ClaudeHome is the user's home folder: .claude/settings.json and the
// transcripts are there. Without it: HOME of [ClaudeEnv], else a fresh folder.
// [NewClaude] takes a fresh folder too where that HOME is this process's own,
// so that no test reads or writes the home of whoever runs it.
func ClaudeHome(dir string) ClaudeOption { return func(o *claudeOptions) { o.home = dir } }

// ClaudeMode is the permission mode: "default", "acceptEdits" (what it is
// without this option), "plan" or "bypassPermissions".
func ClaudeMode(mode string) ClaudeOption { return func(o *claudeOptions) { o.mode = mode } }

// ClaudeApprove is the user who is asked for permission. Without it the user
// says yes.
func ClaudeApprove(f func(tool string, input json.RawMessage) bool) ClaudeOption {
	return func(o *claudeOptions) { o.approve = f }
}

// ClaudeAllow names the tools that need no permission in any mode. Without it:
// Bash and Agent, as in most of the recorded sessions.
func ClaudeAllow(tools ...string) ClaudeOption {
	return func(o *claudeOptions) {
		o.allow = map[string]bool{}
		for _, name := range tools {
			o.allow[name] = true
		}
	}
}

// ClaudeSession is the session's id. Without it every session has its own, so
// that hooks which keep state by session do not meet.
func ClaudeSession(id string) ClaudeOption { return func(o *claudeOptions) { o.session = id } }

// ClaudeHeadless makes it a session without a user, as with "claude -p":
// texts for the screen are not shown, and a permission that nobody grants by
// [ClaudeApprove] is refused.
func ClaudeHeadless() ClaudeOption { return func(o *claudeOptions) { o.headless = true } }

// ClaudeLimit is how long a command of the Bash tool may run. Without it: two
// minutes.
func ClaudeLimit(d time.Duration) ClaudeOption { return func(o *claudeOptions) { o.limit = d } }

// ClaudeLag is how long after the start of the Stop hooks the agent's last
// message appears in the transcript. Without it: 20 ms; 7 to 98 ms were
// observed. Nothing waits for it: when the hooks are done, it is there.
func ClaudeLag(d time.Duration) ClaudeOption { return func(o *claudeOptions) { o.lag = d } }

// NewClaude makes a session in dir for one test, which may be a sub-folder of
// the project. Nothing runs before the first turn. Background tasks and what
// hooks left behind end with the test.
//
// The whole test of a hook of one's own:
//
//	func TestMyHook(t *testing.T) {
//		project := fakes.NewProject(t, map[string]string{
//			".claude/settings.json": `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"sh tests.sh"}]}]}}`,
//			"tests.sh":              `grep -q '(ns a)' src/a.clj || { echo "src/a.clj has no namespace" >&2; exit 2; }`,
//		})
//		claude := fakes.NewClaude(t, project.Dir())
//		claude.Write("src/a.clj", "(def x 1)\n")
//		stop := claude.Stop()
//		assert.Equal(t, stop.ToldText(), "Stop hook feedback:\n[sh tests.sh]: src/a.clj has no namespace\n")
//		claude.Write("src/a.clj", "(ns a)\n(def x 1)\n")
//		assert.Assert(t, !claude.Stop().Blocked, claude.Story())
//	}
func NewClaude(t T, dir string, opts ...ClaudeOption) *Claude {
	t.Helper()
	c, err := newClaude(dir, opts, envValue(new(exec.Cmd).Environ(), "HOME"), func() (string, error) { return t.TempDir(), nil })
	if err != nil {
		t.Fatalf("fakes: claude: %v", err)
	}
	c.t = t
	t.Cleanup(c.Close)
	return c
}

// StartClaude is [NewClaude] without a test. Call Close at the end. What would
// fail a test is a turn in which nothing happens: see [Turn.Skipped].
func StartClaude(dir string, opts ...ClaudeOption) (*Claude, error) {
	tmp := ""
	c, err := newClaude(dir, opts, "", func() (string, error) {
		var err error
		tmp, err = os.MkdirTemp("", "fake-claude-")
		return tmp, err
	})
	if err != nil {
		return nil, err
	}
	c.removeTmp = tmp
	return c, nil
}

// newClaude makes a session; notHome is a home that [ClaudeEnv] does not give.
func newClaude(dir string, opts []ClaudeOption, notHome string, tempDir func() (string, error)) (*Claude, error) {
	o := claudeOptions{
		mode: "acceptEdits", model: "claude-opus-5-5", limit: 2 * time.Minute, lag: 20 * time.Millisecond,
		allow: map[string]bool{"Bash": true, "Agent": true},
	}
	for _, opt := range opts {
		opt(&o)
	}
	switch o.mode {
	case "default", "acceptEdits", "plan", "bypassPermissions":
	default:
		return nil, fmt.Errorf("no permission mode %q: it is default, acceptEdits, plan or bypassPermissions", o.mode)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("the project's folder: %w", err)
	}
	env, home := o.env, o.home
	if env == nil {
		env = new(exec.Cmd).Environ() // this process's
	} else if home == "" {
		home = envValue(env, "HOME")
		if home == notHome {
			home = ""
		}
	}
	if home == "" {
		if home, err = tempDir(); err != nil {
			return nil, err
		}
	}
	c := &Claude{
		opts: o, dir: dir, home: home, known: map[string]bool{},
		env: setEnv(WithoutHostEnv(env), "HOME", home),
	}
	capValue := envValue(o.env, claudecode.CapVariable)
	if capValue != "" {
		c.env = setEnv(c.env, claudecode.CapVariable, capValue)
	}
	c.main = &actor{cwd: dir, cap: claudecode.NewCap(capValue)}
	c.newSession(o.session)
	return c, nil
}

// sessionCount makes the ids of sessions of one process differ.
var sessionCount atomic.Int64

func (c *Claude) newSession(id string) {
	if id == "" {
		id = fmt.Sprintf("%08x-%04x-4111-8111-%012x", uint32(time.Now().UnixNano()), uint16(os.Getpid()), sessionCount.Add(1)) //nolint:gosec // only its low bits count
	}
	c.sessionID = id
	c.sessions = append(c.sessions, id)
	c.main.parent = nil
	c.log = newTranscript(c)
}

// SessionID returns the id of the session as it is now; /clear changes it.
func (c *Claude) SessionID() string { return c.sessionID }

// Sessions returns the ids of all sessions so far, in order.
func (c *Claude) Sessions() []string { return slices.Clone(c.sessions) }

// Transcript returns the path of the session's transcript. The file appears
// with the first prompt.
func (c *Claude) Transcript() string { return c.log.path }

// Dir returns the folder in which the session was started.
func (c *Claude) Dir() string { return c.dir }

// Home returns the user's home folder.
func (c *Claude) Home() string { return c.home }

// Turns returns every turn so far, those included that happened by
// themselves.
func (c *Claude) Turns() []*Turn { return slices.Clone(c.turns) }

// Close ends background tasks and processes that hooks left behind in their
// process group. It fires no event: [Claude.Exit] does.
func (c *Claude) Close() {
	for _, task := range c.tasks {
		task.kill()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.leftovers {
		killGroup(p)
	}
	c.leftovers = nil
	if c.removeTmp != "" {
		_ = os.RemoveAll(c.removeTmp) // in the system's temp folder; the system sweeps it too
		c.removeTmp = ""
	}
}

// leftBehind notes an ended process whose group still has somebody in it.
func (c *Claude) leftBehind(p *os.Process) {
	if !groupAlive(p) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leftovers = append(c.leftovers, p)
}

// Dropped returns what the client ignores of the settings files as they are
// now. The client itself does not say so.
func (c *Claude) Dropped() []claudecode.Dropped {
	_, dropped := claudecode.LoadHooks(c.settings())
	return dropped
}

// settings reads the settings files: the user's, the project's, the local one
// of the git repository's root, the local one of the start folder. Only the
// local file is found from a sub-folder (recording start-in-subdir).
func (c *Claude) settings() []claudecode.Source {
	files := []claudecode.Source{
		{Scope: "user", Path: filepath.Join(c.home, ".claude", "settings.json")},
		{Scope: "project", Path: filepath.Join(c.dir, ".claude", "settings.json")},
	}
	if root := gitRoot(c.dir); root != "" && root != c.dir {
		files = append(files, claudecode.Source{Scope: "local", Path: filepath.Join(root, ".claude", "settings.local.json")})
	}
	files = append(files, claudecode.Source{Scope: "local", Path: filepath.Join(c.dir, ".claude", "settings.local.json")})
	found := files[:0]
	seen := map[string]bool{}
	for _, f := range files {
		data, err := os.ReadFile(f.Path)
		if err != nil || seen[f.Path] {
			continue // a file that cannot be read is not there
		}
		seen[f.Path] = true
		f.Data = data
		found = append(found, f)
	}
	return found
}

func gitRoot(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// envValue returns the last value of a variable, as a shell would see it.
func envValue(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			return v
		}
	}
	return ""
}

// setEnv returns env with the variable set once.
func setEnv(env []string, name, value string) []string {
	set := make([]string, 0, len(env)+1)
	for _, v := range env {
		if !strings.HasPrefix(v, name+"=") {
			set = append(set, v)
		}
	}
	return append(set, name+"="+value)
}

var errNoProgram = errors.New("not found on the PATH")
