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

// undoneAtEnd says whether the changes were all taken back, by commands after the last edit.
func (a *analysis) undoneAtEnd() bool {
	var back []string
	for i, t := range slices.Backward(a.conv.tools) {
		if !t.edits() {
			continue
		}
		for _, later := range a.conv.tools[i+1:] {
			for _, command := range strings.FieldsFunc(later.command, func(r rune) bool { return r == '&' || r == ';' || r == '\n' }) {
				words := strings.Fields(command)
				if unstashes(words) {
					back = nil
				}
				back = append(back, takenBackBy(words)...)
			}
		}
		break
	}
	if len(back) == 0 {
		return false
	}
	files, _ := a.changed()
	for _, f := range files {
		if !slices.ContainsFunc(back, func(path string) bool { return covers(path, f) }) {
			return false
		}
	}
	return true
}

// unstashes says whether a command brings changes back.
func unstashes(command []string) bool {
	return len(command) > 2 && command[0] == "git" && command[1] == "stash" && (command[2] == "pop" || command[2] == "apply")
}

// takenBackBy lists the files and folders whose changes a command takes back, "." for all.
func takenBackBy(command []string) []string {
	if len(command) < 2 {
		return nil
	}
	switch command[0] + " " + command[1] {
	case "git reset":
		if slices.Contains(command, "--hard") {
			return []string{"."}
		}
	case "git stash":
		if len(command) == 2 || command[2] == "push" || strings.HasPrefix(command[2], "-") {
			return []string{"."}
		}
	case "git checkout", "git restore":
		if !slices.Contains(command, "-b") && !slices.Contains(command, "--staged") {
			return operands(command[2:])
		}
	}
	if command[0] == "rm" {
		return slices.DeleteFunc(operands(command[1:]), func(path string) bool { return path == "." })
	}
	return nil
}

func operands(args []string) []string {
	var list []string
	for _, arg := range args {
		if arg = strings.Trim(arg, `"'`); !strings.HasPrefix(arg, "-") {
			list = append(list, arg)
		}
	}
	return list
}

// covers says whether a file is what a command names, or lies below it; the one may be relative and the other not.
func covers(path, file string) bool {
	if path == "." {
		return true
	}
	path = "/" + strings.Trim(strings.TrimPrefix(path, "./"), "/")
	file = "/" + strings.TrimPrefix(filepath.ToSlash(file), "/")
	return path != "/" && (strings.HasSuffix(file, path) || strings.Contains(file, path+"/"))
}
