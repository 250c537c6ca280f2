package gauntlet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"
)

// lifeDiff adds the lines 1 to 9 of a.go and of b.go.
const lifeDiff = "+++ b/a.go\n@@ -0,0 +1,9 @@\n+1\n+2\n+3\n+4\n+5\n+6\n+7\n+8\n+9\n+++ b/b.go\n@@ -0,0 +1,9 @@\n+1\n+2\n+3\n+4\n+5\n+6\n+7\n+8\n+9\n"

func oldRecord(status ViolationStatus) record {
	return record{Violation: Violation{ID: "old", File: "a.go", Line: 3, Issue: "the error is not checked", Priority: "low", Status: status}, Object: "1", Code: "+3"}
}

func TestLifeOfAViolation(t *testing.T) {
	t.Parallel()
	again := finding{file: "a.go", line: 4, issue: "the error is not checked here", priority: "low"}
	other := finding{file: "b.go", line: 2, issue: "a race between two goroutines", priority: "high"}
	low := finding{file: "b.go", line: 5, issue: "a name is too short", priority: "low"}
	verified := func(fixed bool) answer { return answer{previous: map[string]bool{"old": fixed}} }
	for name, tt := range map[string]struct {
		status  ViolationStatus
		changed bool // a.go has changed since the old violation was found
		answers []answer
		want    string // ID or issue, and status
		dropped int
	}{
		"new, nothing done":                        {status: ViolationNew, answers: []answer{{}}, want: "old new"},
		"new, file changed, not found again":       {status: ViolationNew, changed: true, answers: []answer{{}}, want: ""},
		"new, file changed, found again":           {status: ViolationNew, changed: true, answers: []answer{{violations: []finding{again}}}, want: "old new"},
		"new, the reviewer says fixed":             {status: ViolationNew, changed: true, answers: []answer{verified(true)}, want: ""},
		"new, nothing done, he says fixed":         {status: ViolationNew, answers: []answer{verified(true)}, want: "old new"},
		"fixed, nothing done, nobody looked":       {status: ViolationFixed, answers: []answer{{}}, want: "old new"},
		"said to be fixed, the reviewer agrees":    {status: ViolationFixed, answers: []answer{verified(true)}, want: ""},
		"fixed, not found again":                   {status: ViolationFixed, changed: true, answers: []answer{{}}, want: ""},
		"fixed, the reviewer says no":              {status: ViolationFixed, changed: true, answers: []answer{verified(false)}, want: "old new"},
		"fixed, found again":                       {status: ViolationFixed, changed: true, answers: []answer{{violations: []finding{again}}}, want: "old new"},
		"fixed, one of two reviewers says no":      {status: ViolationFixed, changed: true, answers: []answer{verified(true), verified(false)}, want: "old new"},
		"skipped stays skipped":                    {status: ViolationSkipped, changed: true, answers: []answer{{violations: []finding{again}}}, want: "old skipped"},
		"skipped, the line has moved a little":     {status: ViolationSkipped, changed: true, answers: []answer{{violations: []finding{{file: "a.go", line: 5, issue: "the error is never checked", priority: "high"}}}}, want: "old skipped"},
		"skipped, the same words at another line":  {status: ViolationSkipped, answers: []answer{{violations: []finding{{file: "a.go", line: 9, issue: "the error is not checked", priority: "high"}}}}, want: "old skipped, the error is not checked new"},
		"the same words at two lines are two":      {status: ViolationNew, answers: []answer{{violations: []finding{again, {file: "a.go", line: 9, issue: again.issue, priority: "high"}}}}, want: "old new, the error is not checked here new"},
		"a new one beside it":                      {status: ViolationNew, answers: []answer{{violations: []finding{other}}}, want: "old new, a race between two goroutines new"},
		"a new low one in a rerun is dropped":      {status: ViolationNew, answers: []answer{{violations: []finding{low}}}, want: "old new", dropped: 1},
		"the same from two reviewers is one":       {status: ViolationNew, answers: []answer{{violations: []finding{other}}, {violations: []finding{other}}}, want: "old new, a race between two goroutines new"},
		"a line that the diff did not add":         {status: ViolationNew, answers: []answer{{violations: []finding{{file: "a.go", line: 70, issue: "x", priority: "critical"}}}}, want: "old new", dropped: 1},
		"a file that the diff does not touch":      {status: ViolationNew, answers: []answer{{violations: []finding{{file: "c.go", line: 1, issue: "x", priority: "critical"}}}}, want: "old new", dropped: 1},
		"an old low one is never dropped in rerun": {status: ViolationNew, changed: true, answers: []answer{{violations: []finding{again}}}, want: "old new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := "1"
			if tt.changed {
				object = "2"
			}
			job := &Job{Gate: &Gate{Name: "quality", Kind: Review}, Entry: ".", Files: []Change{{Path: "a.go", object: object}, {Path: "b.go", object: "b"}}}
			v := verification{job: job, root: "/p", diff: readDiff([]byte(lifeDiff)), rerun: true, threshold: "high"}
			for _, a := range tt.answers {
				v.answers = append(v.answers, reviewed{"claude", a})
			}
			old := oldRecord(tt.status)
			before := *job
			before.Files = []Change{{Path: "a.go", object: "1"}, job.Files[1]}
			old.Inputs = verification{job: &before}.inputs()
			now, dropped := v.life([]record{old})
			var got []string
			for _, r := range now {
				what := r.ID
				if what != "old" {
					what = r.Issue
				}
				got = append(got, what+" "+string(r.Status))
			}
			assert.Equal(t, strings.Join(got, ", "), tt.want)
			assert.Equal(t, dropped, tt.dropped)
		})
	}
}

func TestViolationFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(fs.NewDir(t, "v").Path(), "job")
	v, err := loadViolations(dir)
	assert.NilError(t, err)
	assert.Equal(t, len(v.records), 0)
	for _, id := range []string{"new", "fixed", "skipped", "unreasoned", "odd", "broken", "gone"} {
		v.records = append(v.records, record{Violation: Violation{ID: id, File: "a.go", Line: 1, Issue: "x", Priority: "low", Status: ViolationNew}})
	}
	assert.NilError(t, v.save())
	write := func(id, text string) {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, id+".json"), []byte(text), 0o600))
	}
	write("fixed", `{"status": "fixed", "issue": "something else"}`)
	write("skipped", `{"status": "skipped", "reason": "on purpose:\n see the page"}`)
	write("unreasoned", `{"status": "skipped"}`)
	write("odd", `{"status": "wontfix"}`)
	write("broken", `{"status": `)
	write("stray", `{"status": "fixed"}`)
	assert.NilError(t, os.Remove(filepath.Join(dir, "gone.json")))

	v, err = loadViolations(dir)
	assert.NilError(t, err)
	got := map[string]string{}
	for _, r := range v.records {
		got[r.ID] = string(r.Status) + " " + r.Reason
		assert.Equal(t, r.Issue, "x")
	}
	assert.DeepEqual(t, got, map[string]string{
		"new": "new ", "fixed": "fixed ", "skipped": "skipped on purpose: see the page", "unreasoned": "new ", "odd": "new ", "broken": "new ", "gone": "new ",
	})
	assert.Equal(t, len(v.notes), 4, "%q", v.notes)
	assert.NilError(t, v.save())
	_, err = os.Stat(filepath.Join(dir, "stray.json"))
	assert.Assert(t, os.IsNotExist(err))
	assert.ErrorContains(t, v.skip("none", "x"), "there is no violation none")
	assert.NilError(t, v.skip("new", "why not"))
	v, err = loadViolations(dir)
	assert.NilError(t, err)
	assert.Equal(t, v.records[0].Reason, "why not")
}

func TestIDsAreStableAndDistinct(t *testing.T) {
	t.Parallel()
	f := finding{file: "a.go", issue: "x", line: 1}
	first := newID("review quality .", f, nil)
	assert.Equal(t, first, newID("review quality .", f, nil))
	taken := []record{{Violation: Violation{ID: first}}}
	second := newID("review quality .", f, taken)
	assert.Assert(t, second != first)
	for range 30 {
		taken = append(taken, record{Violation: Violation{ID: newID("review quality .", f, taken)}})
	}
}

// An agent that breaks the list of what was found has neither mended anything nor kept the review from running.
func TestBrokenListOfViolations(t *testing.T) {
	t.Parallel()
	dir := fs.NewDir(t, "v").Path()
	v := &violations{dir: dir, records: []record{
		{Violation: Violation{ID: "a1", File: "a.go", Line: 1, Issue: "x", Status: ViolationNew}, Gate: "quality"},
		{Violation: Violation{ID: "b2", File: "b.go", Line: 2, Issue: "y", Status: ViolationSkipped, Reason: "so"}, Gate: "quality"},
	}}
	assert.NilError(t, v.save())
	for _, text := range []string{"", "[{", "{}"} {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, foundName), []byte(text), 0o600))
		v, err := loadViolations(dir)
		assert.NilError(t, err)
		assert.Equal(t, len(v.records), 2, "%q", text)
		assert.Equal(t, v.records[0].Issue, "x")
		assert.Equal(t, v.records[1].Reason, "so")
		assert.Equal(t, len(v.notes), 1)
	}
}
