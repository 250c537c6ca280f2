//go:build unix

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"

	"github.com/hookkit/brepl/hookkit/lab"
	"github.com/hookkit/brepl/hookkit/settings"
)

// The recordings in testdata/replay are played. A contributor adds one by putting NAME.jsonl and its transcript there and running
// go test ./integration -run Replay -update. docs/recordings.md describes the files.

const replayDir = "testdata/replay"

// replayable lists all recordings. Those that the real client gave must all be there.
func replayable(t *testing.T) []*lab.Recording {
	t.Helper()
	paths, err := filepath.Glob(replayDir + "/*.jsonl")
	assert.NilError(t, err)
	var list []*lab.Recording
	for _, path := range paths {
		if strings.HasSuffix(path, ".transcript.jsonl") {
			continue
		}
		path, err = filepath.Abs(path)
		assert.NilError(t, err)
		r, err := lab.ReadRecording(path)
		assert.NilError(t, err)
		list = append(list, r)
	}
	return list
}

// TestReplayIsComplete pins "the 27 recordings": each name of the index is there, and has the events that the index lists.
func TestReplayIsComplete(t *testing.T) {
	data, err := os.ReadFile(replayDir + "/index.json")
	assert.NilError(t, err)
	var index []struct {
		Name        string
		Events      []string
		Transcripts []string
	}
	assert.NilError(t, json.Unmarshal(data, &index))
	assert.Equal(t, len(index), 27)
	byName := map[string]*lab.Recording{}
	for _, r := range replayable(t) {
		byName[r.Name] = r
	}
	for _, entry := range index {
		r := byName[entry.Name]
		assert.Assert(t, r != nil, "%s is missing", entry.Name)
		var events []string
		for _, c := range r.Calls {
			events = append(events, c.Event)
		}
		assert.DeepEqual(t, events, entry.Events)
		assert.Assert(t, r.Settings != nil, "%s has no settings", entry.Name)
		for _, transcript := range entry.Transcripts {
			_, err := os.Stat(filepath.Join(replayDir, transcript))
			assert.NilError(t, err)
		}
	}
}

func everyCall(lab.Call) bool { return true }

// TestReplayParrot pins "played with hooks that answer as recorded": all 254 calls, and not one difference.
func TestReplayParrot(t *testing.T) {
	fullRun(t)
	t.Parallel()
	self, err := os.Executable()
	assert.NilError(t, err)
	calls := 0
	for _, r := range replayable(t) {
		if r.Header.Version == 0 { // a later one brings its own number
			calls += len(r.Calls)
		}
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			out, err := lab.Play{
				Recording: r, Only: everyCall, TempDir: t.TempDir(),
				// Built with -race, each parrot would sleep a second at its end.
				Env:     []string{"PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"},
				Command: settings.ShellQuote(self) + " " + parrotCommand,
			}.Run(t.Context())
			assert.NilError(t, err)
			assert.Equal(t, out.Count(lab.Same), len(r.Calls), "%s", out.Text())
		})
	}
	assert.Equal(t, calls, 254)
}

// ours says whether one of our programs has the command that was recorded.
func ours(c lab.Call) bool { return strings.HasPrefix(c.Command, "brepl hook ") }

// playOurs plays a recording to our programs.
func playOurs(t *testing.T, r *lab.Recording, expect *lab.Expect) lab.Replayed {
	t.Helper()
	out, err := lab.Play{
		Recording: r, Expect: expect, Only: ours, TempDir: t.TempDir(),
		Env: []string{
			"PATH=" + filepath.Dir(brepl(t)) + string(os.PathListSeparator) + os.Getenv("PATH"),
			"LC_ALL=C", "TZ=UTC",
		},
		Rewrite: []string{"brepl-" + strconv.Itoa(os.Geteuid()) + "/", "brepl-UID/"},
	}.Run(t.Context())
	assert.NilError(t, err)
	return out
}

// TestReplayOurs pins what our programs answer to what a real client sent. When a decision changes, it fails and shows what changed.
func TestReplayOurs(t *testing.T) {
	brepl(t) // built before anything runs in parallel
	t.Parallel()
	for _, r := range replayable(t) {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			expect, err := r.ReadExpect()
			assert.NilError(t, err)
			out := playOurs(t, r, expect)
			if golden.FlagUpdate() {
				_, err = r.Update(expect, out)
				assert.NilError(t, err)
				return
			}
			if same := len(out.Steps) - out.Count(lab.NotPlayed); out.Count(lab.Same) != same || same > 0 && expect == nil {
				t.Errorf("if the new answers are right: go test ./integration -run Replay -update\n%s", out.Text())
			}
		})
	}
}

// TestReplayNamesAChangedDecision pins "a changed decision breaks a replay with a diff that says what changed": each answer of ours in
// turn is expected to be another one.
func TestReplayNamesAChangedDecision(t *testing.T) {
	brepl(t)
	t.Parallel()
	r, err := lab.ReadRecording(filepath.Join(absolute(t, replayDir), "stop-retry-limit.jsonl"))
	assert.NilError(t, err)
	whole, err := r.ReadExpect()
	assert.NilError(t, err)
	tests := []struct {
		seq    int
		mutate func(*lab.ExpectedAnswer)
		want   []string
	}{
		{3, func(a *lab.ExpectedAnswer) { *a.Exit, a.Stderr = 0, "" }, []string{
			"decision: lets it go on, shows the user -> blocks the stop, tells the agent, shows the user", "exit: 0 -> 2", "+Hook 'run-tests' failed: exit 1",
		}},
		{4, func(a *lab.ExpectedAnswer) { *a.Exit = 2 }, []string{"decision: blocks, permission deny", "exit: 2 -> 0"}},
		{9, func(a *lab.ExpectedAnswer) { a.Stdout = "" }, []string{"+{\"systemMessage\":\"brepl: 'run-tests' failed, attempt 3/3\"}"}},
		{11, func(a *lab.ExpectedAnswer) { *a.Exit, a.Stdout = 2, "" }, []string{"exit: 2 -> 1", "+{\"systemMessage\""}},
		{12, func(a *lab.ExpectedAnswer) { a.Files = []string{"added x"} }, []string{"files: added x -> unchanged"}},
	}
	for _, c := range tests {
		t.Run(fmt.Sprint("call ", c.seq), func(t *testing.T) {
			t.Parallel()
			data, err := json.Marshal(whole)
			assert.NilError(t, err)
			var mutated lab.Expect
			assert.NilError(t, json.Unmarshal(data, &mutated))
			after := 0
			for i := range mutated.Answers {
				if mutated.Answers[i].Seq == c.seq {
					c.mutate(&mutated.Answers[i])
				}
				if mutated.Answers[i].Seq > c.seq {
					after++
				}
			}
			out := playOurs(t, r, &mutated)
			assert.Equal(t, out.Count(lab.Different), 1, "%s", out.Text())
			assert.Equal(t, out.Count(lab.NotComparable), after)
			for _, want := range c.want {
				assert.Assert(t, cmp.Contains(out.Text(), want))
			}
		})
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	assert.NilError(t, err)
	return path
}
