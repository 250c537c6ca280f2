//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

const (
	configurationFile = "Stop Hook Configuration File"
	schemaValidation  = "Hook Schema Validation"
)

const noHookRun = "No hook was run. Mend the file; `brepl hook check` shows what is left."

var configScenarios = []scenario{
	{seed001, configurationFile, "Load valid configuration", func(t *testing.T) {
		w := newWorld(t, hooksEDN(
			bash("first", `echo first >> "$WORLD/trace"`),
			bash("second", `echo second >> "$WORLD/trace"`),
		))
		w.stop().is(0, approve, "")
		assert.Equal(t, w.wrote("trace"), "first\nsecond\n")
	}},
	{seed001, configurationFile, "No configuration file exists", func(t *testing.T) {
		w := newWorld(t, "")
		w.stop().is(0, `{"decision": "approve"}`, "")
		assert.DeepEqual(t, w.stateFiles(), []string(nil))
	}},
	{seed001, configurationFile, "Invalid configuration format", func(t *testing.T) {
		// Malformed EDN: the agent reads of it once, and can stop.
		w := newWorld(t, "{:stop [{:type :bash :name \"lint\"\n         :command \"touch $WORLD/ran\"}\n")
		const fault = ".brepl/hooks.edn:3:1: EOF while reading, starting at line 1: expected ] to match [ at line 1, column 8"
		stderr := lines(
			"The stop hooks cannot be run: "+fault,
			"3 | ",
			"  | ^",
			".brepl/hooks.edn:3:1: EOF while reading, starting at line 1: expected } to match { at line 1, column 1",
			"3 | ",
			"  | ^",
			noHookRun,
		)
		w.stop().is(1, tellBoth("brepl: the stop hooks cannot be run: "+fault, strings.TrimSuffix(stderr, "\n")), stderr)
		w.stop().is(1, tellUser("brepl: the stop hooks cannot be run: "+fault), stderr)
		assert.Equal(t, w.wrote("ran"), "absent")

		// Well formed, but no hook.
		w = newWorld(t, `{:stop {:type :bash}}`)
		text := "The stop hooks cannot be run: .brepl/hooks.edn:1:8: :stop must be a vector of hooks, found a map\n" +
			"1 | {:stop {:type :bash}}\n  |        ^\n" + noHookRun
		w.stop().is(1, tellBoth("brepl: the stop hooks cannot be run: .brepl/hooks.edn:1:8: :stop must be a vector of hooks, found a map", text), text+"\n")
	}},

	{seed001, schemaValidation, "Valid REPL hook", func(t *testing.T) {
		w := newWorld(t, hooksEDN(`{:type :repl, :name "tests", :code "(run-tests)"}`))
		w.hook("check").is(0, ".brepl/hooks.edn can be used: 1 hook (tests)\n", "")
		w.withREPL().On("(run-tests)").Value("nil")
		w.stop().is(0, approve, "")
	}},
	{seed001, schemaValidation, "Valid bash hook", func(t *testing.T) {
		w := newWorld(t, hooksEDN(`{:type :bash, :name "lint", :command "clj-kondo --lint src"}`))
		w.hook("check").is(0, ".brepl/hooks.edn can be used: 1 hook (lint)\n", "")
		w.tool("clj-kondo", `echo "$*" >> "$WORLD/trace"`)
		w.stop().is(0, approve, "")
		assert.Equal(t, w.wrote("trace"), "--lint src\n")
	}},
	{seed001, schemaValidation, "Missing required field", func(t *testing.T) {
		w := newWorld(t, hooksEDN(`{:type :bash :command "true"}`))
		fault := ".brepl/hooks.edn:2:1: hook 1: :name is missing; expected a string that is not empty, on one line"
		shown := fault + "\n2 | {:type :bash :command \"true\"}\n  | ^\n"
		w.hook("check").is(1, "", shown)
		text := "The stop hooks cannot be run: " + shown + noHookRun
		w.stop().is(1, tellBoth("brepl: the stop hooks cannot be run: "+fault, text), text+"\n")
	}},
	{seed001, schemaValidation, "Invalid field type", func(t *testing.T) {
		w := newWorld(t, hooksEDN(`{:type :bash :name "lint" :command "true" :timeout "sixty"}`))
		fault := `.brepl/hooks.edn:2:52: hook 'lint': :timeout must be a positive integer (seconds), found the string "sixty"`
		shown := fault + "\n2 | {:type :bash :name \"lint\" :command \"true\" :timeout \"sixty\"}\n  |                                                    ^\n"
		w.hook("check").is(1, "", shown)
		text := "The stop hooks cannot be run: " + shown + noHookRun
		w.stop().is(1, tellBoth("brepl: the stop hooks cannot be run: "+fault, text), text+"\n")
	}},
}

// tool puts a shell script on the PATH of the world.
func (w *world) tool(name, script string) {
	w.t.Helper()
	dir := filepath.Join(w.scratch, "bin")
	assert.NilError(w.t, os.MkdirAll(dir, 0o700))
	assert.NilError(w.t, fakes.WriteProgram(filepath.Join(dir, name), "#!/bin/sh\n"+script+"\n"))
	w.env = append(w.env, "PATH="+dir+string(os.PathListSeparator)+w.path())
}

// path is the PATH of this world.
func (w *world) path() string {
	for _, variable := range slices.Backward(w.env) {
		if value, found := strings.CutPrefix(variable, "PATH="); found {
			return value
		}
	}
	return os.Getenv("PATH")
}
