package secret

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookkit/brepl/hookkit/text"
)

// A cut is where something was taken out of a text: from at on in what is left, the original is ahead by more bytes.
type cut struct{ at, ahead int }

// visible is a text as a reader sees it, for what hides within a secret would hide the secret: without colours and what has no looks of
// its own, and with plain blanks. Of most texts it is all, and there are no cuts.
func visible(s string) (string, []cut) {
	i := 0
	for i < len(s) {
		takes, blank, n := hiding(s, i)
		if takes || blank {
			break
		}
		i += n
	}
	if i == len(s) {
		return s, nil
	}
	var cuts []cut
	b := append(make([]byte, 0, len(s)), s[:i]...)
	for i < len(s) {
		takes, blank, n := hiding(s, i)
		if !takes && !blank {
			b = append(b, s[i:i+n]...)
		} else if blank {
			b = append(b, ' ')
		}
		if i += n; takes || blank {
			cuts = append(cuts, cut{len(b), i - len(b)})
		}
	}
	return string(b), cuts
}

// hiding says whether what begins at i goes, or is a blank with a width of its own, and how long it is. Of an escape sequence its
// letters go too: they would stick to the token that it colours. But titles and links hold text, which is looked through like the rest.
func hiding(s string, i int) (takes, wide bool, n int) {
	c := s[i]
	if c >= ' ' && c < 0x7f || c == '\n' || c == '\t' || c == '\r' {
		return false, false, 1
	}
	if n = text.Control(s[i:]); n > 0 {
		return true, false, n
	}
	if strings.HasPrefix(s[i:], "\x1b]") {
		return true, false, 2
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return text.Unseen(r), unicode.IsSpace(r), n
}

// inOriginal moves spans from the visible text to the text it was made of.
func inOriginal(spans []Span, cuts []cut) []Span {
	k := 0
	offset := func(at int) int { // at grows from call to call
		for k < len(cuts) && cuts[k].at <= at {
			k++
		}
		if k == 0 {
			return at
		}
		return at + cuts[k-1].ahead
	}
	for i := range spans {
		spans[i].Start = offset(spans[i].Start)
		spans[i].End = offset(spans[i].End-1) + 1
	}
	return spans
}
