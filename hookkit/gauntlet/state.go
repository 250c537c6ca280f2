package gauntlet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/text"
)

// Names in log_dir.
const (
	stateName      = "state.json"
	lockName       = "run.lock"
	snapshotsDir   = "snapshots"
	violationsDir  = "violations"
	logsDir        = "logs" // in it a folder for each run
	ignoreName     = ".gitignore"
	stateVersion   = 1
	maxStateBytes  = 8 << 20
	keptRuns       = 50 // in the state
	keptLogFolders = 5
)

// RunState is what is remembered from run to run, in log_dir. It is written whole after every step of a run, so that a killed run
// loses nothing that was known.
type RunState struct {
	Version int `json:"version"`
	// Passed is the last run that passed.
	Passed *Mark `json:"passed,omitempty"`
	// Anchor is where the runs since then count from; nil when the last run passed. Commits do not move it.
	Anchor *Mark `json:"anchor,omitempty"`
	// Attempts counts the runs since the last pass that failed.
	Attempts int `json:"attempts"`
	// FailedTree is the work tree of the last run that failed.
	FailedTree string `json:"failed_tree,omitempty"`
	// Jobs is what is known of jobs since the last pass, by Job.ID.
	Jobs map[string]JobState `json:"jobs,omitempty"`
	// Runs are the last runs, the newest at the end.
	Runs []RunRecord `json:"runs,omitempty"`
}

// Mark is a moment of the project.
type Mark struct {
	Tree   string    `json:"tree"` // a tree or a commit
	Head   string    `json:"head,omitempty"`
	Branch string    `json:"branch,omitempty"`
	At     time.Time `json:"at"`
}

// JobState is how a job ended last. A job that passed is remembered with its inputs then.
type JobState struct {
	Outcome Outcome   `json:"outcome"`
	Inputs  string    `json:"inputs,omitempty"`
	Why     string    `json:"why,omitempty"`
	At      time.Time `json:"at"`
}

// RunRecord is one run, for `status` and for a run that joined it.
type RunRecord struct {
	ID      string      `json:"id"`
	Command string      `json:"command"` // run, stop-hook, check, review
	PID     int         `json:"pid"`
	Began   time.Time   `json:"began"`
	Seconds float64     `json:"seconds"`
	Status  Status      `json:"status,omitempty"` // empty while it runs, and for good when it was killed
	Why     string      `json:"why,omitempty"`
	Tree    string      `json:"tree,omitempty"`
	Mode    Mode        `json:"mode,omitempty"`
	Partial bool        `json:"partial,omitempty"` // it says nothing about the whole project
	Attempt int         `json:"attempt,omitempty"`
	Jobs    []JobRecord `json:"jobs,omitempty"`
}

// JobRecord is a job in a RunRecord.
type JobRecord struct {
	ID      string  `json:"id"`
	Outcome Outcome `json:"outcome"`
	Seconds float64 `json:"seconds"`
	Why     string  `json:"why,omitempty"`
	Log     string  `json:"log,omitempty"`
}

// failing reports whether a job has failed since the last pass and has not passed since.
func (s *RunState) failing() bool {
	for _, job := range s.Jobs {
		if job.Outcome == Failed {
			return true
		}
	}
	return false
}

// passed forgets everything that was open.
func (s *RunState) passed(mark *Mark) {
	s.Passed, s.Anchor, s.Jobs, s.Attempts, s.FailedTree = mark, nil, nil, 0, ""
}

// run is the record of a run, nil if there is none.
func (s *RunState) run(id string) *RunRecord {
	i := slices.IndexFunc(s.Runs, func(r RunRecord) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Runs[i]
}

// stateDir is log_dir.
type stateDir string

func (d stateDir) path(name ...string) string {
	return filepath.Join(append([]string{string(d)}, name...)...)
}

// make makes log_dir, with a .gitignore of its own: what is in it is nobody's work. Since we remove what is old there, a folder that
// somebody else uses is refused.
func (d stateDir) make() error {
	if err := os.MkdirAll(string(d), 0o755); err != nil { //nolint:gosec // a folder of the project, as readable as the others
		return fmt.Errorf("cannot make log_dir: %w", err)
	}
	for _, name := range []string{logsDir, snapshotsDir, violationsDir} {
		if info, err := os.Lstat(d.path(name)); err == nil && !info.IsDir() {
			return fmt.Errorf("log_dir cannot be used: %s is no folder", d.path(name))
		}
	}
	ignore := d.path(ignoreName)
	if text, err := os.ReadFile(ignore); err == nil && string(text) == ignoreText {
		return nil
	}
	if foreign := d.foreign(); foreign != "" {
		return fmt.Errorf("log_dir must be a folder of its own, and %s holds %s", string(d), text.Name(foreign))
	}
	if err := session.WriteFile(ignore, []byte(ignoreText), session.WriteOptions{Mode: 0o644}); err != nil {
		return fmt.Errorf("cannot write into log_dir: %w", err)
	}
	return nil
}

// ignoreText also tells a log_dir of ours from other folders.
const ignoreText = "*\n"

// foreign is the name of something in log_dir that is not ours, "" if there is nothing.
func (d stateDir) foreign() string {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return ""
	}
	ours := []string{stateName, stateName + ".bad", lockName, debugName, debugName + ".old", ignoreName, ".gitkeep"}
	if project.Exists(d.path(lockName)) {
		ours = append(ours, snapshotsDir, violationsDir, logsDir) // before there was a run, they are somebody else's
	}
	for _, entry := range entries {
		name := entry.Name()
		if half, ok := strings.CutSuffix(name, ".tmp"); ok { // another run writes one of ours at this moment: ".NAME.PID-N.tmp"
			name = strings.TrimSuffix(strings.TrimPrefix(half, "."), filepath.Ext(half))
		}
		if !slices.Contains(ours, name) {
			return entry.Name()
		}
	}
	return ""
}

// load reads the state. One that cannot be read counts as empty, is set aside, and is told in note.
func (d stateDir) load() (state *RunState, note string) {
	state = &RunState{Version: stateVersion}
	path := d.path(stateName)
	data, err := session.ReadOwned(path, maxStateBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return state, ""
	}
	read := &RunState{}
	if err == nil {
		err = json.Unmarshal(data, read)
	}
	if err == nil && read.Version != stateVersion {
		err = fmt.Errorf("it has version %d, and this program knows %d", read.Version, stateVersion)
	}
	if err == nil {
		return read, ""
	}
	aside, moveErr := session.SetAside(path)
	if moveErr != nil { // a link, or somebody else's: it must not keep us from writing our own
		aside = "gone"
		_ = os.Remove(path)
	}
	return state, fmt.Sprintf("the run state cannot be read and counts as empty (%v); the file is now %s", err, aside)
}

// peek is load for a command that only looks: nothing is set aside.
func (d stateDir) peek() *RunState {
	state := &RunState{}
	data, err := session.ReadOwned(d.path(stateName), maxStateBytes)
	if err != nil || json.Unmarshal(data, state) != nil || state.Version != stateVersion {
		return &RunState{Version: stateVersion}
	}
	return state
}

func (d stateDir) save(state *RunState) error {
	state.Version = stateVersion
	if len(state.Runs) > keptRuns {
		state.Runs = slices.Clone(state.Runs[len(state.Runs)-keptRuns:])
	}
	data, err := json.MarshalIndent(state, "", " ")
	if err != nil {
		return err
	}
	if err = session.WriteFile(d.path(stateName), append(data, '\n'), session.WriteOptions{State: true}); err != nil {
		return fmt.Errorf("cannot keep the run state: %w", err)
	}
	return nil
}

// sweep removes the log folders of old runs, and what killed runs left half written. The newest folders stay, and that of this run.
func (d stateDir) sweep(runID string) {
	session.RemoveStrays(d.path(stateName))
	entries, err := os.ReadDir(d.path(logsDir))
	if err != nil {
		return
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !isRunID(e.Name()) })
	for i := range len(entries) - keptLogFolders {
		if name := entries[i].Name(); name != runID { // names begin with the time, so the first are the oldest
			_ = os.RemoveAll(d.path(logsDir, name))
		}
	}
}

// runIDTime begins the id of a run; the process follows.
const runIDTime = "20060102-150405.000"

// isRunID reports whether a name is that of a run: nothing else in the folder of logs is ours to remove.
func isRunID(name string) bool {
	if len(name) <= len(runIDTime) || name[len(runIDTime)] != '-' {
		return false
	}
	_, err := time.Parse(runIDTime, name[:len(runIDTime)])
	return err == nil
}

// forget removes what a pass has settled.
func (d stateDir) forget() {
	_ = os.RemoveAll(d.path(violationsDir))
}
