//go:build unix

package integration

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// What the user is told at each stop of a pause that they, or the agent, have begun.
const (
	pausedLine    = "brepl: stop hooks are paused; `brepl hook resume` ends this"
	pausedByAgent = "brepl: stop hooks are paused by the agent; `brepl hook resume` ends this"
)

const pausedSession = "Stop hooks of this session are paused until it ends, or until `brepl hook resume`.\n"

// byHand is a command that somebody types in a terminal of their own: no host is there.
func (w *world) byHand(args ...string) result {
	w.t.Helper()
	kept := w.env
	w.env = append(slices.Clip(w.env), "CLAUDECODE=", "CLAUDE_CODE_SESSION_ID=", "CLAUDE_PROJECT_DIR=")
	defer func() { w.env = kept }()
	return w.hook(args...)
}

var pauseRules = []ruleTest{
	{title: "pause lets this session's stops pass, resume ends it", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", leaveTrace+"; exit 1", retry)))
		w.keep(w.countsFile(), "{\"tests\" 3}\n")
		w.hook("pause").is(0, pausedSession, "")
		w.stop().is(0, approveTelling(pausedByAgent), "")
		w.stop().is(0, approveTelling(pausedByAgent), "")
		assert.Equal(t, w.wrote("trace"), "absent")
		assert.Equal(t, w.counts(), "{\"tests\" 3}\n")

		// Another session goes on.
		session := w.session
		w.session = session + "-other"
		w.stop().blocks("tests", 1)
		w.session = session

		w.hook("resume").is(0, "Stop hooks run again.\n", "")
		w.stop().blocks("tests", 4)
		assert.Equal(t, w.counts(), "{\"tests\" 4}\n")
		w.hook("resume").is(0, "Stop hooks were not paused.\n", "")
	}},
	{title: "a pause lets the stops of a broken configuration pass too", run: func(t *testing.T) {
		w := newWorld(t, "{")
		w.hook("pause").is(0, pausedSession, "")
		w.stop().is(0, approveTelling(pausedByAgent), "")
	}},
	{title: "pause in a terminal is for the project, whatever session comes", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		other := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		other.env = append(other.env, "BREPL_STATE_DIR="+w.state)
		w.byHand("pause").is(0, "Stop hooks of the project $PROJECT are paused until a session in it ends, or until `brepl hook resume`.\n", "")
		w.stop().is(0, approveTelling(pausedLine), "")
		w.session += "-other"
		w.stop().is(0, approveTelling(pausedLine), "")
		other.stop().blocks("tests", 1)
		w.byHand("resume").is(0, "Stop hooks run again.\n", "")
		w.stop().blocks("tests", 1)
	}},
	{title: "a pause of some time ends by itself", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		w.hook("pause", "30m").is(0, "Stop hooks of this session are paused until $TIME, or until `brepl hook resume`.\n", "")
		w.stop().is(0, approveTelling("brepl: stop hooks are paused by the agent until $TIME; `brepl hook resume` ends this"), "")
		assert.Equal(t, w.hook("pause", "1s").exit, 0)
		time.Sleep(1100 * time.Millisecond)
		w.stop().blocks("tests", 1)
	}},
	{title: "what is no duration is exit 1", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		for _, word := range []string{"soon", "-5m", "0s", "30"} {
			w.hook("pause", word).is(1, "", "brepl hook pause: \""+word+"\" is no duration; write it like 30m or 2h\nRun 'brepl hook pause --help' for usage.\n")
		}
		w.stop().blocks("tests", 1)
	}},
	{title: ":pause :user-only in the user's own configuration refuses the agent", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		w.keep(filepath.Join(w.home, ".config", "brepl", "config.edn"), "{:pause :user-only}")
		refused := "brepl: cannot pause: only the user may, in a terminal of their own; $HOME/.config/brepl/config.edn says `:pause :user-only`. Tell the user what cannot pass\n"
		w.hook("pause").is(1, "", refused)
		w.stop().blocks("tests", 1)
		assert.Equal(t, w.byHand("pause").exit, 0)
		w.stop().is(0, approveTelling(pausedLine), "")
	}},
	{title: "the session's end ends its pause", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		w.hook("pause").is(0, pausedSession, "")
		w.run(fakes.OneLine(w.endEvent()), "hook", "session-end").is(0, "", "")
		w.stop().blocks("tests", 1)
	}},
	{title: "a pause in a terminal without a time ends with the session that stops next", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		assert.Equal(t, w.byHand("pause").exit, 0)
		w.stop().is(0, approveTelling(pausedLine), "")
		w.run(fakes.OneLine(w.endEvent()), "hook", "session-end").is(0, "", "")
		w.stop().blocks("tests", 1)
	}},
	{title: "a pause in a terminal with a time lasts over the session's end", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		assert.Equal(t, w.byHand("pause", "1h").exit, 0)
		w.run(fakes.OneLine(w.endEvent()), "hook", "session-end").is(0, "", "")
		w.stop().is(0, approveTelling("brepl: stop hooks are paused until $TIME; `brepl hook resume` ends this"), "")
	}},
}
