//go:build unix

package integration

import (
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
)

// attempts are refusals of the hook "tests" that fails the same way each time while nothing changes: from the third on,
// another approach is asked for.
func attempts(attempt int) reaction {
	if attempt < 3 {
		return refusesAt("tests", attempt)
	}
	return refusesAt("tests", attempt, stuck)
}

// unlimited is the refusal of such a hook without a limit.
func unlimited(attempt int) reaction {
	text := []string{
		"Hook 'tests' failed: exit 1",
		fmt.Sprintf("This stop is blocked: attempt %d, without a limit. Fix the cause, then stop again.", attempt),
	}
	if attempt >= 3 {
		text = append(text, stuck)
	}
	return refuses(fmt.Sprintf("brepl: 'tests' failed, attempt %d", attempt), blocked(text...))
}

var agentRetryScenarios = []scenario{
	{seed001, sequential, "Blocking hook exhausts retry limit", func(t *testing.T) {
		// The agent works between its stops, so that the client's own cap does not come first.
		a := newAgent(t, hooksEDN(bash("tests", "exit 1", retry, ":max-retries 10")))
		a.stops(attempts(1))
		for i := 2; i <= 10; i++ {
			a.Bash("true")
			a.stops(attempts(i).again())
		}
		a.Bash("true")
		const user = "brepl: 'tests' failed after 10 retries, giving up"
		_, text := reported("Hook 'tests' failed after 10 retries. Giving up.", "Last failure: exit 1", stuck)
		// The sequence of blocks ends: one turn to read of it, then the agent stops, now and at later stops.
		a.stops(informs(user, text).again())
		a.stops(informsUser(user).again())
		a.Prompt("Go on.")
		a.stops(informsUser(user))
	}},
	{seed001, sequential, "Blocking hook with infinite retries", func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("tests", `test -e "$WORLD/pass"`, retry, ":max-retries 0")))
		// Without any work in between, the client's own cap ends it after 8 blocks.
		a.stops(unlimited(1))
		for i := 2; i <= 8; i++ {
			a.stops(unlimited(i).again())
		}
		a.stops(unlimited(9).again().overridden(9))

		// With a tool used in between, it does not end.
		a.Prompt("Go on.")
		a.stops(unlimited(10))
		for i := 11; i <= 21; i++ {
			a.Bash("true")
			a.stops(unlimited(i).again())
		}
		a.write("pass", "")
		a.stops(lets().again())
	}},

	{seed001, retryTracking, "Reset retry count on success", func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("tests", `test -e "$WORLD/pass"`, retry)))
		for i := 1; i <= 5; i++ {
			a.Write("src/a.clj", fmt.Sprintf("(ns a)\n%d\n", i))
			want := refusesAt("tests", i)
			want.Active = i > 1
			a.stops(want)
		}
		a.write("pass", "")
		a.stops(lets().again())
		assert.NilError(t, removeFile(a.scratch, "pass"))
		a.Prompt("And now?")
		a.stops(refusesAt("tests", 1))
	}},
}
