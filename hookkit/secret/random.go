package secret

import "strings"

// runs finds runs of letters and digits that look drawn by lot: long, and mixing digits with letters.
func (s *scanner) runs() {
	const long, awsSecret = 24, 40
	text := s.text
	for i := 0; i < len(text); i++ {
		start := i
		for i < len(text) && (letterOrDigit(text[i]) || text[i] == '_' || text[i] == '+' || text[i] == '/' && i > start+16) {
			i++
		}
		run := text[start:i]
		// The secret key of an AWS account has no head; slashes in it are no folders.
		whole := i
		for whole < len(text) && (letterOrDigit(text[whole]) || text[whole] == '+' || text[whole] == '/') && whole-start <= awsSecret {
			whole++
		}
		switch {
		case whole-start == awsSecret && mixed(text[start:whole]) && (start == 0 || text[start-1] != '/'):
			i = whole
			s.hide(Random, start, i)
		case len(run) >= long && drawnRun(run) && !clientID(run):
			kind := Random
			if hexadecimal(run) {
				kind = Hash
			}
			for i < len(text) && text[i] == '=' {
				i++
			}
			s.hide(kind, start, i)
		case i < len(text) && text[i] == ':' && botNumber(run): // number, colon, secret
			end := i + 1
			for end < len(text) && tokenByte(text[end]) {
				end++
			}
			if end-i > 16 {
				i = end
				s.hide(TelegramToken, start, i)
			}
		}
	}
}

func botNumber(run string) bool {
	run = strings.TrimPrefix(run, "bot")
	return len(run) >= 8 && len(run) <= 10 && strings.Trim(run, "0123456789") == ""
}

// clientID says whether a run is an id that coding agents and their servers give: what it stands for is no secret.
func clientID(run string) bool {
	head, id, ok := strings.Cut(run, "_")
	return ok && len(id) >= 12 && isOneOf(head, "toolu", "srvtoolu", "msg", "req", "call") && strings.IndexByte(id, '_') < 0
}

func hexadecimal(run string) bool {
	return strings.Trim(run, "0123456789abcdef") == "" || strings.Trim(run, "0123456789ABCDEF") == ""
}

// count counts letters and digits.
func count(run string) (digits, uppers, lowers int) {
	for i := range len(run) {
		switch c := run[i]; {
		case digit(c):
			digits++
		case upper(c):
			uppers++
		case lower(c):
			lowers++
		}
	}
	return digits, uppers, lowers
}

func mixed(run string) bool {
	digits, uppers, lowers := count(run)
	return digits > 0 && uppers >= 6 && lowers >= 6
}

func drawnRun(run string) bool {
	digits, uppers, lowers := count(run)
	parted := strings.Count(run, "_") >= 2
	if parted && uppers == 0 && wordsAndNumbers(run) {
		return false
	}
	// OrderServiceV2Test2024, TLS_RSA_WITH_AES_256_GCM_SHA384: what has letters of one case only is a name if it is parted.
	if parted && !choppy(run) || uppers > 0 && lowers > 0 && pieceLength(run) >= 240 {
		return false
	}
	return digits >= 3 && uppers+lowers >= 4 || mixed(run) && strings.IndexByte(run, '_') < 0
}

// wordsAndNumbers says whether a run is like 20240611_create_shipments.
func wordsAndNumbers(run string) bool {
	for part := range strings.SplitSeq(run, "_") {
		if digits, _, lowers := count(part); digits > 0 && lowers > 0 || digits+lowers != len(part) || lowers > 14 || digits > 14 {
			return false
		}
	}
	return true
}

// drawn finds what is drawn out of letters of both cases and digits, with the dashes and underscores of base64 for URLs in it.
func (s *scanner) drawn() {
	const long, core = 20, 16
	text := s.text
	for i := 0; i < len(text); i++ {
		start := i
		for i < len(text) && tokenByte(text[i]) {
			i++
		}
		if i-start < long || clientID(text[start:i]) {
			continue
		}
		from, to := withoutWords(text, start, i)
		_, uppers, lowers := count(text[from:to])
		if to-from < core || uppers < 2 || lowers < 2 || !choppy(text[from:to]) {
			continue
		}
		if to == i {
			for to < len(text) && text[to] == '=' {
				to++
			}
		}
		s.hide(Random, from, to)
	}
}

// base64 finds what is drawn out of the letters of plain base64. A path has them too, but longer pieces, and it begins or goes on otherwise.
func (s *scanner) base64() {
	const long = 20
	text := s.text
	for i := 0; i < len(text); i++ {
		start, signs := i, false
		for ; i < len(text) && (tokenByte(text[i]) || text[i] == '+' || text[i] == '/'); i++ {
			signs = signs || text[i] == '+' || text[i] == '/'
		}
		run := text[start:i]
		if !signs || len(run) < long || run[0] == '/' || start > 0 && strings.IndexByte(".~@", text[start-1]) >= 0 || i < len(text) && text[i] == '.' && i+1 < len(text) && tokenByte(text[i+1]) {
			continue
		}
		from, to := withoutWords(text, start, i)
		if digits, uppers, lowers := count(text[from:to]); to-from < long || digits == 0 || uppers < 3 || lowers < 3 || !choppy(text[from:to]) {
			continue
		}
		for to == i && i < len(text) && text[i] == '=' {
			to, i = to+1, i+1
		}
		s.hide(Random, from, to)
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
	digits, uppers, lowers := count(part)
	n := len(part)
	return digits == n || uppers == n || lowers == n || uppers == 1 && lowers == n-1 && part[0] <= 'Z'
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
		case upper(c):
			for i < len(run) && upper(run[i]) {
				i++
			}
			capital := i < len(run) && lower(run[i])
			if capital {
				i-- // the last capital begins the next word
			}
			if i > start {
				quarters += 3 + i - start
			}
			if capital {
				word := i
				i = endOfLower(run, i+1)
				quarters += 4 + oddPairs(run[word:i])
			}
		case lower(c):
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
	for i < len(run) && lower(run[i]) {
		i++
	}
	return i
}

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
