package triage

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/cli"
)

func run(t *testing.T, dir string, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := cli.Program{Args: args, Dir: dir, Env: []string{"HOME=" + t.TempDir()}, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Name: "memory-triage"}
	code = p.Main(t.Context(), Root())
	return code, stdout.String(), stderr.String()
}

func TestExplain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lines := `{"type":"user","message":{"content":"We decided on Kafka with password=geheim-1. Should we use Redis instead of memcached?"}}` + "\n"
	write(t, filepath.Join(dir, "t.jsonl"), lines)
	code, out, errs := run(t, dir, "explain", "t.jsonl")
	assert.Equal(t, code, 0, errs)
	for _, want := range []string{
		"of 0.60: yes", "+ 0.75  message 1, user: We decided on Kafka with password=[masked]", `rule "decided", weight 0.75`, "a question",
		`rule "wording", weight 0.`, "for it “", "the rules for it",
	} {
		assert.Assert(t, strings.Contains(out, want), "%q is not in\n%s", want, out)
	}
	assert.Assert(t, !strings.Contains(out, "geheim"))
	code, _, errs = run(t, dir, "explain", "gone.jsonl")
	assert.Equal(t, code, 1)
	assert.Assert(t, strings.Contains(errs, "gone.jsonl"))
	code, _, _ = run(t, dir, "explain")
	assert.Equal(t, code, 1)
}

// TestEval measures three cases, of which one is wrong on purpose.
func TestEval(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	add := func(name, text, label, event string) {
		line, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"content": text}})
		assert.NilError(t, err)
		write(t, filepath.Join(dir, name, "transcript.jsonl"), string(line)+"\n")
		write(t, filepath.Join(dir, name, "label.json"), label)
		write(t, filepath.Join(dir, name, "event.json"), event)
	}
	stop := `{"hook_event_name":"Stop","stop_hook_active":false}`
	add("right", "We decided on Kafka instead of NATS.", `{"categories":["DECISION","DECISION"],"block":true}`, stop)
	add("wrong", "We decided on Kafka instead of NATS.", `{"categories":[],"block":false,"why":"to be wrong"}`, stop)
	add("guarded", "We decided on Kafka instead of NATS.", `{"categories":[],"block":false}`, `{"hook_event_name":"Stop","stop_hook_active":true}`)
	code, out, errs := run(t, dir, "eval", "--mistakes", ".")
	assert.Equal(t, code, 0, errs)
	for _, want := range []string{"all                   0.50    1.00  0.67       1     1      0", "3 cases, exact sets 66.7 %, block decisions 66.7 %", "wrong\n  want []\n  got  [DECISION]\n  to be wrong"} {
		assert.Assert(t, strings.Contains(out, want), "%q is not in\n%s", want, out)
	}
	code, out, _ = run(t, dir, "eval", "--json", dir)
	var q quality
	assert.NilError(t, json.Unmarshal([]byte(out), &q))
	assert.Assert(t, code == 0 && q.Cases == 3 && q.Pooled.Wrong == 1)
	code, _, _ = run(t, dir, "eval", "gone")
	assert.Equal(t, code, 1)
	write(t, filepath.Join(dir, "texts.jsonl"), `{"text":"TODO: replace this hack later","label":1,"type":"code_debt"}`+"\n"+`{"text":"Add a button","label":0,"type":"non_debt"}`+"\n")
	code, out, errs = run(t, dir, "eval", "--satd", "texts.jsonl")
	assert.Equal(t, code, 0, errs)
	assert.Assert(t, strings.Contains(out, "code_debt            said of    1 of    1, 100.0 %") && strings.Contains(out, "non_debt             said of    0 of    1,   0.0 %"), out)
}

// TestEvalOfOddFolders: what is no case is skipped and counted; a case that cannot be used is an error with the file's name.
func TestEvalOfOddFolders(t *testing.T) {
	t.Parallel()
	const line = `{"type":"user","message":{"content":"We decided on Kafka instead of NATS."}}` + "\n"
	dir, elsewhere := t.TempDir(), t.TempDir()
	label := func(folder, text string) { write(t, filepath.Join(folder, labelName), text) }
	write(t, filepath.Join(dir, ".git", "HEAD"), "x")
	write(t, filepath.Join(dir, "notes", "a.txt"), "x")
	write(t, filepath.Join(dir, "README.md"), "x")
	assert.NilError(t, os.Symlink(filepath.Join(elsewhere, "gone"), filepath.Join(dir, "dangling")))
	_, _, errs := run(t, dir, "eval", ".")
	assert.Assert(t, strings.Contains(errs, "holds no cases"), errs)
	label(elsewhere, "\ufeff"+`{"categories":["DECISION"],"block":true}`)
	write(t, filepath.Join(elsewhere, "event.json"), "\ufeff"+`{"hook_event_name":"Stop"}`)
	write(t, filepath.Join(elsewhere, "transcript.jsonl"), line)
	assert.NilError(t, os.Symlink(elsewhere, filepath.Join(dir, "linked")))
	label(filepath.Join(dir, "empty"), `{"categories":[],"block":false}`)
	code, out, errs := run(t, dir, "eval", ".")
	assert.Equal(t, code, 0, errs)
	for _, want := range []string{"2 cases, exact sets 100.0 %, block decisions 100.0 %\n", "skipped: 3 without a label.json"} {
		assert.Assert(t, strings.Contains(out, want), "%q is not in\n%s", want, out)
	}
	_, out, _ = run(t, dir, "eval", "--json", ".")
	assert.Assert(t, strings.Contains(out, `"skipped": 3`), out)
	odd := filepath.Join(dir, "odd")
	for text, want := range map[string]string{
		`{"categories":["decision"],"block":true}`: `"decision" is no category: there are DECISION, `, `{"categories":["NOTE"],"block":true}`: `"NOTE" is no category`,
		`{"categories":["DECISION"]}`: "block is missing: say true or false", `{"categories":[],"block":null}`: "block is missing",
		`{"block":true}`: "categories is missing: name them, or give [] for none", `{"categories":null,"block":false}`: "categories is missing", `{`: "unexpected end",
	} {
		label(odd, text)
		code, _, errs = run(t, dir, "eval", ".")
		assert.Assert(t, code == 1 && strings.Contains(errs, "case odd: label.json: "+want), "%s: %s", text, errs)
	}
	for _, name := range []string{"event.json", labelName} {
		_ = os.Remove(filepath.Join(odd, name)) // it need not be there
		assert.NilError(t, os.Mkdir(filepath.Join(odd, name), 0o700))
		code, _, errs = run(t, dir, "eval", ".")
		assert.Equal(t, code, 1)
		if name == "event.json" {
			label(odd, `{"categories":[],"block":false}`)
			_, _, errs = run(t, dir, "eval", ".")
		}
		assert.Assert(t, strings.Contains(errs, "case odd: "+name+": it is not a regular file"), errs)
	}
}

// TestNamesAreShownWithoutWhatSteersATerminal: the name of a folder, of a file and of a type are text of somebody's too.
func TestNamesAreShownWithoutWhatSteersATerminal(t *testing.T) {
	t.Parallel()
	const odd = "o\x1b[31md\nd\x07\u202e"
	dir := filepath.Join(t.TempDir(), odd)
	write(t, filepath.Join(dir, "texts.jsonl"), `{"text":"Add a button","label":0,"type":"o\u001b[31mdd\u0007\u202e <b>"}`)
	write(t, filepath.Join(dir, odd, labelName), `{"categories":["DECISION"],"block":true}`)
	write(t, filepath.Join(dir, configName), "{")
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"eval --mistakes .", "od d\n  want [DECISION]\n", 0},
		{"eval --satd texts.jsonl", "odd &lt;b&gt; ", 0},
		{"eval --satd gone.jsonl", "od d/gone.jsonl: ", 1},
		{"eval gone", "od d/gone: ", 1},
		{"explain gone.jsonl", "od d/" + configName, 1},
		{"explain gone.jsonl", "od d/gone.jsonl: ", 1},
	} {
		code, out, errs := run(t, dir, strings.Fields(c.args)...)
		assert.Equal(t, code, c.code, "%s: %q", c.args, errs)
		assert.Assert(t, strings.Contains(out+errs, c.want), "%s: %q", c.args, out+errs)
		assert.Assert(t, !strings.ContainsAny(out+errs, "\x1b\x07\u202e"), "%s: %q", c.args, out+errs)
	}
	write(t, filepath.Join(dir, odd, labelName), "{")
	_, _, errs := run(t, dir, "eval", ".")
	assert.Equal(t, errs, "memory-triage eval: case od d: label.json: unexpected end of JSON input\n")
}

// TestQualityOnTheTunedCases keeps what was reached: a change of the rules that loses it must say so in docs/triage-quality.md.
func TestQualityOnTheTunedCases(t *testing.T) {
	t.Parallel()
	cases, err := runCases("testdata/cases/tune")
	assert.NilError(t, err)
	q := measure(cases)
	assert.Assert(t, q.Pooled.F1 >= 0.86 && q.Exact >= 0.80 && q.Block >= 0.90, q.text())
}
