package client

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/cli"
)

// person is somebody at a shell, in a folder with a port file.
type person struct {
	t        *testing.T
	server   *fakes.NREPL
	dir      string
	stdin    io.Reader
	terminal func(any) bool
	stdout   io.Writer // nil: kept
}

func at(t *testing.T, options ...fakes.NREPLOption) *person {
	t.Helper()
	p := &person{t: t, server: fakes.NewNREPL(t, options...), dir: t.TempDir(), stdin: strings.NewReader("")}
	p.server.WritePortFile(p.dir)
	return p
}

func (p *person) write(name, content string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	assert.NilError(p.t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

type seen struct {
	Exit           int
	Stdout, Stderr string
}

var portNumber = regexp.MustCompile(`\b[0-9]{4,5}\b`)

// types runs brepl with the arguments. Ports are shown as PORT.
func (p *person) types(args ...string) seen {
	p.t.Helper()
	var out, err locked
	program := cli.Program{Args: args, Dir: p.dir, Stdin: p.stdin, Stdout: &out, Stderr: &err, Name: "brepl", Version: "3", IsTerminal: p.terminal}
	if p.stdout != nil {
		program.Stdout = p.stdout
	}
	root := Command()
	root.Sub = []cli.Command{{Name: "hook", Sub: []cli.Command{{Name: "stop", Run: func(context.Context, *cli.Program, []string) int { return 2 }}}}}
	exit := program.Main(p.t.Context(), root)
	return seen{exit, portNumber.ReplaceAllString(out.String(), "PORT"), portNumber.ReplaceAllString(err.String(), "PORT")}
}

// locked is a buffer for more than one goroutine.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(data)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// asked lets the client ask about exceptions, and knows nothing of them.
func (p *person) asked() { p.server.OnContains("clojure.core/*e").AnyTimes() }

// Issue 5: where the code is from, and what is printed of it.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, stdin string
		args        []string
		code        string
		script      func(*fakes.Expect)
		want        seen
	}{
		{name: "an expression", args: []string{"(+ 1 2)"}, code: "(+ 1 2)", script: value("3"), want: seen{0, "3\n", ""}},
		{name: "-e", args: []string{"-e", "-5"}, code: "-5", script: value("-5"), want: seen{0, "-5\n", ""}},
		{name: "-e twice", args: []string{"-e", "1", "-e", "2"}, code: "1\n2", script: value("1", "2"), want: seen{0, "1\n2\n", ""}},
		{name: "flags behind the expression", args: []string{"(inc 1)", "--ns", "user", "--timeout", "5"}, code: "(inc 1)", script: value("2"), want: seen{0, "2\n", ""}},
		{name: "stdin, as a heredoc", stdin: "(println \"it's\")\n", code: "(println \"it's\")\n", script: func(e *fakes.Expect) { e.Out("it's\n").Value("nil") }, want: seen{0, "it's\nnil\n", ""}},
		{name: "stdin by its name", stdin: "1", args: []string{"-"}, code: "1", script: value("1"), want: seen{0, "1\n", ""}},
		{name: "stdin as a file", stdin: "\ufeff1", args: []string{"-f", "-"}, code: "1", script: value("1"), want: seen{0, "1\n", ""}},
		{name: "stdin is not read where there is code", stdin: "(no)", args: []string{"1"}, code: "1", script: value("1"), want: seen{0, "1\n", ""}},
		{name: "no form", args: []string{"; nothing"}, code: "; nothing", script: func(*fakes.Expect) {}, want: seen{0, "", ""}},
		{name: "no code at all", args: []string{""}, code: "", script: func(*fakes.Expect) {}, want: seen{0, "", ""}},
		{name: "a value begins a line", args: []string{"x"}, code: "x", script: func(e *fakes.Expect) { e.Out("abc").Value(":v").Out("d").Value(":w") }, want: seen{0, "abc\n:v\nd\n:w\n", ""}},
		{name: "both streams", args: []string{"x"}, code: "x", script: func(e *fakes.Expect) { e.Err("warn\n").Out("out\n").Err("last").Value(":v") }, want: seen{0, "out\n:v\n", "warn\nlast"}},
		{name: "a value in pieces", args: []string{"x"}, code: "x", script: func(e *fakes.Expect) {
			e.Message(fakes.Message{"value": "[1 "}).Message(fakes.Message{"value": "2]"}).Message(fakes.Message{"ns": "user"}).Value("3")
		}, want: seen{0, "[1 2]\n3\n", ""}},
		{name: "escape sequences are a person's", args: []string{"x"}, code: "x", script: func(e *fakes.Expect) { e.Out("\x1b[31mred\x1b[0m\n") }, want: seen{0, "\x1b[31mred\x1b[0m\n", ""}},
		{name: "a value that was cut", args: []string{"(range)"}, code: "(range)", script: func(e *fakes.Expect) {
			e.Message(fakes.Message{"value": "(0 1", "ns": "user", "status": []string{"nrepl.middleware.print/truncated"}})
		}, want: seen{0, "(0 1\n", "brepl: a value was cut after 5000000 characters\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := at(t)
			p.stdin = strings.NewReader(tt.stdin)
			tt.script(p.server.On(tt.code))
			assert.DeepEqual(t, p.types(tt.args...), tt.want)
			for _, s := range p.server.Sessions() {
				assert.Assert(t, s.Closed || p.server.AwaitOp("close", 1, time.Minute), "a session was left behind")
			}
		})
	}
}

func value(values ...string) func(*fakes.Expect) {
	return func(e *fakes.Expect) { e.Value(values...) }
}

// Issue 5: a file goes with load-file, under its own path and the server's name for it.
func TestLoadFile(t *testing.T) {
	t.Parallel()
	p := at(t)
	path := p.write("cart.clj", "\ufeff(ns cart)\n:last\n")
	p.server.OnLoadFile(path).Out("loading\n").Value(":last")
	assert.DeepEqual(t, p.types("-f", "cart.clj"), seen{0, "loading\n:last\n", ""})
	p.server.OnLoadFile("/app/src/cart.clj").Value(":mapped")
	assert.DeepEqual(t, p.types("-f", "cart.clj", "--path-map", p.dir+"=/app/src"), seen{0, ":mapped\n", ""})
	p.server.OnLoadFile("/app/cart.clj").Value(":relative")
	assert.DeepEqual(t, p.types("-f", path, "--path-map", ".=/app"), seen{0, ":relative\n", ""})
	for _, m := range p.server.Received() {
		if m.Op() == "load-file" {
			assert.Equal(t, m.Text("file-name"), "cart.clj")
			assert.Equal(t, m.Text("file"), "(ns cart)\n:last\n")
		}
	}
}

// Fault 13 and 14: files that are not there, or are something else.
func TestFilesThatCannotBeLoaded(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.write("utf16.clj", "\xff\xfe1\x00")
	p.write("big.clj", strings.Repeat(" ", maxCode+1))
	for name, want := range map[string]string{
		"none.clj":  "no such file or directory",
		".":         "is a directory",
		"utf16.clj": "is UTF-16; Clojure reads UTF-8",
		"big.clj":   "is larger than 16 MB, which is more than a REPL takes at once",
		"/dev/zero": "is larger than 16 MB, which is more than a REPL takes at once",
	} {
		assert.DeepEqual(t, p.types("-f", name), seen{1, "", "brepl: " + name + ": " + want + "\n"})
	}
	path := p.write("latin1.clj", "1\n ; caf\xe9\n")
	p.server.OnLoadFile(path).Value("1")
	assert.DeepEqual(t, p.types("-f", "latin1.clj"), seen{0, "1\n", "brepl: latin1.clj:2:7: not UTF-8; the server reads another character there\n"})
}

// Issue 5: exit 2 is for wrong calls of this command, and for nothing else.
func TestUsage(t *testing.T) {
	t.Parallel()
	p := at(t)
	for _, tt := range []struct {
		args string
		want string
	}{
		{"a b", "expected one expression, found 2; put it in quotes: 'a b'"},
		{"-e 1 -f x", "EXPR, -e, -f and -m exclude each other"},
		{"1 -m {}", "EXPR, -e, -f and -m exclude each other"},
		{"-f a -f b", "-f takes one file"},
		{"-m {} -m {}", "-m takes one message"},
		{"1 --json --hook", "--json, --hook and --verbose exclude each other"},
		{"-m {} --hook", "--hook is for code, not for -m"},
		{"-f a --ns b", `--ns is for an expression; a file has its own, and a message says it with "ns"`},
		{"1 -p abc", `--port: "abc" is not a port number`},
		{"1 --timeout 0", `invalid value "0" for flag -timeout: expected seconds, or a time such as 1m30s`},
		{"1 --timeout soon", `invalid value "soon" for flag -timeout: expected seconds, or a time such as 1m30s`},
		{"1 --timeout NaN", `invalid value "NaN" for flag -timeout: expected seconds, or a time such as 1m30s`},
		{"1 --nope", "flag provided but not defined: -nope"},
		{"-h", "flag needs an argument: -h"},
		{"", "nothing to evaluate: stdin is empty, and no expression, -e, -f or -m is given"},
		{"-m 1", "-m: expected one map, such as {:op :describe}"},
		{"-m {:op", "-m:1:5: a map needs a value for each key"},
		{"-m {:op,nil}", "-m:1:6: a message holds strings, integers, vectors and maps, found nil"},
		{"-m {1,2}", "-m:1:2: a key must be a string or a keyword, found integer"},
		{"-m {}", `-m: the message has no "op"`},
	} {
		got := p.types(strings.Fields(tt.args)...)
		if tt.args == "-m {:op" { // the reader's own words
			got.Stderr = regexp.MustCompile(`: .*\n`).ReplaceAllString(got.Stderr, ": -m:1:5: a map needs a value for each key\n")
			got.Stderr, _, _ = strings.Cut(got.Stderr, "\n")
			got.Stderr += "\nRun 'brepl --help' for usage.\n"
		}
		assert.DeepEqual(t, got, seen{2, "", "brepl: " + tt.want + "\nRun 'brepl --help' for usage.\n"})
	}
	p.terminal = func(any) bool { return true }
	assert.DeepEqual(t, p.types(), seen{2, "", "brepl: nothing to evaluate: give an expression, -e, -f, -m, or code on stdin\nRun 'brepl --help' for usage.\n"})
	assert.Equal(t, p.server.Connections(), 0)
}

// Issue 5: a mistyped command is an expression, and the error says what it may have been. In an agent's settings it must not block.
func TestMistypedCommand(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.asked()
	p.server.On("hok").Exception("java.lang.RuntimeException", "Unable to resolve symbol: hok in this context")
	got := p.types("hok")
	assert.Equal(t, got.Exit, 1)
	assert.Assert(t, strings.HasSuffix(got.Stderr, "\nbrepl: \"hok\" was taken as an expression; you may have meant: brepl hook\n"), got.Stderr)
	assert.DeepEqual(t, p.types("hok", "stop"), seen{1, "", "brepl: unknown command \"hok\"; did you mean \"brepl hook\"?\nRun 'brepl --help' for usage.\n"})
	assert.DeepEqual(t, p.types("eca", "validate"), seen{1, "", "brepl: unknown command \"eca\"\nRun 'brepl --help' for usage.\n"})
	assert.Equal(t, p.types("hook", "stop").Exit, 2) // the command itself
	// Issue 14: commands that stand elsewhere, or are a flag here, were not named; the first one ended with 2 too.
	assert.DeepEqual(t, p.types("stop", "--debug"), seen{1, "", "brepl: flag provided but not defined: -debug; did you mean \"brepl hook stop\"?\nRun 'brepl --help' for usage.\n"})
	assert.DeepEqual(t, p.types("stop", "now"), seen{1, "", "brepl: unknown command \"stop\"; did you mean \"brepl hook stop\"?\nRun 'brepl --help' for usage.\n"})
	assert.DeepEqual(t, p.types("eval", "(+ 1 2)"), seen{1, "", "brepl: unknown command \"eval\"; did you mean \"brepl '(+ 1 2)'\"?\nRun 'brepl --help' for usage.\n"})
	assert.DeepEqual(t, p.types("load", "a.clj"), seen{1, "", "brepl: unknown command \"load\"; did you mean \"brepl -f a.clj\"?\nRun 'brepl --help' for usage.\n"})
	p.server.On("eval").Value("#object[clojure.core$eval]")
	assert.DeepEqual(t, p.types("eval"), seen{0, "#object[clojure.core$eval]\n", "brepl: \"eval\" was taken as an expression; you may have meant: brepl EXPR\n"})
	p.server.On("stop").Exception("java.lang.RuntimeException", "Unable to resolve symbol: stop in this context")
	got = p.types("stop")
	assert.Assert(t, strings.HasSuffix(got.Stderr, "\nbrepl: \"stop\" was taken as an expression; you may have meant: brepl hook stop\n"), got.Stderr)
	p.write("a.clj", "1")
	p.server.On("a.clj").Exception("java.lang.ClassNotFoundException", "a.clj")
	got = p.types("a.clj")
	assert.Assert(t, strings.HasSuffix(got.Stderr, "\nbrepl: \"a.clj\" was taken as an expression; you may have meant: brepl -f a.clj\n"), got.Stderr)
	// A symbol that is no command is not commented on.
	p.server.On("frobnicate").Exception("java.lang.RuntimeException", "Unable to resolve symbol: frobnicate in this context")
	got = p.types("-e", "frobnicate")
	assert.Assert(t, !strings.Contains(got.Stderr, "meant"), got.Stderr)
}

// Issue 5: an exception is told once, by us; what the code itself wrote to stderr stays.
func TestException(t *testing.T) {
	t.Parallel()
	for _, preset := range fakes.Presets() {
		t.Run(string(preset), func(t *testing.T) {
			t.Parallel()
			p := at(t, fakes.NREPLPreset(preset))
			p.asked()
			p.server.On("(f)").Out("hello\n").Exception("java.lang.ArithmeticException", "Divide by zero")
			got := p.types("(f)")
			assert.Equal(t, got.Exit, 1)
			assert.Equal(t, got.Stdout, "hello\n")
			assert.Equal(t, strings.Count(strings.ToLower(got.Stderr), "divide by zero"), 1, got.Stderr)
		})
	}
	p := at(t)
	p.asked()
	p.server.On("x").Err("mine\n").Exception("java.lang.ArithmeticException", "Divide by zero").Value("3")
	got := p.types("x")
	assert.Equal(t, got.Stdout, "3\n")
	assert.Assert(t, strings.HasPrefix(got.Stderr, "mine\nExecution error (ArithmeticException) at user/eval"), got.Stderr) // the code went on: nothing is held back
}

// A build file beside the file was overlooked where we stand above it: frames and source paths were those of the folder above.
func TestRoot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"sub/deps.edn", "sub/a.clj", "plain/b.clj"} {
		assert.NilError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	elsewhere := filepath.Join(t.TempDir(), "c.clj")
	for file, want := range map[string]string{
		"": dir, filepath.Join(dir, "sub/a.clj"): filepath.Join(dir, "sub"), filepath.Join(dir, "plain/b.clj"): dir, elsewhere: filepath.Dir(elsewhere),
	} {
		r := run{program: &cli.Program{Dir: dir}, code: code{file: file}}
		assert.Equal(t, r.root(), want, file)
	}
}

// Issue 5: need-input reads the terminal, or is the end of input at once.
func TestInput(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.stdin = strings.NewReader("not for the code")
	p.server.On("(read-line)").NeedInput().Value("nil")
	assert.DeepEqual(t, p.types("(read-line)"), seen{0, "nil\n", ""})

	p = at(t)
	in, keys := io.Pipe()
	p.stdin, p.terminal = in, func(stream any) bool { return stream == any(in) }
	p.server.On("(ask)").Out("name? ").NeedInput().NeedInput().NeedInput().Value(`"Ada"`)
	go func() {
		_, _ = io.WriteString(keys, "Ada\n\nand ")
		_ = keys.Close()
	}()
	assert.DeepEqual(t, p.types("(ask)"), seen{0, "name? \n\"Ada\"\n", ""})
	var texts []string
	for _, m := range p.server.Received() {
		if m.Op() == "stdin" {
			texts = append(texts, m.Text("stdin"))
		}
	}
	assert.DeepEqual(t, texts, []string{"Ada\n", "\n", "and "})
}

// Issue 5: --timeout interrupts, and says so with the time that was asked for.
func TestTimeout(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.server.On("(f)").Out("begun\n").Hang()
	assert.DeepEqual(t, p.types("(f)", "--timeout", "1"), seen{1, "begun\n", "brepl: the evaluation timed out after 1s and was interrupted\n"})
	p = at(t, fakes.NREPLPreset(fakes.Babashka))
	p.server.On("(f)").Out("begun\n").Hang()
	got := p.types("(f)", "--timeout", "1s", "--json")
	assert.Equal(t, got.Exit, 1)
	assert.Assert(t, cmp.Contains(got.Stdout, `"timedOut":true`))
	assert.Equal(t, got.Stderr, "brepl: the evaluation timed out after 1s; the server did not confirm the interrupt, the code may still be running\n")
}

type brokenPipe struct {
	after int
	err   error
}

func (b *brokenPipe) Write(data []byte) (int, error) {
	if b.after--; b.after < 0 {
		return 0, b.err
	}
	return len(data), nil
}

// Issue 5: `brepl … | head` ends quietly and stops the code.
func TestClosedStdout(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.stdout = &brokenPipe{3, syscall.EPIPE}
	p.server.On("(f)").OutRepeated("line\n", 10).Hang()
	assert.DeepEqual(t, p.types("(f)"), seen{141, "", ""})
	p.stdout = &brokenPipe{0, syscall.EPIPE}
	assert.DeepEqual(t, p.types("-m", "{:op :describe}"), seen{141, "", ""})
	p.stdout = &brokenPipe{1, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}}
	p.server.On("(g)").OutRepeated("line\n", 10).Value("1")
	assert.DeepEqual(t, p.types("(g)"), seen{1, "", "brepl: stdout: no space left on device; the evaluation was interrupted\n"})
	assert.Assert(t, p.server.AwaitOp("interrupt", 1, time.Minute))
}

// Fault 10: a stdout that nobody reads cannot keep us beyond the limit.
func TestStuckStdout(t *testing.T) {
	t.Parallel()
	p := at(t)
	reader, writer := io.Pipe()
	t.Cleanup(func() { _ = reader.Close() })
	p.stdout = writer
	p.server.On("(f)").Out("line\n").Hang()
	got := p.types("(f)", "--timeout", "3")
	assert.DeepEqual(t, got, seen{1, "", "brepl: nobody reads stdout; left without showing all\n"})
	assert.Assert(t, p.server.AwaitOp("interrupt", 1, time.Minute) && p.server.AwaitOp("close", 1, time.Minute))
	for _, session := range p.server.Sessions() {
		assert.Assert(t, session.Closed && !session.Running, "%+v", session)
	}
}

// Fault 1: stdin that stays open and silent: a person is told what we wait for, and --timeout holds.
func TestSilentStdin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, keep := io.Pipe()
		var err locked
		r := &run{options: &options{}, program: &cli.Program{Stderr: &err, Name: "brepl", Stdin: in}}
		r.show = newPrinter(r.program, nil)
		ctx, cancel := context.WithTimeout(t.Context(), silence+500*time.Millisecond)
		defer cancel()
		_, failed := r.read(ctx)
		_ = keep.Close()
		assert.Error(t, failed, "stdin: its end did not come in time")
		assert.Assert(t, strings.HasSuffix(err.String(), ": waiting for code on stdin; its end is that of the input\n"), err.String())
		synctest.Wait()
	})
}

// Fault 2: half of the code, then silence.
func TestStdinWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		var err bytes.Buffer
		r := &run{options: &options{}, program: &cli.Program{Stderr: &err, Name: "brepl", Stdin: in}}
		r.show = newPrinter(r.program, nil)
		go func() {
			time.Sleep(idleLimit - time.Second)
			_, _ = io.WriteString(out, "(+ 1")
		}()
		start := time.Now()
		_, failed := r.read(t.Context())
		assert.Error(t, failed, "stdin: nothing came for 1m0s, and no end")
		assert.Equal(t, time.Since(start), 2*idleLimit-time.Second)
		_ = out.Close()
		synctest.Wait()
	})
}
