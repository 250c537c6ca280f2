package proc_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/proc"
)

func TestFirstWord(t *testing.T) {
	for command, want := range map[string]string{
		"make test":           "make",
		"  CI=1 A=b make x":   "make",
		"CI=1":                "",
		"'my tool' x":         "my tool",
		`"nope" y`:            "nope",
		"nope-x; y":           "nope-x",
		"a|b":                 "a",
		`A="b c" nope`:        "nope",
		"$TOOL x":             "",
		"(cd x; y)":           "",
		"~/bin/x":             "",
		"":                    "",
		"./run.sh -v":         "./run.sh",
		"! grep x":            "",
		"=x":                  "=x",
		"clj-kondo --lint s;": "clj-kondo",
		"{ x; }":              "",
	} {
		assert.Equal(t, proc.FirstWord(command), want, "%q", command)
	}
}
