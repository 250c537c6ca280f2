package triage

import "strings"

// drawnTokens hides what is drawn out of letters of both cases and digits, with the dashes and underscores of base64 for URLs in it.
func (m *masker) drawnTokens() {
	const long, core = 20, 16
	text := m.text
	for i := 0; i < len(text); i++ {
		start := i
		for i < len(text) && isTokenByte(text[i]) {
			i++
		}
		if i-start < long {
			continue
		}
		from, to := withoutWords(text, start, i)
		_, upper, lower := count(text[from:to])
		if to-from < core || upper < 2 || lower < 2 || !choppy(text[from:to]) {
			continue
		}
		if to == i {
			for to < len(text) && text[to] == '=' {
				to++
			}
		}
		m.hide(from, to)
	}
}

// withoutWords takes whole words and numbers off both ends of a run: a token may have a name in front of it.
func withoutWords(text string, from, to int) (int, int) {
	for from < to {
		n := strings.IndexAny(text[from:to], "-_")
		if n < 0 || !plainPart(text[from:from+n]) {
			break
		}
		from += n + 1
	}
	for from < to {
		n := strings.LastIndexAny(text[from:to], "-_")
		if n < 0 || !plainPart(text[from+n+1:to]) {
			break
		}
		to = from + n
	}
	return from, to
}

// plainPart says whether a part is word, Word, WORD or 42.
func plainPart(part string) bool {
	digits, upper, lower := count(part)
	n := len(part)
	return digits == n || upper == n || lower == n || upper == 1 && lower == n-1 && part[0] <= 'Z'
}

// choppy says whether a run falls into too short pieces to be made of words. OrderServiceV2 has pieces of 5, 7, 1 and 1 characters; what is
// drawn by lot has pieces of less than two on average, and what looks like a word in it is none. Of tokens of 24 characters one in a thousand
// is over this bound; of the long identifiers in Go's own sources, only such as TestX86ifAVX512VLhasAVX512F are under it.
func choppy(run string) bool { return pieceLength(run) < 220 }

// pieceLength is how long the pieces of a run are on average, in hundredths of a character. A piece is a word, an acronym or a number; each
// pair of letters that words do not have counts as one piece more, as do four capitals.
func pieceLength(run string) int {
	quarters, chars := 0, 0
	for i := 0; i < len(run); {
		start := i
		switch c := run[i]; {
		case digit(c):
			for i < len(run) && digit(run[i]) {
				i++
			}
			quarters += 4
		case isUpper(c):
			for i < len(run) && isUpper(run[i]) {
				i++
			}
			lower := i < len(run) && isLower(run[i])
			if lower {
				i-- // the last capital begins the next word
			}
			if i > start {
				quarters += 3 + i - start
			}
			if lower {
				word := i
				i = endOfLower(run, i+1)
				quarters += 4 + oddPairs(run[word:i])
			}
		case isLower(c):
			i = endOfLower(run, i)
			quarters += 4 + oddPairs(run[start:i])
		default:
			i++
			continue
		}
		chars += i - start
	}
	if quarters == 0 {
		return 0
	}
	return chars * 400 / quarters
}

func endOfLower(run string, i int) int {
	for i < len(run) && isLower(run[i]) {
		i++
	}
	return i
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// oddPairs counts four for each pair of letters that is rare in words.
func oddPairs(word string) int {
	if len(word) < 3 {
		return 0
	}
	odd := 0
	for i := 1; i < len(word); i++ {
		if strings.IndexByte(letterPairs[word[i-1]|0x20-'a'], word[i]) < 0 {
			odd += 4
		}
	}
	return odd
}

// letterPairs are the letters that often follow each letter in words and in the names of programs, from a to z.
var letterPairs = [26]string{
	"bcdfgiklmnprstuvwxy", "aceilorsuy", "acehiklmorstu", "adeilnorsu", "abcdefgilmnopqrstuvwxy", "adefilortu", "aeghilnorsu", "aeiortu",
	"abcdefglmnoprstvxz", "aeou", "aeinos", "adefilostuvy", "abdeilmopsu", "abcdefgiklmnorstuvy", "abcdfgiklmnoprstuvw", "aehiloprstuy",
	"u", "abcdefgiklmnoprstuvwy", "acehiklmnoprstuwy", "acdefhiloprstuwyz", "abcdefgilmnoprst", "aeio", "aehinors", "aceipt", "emnpst", "aeio",
}
