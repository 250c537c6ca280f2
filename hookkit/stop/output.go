package stop

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hookkit/brepl/hookkit/plain"
)

// AgentLimit is how long the whole text to the agent may be, in UTF-16 units. The host
// replaces a reminder of more than 10,000 by a preview, so we stay below that.
const AgentLimit = 9500

// cleanOutput makes a command's output fit to be read as text. Escape sequences and control
// characters go, invalid UTF-8 becomes U+FFFD, a line overwritten with carriage returns keeps
// its last state, and characters that reorder text on a screen go too: what is read must be
// what was printed.
func cleanOutput(printed []byte) string {
	raw := string(printed)
	out := make([]byte, 0, len(raw))
	line := 0 // where the current line begins in out
	overwrite := false
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == 0x1b:
			i += plain.Escape(raw[i:])
			continue
		case c == '\r':
			overwrite = true
			i++
			continue
		case c == '\n':
			overwrite = false
			out = append(out, '\n')
			line = len(out)
			i++
			continue
		case c < 0x20 && c != '\t' || c == 0x7f:
			i++
			continue
		}
		if overwrite {
			out, overwrite = out[:line], false
		}
		r, n := utf8.DecodeRuneInString(raw[i:])
		if !hides(r) {
			out = utf8.AppendRune(out, r)
		}
		i += n
	}
	return strings.TrimLeft(strings.TrimRight(string(out), " \t\n"), "\n")
}

// hides reports C1 controls, direction overrides and the byte order mark.
func hides(r rune) bool {
	return r >= 0x80 && r < 0xa0 || plain.TurnsAround(r) || r == 0xfeff
}

// textLength counts s in UTF-16 units, as the host does.
func textLength(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// lastLines returns as many whole lines from the end of text as fit into limit UTF-16 units,
// and how many lines before them were left out. A last line that is too long by itself
// is cut at its front.
func lastLines(text string, limit int) (kept string, leftOut int) {
	if textLength(text) <= limit {
		return text, 0
	}
	start, used := len(text), 0
	for start > 0 {
		lineStart := strings.LastIndexByte(text[:start-1], '\n') + 1
		used += textLength(text[lineStart:start])
		if used > limit {
			break
		}
		start = lineStart
	}
	if start == len(text) {
		return lastUnits(text, limit), strings.Count(text, "\n")
	}
	return text[start:], strings.Count(text[:start], "\n")
}

func lastUnits(s string, limit int) string {
	const mark = "…"
	if limit <= len(mark) {
		return ""
	}
	start, used := len(s), 1
	for start > 0 {
		r, n := utf8.DecodeLastRuneInString(s[:start])
		used += textLength(string(r))
		if used > limit {
			break
		}
		start -= n
	}
	return mark + s[start:]
}

// shares divides limit among texts of the given lengths: short ones get all they need,
// the others an equal part of what is left.
func shares(lengths []int, limit int) []int {
	order := make([]int, len(lengths))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lengths[a], lengths[b]) })
	result := make([]int, len(lengths))
	for done, i := range order {
		result[i] = max(0, min(lengths[i], limit/(len(order)-done)))
		limit -= result[i]
	}
	return result
}

// fingerprint is a hash of what a hook printed, blind to what changes from run to run
// without meaning anything: numbers, times, addresses, object hashes.
func fingerprint(text string) string {
	h := fnv.New64a()
	for i := 0; i < len(text); {
		if n := wordLength(text[i:]); n > 0 {
			_, _ = io.WriteString(h, stableWord(text[i:i+n]))
			i += n
			continue
		}
		_, _ = h.Write([]byte{text[i]})
		i++
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

func wordLength(s string) int {
	n := 0
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] >= 'a' && s[n] <= 'z' || s[n] >= 'A' && s[n] <= 'Z') {
		n++
	}
	return n
}

// stableWord replaces the varying part of a word of letters and digits: a word of hexadecimal
// digits that holds a decimal one becomes "#", in any other word each run of decimal digits does.
func stableWord(word string) string {
	if !strings.ContainsAny(word, "0123456789") {
		return word
	}
	if strings.Trim(strings.TrimPrefix(word, "0x"), "0123456789abcdefABCDEF") == "" {
		return "#"
	}
	var b strings.Builder
	digits := false
	for _, r := range word {
		isDigit := r >= '0' && r <= '9'
		switch {
		case !isDigit:
			b.WriteRune(r)
		case !digits:
			b.WriteByte('#')
		}
		digits = isDigit
	}
	return b.String()
}
