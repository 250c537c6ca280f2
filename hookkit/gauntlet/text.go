package gauntlet

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hookkit/brepl/hookkit/session"
)

// oneLine makes a text from outside fit into a sentence of ours.
func oneLine(text string) string {
	const longest = 300
	return cutAt(flat(text), longest)
}

// flat is a text without line ends, runs of blanks and what is not visible.
func flat(text string) string { return strings.Join(strings.Fields(strings.Map(visible, text)), " ") }

// visible drops what could move a cursor or reorder text, and keeps white space.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r < 0x20 || r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0xfeff:
		return -1
	}
	return r
}

// cutAt keeps the beginning of a text that is longer than limit bytes, and marks the cut.
func cutAt(text string, limit int) string {
	const mark = " […]"
	if len(text) <= limit {
		return text
	}
	end := max(limit-len(mark), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}

// printable is a file's name for people: as it is, or quoted as Go does where it has bytes that are no text.
func printable(name string) string {
	if utf8.ValidString(name) && strings.Map(visible, name) == name && !strings.ContainsAny(name, "\n\t") {
		return name
	}
	return fmt.Sprintf("%q", name)
}

// fileName is a job's name for files and folders.
func fileName(job *Job) string {
	name := string(job.Gate.Kind) + "-" + job.Gate.Name
	if job.Entry != "." {
		name += "-" + job.Entry
	}
	return session.SafeName(name)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// bar sets each line off, so that none can look like a line of ours.
func bar(text string) string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return ""
	}
	return "| " + strings.ReplaceAll(text, "\n", "\n| ") + "\n"
}
