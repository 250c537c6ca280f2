package gauntlet

import (
	"slices"
	"strings"
)

// verification is what one review of a job says about its violations, old and new.
type verification struct {
	job       *Job
	root      string
	diff      diffLines
	rerun     bool
	threshold string // in a rerun, new violations below it are dropped
	answers   []reviewed
}

// reviewed is the answer of one tool.
type reviewed struct {
	tool string
	answer
}

// life takes the violations of a job through a review: it returns those that are there now, and how many findings were dropped. The rules:
//
//	an old one stays   if no file of the job has changed, unless the agent says that it is fixed and a reviewer agrees; if a reviewer says
//	                   that it is not fixed or finds it again; if its file has not changed; a skipped one stays skipped
//	an old one goes    otherwise: a reviewer looked at the changed file and did not find it any more
//	a new one counts   if the diff added its line; in a rerun, only from the threshold on
func (c verification) life(old []record) (now []record, dropped int) {
	var fresh []record
	repeated := make([]bool, len(old))
	for _, a := range c.answers {
		again, told := matcher{c.diff, old, map[int]int{}}, matcher{c.diff, fresh, map[int]int{}}
		for _, f := range a.violations {
			f.file = c.diff.cleanName(f.file, c.root)
			if i := again.find(f); i >= 0 {
				repeated[i] = true
				continue
			}
			below := c.rerun && slices.Index(priorities, f.priority) > slices.Index(priorities, c.threshold)
			if below || !c.diff.has(f.file, f.line) {
				dropped++
				continue
			}
			twice := func(r record) bool { return r.File == f.file && r.Line == f.line && r.Issue == f.issue }
			if told.find(f) < 0 && !slices.ContainsFunc(fresh, twice) {
				fresh = append(fresh, c.record(f, a.tool, slices.Concat(old, fresh)))
			}
		}
	}
	for i, r := range old {
		r.Gate = c.job.Gate.Name // it may come from its own file
		switch {
		case r.Status == ViolationSkipped:
			now = append(now, r)
		case repeated[i] || c.stands(r):
			r.Status, r.Object, r.Inputs = ViolationNew, c.objectOf(r.File), c.inputs()
			if lines := c.diff.around(r.File, r.Line); lines != "" {
				r.Diff = lines
			}
			now = append(now, r)
		}
	}
	return append(now, fresh...), dropped
}

// stands reports whether an old violation that no reviewer found again is still there.
func (c verification) stands(r record) bool {
	if r.Status == ViolationNew && r.Inputs == c.inputs() {
		return true // a reviewer who has changed his mind has mended nothing
	}
	fixed, asked := true, false
	for _, a := range c.answers {
		if said, ok := a.previous[r.ID]; ok {
			asked = true
			fixed = fixed && said
		}
	}
	if asked {
		return !fixed
	}
	return r.Inputs == "" || r.Inputs == c.inputs() || r.Status == ViolationNew && c.objectOf(r.File) == r.Object
}

// inputs is a hash of what the reviewers look at.
func (c verification) inputs() string { return inputsOf("")(c.job) }

// objectOf is the id of a file's content now; "" for a file that is not part of the job.
func (c verification) objectOf(file string) string {
	for _, change := range c.job.Files {
		if change.Path == file {
			return change.object
		}
	}
	return ""
}

func (c verification) record(f finding, tool string, taken []record) record {
	return record{
		Violation: Violation{
			ID: newID(c.job.ID(), f, taken), File: f.file, Line: f.line, Issue: f.issue, Fix: f.fix, Priority: f.priority,
			Status: ViolationNew, Reviewer: tool, Diff: c.diff.around(f.file, f.line),
		},
		Gate:   c.job.Gate.Name,
		Object: c.objectOf(f.file),
		Inputs: c.inputs(),
		Code:   c.diff.line(f.file, f.line),
	}
}

// How many of the words of two findings in one file must be the same for them to be one.
const (
	sameAnywhere = 0.5 // the line may have moved
	sameAtLine   = 0.3
)

// matcher finds the violations that one reviewer tells again. Two findings at different lines are never the same violation.
type matcher struct {
	diff  diffLines
	known []record
	told  map[int]int // the line of the finding, by the index in known
}

// find finds the violation that a finding tells again in the same words or in others, -1 for none. One at the finding's line comes first.
func (m matcher) find(f finding) int {
	fits := func(i int) bool {
		line, told := m.told[i]
		return (!told || line == f.line) && m.same(m.known[i], f)
	}
	best := -1
	for i, r := range m.known {
		if fits(i) && (best < 0 || r.Line == f.line && m.known[best].Line != f.line) {
			best = i
		}
	}
	if best >= 0 {
		m.told[best] = f.line
	}
	return best
}

func (m matcher) same(r record, f finding) bool {
	if r.File != f.file {
		return false
	}
	if r.Status == ViolationSkipped && !m.diff.near(f.file, f.line, r.Code) {
		return false // the reason was given for another line
	}
	enough := sameAnywhere
	if r.Line > 0 && r.Line == f.line {
		enough = sameAtLine
	}
	return r.Issue == f.issue || overlap(r.Issue, f.issue) >= enough
}

// overlap is the share of words that two sentences have in common, 0 to 1.
func overlap(a, b string) float64 {
	first, second := words(a), words(b)
	if len(first) == 0 || len(second) == 0 {
		return 0
	}
	common := 0
	for word := range first {
		if second[word] {
			common++
		}
	}
	return float64(common) / float64(len(first)+len(second)-common)
}

func words(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return r < '0' || r > '9' && r < 'a' || r > 'z' && r < 0x80
	}) {
		set[word] = true
	}
	return set
}
