package stop

import (
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

func TestMemoryText(t *testing.T) {
	m := newMemory()
	m.counts = map[string]int{"run-tests": 3, "lint": 0, `q"uote`: 1}
	assert.Equal(t, m.countsText(), "{\"lint\" 0\n \"q\\\"uote\" 1\n \"run-tests\" 3}\n")
	again := newMemory()
	assert.NilError(t, again.readCounts([]byte(m.countsText())))
	assert.DeepEqual(t, again.counts, m.counts)
}

func TestMemoryRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMemory()
		for _, name := range rapid.SliceOfDistinct(rapid.String(), rapid.ID[string]).Draw(t, "names") {
			m.counts[name] = rapid.IntRange(0, 1000).Draw(t, "count")
			m.told[name] = true
			m.passed[name] = rapid.String().Draw(t, "seen")
			m.failed[name] = lastFailure{output: rapid.String().Draw(t, "output"), files: rapid.String().Draw(t, "files"), runs: rapid.IntRange(1, 9).Draw(t, "runs")}
		}
		again := newMemory()
		if err := again.readCounts([]byte(m.countsText())); err != nil {
			t.Fatal(err)
		}
		if err := again.readDetails([]byte(m.detailsText())); err != nil {
			t.Fatalf("%v in %s", err, m.detailsText())
		}
		assert.DeepEqual(t, again.counts, m.counts)
		assert.DeepEqual(t, again.told, m.told)
		assert.DeepEqual(t, again.passed, m.passed)
		assert.Equal(t, len(again.failed), len(m.failed))
		for name, f := range m.failed {
			assert.Equal(t, again.failed[name], f)
		}
	})
}

// Pins fault 50: state that is corrupt, truncated or of a newer version.
func TestMemoryRefusesWhatItDidNotWrite(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `{"a" "b"}`, `{:a 1}`, `{"a" -1}`, `{"a" 1} {"b" 2}`, `{"a" 99999999999}`, "\x00\x01"} {
		assert.Assert(t, newMemory().readCounts([]byte(text)) != nil, "%q", text)
	}
	for _, text := range []string{"", "{}", "{:version 2}", `{:version 1 :failed {"a" ["b"]}}`} {
		assert.Assert(t, newMemory().readDetails([]byte(text)) != nil, "%q", text)
	}
}

func TestNoProgress(t *testing.T) {
	m := newMemory()
	fail := func(output, before, after string) bool { return m.fail("t", output, before, after) }
	assert.Equal(t, fail("out", "", "f1"), false, "first")
	assert.Equal(t, fail("out", "f1", "f1"), false, "second")
	assert.Equal(t, fail("out", "f1", "f1"), true, "third")
	assert.Equal(t, fail("out", "f1", "f1"), true, "and on")
	assert.Equal(t, fail("out", "f2", "f2"), false, "a file was changed")
	assert.Equal(t, fail("out", "f2", "f2"), false)
	assert.Equal(t, fail("other", "f2", "f2"), false, "another output")
	assert.Equal(t, fail("other", "", ""), false, "unknown is not unchanged")
	assert.Equal(t, fail("other", "", ""), false)
	assert.Equal(t, fail("other", "", ""), false)
	m.pass("t")
	assert.Equal(t, len(m.failed), 0)
}
