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
//	an old one stays   if a reviewer says that it is not fixed or finds it again, or if its file has not changed since
//	                   it was found; a skipped one stays skipped
//	an old one goes    otherwise: a reviewer looked at the changed file and did not find it any more
//	a new one counts   if the diff added its line; in a rerun, only from the threshold on
func (c verification) life(old []record) (now []record, dropped int) {
	var fresh []record
	repeated := make([]bool, len(old))
	for _, a := range c.answers {
		for _, f := range a.violations {
			f.file = c.diff.cleanName(f.file, c.root)
			if i := findSame(old, f); i >= 0 {
				repeated[i] = true
				continue
			}
			below := c.rerun && slices.Index(priorities, f.priority) > slices.Index(priorities, c.threshold)
			if below || !c.diff.has(f.file, f.line) {
				dropped++
				continue
			}
			if findSame(fresh, f) < 0 {
				fresh = append(fresh, c.record(f, a.tool, slices.Concat(old, fresh)))
			}
		}
	}
	for i, r := range old {
		switch {
		case r.Status == ViolationSkipped:
			now = append(now, r)
		case repeated[i] || c.stands(r):
			r.Status, r.Object = ViolationNew, c.objectOf(r.File)
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
	return r.Status == ViolationNew && c.objectOf(r.File) == r.Object
}

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
	}
}

// How many of the words of two findings in one file must be the same for them to be one.
const (
	sameAnywhere = 0.5 // the line may have moved
	sameAtLine   = 0.3
)

// findSame finds the violation that a finding tells again in the same words or in others, -1 for none.
func findSame(list []record, f finding) int {
	return slices.IndexFunc(list, func(r record) bool {
		if r.File != f.file {
			return false
		}
		enough := sameAnywhere
		if r.Line > 0 && r.Line == f.line {
			enough = sameAtLine
		}
		return r.Issue == f.issue || overlap(r.Issue, f.issue) >= enough
	})
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
