package gauntlet

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/cli"
)

// screen is what a terminal shows that understands what display sends: rows, cursor up, erase below.
func screen(sent string) string {
	var rows []string
	for len(sent) > 0 {
		if rest, ok := strings.CutPrefix(sent, "\x1b["); ok {
			up, after, _ := strings.Cut(rest, "A\x1b[J")
			n := 0
			for _, digit := range up {
				n = n*10 + int(digit-'0')
			}
			rows, sent = rows[:len(rows)-n], after
			continue
		}
		line, rest, _ := strings.Cut(sent, "\n")
		rows, sent = append(rows, line), rest
	}
	return strings.Join(rows, "\n")
}

func TestDisplay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out, errors strings.Builder
		p := &cli.Program{Stdout: &out, Stderr: &errors, IsTerminal: func(any) bool { return true }, Env: []string{"NO_COLOR=1", "TERM=xterm"}}
		d := newDisplay(p, false, true)
		shown := func() string {
			d.mu.Lock()
			defer d.mu.Unlock()
			return screen(out.String())
		}
		a, b := jobNamed("a"), jobNamed("b")
		d.progress(Progress{Job: a})
		d.progress(Progress{Job: b})
		assert.Equal(t, shown(), "running     check a 0s\nrunning     check b 0s")
		time.Sleep(250 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, shown(), "running     check a 200ms\nrunning     check b 200ms")
		failed := Result{Job: a, Outcome: Failed, Why: "exit 1", Took: 300 * time.Millisecond}
		d.progress(Progress{a, &failed})
		assert.Equal(t, shown(), "FAILED      check a (300ms): exit 1\nrunning     check b 200ms")
		passed := Result{Job: b, Outcome: Passed, Took: 2 * time.Second}
		d.progress(Progress{b, &passed})
		d.end(&Summary{Status: StatusFailed, Attempt: 1, MaxRetries: 3, Results: []Result{failed, passed}, Notes: []string{"a note"}}, "/")
		assert.Equal(t, shown(), strings.Join([]string{
			"FAILED      check a (300ms): exit 1", "passed      check b (2s)", "", "check a failed: exit 1", "",
			"FAILED      check a     300ms", "passed      check b        2s", "Status: Failed (attempt 1 of 4)",
		}, "\n"))
		assert.Equal(t, errors.String(), "agent-gauntlet: a note\n")
	})
}

// More gates than rows are counted: what is drawn must fit on the screen to be erased again.
func TestDisplayOfManyGates(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	d := &display{out: &out, live: true, tick: make(chan struct{})}
	for range 30 {
		d.progress(Progress{Job: jobNamed(strings.Repeat("long ", 30))})
	}
	shown := strings.Split(screen(out.String()), "\n")
	assert.Equal(t, len(shown), liveRows+1)
	assert.Equal(t, shown[liveRows], "           and 20 more")
	for _, row := range shown {
		assert.Assert(t, len(row) <= liveRowWidth, "%q", row)
	}
}
