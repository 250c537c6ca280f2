//go:build unix

package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
)

// builtHookkit is the real program: signals and the end of a process cannot be tested within ours.
var builtHookkit = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hookkit-test-")
	if err != nil {
		return "", err
	}
	atEnd = append(atEnd, func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "hookkit")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, "../../cmd/hookkit").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("cannot build cmd/hookkit: %w\n%s", err, out)
	}
	return path, nil
})

func hookkitBinary(t *testing.T) string {
	t.Helper()
	path, err := builtHookkit()
	assert.NilError(t, err)
	return path
}

// bench is a project, a home and a folder for recordings.
type bench struct {
	t                  *testing.T
	project, home, dir string
	transcript         string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	assert.NilError(t, err)
	b := &bench{t: t, home: filepath.Join(root, "marlene"), dir: filepath.Join(root, "recordings")}
	b.project = filepath.Join(b.home, "src", "shop")
	b.transcript = filepath.Join(b.home, "t.jsonl")
	assert.NilError(t, os.MkdirAll(b.project, 0o700))
	return b
}

func (b *bench) env(more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + b.home, "USER=marlene", "TMPDIR=" + b.home, "CLAUDE_PROJECT_DIR=" + b.project, "CLAUDE_PID=777",
		"CLAUDE_CODE_MESSAGING_TOKEN=abcdef", "CLAUDE_CODE_SESSION_ID=" + sessionUUID, "NOT_RECORDED=x",
	}, more...)
}

func (b *bench) event(more string) string {
	return `{"session_id":"` + sessionUUID + `","transcript_path":"` + b.transcript + `","cwd":"` + b.project + `","hook_event_name":"Stop","stop_hook_active":false` + more + `}`
}

// run runs hookkit record; without is the same command without us.
func (b *bench) run(in fakes.Stdin, command ...string) (with, without fakes.Outcome) {
	b.t.Helper()
	args := append([]string{"record", "--dir", b.dir, "--"}, command...)
	with = fakes.Run(b.t, fakes.Spec{Path: hookkitBinary(b.t), Args: args, Dir: b.project, Env: b.env()}, in)
	without = fakes.Run(b.t, fakes.Spec{Path: command[0], Args: command[1:], Dir: b.project, Env: b.env()}, in)
	return with, without
}

// recorded is the only recording.
func (b *bench) recorded() *Recording {
	b.t.Helper()
	paths, err := filepath.Glob(filepath.Join(b.dir, "session-*[0-9a-f].jsonl"))
	assert.NilError(b.t, err)
	assert.Equal(b.t, len(paths), 1, "%q", paths)
	r, err := ReadRecording(paths[0])
	assert.NilError(b.t, err)
	return r
}

func TestRecordDoesNotShow(t *testing.T) {
	// Pins "a hook must not notice": streams, exit code, signal and held streams are as without us.
	t.Parallel()
	tests := []struct {
		name  string
		in    func(event string) fakes.Stdin
		shell string
	}{
		{"a block", fakes.OneLine, `cat >/dev/null; echo '{"systemMessage":"x"}'; echo why >&2; exit 2`},
		{"reads its event", fakes.OneLine, `cat`},
		{"never reads", fakes.OneLine, `exit 1`},
		{"stdin held open", fakes.HeldOpen, `head -n1`},
		{"stdin chunked", func(e string) fakes.Stdin { return fakes.Chunked(e+"\n", 7) }, `head -n1`},
		{"no event", func(string) fakes.Stdin { return fakes.EmptyOpen() }, `echo hi`},
		{"end of input at once", func(string) fakes.Stdin { return fakes.EOF() }, `cat; echo end`},
		{"no stdin", func(string) fakes.Stdin { return fakes.DevNull() }, `cat; echo end`},
		{"half an event", fakes.HalfEOF, `cat`},
		{"bytes that are no text", func(string) fakes.Stdin { return fakes.Bytes([]byte("\xff\x00\xfe")) }, `cat; printf '\377\000' >&2`},
		{"much output", fakes.OneLine, `head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2`},
		{"opens /dev/stdin", fakes.OneLine, `cat </dev/stdin; echo $?`},
		{"ends by SIGKILL", fakes.OneLine, `kill -9 $$`},
		{"ends by SIGTERM", fakes.OneLine, `kill $$`},
		{"ends by SIGSEGV", fakes.OneLine, `ulimit -c 0; kill -11 $$`},
		{"exit code 77", fakes.OneLine, `exit 77`},
		{"a child holds the streams", fakes.OneLine, `echo '{}'; sleep 2 & exit 0`},
		{"a child that soon ends", fakes.OneLine, `(sleep 0.2; echo late) & exit 0`},
		{"working directory and environment", fakes.OneLine, `pwd; echo $HOME $NOT_RECORDED $CLAUDE_PID`},
		{"SIGPIPE", fakes.OneLine, `yes | head -n1; echo $?`},
		{"ignored signals", fakes.OneLine, `grep -i '^Sig[IB]' /proc/self/status 2>/dev/null | tail -n2`},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			with, without := b.run(c.in(b.event("")), "sh", "-c", c.shell)
			with.Elapsed, without.Elapsed, with.AfterBrace, without.AfterBrace = 0, 0, 0, 0
			assert.DeepEqual(t, with, without)
			if c.name == "a child that soon ends" {
				assert.Equal(t, with.Stdout, "late\n")
			}
		})
	}
}

func TestRecordSharesTheGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	// Pins "process group": the client's TERM to the group reaches the hook once, and its KILL leaves nothing.
	b := newBench(t)
	log := filepath.Join(b.home, "log")
	cmd := exec.Command(hookkitBinary(t), "record", "--dir", b.dir, "--", "sh", "-c",
		`trap 'echo term >>"`+log+`"' TERM; echo ready >>"`+log+`"; while :; do sleep 0.05; done`)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = b.env(), b.project, &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	_, err = io.WriteString(stdin, b.event("")+"\n")
	assert.NilError(t, err)
	waitFor(t, func() bool { return readAll(log) == "ready\n" })
	assert.NilError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM))
	waitFor(t, func() bool { return readAll(log) == "ready\nterm\n" })
	time.Sleep(300 * time.Millisecond)
	assert.Equal(t, readAll(log), "ready\nterm\n") // once
	// Before the client's KILL, 1.5 s after its TERM, the call is on the disk; the file is there a moment earlier, with its head alone.
	waitFor(t, func() bool {
		found, _ := filepath.Glob(filepath.Join(b.dir, "session-*[0-9a-f].jsonl"))
		if len(found) != 1 {
			return false
		}
		_, notYet := ReadRecording(found[0])
		return notYet == nil
	})
	assert.NilError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
	err = cmd.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	assert.Assert(t, ok, "%v", err)
	assert.Equal(t, exit.Sys().(syscall.WaitStatus).Signal(), syscall.SIGKILL)
	waitFor(t, func() bool { return errors.Is(syscall.Kill(-cmd.Process.Pid, 0), syscall.ESRCH) })
	assert.Equal(t, b.recorded().Calls[0].Hook.TimedOut, true)
}

func TestRecordPassesALoneSignalOn(t *testing.T) {
	b := newBench(t)
	log := filepath.Join(b.home, "log")
	cmd := exec.Command(hookkitBinary(t), "record", "--dir", b.dir, "--", "sh", "-c",
		`trap 'exit 3' TERM; echo ready >"`+log+`"; while :; do sleep 0.05; done`)
	cmd.Env, cmd.Dir = b.env(), b.project
	assert.NilError(t, cmd.Start())
	waitFor(t, func() bool { return readAll(log) == "ready\n" })
	assert.NilError(t, cmd.Process.Signal(syscall.SIGTERM))
	assert.ErrorContains(t, cmd.Wait(), "exit status 3")
}

func TestRecordFailsOpen(t *testing.T) {
	// Pins "our own failure must never change the hook's outcome".
	tests := []struct {
		name string
		args []string
		env  []string
	}{
		{"an unknown flag", []string{"record", "--nope", "--"}, nil},
		{"a folder that cannot be made", []string{"record", "--dir", "/dev/null/x", "--"}, nil},
		{"no folder at all", []string{"record", "--"}, []string{"HOME=", "XDG_STATE_HOME="}},
		{"--dir without a value", []string{"record", "--dir", "--"}, nil},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			got := fakes.Run(t, fakes.Spec{
				Path: hookkitBinary(t), Args: append(c.args, "sh", "-c", "cat; echo no >&2; exit 2"), Dir: b.project, Env: b.env(c.env...),
			}, fakes.OneLine(b.event("")))
			assert.Equal(t, got.Stdout, b.event("")+"\n")
			assert.Equal(t, got.Stderr, "no\n")
			assert.Equal(t, got.Exit, 2)
		})
	}
	b := newBench(t)
	got := fakes.Run(t, fakes.Spec{Path: hookkitBinary(t), Args: []string{"record", "--", "no-such-program"}, Dir: b.project, Env: b.env()}, fakes.EOF())
	assert.Equal(t, got.Exit, 127)
	assert.Equal(t, got.Stderr, "hookkit record: no-such-program: not found\n")
	got = fakes.Run(t, fakes.Spec{Path: hookkitBinary(t), Args: []string{"record", "cat"}, Dir: b.project, Env: b.env()}, fakes.EOF())
	assert.Equal(t, got.Exit, 1)
	assert.Assert(t, cmp.Contains(got.Stderr, "-- and a command are missing"))
}

func TestRecordWritesTheFormat(t *testing.T) {
	b := newBench(t)
	assert.NilError(t, os.MkdirAll(filepath.Join(b.project, ".claude"), 0o700))
	assert.NilError(t, os.WriteFile(filepath.Join(b.project, ".claude", "settings.local.json"), []byte(`{"hooks": {"Stop": []}, "x": "`+b.home+`"}`), 0o600))
	assert.NilError(t, os.WriteFile(b.transcript, []byte(`{"type":"user","cwd":"`+b.project+`"}`+"\n"+`{"half`), 0o600))
	_, _ = b.run(fakes.OneLine(b.event("")), "sh", "-c", `cat >/dev/null; echo '{"decision":"approve"}'; pwd >&2; exit 1`)
	r := b.recorded()
	assert.Equal(t, r.Header.Version, 1)
	assert.Equal(t, string(r.Settings), `{"hooks":{"Stop":[]},"x":"/home/dev"}`)
	assert.Equal(t, len(r.Calls), 1)
	c := r.Calls[0]
	assert.Assert(t, c.Hook.DurationMS > 0)
	one := 1
	assert.DeepEqual(t, c, Call{
		Seq: 1, Event: "Stop", Cwd: "/project",
		Command: `sh -c 'cat >/dev/null; echo '\''{"decision":"approve"}'\''; pwd >&2; exit 1'`,
		Stdin: json.RawMessage(`{"session_id":"11111111-1111-4111-8111-000000000001","transcript_path":"/home/dev/t.jsonl","cwd":"/project",` +
			`"hook_event_name":"Stop","stop_hook_active":false}`),
		StdinBytes: len(b.event("")) + 1, StdinEndsWithNewline: true, StdinEOF: true,
		Transcript: TranscriptMark{Exists: true, Lines: 1},
		Env: map[string]string{
			"CLAUDE_PROJECT_DIR": "/project", "CLAUDE_PID": "4242", "CLAUDE_CODE_MESSAGING_TOKEN": "000000",
			"CLAUDE_CODE_SESSION_ID": "11111111-1111-4111-8111-000000000001",
		},
		Hook: Answer{Stdout: "{\"decision\":\"approve\"}\n", Stderr: "/project\n", Exit: &one, DurationMS: c.Hook.DurationMS},
	})
	assert.DeepEqual(t, r.transcripts[r.Sessions()[0]], []string{"{\"type\":\"user\",\"cwd\":\"/project\"}\n"})

	// The line that was being written comes with the next call.
	f, err := os.OpenFile(b.transcript, os.O_APPEND|os.O_WRONLY, 0)
	assert.NilError(t, err)
	_, err = f.WriteString("\":1}\n")
	assert.NilError(t, errors.Join(err, f.Close()))
	_, _ = b.run(fakes.OneLine(b.event("")), "true")
	r = b.recorded()
	assert.Equal(t, r.Calls[1].Seq, 2)
	assert.Assert(t, r.Calls[1].TMS > 0)
	assert.DeepEqual(t, r.transcripts[r.Sessions()[0]], []string{"{\"type\":\"user\",\"cwd\":\"/project\"}\n", "{\"half\":1}\n"})
}

// TestRecordWritesNoRawValue pins "the raw value must never hit the disk": all kinds are planted in all streams, in the environment and
// in the transcript, and a watcher reads every file that ever is in the folders that we can write to.
func TestRecordWritesNoRawValue(t *testing.T) {
	b := newBench(t)
	var all strings.Builder
	for _, c := range planted {
		if !strings.HasPrefix(c.name, "private key cut") {
			all.WriteString(c.text + "\n")
		}
	}
	text, err := json.Marshal(all.String())
	assert.NilError(t, err)
	outside := t.TempDir()
	b.transcript = filepath.Join(outside, "t.jsonl")
	assert.NilError(t, os.WriteFile(b.transcript, []byte(`{"message":`+string(text)+"}\n"), 0o600))
	event := b.event(`,"prompt":` + string(text))
	done := make(chan struct{})
	var watching sync.WaitGroup
	var seen bytes.Buffer
	watching.Go(func() {
		for {
			readTree(b.home, &seen)
			readTree(b.dir, &seen)
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	spec := fakes.Spec{
		Path: hookkitBinary(t), Args: []string{"record", "--dir", b.dir, "--", "sh", "-c", "cat; printf '%s' \"$CLAUDE_X\" >&2"},
		Dir: b.project, Env: b.env("CLAUDE_X=" + all.String()),
	}
	got := fakes.Run(t, spec, fakes.OneLine(event))
	close(done)
	watching.Wait()
	assert.Equal(t, got.Stdout, event+"\n") // the hook itself has seen all
	assert.Equal(t, got.Stderr, all.String())
	readTree(b.dir, &seen)
	written := strings.ReplaceAll(seen.String(), `\`, "")
	assert.Assert(t, cmp.Contains(written, "stand-in-anthropic-key-1"))
	for _, c := range planted {
		switch c.name {
		case "home path", "project path", "folder of the client", "user name", "host name": // of another machine than this
			continue
		}
		assert.Assert(t, !strings.Contains(written, strings.ReplaceAll(c.raw, `\`, "")), "%s was written", c.name)
	}
	assert.Assert(t, !strings.Contains(written, b.project))
	assert.Assert(t, !strings.Contains(written, sessionUUID))
	assert.Assert(t, !strings.Contains(strings.ToLower(written), "marlene"))
}

// TestRecordSixTokens pins that none of six tokens is in what people share. Five were, which memory-triage knew.
func TestRecordSixTokens(t *testing.T) {
	tokens := []string{
		glue("gl", "rt-2CR8eVxiio1QmzPZwaB4"), glue("hv", "s.CAESIJ1b2C3d4E5f6G7h8I9j0K"), glue("dckr", "_pat_1b2C3d4E5f6G7h8I9j0K"),
		glue("lin", "_api_1b2C3d4E5f6G7h8I9j0K1l2M"), glue("pscale", "_pw_1b2C3d4E5f6G7h8I9j0K1l2M"), glue("shp", "at_0a1b2c3d4e5f60718293a4b5c6d7e8f9"),
	}
	b := newBench(t)
	prompt := "Use " + strings.Join(tokens, ", ") + "."
	assert.NilError(t, os.WriteFile(b.transcript, []byte(`{"type":"user","message":{"content":"`+prompt+`"}}`+"\n"), 0o600))
	event := b.event(`,"prompt":"` + prompt + `"`)
	spec := fakes.Spec{Path: hookkitBinary(t), Args: []string{"record", "--dir", b.dir, "--", "sh", "-c", "cat; echo '" + prompt + "' >&2"}, Dir: b.project, Env: b.env()}
	got := fakes.Run(t, spec, fakes.OneLine(event))
	assert.Equal(t, got.Stdout, event+"\n") // the hook itself has seen them
	var written bytes.Buffer
	readTree(b.dir, &written)
	for _, token := range tokens {
		for _, part := range []string{token, token[len(token)-8:]} {
			assert.Check(t, !strings.Contains(written.String(), part), "%s was written", token)
		}
	}
	const want = "Use stand-in-gitlab-token-1, stand-in-vault-token-1, stand-in-docker-token-1, stand-in-linear-key-1, stand-in-planetscale-token-1, stand-in-shopify-token-1."
	assert.Equal(t, strings.Count(written.String(), want), 5, written.String()) // event and transcript, the command, both streams
}

// readTree adds the names and the contents of all files.
func readTree(dir string, to *bytes.Buffer) {
	_ = fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it comes and goes
		}
		to.WriteString(path + "\n")
		if !d.IsDir() {
			data, _ := os.ReadFile(filepath.Join(dir, path)) // it comes and goes
			to.Write(data)
		}
		return nil
	})
}

// TestRecordThenReplay pins that the two commands understand each other: what was recorded here is the same when it is played.
func TestRecordThenReplay(t *testing.T) {
	b := newBench(t)
	assert.NilError(t, os.WriteFile(b.transcript, []byte("{}\n"), 0o600))
	const hook = `cat; pwd; echo "$CLAUDE_PROJECT_DIR"; wc -l <"$HOME/t.jsonl"; echo 'password=hunter2x' >&2; exit 2`
	b.run(fakes.OneLine(b.event("")), "sh", "-c", hook)
	b.run(fakes.HeldOpenNoNewline(b.event(`,"prompt":"\ud800 <é>"`)), "sh", "-c", "head -c 12; exit 1")
	r := b.recorded()
	out, err := Play{Recording: r, Env: []string{"PATH=" + os.Getenv("PATH")}}.Run(t.Context())
	assert.NilError(t, err)
	assert.Equal(t, out.Text(), r.Name+": 2 same\n")
}

func TestRecordInParallel(t *testing.T) {
	// Pins that hooks of one event, each with a recorder of its own, lose no call and share no number. The recorders are not processes of their
	// own here: such a one gives up when the machine is too busy for it.
	dir := t.TempDir()
	const n = 12
	var runs sync.WaitGroup
	for range n {
		runs.Go(func() {
			s, err := openStore(dir, here, fields{SessionID: sessionUUID})
			assert.Check(t, err)
			seq, _, err := s.number(t.Context(), time.Now())
			assert.Check(t, err)
			assert.Check(t, s.write(t.Context(), seen{stdin: []byte(`{"hook_event_name":"Stop"}`)}, Call{Seq: seq}, "", time.Now()))
		})
	}
	runs.Wait()
	found, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	assert.NilError(t, err)
	assert.Equal(t, len(found), 1, "%q", found)
	r, err := ReadRecording(found[0])
	assert.NilError(t, err)
	assert.Equal(t, len(r.Calls), n)
	for i, c := range r.Calls {
		assert.Equal(t, c.Seq, i+1)
	}
}

func TestRecordInstall(t *testing.T) {
	b := newBench(t)
	local := filepath.Join(b.project, ".claude", "settings.local.json")
	before := `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "hookkit record -- brepl hook stop"}]}]}}` + "\n"
	assert.NilError(t, os.MkdirAll(filepath.Dir(local), 0o700))
	assert.NilError(t, os.WriteFile(local, []byte(before), 0o600))
	run := func(args ...string) fakes.Outcome {
		return fakes.Run(t, fakes.Spec{Path: hookkitBinary(t), Args: append([]string{"record"}, args...), Dir: b.project, Env: b.env()}, fakes.DevNull())
	}
	got := run("install", "--dir", b.dir)
	assert.Equal(t, got.Exit, 0, got.Stderr)
	assert.Assert(t, cmp.Contains(got.Stdout, "  + SessionEnd: "+hookkitBinary(t)+" record event --dir "+b.dir+"\n"))
	assert.Assert(t, cmp.Contains(got.Stdout, "  1 other handler is left as it is\nnote: recordings go to "+b.dir+"; end with: hookkit record uninstall\n"))
	got = run("install") // issue 14: the folder was forgotten
	assert.Assert(t, cmp.Contains(got.Stdout, "  = SessionEnd: "+hookkitBinary(t)+" record event --dir "+b.dir+"\n"), got.Stdout)
	var file struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	assert.NilError(t, json.Unmarshal([]byte(readAll(local)), &file))
	assert.Equal(t, len(file.Hooks), 15)
	got = run("install", "--dir", b.dir, "--scope", "project")
	assert.Equal(t, got.Exit, 1)
	assert.Assert(t, cmp.Contains(got.Stderr, "--dir is a folder of this machine"))

	// The handler says nothing and lets everything pass.
	silent := file.Hooks["SessionEnd"][0].Hooks[0].Command
	got = fakes.Run(t, fakes.Spec{Path: "/bin/sh", Args: []string{"-c", silent}, Dir: b.project, Env: b.env()}, fakes.HeldOpen(b.event("")))
	assert.Equal(t, got.Exit, 0)
	assert.Equal(t, got.Stdout+got.Stderr, "")
	assert.Equal(t, b.recorded().Calls[0].Command, "recorder Stop")

	got = run("uninstall")
	assert.Equal(t, got.Exit, 0, got.Stderr)
	assert.Equal(t, readAll(local), before)
}

func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited 2 minutes in vain")
		}
	}
}

func readAll(path string) string {
	data, _ := os.ReadFile(path) // "" when it is not there yet
	return string(data)
}
