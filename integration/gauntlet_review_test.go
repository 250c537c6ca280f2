//go:build unix

package integration

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
)

// reviewed is a gauntlet with one review by a fake claude that is strict about its arguments and its stdin.
type reviewed struct {
	*gauntletWorld
	claude *fakes.Tool
}

const (
	oneReview  = "base_branch: main\ncli:\n  default_preference: [claude]\nentry_points:\n  - path: .\n    reviews: [quality]\n"
	reviewPage = "---\ntimeout: 60\n---\nLook for bugs.\n"
)

// newReviewed makes the project; files are more of .gauntlet, "" for config.yml means oneReview.
func newReviewed(t *testing.T, config string, files map[string]string) *reviewed {
	t.Helper()
	all := map[string]string{"config.yml": config, "reviews/quality.md": reviewPage}
	maps.Copy(all, files)
	w := newGauntlet(t, all)
	w.project.Git("checkout", "-q", "-b", "work")
	claude := fakes.NewTool(t, "claude")
	w.env = append(w.env, "PATH="+claude.Dir()+":"+filepath.Dir(gauntletProgram(t))+":"+os.Getenv("PATH"))
	return &reviewed{w, claude}
}

// expectReview foresees one call of the reviewer; its prompt holds all the texts.
func (w *reviewed) expectReview(prompt ...string) *fakes.ToolExpect {
	return w.claude.Expect("-p", "--output-format", "text", "--allowedTools", "Read,Glob,Grep", "--max-turns", "20").Stdin(prompt...)
}

const reviewPasses = "I see nothing wrong.\n\n```json\n{\"status\": \"pass\", \"violations\": []}\n```\n"

// reviewFinds is an answer with these findings: file, line, issue, priority.
func reviewFinds(findings ...[4]any) string {
	var list []map[string]any
	for _, f := range findings {
		list = append(list, map[string]any{"file": f[0], "line": f[1], "issue": f[2], "fix": "mend it", "priority": f[3]})
	}
	data, err := json.Marshal(map[string]any{"status": "fail", "violations": list})
	if err != nil {
		panic(err)
	}
	return "Found some.\n```json\n" + string(data) + "\n```\n"
}

// violationIDs are the names of the violations that are kept now.
func (w *reviewed) violationIDs() []string {
	w.t.Helper()
	files, err := filepath.Glob(w.project.Path("gauntlet_logs/violations/*/*.json"))
	assert.NilError(w.t, err)
	var ids []string
	for _, file := range files {
		if id := strings.TrimSuffix(filepath.Base(file), ".json"); !strings.HasPrefix(id, ".") {
			ids = append(ids, id)
		}
	}
	return ids
}

// Issue 6: two gates and a review over three stops. The agent fixes one gate, marks one violation as skipped, commits in between, and
// passes with warnings.
func TestGauntletStory(t *testing.T) {
	t.Parallel()
	w := newReviewed(t, "base_branch: main\ncli:\n  default_preference: [claude]\nentry_points:\n  - path: .\n    checks: [tests, format]\n    reviews: [quality]\n",
		map[string]string{
			"checks/tests.yml":  "command: '! grep -rn BROKEN src'\n",
			"checks/format.yml": "command: '! grep -rnP \"\\t\" src'\n",
		})
	w.project.Write(localSettings, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"agent-gauntlet stop-hook","timeout":300}]}]}}`)
	a := fakes.NewClaude(t, w.dir, fakes.ClaudeEnv(w.environment()), fakes.ClaudeSession(w.session))
	a.Prompt("Add the totals.")
	a.Write("src/total.txt", "first line\nBROKEN here\nthird line\n")

	// The first stop: a check fails, and the review finds two things.
	race := [4]any{"src/total.txt", 1, "a race between two writers", "high"}
	leak := [4]any{"src/total.txt", 3, "the file is never closed", "critical"}
	w.expectReview("Look for bugs.", "+BROKEN here").Answer(reviewFinds(race, leak), "", 0)
	first := a.Stop("Done.")
	assert.Assert(t, first.Blocked, a.Story())
	for _, text := range []string{"check tests failed: exit 1", "src/total.txt:2:BROKEN", "a race between two writers", "the file is never closed", "agent-gauntlet skip quality"} {
		assert.Assert(t, cmp.Contains(first.ToldText(), text))
	}
	assert.Assert(t, !strings.Contains(first.ToldText(), "check format failed"))

	// The agent mends the check, commits the broken rest, says that one is fixed, and gives a reason for the other.
	a.Edit("src/total.txt", "BROKEN here", "fine here")
	a.Bash("git add -A && git commit -q -m 'wip'")
	var leakID, raceID string
	for _, id := range w.violationIDs() {
		if strings.Contains(w.project.Read("gauntlet_logs/violations/review-quality/"+id+".json"), "never closed") {
			leakID = id
		} else {
			raceID = id
		}
	}
	skipped := a.Bash("agent-gauntlet skip quality " + raceID + ` --reason "there is one writer only"`)
	assert.Assert(t, cmp.Contains(skipped.ToolResult, "skipped "+raceID+": src/total.txt:1 a race between two writers"))
	w.project.Write("gauntlet_logs/violations/review-quality/"+leakID+".json", `{"status": "fixed"}`)

	// The second stop: the reviewer verifies and is not content.
	w.expectReview("# Earlier findings", leakID+": src/total.txt:3: the file is never closed (said to be fixed)", "+fine here").
		Answer(`{"status":"fail","violations":[],"previous":[{"id":"`+leakID+`","fixed":false}]}`, "", 0)
	second := a.Stop("Done now.")
	assert.Assert(t, second.Blocked, a.Story())
	assert.Assert(t, cmp.Contains(second.ToldText(), "the file is never closed"))
	assert.Assert(t, !strings.Contains(second.ToldText(), "check tests failed"), second.ToldText())

	// The third stop passes, and the user is told of what was skipped.
	a.Edit("src/total.txt", "third line", "closed line")
	w.expectReview(leakID).Answer(reviewPasses, "", 0)
	third := a.Stop("Really done.")
	assert.Assert(t, !third.Blocked, a.Story())
	assert.Equal(t, third.ShownText(), "Stop says: agent-gauntlet: passed, with violations that were skipped:\n"+
		"quality: src/total.txt:1 [high] a race between two writers — skipped: there is one writer only")
	assert.Assert(t, cmp.Contains(w.gauntlet("status").stdout, "passed_with_warnings"))
}

// What a reviewer answers, and what becomes of the stop.
func TestGauntletReviewAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		expect func(w *reviewed)
		status string
		why    string
	}{
		"good": {func(w *reviewed) { w.expectReview("+new").Answer(reviewPasses, "", 0) }, "passed", ""},
		"bad":  {func(w *reviewed) { w.expectReview().Answer(reviewFinds([4]any{"src/b.txt", 1, "wrong", "low"}), "", 0) }, "failed", "1 violation"},
		"other lines only": {func(w *reviewed) {
			w.expectReview().Answer(reviewFinds([4]any{"src/a.txt", 1, "wrong", "critical"}), "", 0)
		}, "passed", ""},
		"usage limit": {func(w *reviewed) { w.expectReview().Answer("Claude AI usage limit reached|1700000000", "", 1) }, "cannot_run", "claude: usage limit reached"},
		"slow": {func(w *reviewed) {
			w.project.Write(".gauntlet/reviews/quality.md", "---\ntimeout: 1\n---\nLook.\n")
			w.expectReview().Hang()
		}, "failed", "timed out after 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newReviewed(t, oneReview, nil)
			w.project.Write("src/b.txt", "new\n")
			tt.expect(w)
			got, exit := w.json("run")
			assert.Equal(t, got.Status, tt.status)
			assert.Equal(t, got.Gates[0].Why, tt.why)
			want := map[string]int{"passed": 0, "failed": 1, "cannot_run": 75}[tt.status]
			assert.Equal(t, exit, want)
		})
	}
}

// noAnswer is a reviewer that does this whenever it is called, and what is said of it: the stop is let through, and no more than the
// end of what it printed is kept.
func noAnswer(does func(reviewer *fakes.ToolExpect), why string) func(*testing.T) {
	return func(t *testing.T) {
		w := newReviewed(t, oneReview, nil)
		w.project.Write("src/b.txt", "new\n")
		does(w.expectReview())
		got, exit := w.json("run")
		assert.Equal(t, got.Status, "cannot_run")
		assert.Equal(t, got.Gates[0].Why, why)
		assert.Equal(t, exit, 75)
		does(w.expectReview())
		w.stop().is(0, tellUser("agent-gauntlet: the gates could not all run, and the stop is let through: review quality: "+why), saysInfra)
		assert.NilError(t, filepath.WalkDir(w.project.Path("gauntlet_logs"), func(path string, d fs.DirEntry, err error) error {
			if info, failed := d.Info(); err == nil && failed == nil {
				assert.Check(t, info.Size() < 4<<20, "%s has %d bytes", path, info.Size())
			}
			return err
		}))
		w.nothingLeft(w.project.Dir(), w.state, w.home)
	}
}

// A review that cannot run lets the stop through and tells the user, unless the gate says that it blocks.
func TestGauntletReviewThatCannotRun(t *testing.T) {
	t.Parallel()
	w := newReviewed(t, oneReview, nil)
	w.project.Write("src/b.txt", "new\n")
	w.expectReview().AskLogin()
	r := w.stop()
	assert.Equal(t, r.stderr, saysInfra)
	assert.Assert(t, cmp.Contains(r.stdout, `"systemMessage"`))
	assert.Assert(t, cmp.Contains(r.stdout, "not logged in"))

	strict := newReviewed(t, oneReview, map[string]string{"reviews/quality.md": "---\ncannot_run: block\n---\nLook.\n"})
	strict.project.Write("src/b.txt", "new\n")
	strict.expectReview().AskLogin()
	strict.blocks(strict.stop(), "review quality cannot run: claude: not logged in")
}

// Faults 2 and 3 of the gauntlet page: nothing done, or the broken state committed, is no fix.
func TestGauntletFailedReviewStaysFailed(t *testing.T) {
	t.Parallel()
	w := newReviewed(t, oneReview, nil)
	w.project.Write("src/b.txt", "new\n")
	w.expectReview("+new").Answer(reviewFinds([4]any{"src/b.txt", 1, "wrong", "low"}), "", 0)
	w.blocks(w.stop(), "[low] src/b.txt:1 wrong")
	w.expectReview("+new", "# Earlier findings").Answer(reviewPasses, "", 0)
	w.blocks(w.stop(), "[low] src/b.txt:1 wrong")
	w.commit("hide it")
	w.expectReview("+new", "# Earlier findings").Answer(reviewPasses, "", 0)
	w.blocks(w.stop(), "[low] src/b.txt:1 wrong")
}

// In a rerun new violations below the threshold are dropped; those above it count.
func TestGauntletRerunThreshold(t *testing.T) {
	t.Parallel()
	w := newReviewed(t, oneReview, nil)
	w.project.Write("src/b.txt", "new\nlines\n")
	w.expectReview().Answer(reviewFinds([4]any{"src/b.txt", 1, "wrong", "low"}), "", 0)
	w.blocks(w.stop(), "wrong")
	w.project.Write("src/b.txt", "mended\nlines\n")
	w.expectReview().Answer(reviewFinds([4]any{"src/b.txt", 2, "a matter of taste", "medium"}), "", 0)
	assert.Equal(t, w.stop().stderr, saysPassed)
}

func TestGauntletSkipRefuses(t *testing.T) {
	t.Parallel()
	w := newReviewed(t, "base_branch: main\ncli:\n  default_preference: [claude]\nentry_points:\n  - path: .\n    checks: [tests]\n    reviews: [quality]\n",
		map[string]string{"checks/tests.yml": "command: 'true'\n"})
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"tests", "x", "--reason", "y"}, "tests is a check: only violations of reviews can be skipped"},
		{[]string{"qualty", "x", "--reason", "y"}, `unknown gate "qualty"; did you mean "quality"?`},
		{[]string{"quality", "x", "--reason", "y"}, "quality has no violations now"},
		{[]string{"quality", "x"}, "give a --reason: the user is told it"},
		{[]string{"quality", "x", "--reason", " "}, "give a --reason: the user is told it"},
		{[]string{"quality"}, "expected GATE and ID"},
	} {
		r := w.gauntlet(slices.Concat([]string{"skip"}, tt.args)...)
		assert.Equal(t, r.exit, 1)
		assert.Assert(t, cmp.Contains(r.stderr, tt.want))
	}
	w.project.Write("src/b.txt", "new\n")
	w.expectReview().Answer(reviewFinds([4]any{"src/b.txt", 1, "wrong", "low"}), "", 0)
	assert.Equal(t, w.gauntlet("run").exit, 1)
	r := w.gauntlet("skip", "quality", "zzz", "--reason", "y")
	assert.Assert(t, cmp.Contains(r.stderr, `quality has no violation "zzz"; there are: `+w.violationIDs()[0]))
}

// `run --html FILE` writes one page that needs nothing else, in which what a reviewer or a program wrote is text.
func TestGauntletHTML(t *testing.T) {
	t.Parallel()
	w := newReviewed(t, "base_branch: main\ncli:\n  default_preference: [claude]\nentry_points:\n  - path: .\n    checks: [tests]\n    reviews: [quality]\n",
		map[string]string{"checks/tests.yml": "command: 'echo \"<script>alert(1)</script>\"; exit 1'\n"})
	w.project.Write("src/b.txt", "new <b>line</b>\n")
	w.expectReview().Answer(reviewFinds([4]any{"src/b.txt", 1, "it is </pre><img src=x> wrong", "low"}), "", 0)
	r := w.gauntlet("run", "--html", "page.html")
	assert.Equal(t, r.exit, 1)
	page := w.project.Read("page.html")
	for _, text := range []string{
		"<!doctype html>", "Failed", "&lt;script&gt;alert(1)&lt;/script&gt;", "it is &lt;/pre&gt;&lt;img src=x&gt; wrong",
		"<ins>+new &lt;b&gt;line&lt;/b&gt;\n</ins>", "src/b.txt:1", "Fix: mend it",
	} {
		assert.Assert(t, cmp.Contains(page, text))
	}
	for _, text := range []string{"<script", "<img", "http://", "https://", "<link"} {
		assert.Assert(t, !strings.Contains(page, text), "%s in %s", text, page)
	}
}
