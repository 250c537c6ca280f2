package stop

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/text"
)

// AgentLimit is how long the whole text to the agent may be, in UTF-16 units. The host
// replaces a reminder of more than 10,000 by a preview, so we stay below that.
const AgentLimit = 9500

// cleanOutput makes a command's output fit to be read as text: as a terminal would leave it, without blank lines around it.
func cleanOutput(printed []byte) string {
	return strings.TrimLeft(strings.TrimRight(text.Screen(string(printed)), " \t\n"), "\n")
}

// lastLines returns as many whole lines from the end of output as fit into limit UTF-16 units,
// and how many lines before them were left out. A last line that is too long by itself
// is cut at its front.
func lastLines(output string, limit int) (kept string, leftOut int) {
	if text.LenUTF16(output) <= limit {
		return output, 0
	}
	start, used := len(output), 0
	for start > 0 {
		lineStart := strings.LastIndexByte(output[:start-1], '\n') + 1
		used += text.LenUTF16(output[lineStart:start])
		if used > limit {
			break
		}
		start = lineStart
	}
	if start == len(output) {
		return text.LastUTF16(output, limit), strings.Count(output, "\n")
	}
	return output[start:], strings.Count(output[:start], "\n")
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
func fingerprint(output string) string {
	h := fnv.New64a()
	for i := 0; i < len(output); {
		if n := wordLength(output[i:]); n > 0 {
			_, _ = io.WriteString(h, stableWord(output[i:i+n]))
			i += n
			continue
		}
		_, _ = h.Write([]byte{output[i]})
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
