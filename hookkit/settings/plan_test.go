package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/internal/growth"
)

var breplEvents = []string{"PreToolUse", "PostToolUse", "Stop", "SessionEnd"}

// brepl is the spec that brepl's own install uses.
func brepl(want ...Entry) Spec {
	return Spec{Own: OwnCommand("brepl", "hook", "hooks"), Events: breplEvents, Want: want}
}

func allFour() Spec {
	return brepl(
		Entry{Event: "PreToolUse", Matcher: "Edit|Write", Command: "brepl hook validate"},
		Entry{Event: "PostToolUse", Matcher: "Edit|Write", Command: "brepl hook eval"},
		Entry{Event: "Stop", Matcher: "", Command: "brepl hook stop"},
		Entry{Event: "SessionEnd", Matcher: "*", Command: "brepl hook session-end"},
	)
}

func stopOnly() Spec { return brepl(Entry{Event: "Stop", Command: "brepl hook stop"}) }

func plan(t *testing.T, in string, spec Spec) Result {
	t.Helper()
	res, err := Plan("s.json", []byte(in), spec)
	assert.NilError(t, err)
	return res
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	assert.NilError(t, err)
	return string(data)
}

// Seed 000, "Example": before and after byte for byte.
func TestPlanSeedExample(t *testing.T) {
	after := read(t, "seed-after.json")
	res := plan(t, read(t, "seed-before.json"), allFour())
	assert.Equal(t, string(res.Data), after)
	assert.Equal(t, len(res.Removed), 1)
	assert.Equal(t, len(res.Added), 4)
	assert.Equal(t, string(plan(t, after, allFour()).Data), after)
}

func TestPlanInstall(t *testing.T) {
	const expanded = `{
  "hooks": {
    "Stop": [
      {
        "matcher": "",
        "hooks": [
          {
            "type": "command",
            "command": "brepl hook stop"
          }
        ]
      }
    ]
  }
}`
	tabs := func(s string) string { return strings.ReplaceAll(s, "  ", "\t") }
	tests := map[string]struct{ in, out string }{
		"empty file":            {"", expanded + "\n"},
		"white space only":      {" \n", " \n" + expanded + "\n"},
		"BOM only":              {bom, bom + expanded + "\n"},
		"empty object":          {"{}", expanded},
		"empty object, newline": {"{}\n", expanded + "\n"},
		"empty object, spread":  {"{\n}\n", expanded + "\n"},
		"empty hooks":           {"{\n  \"hooks\": {}\n}\n", expanded + "\n"},
		"empty Stop":            {"{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n", expanded + "\n"},
		"tabs":                  {"{\n\t\"a\": 1\n}\n", "{\n\t\"a\": 1," + tabs(expanded)[1:] + "\n"},
		"four spaces":           {"{\n    \"a\": 1\n}\n", "{\n    \"a\": 1," + strings.ReplaceAll(expanded, "  ", "    ")[1:] + "\n"},
		"CRLF":                  {"{\r\n  \"a\": 1\r\n}\r\n", "{\r\n  \"a\": 1," + strings.ReplaceAll(expanded[1:], "\n", "\r\n") + "\r\n"},
		"BOM":                   {bom + "{\n  \"a\": 1e0\n}", bom + "{\n  \"a\": 1e0," + expanded[1:]},
		"minified": {
			`{"a":1,"b":[1, 2]}`,
			`{"a":1,"b":[1, 2],"hooks":{"Stop":[{"matcher":"","hooks":[{"type":"command","command":"brepl hook stop"}]}]}}`,
		},
		"one line, spaced": {
			`{ "a": 1, "b": 2 }`,
			`{ "a": 1, "b": 2, "hooks": { "Stop": [{ "matcher": "", "hooks": [{ "type": "command", "command": "brepl hook stop" }] }] } }`,
		},
		"minified, another event": {
			`{"hooks":{"SessionEnd":[],"Other":[]}}`,
			`{"hooks":{"Stop":[{"matcher":"","hooks":[{"type":"command","command":"brepl hook stop"}]}],"SessionEnd":[],"Other":[]}}`,
		},
		"one line, spaced, another event": {
			`{"hooks": {"SessionEnd": [], "Other": []}}`,
			`{"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "brepl hook stop"}]}], "SessionEnd": [], "Other": []}}`,
		},
		"minified, foreign Stop": {
			`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`,
			`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]},{"matcher":"","hooks":[{"type":"command","command":"brepl hook stop"}]}]}}`,
		},
		"entries on one line in a file of many lines": {
			"{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]\n  }\n}\n",
			"{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}, {\"matcher\": \"\", \"hooks\": [{\"type\": \"command\", \"command\": \"brepl hook stop\"}]}]\n  }\n}\n",
		},
		"comment behind the last member": {
			"{\n  \"a\": 1 // one\n}\n",
			"{\n  \"a\": 1, // one" + expanded[1:] + "\n",
		},
		"trailing comma": {
			"{\n  \"a\": 1, // one\n}\n",
			"{\n  \"a\": 1, // one" + strings.TrimSuffix(expanded[1:], "\n}") + ",\n}\n",
		},
		"comment in the empty root": {
			"{ // mine\n}\n",
			"{ // mine" + expanded[1:] + "\n",
		},
		"comment before a later event": {
			"{\n  \"hooks\": {\n    // the end\n    \"SessionEnd\": []\n  }\n}",
			"{\n  \"hooks\": {\n    // the end\n    \"SessionEnd\": []," + strings.TrimPrefix(expanded, "{\n  \"hooks\": {"),
		},
		"comments in CRLF": {
			"{\r\n  \"a\": 1 // one\r\n}\r\n",
			"{\r\n  \"a\": 1, // one" + strings.ReplaceAll(expanded[1:], "\n", "\r\n") + "\r\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			res := plan(t, tt.in, stopOnly())
			assert.Equal(t, string(res.Data), tt.out)

			again := plan(t, tt.out, stopOnly())
			assert.Equal(t, string(again.Data), tt.out)

			off := brepl()
			off.Memory = res.Memory
			off.Everywhere = true
			back := plan(t, tt.out, off)
			assert.Equal(t, string(back.Data), tt.in)
			assert.Equal(t, back.Bare, false)
		})
	}
}

func TestPlanReplace(t *testing.T) {
	const ours = `{"type": "command", "command": "brepl hook stop"}`
	const old = `{"type": "command", "command": "/old/brepl hook stop --debug"}`
	const foreign = `{"type": "command", "command": "sh -c 'brepl hook stop && x'"}`
	stop := func(entries string) string { return `{"hooks": {"Stop": [` + entries + `]}}` }
	tests := map[string]struct{ in, out string }{
		"already there":         {stop(`{"hooks": [` + ours + `]}`), stop(`{"hooks": [` + ours + `]}`)},
		"there, shared":         {stop(`{"matcher": "*", "hooks": [` + foreign + `, ` + ours + `]}`), stop(`{"matcher": "*", "hooks": [` + foreign + `, ` + ours + `]}`)},
		"doubled in one entry":  {stop(`{"hooks": [` + ours + `, ` + ours + `]}`), stop(`{"hooks": [` + ours + `]}`)},
		"doubled in two":        {stop(`{"hooks": [` + ours + `]}, {"matcher": "", "hooks": [` + ours + `]}`), stop(`{"hooks": [` + ours + `]}`)},
		"old":                   {stop(`{"hooks": [` + old + `]}`), stop(`{"matcher": "", "hooks": [` + ours + `]}`)},
		"old before foreign":    {stop(`{"hooks": [` + old + `]}, {"hooks": [` + foreign + `]}`), stop(`{"hooks": [` + foreign + `]}, {"matcher": "", "hooks": [` + ours + `]}`)},
		"old with foreign":      {stop(`{"hooks": [` + old + `, ` + foreign + `]}`), stop(`{"hooks": [` + foreign + `]}, {"matcher": "", "hooks": [` + ours + `]}`)},
		"foreign with old":      {stop(`{"hooks": [` + foreign + `, ` + old + `]}`), stop(`{"hooks": [` + foreign + `]}, {"matcher": "", "hooks": [` + ours + `]}`)},
		"in the wrong event":    {`{"hooks": {"SessionEnd": [{"hooks": [` + ours + `]}]}}`, `{"hooks": {"Stop": [{ "matcher": "", "hooks": [{ "type": "command", "command": "brepl hook stop" }] }]}}`},
		"in an event not ours":  {`{"hooks": {"Stop": [{"hooks": [` + ours + `]}], "SubagentStop": [{"hooks": [` + ours + `]}]}}`, `{"hooks": {"Stop": [{"hooks": [` + ours + `]}], "SubagentStop": [{"hooks": [` + ours + `]}]}}`},
		"longer timeout stays":  {stop(`{"hooks": [{"type": "command", "command": "brepl hook stop", "timeout": 900}]}`), stop(`{"hooks": [{"type": "command", "command": "brepl hook stop", "timeout": 900}]}`)},
		"shorter timeout":       {stop(`{"hooks": [{"type": "command", "command": "brepl hook stop", "timeout": 9}]}`), stop(`{"matcher": "", "hooks": [` + ours + `]}`)},
		"dropped by its \"0\"":  {stop(`{"hooks": [{"type": "command", "command": "brepl hook stop", "timeout": 0}]}`), stop(`{"matcher": "", "hooks": [` + ours + `]}`)},
		"with an if":            {stop(`{"hooks": [{"type": "command", "command": "brepl hook stop", "if": "x"}]}`), stop(`{"matcher": "", "hooks": [` + ours + `]}`)},
		"args form":             {stop(`{"hooks": [{"type": "command", "command": "/x y/brepl", "args": ["hook", "stop"]}]}`), stop(`{"matcher": "", "hooks": [` + ours + `]}`)},
		"handler without text":  {stop(`{"hooks": [{"type": "command"}, ` + ours + `]}`), stop(`{"hooks": [{"type": "command"}, ` + ours + `]}`)},
		"entry without hooks":   {stop(`{"x": 1}, {"hooks": [` + ours + `]}`), stop(`{"x": 1}, {"hooks": [` + ours + `]}`)},
		"escapes in ours":       {stop(`{"hooks": [{"type": "command", "command": "brepl\u0020hook stop"}]}`), stop(`{"hooks": [{"type": "command", "command": "brepl\u0020hook stop"}]}`)},
		"unknown events, wrong": {`{"hooks": {"Stop": [{"hooks": [` + ours + `]}], "Foo": 5, "Bar": [{"hooks": 1}, 2]}}`, `{"hooks": {"Stop": [{"hooks": [` + ours + `]}], "Foo": 5, "Bar": [{"hooks": 1}, 2]}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out := plan(t, tt.in, stopOnly()).Data
			var got, want any
			assert.NilError(t, json.Unmarshal(out, &got))
			assert.NilError(t, json.Unmarshal([]byte(tt.out), &want))
			assert.DeepEqual(t, got, want)
			if tt.in == tt.out {
				assert.Equal(t, string(out), tt.in)
			}
			assert.Equal(t, string(plan(t, string(out), stopOnly()).Data), string(out))
		})
	}
}

// An event whose only entry is replaced keeps its place.
func TestPlanKeepsOrder(t *testing.T) {
	in := `{"hooks":{"A":[],"Stop":[{"hooks":[{"type":"command","command":"brepl hook stop --old"}]}],"B":[]}}`
	want := `{"hooks":{"A":[],"Stop":[{"matcher":"","hooks":[{"type":"command","command":"brepl hook stop"}]}],"B":[]}}`
	assert.Equal(t, string(plan(t, in, stopOnly()).Data), want)
}

func TestPlanTimeoutAndArgs(t *testing.T) {
	want := brepl(Entry{Event: "Stop", Command: "/b p/brepl", Args: []string{"hook", "stop"}, Timeout: 900 * time.Second})
	res := plan(t, `{"a":1}`, want)
	assert.Equal(t, string(res.Data), `{"a":1,"hooks":{"Stop":[{"matcher":"","hooks":[{"type":"command","command":"/b p/brepl","args":["hook","stop"],"timeout":900}]}]}}`)
	assert.Equal(t, string(plan(t, string(res.Data), want).Data), string(res.Data))
}

// An entry that needs no matcher is written without one.
func TestPlanWithoutAMatcher(t *testing.T) {
	want := brepl(Entry{Event: "Stop", NoMatcher: true, Command: "brepl hook stop", Timeout: 300 * time.Second})
	res := plan(t, `{"a":1}`, want)
	assert.Equal(t, string(res.Data), `{"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"brepl hook stop","timeout":300}]}]}}`)
	assert.Equal(t, string(plan(t, string(res.Data), want).Data), string(res.Data))
}

func TestPlanUninstall(t *testing.T) {
	const ours = `{"hooks": [{"type": "command", "command": "brepl hook stop"}]}`
	tests := map[string]struct {
		in, out string
		memory  Memory
		bare    bool
	}{
		"only ours":                {in: `{"hooks": {"Stop": [` + ours + `]}}`, out: `{}`, bare: true},
		"only ours, file was {}":   {in: `{"hooks": {"Stop": [` + ours + `]}}`, out: `{ }`, memory: Memory{"": " "}},
		"only ours, file was \\n":  {in: `{"hooks": {"Stop": [` + ours + `]}}`, out: "\n", memory: Memory{"file": "\n"}},
		"hooks was there":          {in: `{"hooks": {"Stop": [` + ours + `]}}`, out: `{"hooks": {}}`, memory: Memory{"/hooks": ""}},
		"Stop was there":           {in: `{"hooks": {"Stop": [` + ours + `]}}`, out: `{"hooks": {"Stop": [ ]}}`, memory: Memory{"/hooks/Stop": " "}},
		"sub-agent entry too":      {in: `{"a": 1, "hooks": {"SubagentStop": [` + ours + `]}}`, out: `{"a": 1}`},
		"first of three members":   {in: `{"hooks": {"Stop": [` + ours + `]}, "a": 1, "b": 2}`, out: `{"a": 1, "b": 2}`},
		"middle of three members":  {in: `{"a": 1, "hooks": {"Stop": [` + ours + `]}, "b": 2}`, out: `{"a": 1, "b": 2}`},
		"an empty foreign event":   {in: `{"hooks": {"Stop": [` + ours + `], "Foo": []}}`, out: `{"hooks": {"Foo": []}}`},
		"comment in Stop":          {in: "{\"hooks\": {\"Stop\": [ // keep\n" + ours + "]}}", out: "{\"hooks\": {\"Stop\": [ // keep\n]}}"},
		"comment in hooks":         {in: "{\"hooks\": {/*c*/ \"Stop\": [" + ours + "]}}", out: "{\"hooks\": {/*c*/ }}"},
		"comment in the root":      {in: "{/*c*/\"hooks\": {\"Stop\": [" + ours + "]}}", out: "{/*c*/}"},
		"line comment before ours": {in: "{\"hooks\": {\"Stop\": [{}, // keep\n" + ours + "]}}", out: "{\"hooks\": {\"Stop\": [{} // keep\n]}}"},
		"line comment, more after": {in: "{\"hooks\": {\"Stop\": [{}, // keep\n" + ours + ", {}]}}", out: "{\"hooks\": {\"Stop\": [{}, // keep\n {}]}}"},
		"comments all around":      {in: "{\"hooks\": {\"Stop\": [/*1*/" + ours + "/*2*/,/*3*/{}]}}", out: "{\"hooks\": {\"Stop\": [/*1*//*2*//*3*/{}]}}"},
		"trailing comma":           {in: "{\"hooks\": {\"Stop\": [{}," + ours + ",]}}", out: "{\"hooks\": {\"Stop\": [{},]}}"},
		"nothing of ours":          {in: "{ \"hooks\" : { \"Stop\" : [ ] } }", out: "{ \"hooks\" : { \"Stop\" : [ ] } }"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := brepl()
			spec.Everywhere = true
			spec.Memory = tt.memory
			res := plan(t, tt.in, spec)
			assert.Equal(t, string(res.Data), tt.out)
			assert.Equal(t, res.Bare, tt.bare)
		})
	}
}

// Faults 15: refused with file, line and column.
func TestPlanRefuses(t *testing.T) {
	tests := map[string]struct{ in, err string }{
		"array":              {"\n [1]", "s.json:2:2: settings must be an object, found an array"},
		"null":               {"null", "s.json:1:1: settings must be an object, found null"},
		"string":             {bom + `"x"`, "s.json:1:1: settings must be an object, found a string"},
		"hooks no object":    {"{\n  \"hooks\": []\n}", `s.json:2:12: "hooks" must be an object, found an array`},
		"hooks null":         {`{"é𝄞": 1, "hooks": null}`, `s.json:1:21: "hooks" must be an object, found null`},
		"event no array":     {`{"hooks": {"Stop": {}}}`, `s.json:1:20: "Stop" must be an array, found an object`},
		"entry no object":    {`{"hooks": {"Stop": ["x"]}}`, `s.json:1:21: an entry of "Stop" must be an object, found a string`},
		"handlers no array":  {`{"hooks": {"Stop": [{"hooks": true}]}}`, `s.json:1:31: "hooks" in an entry of "Stop" must be an array, found a boolean`},
		"handler no object":  {`{"hooks": {"Stop": [{"hooks": [5]}]}}`, `s.json:1:32: a handler of "Stop" must be an object, found a number`},
		"hooks twice":        {`{"hooks": {}, "hooks": {}}`, `s.json:1:15: "hooks" is given twice; the host reads only the last one`},
		"hooks twice, esc":   {`{"hooks": {}, "hook\u0073": {}}`, `s.json:1:15: "hooks" is given twice; the host reads only the last one`},
		"event twice":        {`{"hooks": {"Stop": [], "Stop": []}}`, `s.json:1:24: "Stop" is given twice; the host reads only the last one`},
		"handlers twice":     {`{"hooks": {"Stop": [{"hooks": [], "hooks": []}]}}`, `s.json:1:35: "hooks" is given twice; the host reads only the last one`},
		"command twice":      {`{"hooks": {"Stop": [{"hooks": [{"command": "a", "command": "b"}]}]}}`, `s.json:1:49: "command" is given twice; the host reads only the last one`},
		"not closed":         {"{\n  \"a\": 1", "s.json:2:9: not valid JSON: parsing object after value: unexpected EOF"},
		"no comma":           {"{\r\n  \"a\": 1\r\n  \"b\": 2\r\n}", `s.json:3:3: not valid JSON: invalid character '"' after object value (expecting ',' or '}')`},
		"trailing garbage":   {"{} x", `s.json:1:4: not valid JSON: invalid character 'x' after top-level value`},
		"only a comment":     {"// x\n", "s.json:2:1: not valid JSON: parsing value: unexpected EOF"},
		"UTF-16":             {"\xff\xfe{\x00}\x00", `s.json:1:1: the file is UTF-16; the host reads UTF-8`},
		"too deep":           {`{"a":` + strings.Repeat("[", 512), "s.json:1:517: nested deeper than 512"},
		"a million brackets": {strings.Repeat("[", 2_500_000), "s.json:1:513: nested deeper than 512"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Plan("s.json", []byte(tt.in), allFour())
			assert.Error(t, err, tt.err)
		})
	}
}

func TestPlanNotes(t *testing.T) {
	assert.Equal(t, plan(t, `{"a": 1}`, stopOnly()).Comments, false)
	assert.Equal(t, plan(t, `{"a": 1,}`, stopOnly()).Comments, true)
	assert.Equal(t, plan(t, `{"a": 1} // x`, stopOnly()).Comments, true)
	for text, want := range map[string][2]bool{ // NoList, Disabled
		`{"hooks": {"PreToolUse": {}}}`:                               {true, false},
		`{"hooks": {"PreToolUse": null}}`:                             {true, false},
		`{"hooks": {"PreToolUse": "x", "PreToolUse": []}}`:            {false, false}, // the last one counts
		`{"hooks": {"PreToolUse": [{}]}}`:                             {false, false},
		`{"PreToolUse": {}, "hooks": {"PostToolUse": {}}}`:            {false, false},
		`{"disableAllHooks": true}`:                                   {false, true},
		`{"disableAllHooks": true, "hooks": {"PreToolUse": 1}}`:       {true, true},
		`{"disableAllHooks": true, "disableAllHooks": false}`:         {false, false},
		`{"disableAllHooks": "true", "x": {"disableAllHooks": true}}`: {false, false},
	} {
		spec := stopOnly()
		spec.Events = []string{"Stop"} // what is ours to arrange must be well formed
		res := plan(t, text, spec)
		assert.Equal(t, [2]bool{res.NoList, res.Disabled}, want, text)
	}
}

// Faults 15: 5 MB.
func TestPlanLargeFile(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	assert.NilError(t, growth.Linear(12_500, func(size int) func() {
		in := `{"x": ["` + strings.Repeat(strings.Repeat("a", 98)+`","`, size) + `"], "hooks": {}}`
		return func() { assert.Assert(t, bytes.HasPrefix(plan(t, in, allFour()).Data, []byte(in[:len(in)-2]))) }
	}))
}

// The host's timer counts milliseconds in 32 bits: a longer timeout fires at once.
func TestPlanMendsTimeoutThatOverflows(t *testing.T) {
	const text = `{"hooks":{"Stop":[{"matcher":"","hooks":[{"type":"command","command":"brepl hook stop","timeout":%d}]}]}}`
	for seconds, changed := range map[int]bool{2147483: false, 2147484: true} {
		before := fmt.Sprintf(text, seconds)
		got, err := Plan("f", []byte(before), stopOnly())
		assert.NilError(t, err)
		assert.Equal(t, string(got.Data) != before, changed, seconds)
	}
}
