package condense_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/gauntlet/condense"
	"github.com/hookkit/brepl/hookkit/internal/growth"
)

// TestOutput: each NAME.txt of testdata/tools.txtar was printed by the tool of that name, or written after its documentation; NAME.golden
// behind it is what is left of it. Update those with `go test ./hookkit/gauntlet/condense -update`.
func TestOutput(t *testing.T) {
	const file = "testdata/tools.txtar"
	outputs, err := txtar.ParseFile(file)
	assert.NilError(t, err)
	assert.Assert(t, len(outputs.Files) >= 2*20 && len(outputs.Files)%2 == 0, "%d files", len(outputs.Files))
	for i := 0; i < len(outputs.Files); i += 2 {
		out, want := outputs.Files[i], &outputs.Files[i+1]
		name, ok := strings.CutSuffix(out.Name, ".txt")
		assert.Assert(t, ok && want.Name == name+".golden", "%s, then %s", out.Name, want.Name)
		t.Run(name, func(t *testing.T) {
			r := condense.Output(string(out.Data), condense.Limits{Lines: 12})
			var b strings.Builder
			for _, c := range r.Cases {
				fmt.Fprintf(&b, "%s | %s | %s\n", c.Tool, c.Name, c.Where)
			}
			b.WriteString("\n" + r.Text())
			if golden.FlagUpdate() {
				want.Data = []byte(b.String())
			}
			assert.Equal(t, b.String(), string(want.Data))
		})
	}
	if golden.FlagUpdate() {
		assert.NilError(t, os.WriteFile(file, txtar.Format(outputs), 0o600))
	}
}

func TestErrorsComeBeforeWarnings(t *testing.T) {
	t.Parallel()
	r := condense.Output("a.clj:1:1: warning: unused\nb.clj:2:2: error: unresolved\n", condense.Limits{Cases: 1})
	assert.Equal(t, r.Cases[0].Where, "b.clj:2:2")
	assert.Equal(t, r.More, 1)
}

func TestManyCasesAreCounted(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "--- FAIL: Test%d (0.00s)\n    x_test.go:%d: wrong\n", i, i)
	}
	r := condense.Output(b.String(), condense.Limits{})
	assert.Equal(t, len(r.Cases), 10)
	assert.Equal(t, r.More, 190)
	assert.Assert(t, strings.HasSuffix(r.Text(), "… and 190 more\n"), r.Text())
}

func TestLongCaseKeepsBothEnds(t *testing.T) {
	t.Parallel()
	r := condense.Output("--- FAIL: TestLong (0.00s)\n"+strings.Repeat("    line\n", 100)+"    last\n", condense.Limits{Lines: 6})
	assert.Equal(t, r.Cases[0].Cut, 96)
	assert.Equal(t, r.Text(), "--- FAIL: TestLong (0.00s)\n    line\n    line\n    … 96 lines\n    line\n    line\n    last\n")
}

func TestNothing(t *testing.T) {
	t.Parallel()
	for _, out := range []string{"", "\n\n", "\x1b[0m\r\n"} {
		assert.Equal(t, condense.Output(out, condense.Limits{}).Text(), "", "%q", out)
	}
}

// TestOutputIsCleanAndBounded: whatever a check prints, the report is short, valid UTF-8 and without control characters.
func TestOutputIsCleanAndBounded(t *testing.T) {
	t.Parallel()
	lines := []string{
		"--- FAIL: TestX (0.00s)", "    x_test.go:1: wrong", "panic: boom", "FAIL in (x) (y.clj:1)", "___ test ___", "a.go:1:2: wrong", "\x1b[31mred",
		"\xff\xfe", "  ● a › b", "error[E0001]: x", "", "not ok 1 - x", "\x1b]0;title", "\x1b", "a\rb\rc", strings.Repeat("ü", 400), "src/a.js", "  1:2  error  x",
	}
	rapid.Check(t, func(t *rapid.T) {
		out := strings.Join(rapid.SliceOf(rapid.SampledFrom(lines)).Draw(t, "lines"), "\n")
		r := condense.Output(out, condense.Limits{Cases: 3, Lines: 5, Width: 100})
		text := r.Text()
		assert.Equal(t, strings.ToValidUTF8(text, "?"), text)
		assert.Assert(t, !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }), "%q", text)
		assert.Assert(t, strings.Count(text, "\n") <= 3*6+1+3+6, text)
		for line := range strings.Lines(text) {
			assert.Assert(t, len(line) <= 100+len("…\n"), line)
		}
	})
}

// TestOutputTakesLinearTime: 1 MiB of one long case, of many cases, and of nothing known.
func TestOutputTakesLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	t.Parallel()
	for _, unit := range []string{"    indented\n", "--- FAIL: TestX (0.00s)\n", "nothing known\n", "\n", "\r"} {
		assert.NilError(t, growth.Linear(1<<16/len(unit), func(size int) func() {
			text := "--- FAIL: TestX (0.00s)\n" + strings.Repeat(unit, size)
			return func() { condense.Output(text, condense.Limits{}) }
		}), "%q", unit)
	}
}
