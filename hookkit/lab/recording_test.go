package lab

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// writeFiles writes files into a new folder and returns it.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

const callLine = `{"seq":1,"event":"Stop","command":"x","cwd":"/project","stdin":{"session_id":"s1","agent_id":"a1"},"hook":{"stdout":"","stderr":"","exit":0}}` + "\n"

func TestReadRecording(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"r.jsonl": `{"hookkit_recording":1,"client":"2.1.329"}` + "\n" +
			`{"seq":3,"event":"Stop","stdin":{"session_id":"s2"}}` + "\n\n" + callLine,
		"r.transcript.jsonl":          "{}\n{}\n",
		"r.2.transcript.jsonl":        "{\"b\":1}\n",
		"r.agent-a1.transcript.jsonl": "{\"c\":1}",
		"index.json":                  `[{"name":"other"},{"name":"r","settings.local.json":{"hooks":{}}}]`,
	})
	r, err := ReadRecording(filepath.Join(dir, "r.jsonl"))
	assert.NilError(t, err)
	assert.Equal(t, r.Name, "r")
	assert.Equal(t, r.Header.Client, "2.1.329")
	assert.Equal(t, len(r.Calls), 2)
	assert.Equal(t, r.Calls[0].Seq, 1) // in the order of seq, which is not that of the lines
	assert.DeepEqual(t, r.Sessions(), []string{"s1", "s2"})
	assert.Equal(t, string(r.Settings), `{"hooks":{}}`)
	assert.DeepEqual(t, r.transcripts, map[string][]string{"s1": {"{}\n", "{}\n"}, "s2": {"{\"b\":1}\n"}, "agent-a1": {"{\"c\":1}"}})
}

func TestReadRecordingErrors(t *testing.T) {
	tests := []struct{ name, file, content, want string }{
		{"a newer version", "r.jsonl", `{"hookkit_recording":2}` + "\n" + callLine, "r.jsonl:1: the recording has version 2; this program reads version 1"},
		{"no JSON", "r.jsonl", callLine + "x\n", "r.jsonl:2: invalid character 'x'"},
		{"no call", "r.jsonl", "\n", "the recording holds no call of a hook"},
		{"a call without event", "r.jsonl", `{"seq":1}`, "r.jsonl:1: a call needs a seq from 1 on and an event"},
		{"one number twice", "r.jsonl", callLine + callLine, "two calls have seq 1"},
		{"a transcript", "r.transcript.jsonl", callLine, "a recording is called NAME.jsonl"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadRecording(filepath.Join(writeFiles(t, map[string]string{c.file: c.content}), c.file))
			assert.ErrorContains(t, err, c.want)
		})
	}
	_, err := ReadRecording("no-such.jsonl")
	assert.ErrorContains(t, err, "cannot read the recording")
}

func TestReadExpectErrors(t *testing.T) {
	for content, want := range map[string]string{
		`{"hookkit_expect":9}`: "hookkit_expect is 9",
		`{"hookkit_expect":1,"answers":[{"seq":7,"event":"Stop"}]}`: "answers[0]: the recording has no Stop with seq 7",
		`[`: "unexpected end of JSON input",
	} {
		dir := writeFiles(t, map[string]string{"r.jsonl": callLine, "r.expect.json": content})
		r, err := ReadRecording(filepath.Join(dir, "r.jsonl"))
		assert.NilError(t, err)
		_, err = r.ReadExpect()
		assert.ErrorContains(t, err, want)
	}
}
