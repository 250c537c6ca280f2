package client

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
)

// Issue 5: -m has an id added and prints every answer; --json makes each a line of JSON.
func TestMessage(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.server.OnOp("custom").Times(2).Message(fakes.Message{"n": 7, "list": []string{"a\nb"}}).Message(fakes.Message{"status": []string{"done"}})
	got := p.types("-m", `{:op custom "data" {:k [1 "x" :y]}, :id 5}`)
	assert.Equal(t, got.Exit, 0, got.Stderr)
	out := strings.Split(got.Stdout, "\n")
	assert.Equal(t, len(out), 3)
	assert.Assert(t, strings.HasPrefix(out[0], `{"id" 5, "list" ["a\nb"], "n" 7, "session" "`), out[0])
	got = p.types("-message", `{"op" "custom"}`, "--json")
	var first map[string]any
	assert.NilError(t, json.Unmarshal([]byte(strings.Split(got.Stdout, "\n")[0]), &first))
	assert.DeepEqual(t, first["list"], []any{"a\nb"})
	received := p.server.Received()
	for _, m := range received {
		if m.Op() == "custom" && m.Text("id") == "" {
			assert.Equal(t, m["id"], any(int64(5)))
		}
	}
	got = p.types("-m", "{:op nope}")
	assert.Equal(t, got.Exit, 1)
	assert.Assert(t, cmp.Contains(got.Stdout, `"unknown-op"`))
	for _, word := range []string{"lookup-error", "namespace-not-found", "error"} {
		p.server.OnOp("custom").Message(fakes.Message{"status": []string{word, "done"}})
		assert.Equal(t, p.types("-m", "{:op custom}").Exit, 1, word)
	}
}

// Issue 5: --verbose shows every message both ways, in the place of what they say.
func TestVerbose(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.server.On("(+ 1 2)").Out("x\n").Value("3")
	got := p.types("--verbose", "(+ 1 2)")
	var ops []string
	for line := range strings.Lines(got.Stdout) {
		for _, key := range []string{`"op" "`, `"out" "`, `"value" "`, `"status" ["`, `"new-session" "`} {
			if _, after, ok := strings.Cut(line, key); ok {
				word, _, _ := strings.Cut(after, `"`)
				if key == `"new-session" "` {
					word = "session"
				}
				ops = append(ops, line[:3]+word)
			}
		}
	}
	assert.DeepEqual(t, ops, []string{"-> clone", "<- done", "<- session", "-> eval", `<- x\n`, "<- 3", "<- done", "-> close", "<- done"})
	assert.Equal(t, got.Stderr, "")
	assert.Equal(t, got.Exit, 0)
}

// Issue 5: --json is one object, without control sequences of the server's.
func TestJSON(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.asked()
	object := func(text string) map[string]any {
		var v map[string]any
		assert.NilError(t, json.Unmarshal([]byte(text), &v), text)
		delete(v, "ms")
		return v
	}
	p.server.On("1").Out("\x1b[31mred\x1b[0m\x07\n").Err("w\n").Value("1", "\"\x1b]0;t\x07\"")
	got := p.types("1", "--json")
	assert.Equal(t, got.Exit, 0)
	assert.DeepEqual(t, object(got.Stdout), map[string]any{
		"ok": true, "values": []any{"1", `""`}, "ns": "user", "out": "red\n", "err": "w\n", "server": "localhost:PORT",
	})
	p.server.On("2").Exception("java.lang.ArithmeticException", "Divide by zero")
	got = p.types("2", "--json")
	assert.Equal(t, got.Exit, 1)
	assert.Equal(t, got.Stderr, "")
	v := object(got.Stdout)
	assert.Equal(t, v["ok"], false)
	assert.DeepEqual(t, v["values"], []any{})
	assert.Assert(t, strings.Contains(v["failure"].(map[string]any)["message"].(string), "Divide by zero"))
	assert.NilError(t, os.Remove(filepath.Join(p.dir, ".nrepl-port")))
	got = p.types("2", "--json", "-p", "1")
	assert.Equal(t, got.Exit, 1)
	v = object(got.Stdout)
	assert.Assert(t, strings.HasPrefix(v["failure"].(map[string]any)["message"].(string), "no nREPL server"))
}

// Issue 5: --hook prints what brepl 2.7 does, and exits with 1 where that did with 2.
func TestHookAnswer(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.server.On("1").Out("noise\n").Value("1")
	assert.DeepEqual(t, p.types("--hook", "1"), seen{0, `{"continue":true,"suppressOutput":true}` + "\n", ""})
	p.server.On("2").Out("noise\n").Thrown("Execution error (X) at a.\nboom\n", "class X", "class X")
	assert.DeepEqual(t, p.types("--hook", "2"), seen{1, `{"continue":true,"decision":"block","suppressOutput":true,` +
		`"stopReason":"class X | Execution error (X) at a.\nboom | noise","reason":"Code evaluation failed:\nclass X\nExecution error (X) at a.\nboom\nnoise"}` + "\n", ""})
	got := p.types("--hook", "2", "-p", "1")
	assert.Equal(t, got.Exit, 1)
	assert.Assert(t, strings.HasPrefix(got.Stdout, `{"continue":true,"suppressOutput":true,"warnings":["no nREPL server`), got.Stdout)

	p.server.On("3").Hang()
	const late = "the evaluation timed out after 300ms and was interrupted"
	assert.DeepEqual(t, p.types("--hook", "3", "--timeout", "0.3"), seen{1, `{"continue":true,"decision":"block","suppressOutput":true,` +
		`"stopReason":"` + late + `","reason":"Code evaluation failed:\n` + late + `"}` + "\n", "brepl: " + late + "\n"})
}

// Issue 5: a server that is silent evaluates nothing, and what was not evaluated does not block.
func TestHookAnswerSilentServer(t *testing.T) {
	t.Parallel()
	got := at(t, fakes.NREPLFault(fakes.Silent())).types("--hook", "1", "--timeout", "0.3")
	assert.Equal(t, got.Exit, 1)
	assert.Equal(t, got.Stdout, `{"continue":true,"suppressOutput":true,"warnings":["127.0.0.1:PORT accepted the connection but did not answer \"clone\" within 300ms; the server may be busy"]}`+"\n")
}

// Fault 36: a namespace that the server does not have is named.
func TestUnknownNamespace(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.server.On("1").Status("namespace-not-found", "done", "error")
	got := p.types("--ns", "no.such", "1")
	assert.Equal(t, got.Exit, 1)
	assert.Equal(t, got.Stderr, "The server has no namespace no.such.\nHint: Load the file with its ns form first, or name another one with --ns.\n")
}
