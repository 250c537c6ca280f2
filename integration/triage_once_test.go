//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// end is the end of the agent's session.
func (w *triageWorld) end(reason string) result {
	w.t.Helper()
	return w.run(fakes.OneLine(fakes.SessionEndEvent(reason, fakes.Set("session_id", w.session), fakes.Set("cwd", w.project)).JSON()), "session-end")
}

// TestTriageAfterResume: a session can be resumed after any end, and is not asked again then.
func TestTriageAfterResume(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"other", "prompt_input_exit", "logout", "resume", ""} {
		w := decided(t)
		w.stop().asksFor("DECISION " + saysDecision)
		w.end(reason).is(0, "", "")
		assert.Equal(t, content(t, w.flag()), "absent")
		w.stop().allows()
		w.agent("We decided to put the cache into Redis instead of memcached.")
		w.stop().asksFor("DECISION We decided to put the cache into Redis instead of memcached.")
	}
	// After clear nobody comes back under this id.
	w := decided(t)
	w.stop().asksFor("DECISION " + saysDecision)
	w.end("clear").is(0, "", "")
	w.stop().asksFor("DECISION " + saysDecision)
	// A person can have them removed too.
	w.run(fakes.DevNull(), "session-end", w.session).is(0, "", "")
	w.stop().asksFor("DECISION " + saysDecision)
}

// TestTriageNotesAreTheirOwn: another hook of the house that ends the session does not take the notes along.
func TestTriageNotesAreTheirOwn(t *testing.T) {
	t.Parallel()
	w := decided(t)
	w.stop().asksFor("DECISION " + saysDecision)
	w.end("other").is(0, "", "")
	folders, err := filepath.Glob(filepath.Join(w.state, "*", w.session))
	assert.NilError(t, err)
	assert.Equal(t, len(folders), 0, "%q", folders)
}

// TestTriageNotesAreSweptAway: what no session wants any more goes after a week.
func TestTriageNotesAreSweptAway(t *testing.T) {
	t.Parallel()
	w := decided(t)
	w.stop().asksFor("DECISION " + saysDecision)
	notes, err := filepath.Glob(filepath.Join(w.state, "*", "*"+w.session))
	assert.NilError(t, err)
	assert.Equal(t, len(notes), 1, "%q", notes)
	entries, err := os.ReadDir(notes[0])
	assert.NilError(t, err)
	const old = 7*24*time.Hour + time.Minute
	for _, e := range entries {
		age(t, filepath.Join(notes[0], e.Name()), old)
	}
	age(t, notes[0], old)
	w.session = "another"
	w.end("other").is(0, "", "")
	assert.Equal(t, content(t, notes[0]), "absent")
}

// TestTriageAsksOneOfManyStops: stops of one session at the same moment, of which one asks.
func TestTriageAsksOneOfManyStops(t *testing.T) {
	built(t, "memory-triage")
	t.Parallel()
	const stops = 60
	w := decided(t)
	results := make([]result, stops)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() { results[i] = w.stop() })
	}
	all.Wait()
	blocks := 0
	for _, r := range results {
		if r.exit == 2 {
			blocks++
		} else {
			r.allows()
		}
	}
	assert.Equal(t, blocks, 1)
}

// TestTriageWithoutTheLock: who cannot have the lock in time lets the agent stop, and says so.
func TestTriageWithoutTheLock(t *testing.T) {
	fullRun(t)
	t.Parallel()
	w := decided(t)
	w.stop().asksFor("DECISION " + saysDecision)
	assert.NilError(t, os.Remove(w.flag()))
	locks, err := filepath.Glob(filepath.Join(w.state, "*", "*"+w.session, "lock"))
	assert.NilError(t, err)
	assert.Equal(t, len(locks), 1)
	lock := flock.New(locks[0])
	assert.NilError(t, lock.Lock())
	w.stop().allows() // nothing new: nobody needs it
	w.agent("We decided to put the cache into Redis instead of memcached.")
	r := w.stop()
	assert.Assert(t, r.exit == 0 && r.stdout == "" && strings.Count(r.stderr, "\n") == 1, "%s%s", r.stdout, r.stderr)
	assert.Assert(t, strings.HasPrefix(r.stderr, "memory-triage: ") && strings.Contains(r.stderr, "lock"), r.stderr)
	assert.NilError(t, lock.Unlock())
	w.stop().asksFor("DECISION We decided to put the cache into Redis instead of memcached.")
}
