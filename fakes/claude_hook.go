package fakes

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookkit/brepl/fakes/claudecode"
)

// HookRun is what one hook did at one event.
type HookRun struct {
	Event          string
	Command        string // as configured
	Source         string // the settings file
	StatusMessage  string // as configured
	Exit           int    // -1 when a signal ended it, or when it was not started
	Signal         string
	Stdout, Stderr string
	Duration       time.Duration
	Timeout        time.Duration // how long it may run
	TimedOut       bool
	StreamsHeld    bool // see [Outcome]
	NotStarted     bool
	Reaction       claudecode.Reaction // to this hook alone
}

// EventRun is one event, the hooks that ran for it in the order in which they
// completed, and what followed from all of them.
type EventRun struct {
	Event    string
	Input    string // what the hooks read, without the final newline
	Hooks    []HookRun
	Reaction claudecode.Reaction
}

// fire runs the hooks of an event and notes them in the transcript. value is
// what matchers are held against, input the tool's input.
func (c *Claude) fire(turn *Turn, a *actor, e Event, value string, input []byte) claudecode.Reaction {
	run := c.runHooks(turn, a, e, value, input, nil)
	toolUseID, _ := e.fields.get("tool_use_id").(string)
	c.log.hooks(a, value, run, toolUseID)
	return run.Reaction
}

// runHooks runs the hooks of an event; during runs once they have been
// started.
func (c *Claude) runHooks(turn *Turn, a *actor, e Event, value string, input []byte, during func()) EventRun {
	name, _ := e.fields.get("hook_event_name").(string)
	run := EventRun{Event: name, Input: e.JSON()}
	hooks, _ := claudecode.LoadHooks(c.settings())
	handlers := hooks.For(name, value, input)
	done := make(chan HookRun, len(handlers))
	var starting sync.WaitGroup
	starting.Add(len(handlers))
	for i, h := range handlers {
		go func() { done <- c.runHook(h, run.Input, value, a.cwd, i, sync.OnceFunc(starting.Done)) }()
	}
	starting.Wait()
	if during != nil {
		during()
	}
	reactions := make([]claudecode.Reaction, 0, len(handlers))
	for range handlers {
		h := <-done
		run.Hooks = append(run.Hooks, h)
		reactions = append(reactions, h.Reaction)
	}
	run.Reaction = claudecode.Combine(name, reactions)
	c.saveLongTexts(run.Reaction)
	turn.add(run, c.opts.headless)
	return run
}

// saveLongTexts writes the files that previews point to.
func (c *Claude) saveLongTexts(r claudecode.Reaction) {
	for _, t := range slices.Concat(r.Told, r.Shown) {
		if t.Saved != "" {
			_ = os.MkdirAll(filepath.Dir(t.Saved), 0o700)
			_ = os.WriteFile(t.Saved, []byte(t.Full), 0o600) // a preview without its file is the worst that can come of it
		}
	}
}

// hookEnv is the environment of a hook (the recordings' env).
func (c *Claude) hookEnv(event, value string, index int) []string {
	env := append(slices.Clone(c.env), HostEnv(c.dir, c.sessionID)...)
	if c.opts.headless {
		env = setEnv(setEnv(env, "CLAUDE_CODE_ENTRYPOINT", "sdk-cli"), "CLAUDE_CODE_SESSION_ATTENDED", "0")
	}
	env = append(env, "CLAUDE_CODE_CHILD_NOTES_DIR="+filepath.Join(c.sessionTemp(), "started"))
	if event != "SessionEnd" || value == "clear" { // a client that exits listens no more
		env = append(env, "CLAUDE_CODE_MESSAGING_SOCKET="+filepath.Join(c.home, ".claude", "tmp", "4242.sock"), "CLAUDE_CODE_MESSAGING_TOKEN="+strings.Repeat("0", 32))
	}
	switch event {
	case "SessionStart":
		file := filepath.Join(c.home, ".claude", "session-env", c.sessionID, fmt.Sprintf("sessionstart-hook-%d.sh", index))
		_ = os.MkdirAll(filepath.Dir(file), 0o700)
		env = append(env, "CLAUDE_ENV_FILE="+file)
		fallthrough
	case "SessionEnd", "UserPromptSubmit", "PreCompact", "PostCompact", "SubagentStart", "Notification":
		env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "CLAUDE_EFFORT=") })
	}
	return env
}

// sessionTemp is the session's folder for what does not last. The client has
// it in the system's temp folder.
func (c *Claude) sessionTemp() string {
	return filepath.Join(c.home, ".claude", "tmp", projectKey(c.dir), c.sessionID)
}

// runHook runs one handler to its end and judges it. started is called as soon
// as the process is there, or is known not to come.
func (c *Claude) runHook(h claudecode.Handler, event, value, cwd string, index int, started func()) HookRun {
	began := time.Now()
	run := HookRun{Event: h.Event, Command: h.Command, Source: h.Source, StatusMessage: h.StatusMessage, Timeout: h.Timeout, Exit: -1}
	err := c.exec(&run, h, event, value, cwd, index, started)
	started()
	run.Duration = time.Since(began)
	if err != nil {
		run.NotStarted = true
		run.Stderr = err.Error()
	}
	run.Reaction = claudecode.Judge(claudecode.Run{
		Event: h.Event, Value: value, Command: h.Command, Exit: run.Exit, Signal: run.Signal,
		Stdout: []byte(run.Stdout), Stderr: []byte(run.Stderr),
		TimedOut: run.TimedOut, StreamsHeld: run.StreamsHeld, NotStarted: run.NotStarted,
		SaveID:  strconv.FormatInt(c.saved.Add(1), 10),
		SaveDir: filepath.Join(strings.TrimSuffix(c.log.path, ".jsonl"), "tool-results"),
	})
	return run
}

func (c *Claude) exec(run *HookRun, h claudecode.Handler, event, value, cwd string, index int, started func()) error {
	env := c.hookEnv(h.Event, value, index)
	argv := claudecode.ShellCommand(h, c.dir)
	program, err := findProgram(argv[0], env)
	if err != nil {
		return err
	}
	cmd := exec.Command(program, argv[1:]...)
	cmd.Args[0] = argv[0]
	cmd.Dir, cmd.Env = cwd, env
	ownGroup(cmd)

	var ours, theirs closers
	defer ours.close()
	defer theirs.close()
	var ends [3]*os.File
	for i := range ends {
		child, parent, err := Spec{}.stream(i > 0)
		if err != nil {
			return err
		}
		theirs.add(child)
		ours.add(parent)
		ends[i] = parent
		switch i {
		case 0:
			cmd.Stdin = child
		case 1:
			cmd.Stdout = child
		case 2:
			cmd.Stderr = child
		}
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	theirs.close()
	started()
	c.follow(run, cmd, h.Timeout, event, ends)
	return nil
}

// follow feeds and reads a started hook until it is gone: at its timeout TERM
// goes to the group, KILL 1.5 s later, whether the hook itself is gone by then
// or not. The client goes on as soon as the hook is gone (recording
// stop-timeout).
func (c *Claude) follow(run *HookRun, cmd *exec.Cmd, timeout time.Duration, event string, ends [3]*os.File) {
	var feeding, reading sync.WaitGroup
	feeding.Go(func() {
		_, _ = ends[0].WriteString(event + "\n") // not reading its input is a hook's right
		_ = ends[0].Close()
	})
	var stdout, stderr capture
	reading.Go(func() { stdout.readAll(ends[1]) })
	reading.Go(func() { stderr.readAll(ends[2]) })

	var kill *time.Timer
	var mu sync.Mutex
	gone := false
	late := time.AfterFunc(timeout, func() {
		mu.Lock()
		defer mu.Unlock()
		if gone {
			return
		}
		run.TimedOut = true
		termGroup(cmd.Process)
		kill = time.AfterFunc(claudecode.KillAfter, func() { killGroup(cmd.Process) })
	})
	waitErr := cmd.Wait()
	late.Stop()
	mu.Lock()
	gone = true
	if kill != nil && !groupAlive(cmd.Process) {
		kill.Stop()
	}
	mu.Unlock()

	run.StreamsHeld = !drained(&reading, &stdout, &stderr, ends[1:])
	c.leftBehind(cmd.Process)
	for _, f := range ends {
		_ = f.Close() // ends the readers and the writer where somebody else holds the streams
	}
	feeding.Wait()
	reading.Wait()
	run.Exit, run.Signal = cmd.ProcessState.ExitCode(), signalName(cmd.ProcessState)
	run.Stdout, run.Stderr = stdout.text(), stderr.text()
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) {
		run.Stderr += fmt.Sprintf("\nfakes: waiting for the hook: %v", waitErr)
	}
}

// drained reports whether both streams came to their end within 0.5 s. On a
// busy machine readers that were late get one more turn.
func drained(reading *sync.WaitGroup, stdout, stderr *capture, ends []*os.File) bool {
	done := make(chan struct{})
	go func() {
		reading.Wait()
		close(done)
	}()
	hold := time.NewTimer(claudecode.StreamsHeldTimeout)
	defer hold.Stop()
	select {
	case <-done:
		return true
	case <-hold.C:
	}
	for _, f := range ends {
		_ = f.SetReadDeadline(time.Now().Add(turnLimit)) // where there are no deadlines, being late counts as held
	}
	select {
	case <-done:
		return !stdout.waited() && !stderr.waited()
	case <-time.After(2 * turnLimit):
		return false
	}
}

// findProgram looks a program up on the PATH of an environment that is not
// this process's.
func findProgram(name string, env []string) (string, error) {
	if strings.ContainsRune(name, '/') || filepath.IsAbs(name) {
		return name, nil
	}
	for _, dir := range filepath.SplitList(envValue(env, "PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, errNoProgram)
}
