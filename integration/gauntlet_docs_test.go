//go:build unix

package integration

import (
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

const gauntletManual = "docs/agent-gauntlet.md"

// manualFile is the block of the manual that shows a file.
func manualFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../" + gauntletManual)
	assert.NilError(t, err)
	_, after, found := strings.Cut(string(text), "`"+name+"`:\n\n```")
	assert.Assert(t, found, name)
	_, after, _ = strings.Cut(after, "\n")
	block, _, _ := strings.Cut(after, "\n```\n")
	return block + "\n"
}

// The configuration that the manual shows is one, and its faults are told as the manual says.
func TestGauntletManual(t *testing.T) {
	gauntletProgram(t)
	t.Parallel()
	files := map[string]string{"how-to-lint.md": "Run it.\n"}
	for _, name := range []string{"config.yml", "checks/tests.yml", "checks/lint.yml", "reviews/bugs.md"} {
		files[name] = manualFile(t, ".gauntlet/"+name)
	}
	w := newGauntlet(t, files)
	w.gauntlet("validate").is(0, ".gauntlet/config.yml: 2 entry points, 3 gates, nothing wrong\n", "")
	w.gauntlet("list").is(0, "check   lint  (.)\ncheck   tests  (services/*)\nreview  bugs  (services/*)\n", "")

	w.project.Write(".gauntlet/config.yml", "\n\n\n\nmax_retrys: 1\n")
	w.project.Write(".gauntlet/checks/lint.yml", "command: x\ntimeout: 0\n")
	text, err := os.ReadFile("../" + gauntletManual)
	assert.NilError(t, err)
	for _, args := range [][]string{{"validate"}} {
		told := w.gauntlet(args...).stderr
		assert.Assert(t, told != "")
		for line := range strings.Lines(told) {
			assert.Assert(t, strings.Contains(string(text), line), "the manual does not have %q", line)
		}
	}
	w.project.Write(".gauntlet/config.yml", files["config.yml"])
	told := w.gauntlet("validate").stderr
	assert.Assert(t, strings.Contains(string(text), strings.Split(told, "\n")[0]+"\n"), "the manual does not have %q", told)
}

// Every key of the configuration, every status and every line that the stop hook says stands in the manual, and every command.
func TestGauntletManualIsComplete(t *testing.T) {
	gauntletProgram(t)
	t.Parallel()
	text, err := os.ReadFile("../" + gauntletManual)
	assert.NilError(t, err)
	manual := string(text)
	w := newGauntlet(t, map[string]string{"config.yml": "x: 1\n", "checks/c.yml": "x: 1\n", "reviews/r.md": "---\nx: 1\n---\nx\n"})
	for _, file := range []string{"config.yml", "checks/c.yml"} {
		if file == "checks/c.yml" {
			w.project.Write(".gauntlet/config.yml", oneCheck)
		}
		for line := range strings.Lines(w.gauntlet("validate").stderr) {
			_, keys, known := strings.Cut(strings.TrimSpace(line), "known here: ")
			for key := range strings.SplitSeq(keys, ", ") {
				assert.Check(t, !known || strings.Contains(manual, "`"+key) || strings.Contains(manual, key+"`"), "the manual does not name %s", key)
			}
		}
	}
	help := w.gauntlet("--help").stdout
	_, commands, _ := strings.Cut(help, "Commands:\n")
	commands, _, _ = strings.Cut(commands, "\n\n")
	for line := range strings.Lines(commands) {
		name := strings.Fields(line)[0]
		assert.Check(t, strings.Contains(manual, "`"+name), "the manual does not have the command %s", name)
	}
	for _, says := range []string{saysPassed, saysFailed, saysNothing, saysNoConfig, saysActive, saysInfra, saysLimit} {
		lines := strings.Split(strings.TrimSpace(says), "\n")
		last := strings.TrimPrefix(lines[len(lines)-1], "[gauntlet] ")
		assert.Check(t, strings.Contains(manual, "`"+last+"`"), "the manual does not have %q", last)
	}
}
