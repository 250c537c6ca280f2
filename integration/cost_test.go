//go:build unix

package integration

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// costs fails when work takes more than some times as long as base, both at their best. They are done in turn: what else the machine does
// makes both slower, and only ever slower.
func costs(t *testing.T, times time.Duration, base, work func() time.Duration) {
	t.Helper()
	a, b := time.Hour, time.Hour
	for range 20 {
		a, b = min(a, base()), min(b, work())
		if b <= times*a {
			t.Logf("%v, beside %v", b, a)
			return
		}
	}
	t.Fatalf("it takes %v, more than %d times %v", b, times, a)
}

// nothing is the time of a run that does nothing.
func (w *world) nothing() time.Duration {
	w.t.Helper()
	r := w.run(fakes.DevNull(), "--version")
	assert.Equal(w.t, r.exit, 0)
	return r.raw.Elapsed
}

// inHostTime runs a hook that a host gives some seconds in all, and more of them to a machine that is too busy: the verdict must be there
// before they are over.
func inHostTime(t *testing.T, seconds int, run func(seconds int) result) {
	t.Helper()
	for ; ; seconds *= 2 {
		took, host := run(seconds).raw.Elapsed, time.Duration(seconds)*time.Second
		assert.Assert(t, took >= host*7/10, "%v of %v", took, host)
		if took < host {
			return
		}
		assert.Assert(t, seconds < 60, "%v of %v", took, host)
	}
}
