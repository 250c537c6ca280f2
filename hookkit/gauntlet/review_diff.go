package gauntlet

import (
	"bytes"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hookkit/brepl/hookkit/text"
)

// diffLines are the lines of a diff, by file.
type diffLines map[string]*fileDiff

// fileDiff is what a diff says of one file.
type fileDiff struct {
	added map[int]string // by their numbers, from 1, in the file as it is now
	lines []diffLine
}

// diffLine is one line of a hunk, with its first character. A removed line has the number of the line that follows it now.
type diffLine struct {
	number int
	text   string
}

// readDiff reads a unified diff as git writes it. A line of the header or of a hunk that it does not understand adds nothing.
func readDiff(diff []byte) diffLines {
	files := diffLines{}
	var file *fileDiff
	number, left := 0, 0 // left: lines of the new file that the hunk still has
	for raw := range bytes.Lines(diff) {
		text := strings.TrimSuffix(string(raw), "\n")
		switch {
		case left > 0 && strings.HasPrefix(text, "+"):
			file.added[number] = text
			file.lines = append(file.lines, diffLine{number, text})
			number, left = number+1, left-1
		case left > 0 && (strings.HasPrefix(text, " ") || text == ""):
			file.lines = append(file.lines, diffLine{number, text})
			number, left = number+1, left-1
		case left > 0 && strings.HasPrefix(text, "-"):
			file.lines = append(file.lines, diffLine{number, text})
		case strings.HasPrefix(text, "+++ "):
			file = &fileDiff{added: map[int]string{}}
			files[diffName(strings.TrimPrefix(text, "+++ "))] = file
		case strings.HasPrefix(text, "@@ ") && file != nil:
			number, left = hunkStart(text)
		}
	}
	return files
}

// diffName reads a name as it stands after "+++ ": with git's prefix, and in C quotes where it has odd bytes.
func diffName(name string) string {
	name = strings.TrimSuffix(name, "\t") // git adds it to a name with a space
	if strings.HasPrefix(name, `"`) {
		if plain, err := strconv.Unquote(name); err == nil {
			name = plain
		}
	}
	return strings.TrimPrefix(name, "b/")
}

// hunkStart reads "@@ -a,b +line,count @@".
func hunkStart(text string) (line, count int) {
	for field := range strings.FieldsSeq(text) {
		if at, ok := strings.CutPrefix(field, "+"); ok {
			first, n, counted := strings.Cut(at, ",")
			line, _ = strconv.Atoi(first)
			count = 1
			if counted {
				count, _ = strconv.Atoi(n)
			}
			return line, count
		}
	}
	return 0, 0
}

// has reports whether a finding is about the diff: a line that it added, or, for line 0, a file in which it added some.
func (d diffLines) has(file string, line int) bool {
	f := d[file]
	return f != nil && len(f.added) > 0 && (line <= 0 || f.added[line] != "")
}

// aroundLines is how many lines of the diff are shown before and after the one that a violation is about.
const aroundLines = 3

// around shows the lines of the diff at a violation; "" where the diff has none there.
func (d diffLines) around(file string, line int) string {
	f := d[file]
	if f == nil || line <= 0 {
		return ""
	}
	var b strings.Builder
	for _, one := range f.lines {
		if one.number >= line-aroundLines && one.number <= line+aroundLines {
			b.WriteString(text.CutBytes(strings.ToValidUTF8(one.text, "\uFFFD"), longestDiffLine) + "\n")
		}
	}
	return b.String()
}

// line is the line that the diff added with this number, with its first character; "" if there is none.
func (d diffLines) line(file string, number int) string {
	if f := d[file]; f != nil {
		return strings.ToValidUTF8(f.added[number], "\uFFFD")
	}
	return ""
}

// near reports whether a line that line returned stands within aroundLines of a number now: reviewers count roughly. "" is the file as a whole.
func (d diffLines) near(file string, number int, text string) bool {
	for n := number - aroundLines; n <= number+aroundLines; n++ {
		if d.line(file, n) == text && (text != "" || n == number) {
			return true
		}
	}
	return false
}

// longestDiffLine bounds a line that is shown, in bytes.
const longestDiffLine = 300

// cleanName makes the name that a reviewer gives a file the one that the diff has: relative to the root, with slashes.
func (d diffLines) cleanName(name, root string) string {
	name = strings.Trim(strings.TrimSpace(name), "`\"'")
	if filepath.IsAbs(name) {
		if rel, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
	}
	name = path.Clean(filepath.ToSlash(name))
	if d[name] == nil {
		for _, prefix := range []string{"a/", "b/"} {
			if short, ok := strings.CutPrefix(name, prefix); ok && d[short] != nil {
				return short
			}
		}
	}
	return name
}
