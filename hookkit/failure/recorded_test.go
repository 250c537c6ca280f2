package failure_test

import (
	"context"
	"encoding/json"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/failure"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// recorded is what a real server answered to code that fails.
type recorded struct {
	Server, Name string
	Request      struct {
		Op, Code, File string
		Path           string `json:"file-path"`
		Line, Column   int
		Ns             string
	}
	Messages []map[string]any
}

func (r recorded) source() failure.Source {
	if r.Request.Op == "load-file" {
		return failure.Source{Dir: "/tmp/lf", File: r.Request.Path, Text: r.Request.File}
	}
	src := failure.Source{Text: r.Request.Code, Ns: r.Request.Ns, Line: r.Request.Line, Column: r.Request.Column}
	if r.Request.Line > 0 {
		src.File = r.Request.File
	}
	return src
}

// What people are told about the recorded errors of the five servers, where none of them can be asked about *e: the
// recordings have no such question. integration/failure_test.go asks a real one.
func TestRecordedErrors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/recorded.json")
	assert.NilError(t, err)
	var all []recorded
	assert.NilError(t, json.Unmarshal(data, &all))
	var told strings.Builder
	servers := map[string]int{}
	for _, r := range all {
		f := failure.Explain(t.Context(), nil, play(t, r), r.source())
		assert.Assert(t, f != nil, "%s: %s", r.Server, r.Name)
		told.WriteString("=== " + r.Server + ": " + r.Name + "\n" + f.Text(nil) + "--- " + f.Phase + "\n")
		servers[r.Server]++
	}
	for _, preset := range fakes.Presets() {
		assert.Assert(t, servers[string(preset)] >= 7, "%s: %d errors", preset, servers[string(preset)])
	}
	golden.Assert(t, told.String(), "recorded.golden")
}

// play sends the request to a fake that answers as recorded.
func play(t *testing.T, r recorded) nrepl.Result {
	t.Helper()
	fake := fakes.NewNREPL(t, fakes.NREPLPreset(fakes.Preset(r.Server)))
	expect := fake.OnOp(r.Request.Op)
	for _, m := range r.Messages {
		fields := fakes.Message{}
		for key, value := range m {
			if words, ok := value.([]any); ok {
				var status []string
				for _, word := range words {
					status = append(status, word.(string))
				}
				value = status
			}
			fields[key] = value
		}
		expect.Message(fields)
	}
	session := dial(t, fake)
	var res nrepl.Result
	var err error
	if r.Request.Op == "load-file" {
		load := nrepl.LoadRequest{Content: r.Request.File, Path: r.Request.Path, Name: path.Base(r.Request.Path)}
		res, err = session.LoadFile(t.Context(), load, nil)
	} else {
		res, err = session.Eval(t.Context(), nrepl.Request{Code: r.Request.Code, Ns: r.Request.Ns}, nil)
	}
	assert.NilError(t, err)
	return res
}

func dial(t *testing.T, fake *fakes.NREPL) *nrepl.Session {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := nrepl.Connect(ctx, nrepl.Lookup{Host: fake.Host(), Port: fake.Port()})
	assert.NilError(t, err)
	t.Cleanup(func() { _ = conn.Close() }) // the test may have lost the connection on purpose
	session, err := conn.Clone(ctx)
	assert.NilError(t, err)
	return session
}

// What babashka.nrepl 0.0.6 with sci 0.9 answered to the question: it knows the place and the calls, and has no better name for a
// function than its own.
func TestBabashkaIsAsked(t *testing.T) {
	t.Parallel()
	const arity = "class clojure.lang.ArityException"
	const printed = "clojure.lang.ArityException: Wrong number of args (2) passed to: sci.impl.fns/fun/arity-1--3708 user REPL:1:1\n"
	const answer = `{:via [{:symbol nil, :file nil, :phase nil, :column 1, :spec nil, :line 1, :class "class clojure.lang.ExceptionInfo", ` +
		`:sci true, :message "Wrong number of args (2) passed to: shop.core/half", :data nil} {:symbol nil, :file nil, :phase nil, ` +
		`:column nil, :spec nil, :line nil, :class "class clojure.lang.ArityException", :sci false, :message "Wrong number of args (2) ` +
		`passed to: sci.impl.fns/fun/arity-1--3708", :data nil}], :frames nil, :calls [["user" "shop.core" "half" nil 1] ` +
		`["user" "shop.core" "half" nil 1]]}`
	fake := fakes.NewNREPL(t, fakes.NREPLPreset(fakes.Babashka))
	fake.On("(shop.core/half 1 2)").Thrown(printed, arity, arity)
	fake.OnContains(".getCause").Out(answer).Thrown(printed, arity, arity)
	fake.OnContains(`(clojure.core/symbol "shop.core/half")`).Out(`{:arglists ["[x]"]}`).Thrown(printed, arity, arity)
	session := dial(t, fake)
	res, err := session.Eval(t.Context(), nrepl.Request{Code: "(shop.core/half 1 2)"}, nil)
	assert.NilError(t, err)
	f := failure.Explain(t.Context(), session, res, failure.Source{Text: "(shop.core/half 1 2)"})
	assert.Equal(t, f.Text(nil), `REPL:1:1: Execution error (ArityException): Wrong number of args (2) passed to: shop.core/half
1 | (shop.core/half 1 2)
  | ^
Hint: half takes [x].
`)
}
