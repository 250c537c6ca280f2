package triage

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// minFiles is how many distinct files must have been changed for a hand-over note to be worth it.
const minFiles = 3

// longSession is how many messages make a session long.
const longSession = 18

// edits counts the edits that changed files.
func (a *analysis) edits() int {
	n := 0
	for _, t := range a.conv.tools {
		if t.works() {
			n++
		}
	}
	return n
}

// summary scores SESSION_SUMMARY from what was done: files that were changed, and a result that was reported.
func (a *analysis) summary() {
	files, _ := a.changed()
	if len(files) == 0 || len(a.sentences) == 0 {
		return
	}
	reported := a.reported()
	long := len(a.conv.messages) >= longSession
	score := 0.0
	switch {
	case len(files) >= minFiles && reported:
		score = 0.8
	case len(files) >= minFiles:
		score = 0.5
	case long && reported && a.edits() >= minFiles && a.has(Runbook):
		score = 0.65
	}
	if a.undoneAtEnd() {
		score *= 0.3
	}
	if score > 0 {
		at := len(a.sentences) - 1
		a.found = append(a.found, evidence{
			category: SessionSummary, rule: fmt.Sprintf("%d files changed", len(files)), sentence: at, raw: score, weight: score, why: files,
		})
	}
}

// changed lists the distinct files that edits changed, memories aside, and the place of the last edit.
func (a *analysis) changed() (files []string, last int) {
	seen := map[string]bool{}
	for _, t := range a.conv.tools {
		if !t.works() {
			continue
		}
		last = t.at
		if path := filepath.Clean(t.path); !seen[path] {
			seen[path] = true
			files = append(files, path)
		}
	}
	return files, last
}

// reported says whether the agent reports a result: its last message tells something.
func (a *analysis) reported() bool {
	last := -1
	for i := len(a.sentences) - 1; i >= 0; i-- {
		s := &a.sentences[i]
		if !s.agent || last >= 0 && s.message < last-3 {
			continue
		}
		last = max(last, s.message)
		if s.message == last && s.has(markUnsolved) {
			return false // it is not done
		}
		if !s.question && a.muted[i] == "" && (a.says(markDone, i) || len(s.words) >= 5 && !a.says(markPlanned, i)) {
			return true
		}
	}
	return false
}

// undoneAtEnd says whether the changes were all taken back.
func (a *analysis) undoneAtEnd() bool {
	for _, t := range slices.Backward(a.conv.tools) {
		if t.edits() {
			return false
		}
		c := t.command
		if removesAll(c, a) || strings.Contains(c, "git checkout -- .") || strings.Contains(c, "git checkout .") || strings.Contains(c, "git reset --hard") ||
			strings.Contains(c, "git restore .") || strings.Contains(c, "git stash") && !strings.Contains(c, "pop") && !strings.Contains(c, "list") {
			return true
		}
	}
	return false
}

// removesAll says whether a command deletes a folder that holds every file that was changed.
func removesAll(command string, a *analysis) bool {
	words := strings.Fields(command)
	if len(words) < 3 || words[0] != "rm" || !strings.HasPrefix(words[1], "-") {
		return false
	}
	folder := "/" + strings.Trim(words[2], "./") + "/"
	files, _ := a.changed()
	for _, f := range files {
		if !strings.Contains(f, folder) {
			return false
		}
	}
	return true
}
