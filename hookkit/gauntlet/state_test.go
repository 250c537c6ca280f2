package gauntlet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestLogDirIsOurs(t *testing.T) {
	t.Parallel()
	dir := stateDir(filepath.Join(t.TempDir(), "a", "b"))
	assert.NilError(t, dir.make())
	assert.NilError(t, os.WriteFile(dir.path("note.txt"), nil, 0o600))
	assert.NilError(t, dir.make(), "what comes later does not matter")

	used := stateDir(t.TempDir())
	assert.NilError(t, os.MkdirAll(used.path("snapshots", "mine"), 0o700))
	assert.NilError(t, os.WriteFile(used.path("main.go"), nil, 0o600))
	assert.ErrorContains(t, used.make(), "log_dir must be a folder of its own, and "+string(used)+" holds main.go")

	busy := stateDir(t.TempDir())
	for _, name := range []string{"..gitignore.123-4.tmp", ".state.json.99-0.tmp"} {
		assert.NilError(t, os.WriteFile(busy.path(name), nil, 0o600))
	}
	assert.NilError(t, busy.make(), "another run is at work")

	linked := stateDir(t.TempDir())
	assert.NilError(t, os.Symlink(t.TempDir(), linked.path(logsDir)))
	assert.ErrorContains(t, linked.make(), "is no folder")
}

func TestStateSurvives(t *testing.T) {
	t.Parallel()
	dir := stateDir(t.TempDir())
	state := &RunState{Anchor: &Mark{Tree: "t"}, Attempts: 2, Jobs: map[string]JobState{"check a .": {Outcome: Failed, Why: "exit 1"}}}
	for range keptRuns + 10 {
		state.Runs = append(state.Runs, RunRecord{ID: "r"})
	}
	assert.NilError(t, dir.save(state))
	read, note := dir.load()
	assert.Equal(t, note, "")
	assert.DeepEqual(t, read, state)
	assert.Equal(t, len(read.Runs), keptRuns)
	assert.Assert(t, read.failing())

	for title, text := range map[string]string{"truncated": `{"version":1,`, "another version": `{"version":99}`, "a list": `[]`, "empty": ``} {
		assert.NilError(t, os.WriteFile(dir.path(stateName), []byte(text), 0o600))
		read, note = dir.load()
		assert.Equal(t, read.Attempts, 0, title)
		assert.Assert(t, strings.Contains(note, "counts as empty"), "%s: %s", title, note)
	}

	// A link leads to a file of somebody else's: it is neither read nor written.
	target := filepath.Join(t.TempDir(), "precious")
	assert.NilError(t, os.WriteFile(target, []byte("text"), 0o600))
	for _, name := range []string{stateName, lockName} {
		assert.NilError(t, os.RemoveAll(dir.path(name)))
		assert.NilError(t, os.Symlink(target, dir.path(name)))
	}
	_, note = dir.load()
	assert.Assert(t, note != "")
	assert.NilError(t, dir.save(state))
	lock, _, err := tryLock(dir, "r", state.Anchor.At)
	assert.NilError(t, err)
	lock.release()
	text, err := os.ReadFile(target)
	assert.NilError(t, err)
	assert.Equal(t, string(text), "text")
}

func TestSweep(t *testing.T) {
	t.Parallel()
	dir := stateDir(t.TempDir())
	run := func(n string) string { return "20260101-00000" + n + ".000-77" }
	for _, n := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		assert.NilError(t, os.MkdirAll(dir.path(logsDir, run(n)), 0o700))
		assert.NilError(t, os.MkdirAll(dir.path(logsDir, "0-somebody-else-"+n), 0o700))
	}
	left := func() (runs, others string) {
		entries, err := os.ReadDir(dir.path(logsDir))
		assert.NilError(t, err)
		for _, e := range entries {
			if isRunID(e.Name()) {
				runs += strings.TrimSuffix(strings.TrimPrefix(e.Name(), "20260101-00000"), ".000-77")
			} else {
				others += e.Name()[len("0-somebody-else-"):]
			}
		}
		return runs, others
	}
	dir.sweep(run("1")) // the clock was set back: this run's folder is the oldest by its name
	runs, others := left()
	assert.Equal(t, runs+" "+others, "145678 12345678")
	assert.NilError(t, os.WriteFile(dir.path(lockName), nil, 0o600))
	_, err := clean(dir)
	assert.NilError(t, err)
	runs, others = left()
	assert.Equal(t, runs+" "+others, " 12345678", "nothing of somebody else's is lost")
}

// A folder with logs of somebody else's is no log_dir, though ours would have the same name in it.
func TestLogDirWithLogs(t *testing.T) {
	t.Parallel()
	dir := stateDir(t.TempDir())
	assert.NilError(t, os.MkdirAll(dir.path(logsDir, "app"), 0o700))
	assert.ErrorContains(t, dir.make(), "holds logs")
	_, err := clean(dir)
	assert.ErrorContains(t, err, "holds logs")
	_, err = os.Stat(dir.path(logsDir, "app"))
	assert.NilError(t, err)
}
