//go:build unix

package integration

import (
	"regexp"
	"slices"
	"strconv"
	"testing"

	"gotest.tools/v3/assert"
)

// rule replaces what differs from run to run by a name, so that a whole stream can be compared.
type rule struct {
	from *regexp.Regexp
	to   string
}

// literal is a rule for a text that the test knows: a path, an id.
func literal(from, to string) rule { return rule{regexp.MustCompile(regexp.QuoteMeta(from)), to} }

// port is a rule for a port that the test knows, wherever it stands alone.
func port(number int, to string) rule {
	return rule{regexp.MustCompile(`\b` + strconv.Itoa(number) + `\b`), to}
}

// measured are the times that a program measures. Times that a message takes from the configuration ("timed out after
// 1 s") are written with a blank and stay.
func measured() []rule {
	return []rule{
		{regexp.MustCompile(`\((?:\d+m)?\d+(?:\.\d+)?(?:µs|ms| ?s)\)`), "($$TOOK)"},
		{regexp.MustCompile(`\b(within|after) \d+(?:\.\d+)?(?:µs|ms|s)\b`), "$1 $$TOOK"},
		{regexp.MustCompile(`\buntil \d\d:\d\d\b`), "until $$TIME"},
		{regexp.MustCompile(`\bas it was on \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b`), "as it was on $$WHEN"},
	}
}

// normalize applies the rules in their order: what is longer or more special stands first.
func normalize(text string, rules ...[]rule) string {
	for _, r := range slices.Concat(rules...) {
		text = r.from.ReplaceAllString(text, r.to)
	}
	return text
}

func TestNormalize(t *testing.T) {
	rules := []rule{literal("/tmp/x+y/state", "$$STATE"), literal("/tmp/x+y", "$$PROJECT"), port(4001, "$$PORT")}
	for text, want := range map[string]string{
		"/tmp/x+y/state/lint.log in /tmp/x+y":          "$STATE/lint.log in $PROJECT",
		"127.0.0.1:4001 refused, 14001 and 40011 stay": "127.0.0.1:$PORT refused, 14001 and 40011 stay",
		"passed lint (20ms)":                           "passed lint ($TOOK)",
		"passed lint (1.35s)":                          "passed lint ($TOOK)",
		"passed lint (0.8 s)":                          "passed lint ($TOOK)",
		"passed lint (1m2.5s)":                         "passed lint ($TOOK)",
		"no answer within 1.002s; busy":                "no answer within $TOOK; busy",
		"timed out after 1 s":                          "timed out after 1 s",
		"paused until 17:05; 17:05":                    "paused until $TIME; 17:05",
	} {
		assert.Equal(t, normalize(text, rules, measured()), want)
	}
}
