package settings

import (
	"testing"

	"gotest.tools/v3/assert"
)

// Faults 15: whose handler it is decides whether install may take it away.
func TestOwnCommand(t *testing.T) {
	own := OwnCommand("brepl", "hook", "hooks")
	mentions := Mentions("brepl", "hook", "hooks")
	tests := []struct {
		command       string
		own, mentions bool
	}{
		{"brepl hook stop", true, true},
		{"  brepl\thook  stop \n", true, true},
		{"/usr/bin/brepl hooks stop --debug", true, true},
		{`"/path with space/brepl" hook stop`, true, true},
		{`'/a/brepl' hook validate "$FILE_PATH"`, true, true},
		{`'/it'\''s/brepl' hook stop`, true, true},
		{`/path\ with\ space/brepl hook stop`, true, true},
		{`"$HOME/bin/brepl" hook stop`, true, true},
		{`"C:\Program Files\brepl.exe" hook stop`, true, true},
		{"./brepl hook stop", true, true},
		{"brepl 'hook' stop", true, true},
		{"brepl hook eval a#b", true, true},
		{`sh -c "brepl hook stop && x"`, false, true},
		{"cd x && brepl hook stop", false, true},
		{"brepl hook stop; rm x", false, true},
		{"brepl hook stop | tee", false, true},
		{"brepl hook stop & wait", false, true},
		{"brepl hook stop 2>/dev/null", false, true},
		{"brepl hook stop\nrm x", false, true},
		{"brepl hook stop # mine", false, true},
		{"brepl hook validate $(cat x)", false, true},
		{"brepl hook validate \"$(cat x)\"", false, true},
		{"brepl hook validate `cat x`", false, true},
		{"brepl hook validate \"`cat x`\"", false, true},
		{"(brepl hook stop)", false, true},
		{"FOO=1 brepl hook stop", false, true},
		{"A=/x/brepl hook stop", false, true},
		{"exec brepl hook stop", false, true},
		{"! brepl hook stop", false, true},
		{"brepl hook 'stop", false, true},
		{`brepl hook "stop`, false, true},
		{`brepl hook stop\`, false, true},
		{"brepl", false, false},
		{"brepl stop hook", false, false},
		{"brepl-hook hook", false, false},
		{"mybrepl hook stop", false, false},
		{"brepl hooked", false, false},
		{"echo brepl", false, false},
		{"", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.command, func(t *testing.T) {
			h := Handler{Type: "command", Command: tt.command}
			assert.Equal(t, own(h), tt.own)
			assert.Equal(t, mentions(h), tt.mentions)
		})
	}
	args := func(command string, args ...string) Handler { return Handler{Command: command, Args: args} }
	assert.Equal(t, own(args("/path with space/brepl", "hook", "stop")), true)
	assert.Equal(t, own(args("brepl", "x")), false)
	assert.Equal(t, own(args("sh", "-c", "brepl hook stop")), false)
	assert.Equal(t, own(Handler{Command: "brepl hook stop", Args: []string{}}), false)
	assert.Equal(t, own(Handler{Type: "prompt", Command: "brepl hook stop"}), false)

	triage := OwnCommand("memory-triage")
	assert.Equal(t, triage(Handler{Command: "/x/memory-triage"}), true)
	assert.Equal(t, triage(Handler{Command: "memory-triage --host portable"}), true)
	assert.Equal(t, Mentions("memory-triage")(Handler{Command: "x | memory-triage"}), true)
}

func TestShellQuote(t *testing.T) {
	tests := map[string]string{
		"/usr/bin/brepl":  "/usr/bin/brepl",
		"":                "''",
		"/a b/brepl":      "'/a b/brepl'",
		"/it's/brepl":     `'/it'\''s/brepl'`,
		"/$x/`y`/\"brepl": "'/$x/`y`/\"brepl'",
		"~/brepl":         "'~/brepl'",
		"/é/brepl":        "'/é/brepl'",
	}
	for in, want := range tests {
		quoted := ShellQuote(in)
		assert.Equal(t, quoted, want)
		words, simple := shellWords(quoted)
		assert.Equal(t, simple, true)
		assert.DeepEqual(t, words, []string{in})
	}
}
