package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// writeOne records one call in a folder of its own and returns the files' texts.
func writeOne(t *testing.T, at place, v seen, transcript string) (calls, lines string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	assert.NilError(t, os.WriteFile(path, []byte(transcript), 0o600))
	s, err := openStore(dir, at, fields{SessionID: sessionUUID})
	assert.NilError(t, err)
	assert.NilError(t, s.write(t.Context(), v, Call{Seq: 1}, path, time.Now().Add(time.Minute)))
	read := func(ending string) string {
		data, err := os.ReadFile(filepath.Join(dir, s.name+ending))
		assert.NilError(t, err)
		return string(data)
	}
	return read(".jsonl"), read(".transcript.jsonl")
}

// TestStoreLearnsBeforeItWrites pins that a secret that only a later part gives away is replaced in all that is written with the call.
func TestStoreLearnsBeforeItWrites(t *testing.T) {
	zero := 0
	v := seen{stdin: []byte(`{"hook_event_name":"Stop"}`), answer: Answer{Exit: &zero, Stdout: "it is correcthorse"}}
	calls, lines := writeOne(t, here, v, `{"text":"see correcthorse"}`+"\n"+`{"password":"correcthorse"}`+"\n")
	assert.Assert(t, !strings.Contains(calls, "correcthorse"), calls)
	assert.Equal(t, lines, `{"text":"see stand-in-secret-1"}`+"\n"+`{"password":"stand-in-secret-1"}`+"\n")
}

// TestStoreSaysWhatItDropped pins that a call and a line that cannot be cleaned leave their reason, and that the recording can be read.
func TestStoreSaysWhatItDropped(t *testing.T) {
	zero := 0
	at := here
	at.user = "stdout" // a key of every call
	v := seen{stdin: []byte(`{"hook_event_name":"Stop"}`), answer: Answer{Exit: &zero, Stdout: "private"}}
	const why = "after sanitising it still held the name of the user or the machine"
	calls, lines := writeOne(t, at, v, `{"a":"b"}`+"\n")
	assert.Equal(t, lines, `{"a":"b"}`+"\n")
	assert.Assert(t, !strings.Contains(calls, "private"), calls)
	path := filepath.Join(t.TempDir(), "r.jsonl")
	assert.NilError(t, os.WriteFile(path, []byte(calls), 0o600))
	r, err := ReadRecording(path)
	assert.NilError(t, err)
	assert.DeepEqual(t, r.Calls[0], Call{Seq: 1, Event: "Stop", Dropped: why})
	out, err := Play{Recording: r}.Run(t.Context())
	assert.NilError(t, err)
	assert.Equal(t, out.Steps[0].Status, NotPlayed)
	assert.Equal(t, out.Steps[0].Reason, "it was not recorded: "+why)
}
