//go:build unix

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// handed is the line by which the host hands the agent what a Stop hook wrote.
func (w *triageWorld) handed(text string) *triageWorld {
	return w.raw(fmt.Sprintf(`{"parentUuid":"p","isSidechain":false,"type":"user","message":{"role":"user","content":%q},"isMeta":true,"uuid":"u"}`+"\n",
		"Stop hook feedback:\n[memory-triage]: "+text))
}

// saves is a write to a memory file.
func (w *triageWorld) saves() *triageWorld {
	return w.tool("Write", map[string]any{"file_path": filepath.Join(w.project, ".claude/memory/decisions.md"), "content": "x"})
}

// nextTurn is another question of the user's and its answer.
func (w *triageWorld) nextTurn() *triageWorld {
	return w.user("Thanks. Which files are in src?").agent("There are `a.go` and `b.go`.")
}

var reportsOfSaving = []string{
	"Saved.\n\n- **Decision**: we chose Postgres over MySQL for the order store.",
	"I saved the decision: we decided to use Postgres instead of MySQL for the order store.",
	"Noted in `decisions.md`: Postgres instead of MySQL was decided for the order store, because of its JSON columns.",
	"Done. I recorded that we settled on Postgres rather than MySQL.",
	"Memory saved:\n1. We went with Postgres for the order store; MySQL was the alternative.",
	"Saved to decisions.md: from now on the order store is on Postgres.",
	"Noted as tech debt too: we leave the old MySQL tables in place for now. The root cause was the missing index; adding it fixed the slow query.",
}

// TestTriageDoesNotAskForReports: what the agent says of what it saved is not worth saving again, at that stop and at those after it.
func TestTriageDoesNotAskForReports(t *testing.T) {
	t.Parallel()
	for _, report := range reportsOfSaving {
		for _, saved := range []bool{true, false} {
			w := decided(t)
			r := w.stop()
			r.asksFor("DECISION " + saysDecision)
			w.handed(r.stderr)
			if saved {
				w.saves()
			}
			w.stop("stop_hook_active", "true", "last_assistant_message", fmt.Sprintf("%q", report)).allows()
			w.agent(report).nextTurn()
			w.stop().allows()
		}
		// Nobody asked: the agent saved on its own.
		w := decided(t).saves().agent(report)
		w.stop().allows()
		w.nextTurn().stop().allows()
	}
}

// TestTriageAsksAfterReports: a report ends where the user speaks, or the agent goes on with the work.
func TestTriageAsksAfterReports(t *testing.T) {
	t.Parallel()
	const other = "We decided to put the cache into Redis instead of memcached."
	w := decided(t).saves().agent(reportsOfSaving[0]).user("And the cache?").agent(other)
	w.stop().asksFor("DECISION " + other)

	w = decided(t).saves().agent(reportsOfSaving[0])
	w.tool("Edit", map[string]any{"file_path": filepath.Join(w.project, "cache.go")}).agent(other)
	w.stop().asksFor("DECISION " + other)

	// What does not tell of saving is no report of what nobody asked for.
	w = decided(t).saves().agent(other)
	w.stop().asksFor("DECISION " + other)

	// A list of somebody else's begins no report.
	w = decided(t)
	w.stop().asksFor("DECISION " + saysDecision)
	w.handed("Hook 'run-tests' failed: 1 tests failed").agent(other).nextTurn()
	w.flagDown().stop().asksFor("DECISION " + other)
}

// TestTriageKnowsWhatIsSaidAgain: the agent repeats in other words what was asked for. What the user says again may be meant anew.
func TestTriageKnowsWhatIsSaidAgain(t *testing.T) {
	t.Parallel()
	const again = "As we decided, the order store uses Postgres instead of MySQL."
	w := decided(t)
	w.stop().asksFor("DECISION " + saysDecision)
	w.nextTurn().agent(again)
	w.flagDown().stop().allows()

	// The answer to a question that was there before is new.
	w = decided(t).user("Do we use Kafka or RabbitMQ for the events?").agent("Let me look at the load first.")
	w.stop().asksFor("DECISION " + saysDecision)
	const answer = "We decided to use Kafka instead of RabbitMQ for the events."
	w.agent(answer)
	w.flagDown().stop().asksFor("DECISION " + answer)

	w = decided(t)
	w.stop().asksFor("DECISION " + saysDecision)
	const anew = "We decided to use MySQL instead of Postgres for the order store."
	w.user(anew).agent("OK.")
	w.flagDown().stop().asksFor("DECISION " + anew)
}

// TestTriageTellsOfOthers: a category has one line, and what it stands for is not asked for again.
func TestTriageTellsOfOthers(t *testing.T) {
	t.Parallel()
	w := decided(t).
		user("Kafka or RabbitMQ for the events?").agent("We decided to use Kafka instead of RabbitMQ for the events.").
		user("And the web client?").agent("We decided to use OAuth instead of session cookies for the web client.")
	r := w.stop()
	if r.exit != 2 || strings.Count(r.stderr, "[DECISION]") != 1 || !strings.Contains(r.stderr, " (and 2 more)\n") {
		t.Errorf("%d\n%s", r.exit, r.stderr)
	}
	w.flagDown().nextTurn().stop().allows()
}

// TestTriageWithoutSessionID: projects do not share what was asked for where the host gives no id.
func TestTriageWithoutSessionID(t *testing.T) {
	t.Parallel()
	w := decided(t)
	w.stop("session_id", `""`).asksFor("DECISION " + saysDecision)
	w.flagDown().stop("session_id", `""`).allows()
	other := decided(t)
	other.state = w.state
	other.stop("session_id", `""`).asksFor("DECISION " + saysDecision)
}

// flagDown takes the flag away, so that only the notes say what was asked for.
func (w *triageWorld) flagDown() *triageWorld {
	w.t.Helper()
	assert.NilError(w.t, os.Remove(w.flag()))
	return w
}
