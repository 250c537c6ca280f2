package triage

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentence is the unit that rules look at.
type sentence struct {
	text     string // as written, white space made single
	words    []token
	message  int  // index into the conversation
	agent    bool // who said it
	at       int  // place in the transcript; larger is later
	question bool
	heading  bool
	item     bool
	marks    []marked
	lead     string // lower-case text of the heading or the "…:" line that a list item stands under
}

// token is one word in lower case, a punctuation mark, or one of the signs below for what is not speech.
type token struct {
	word string
	hash uint32
	id   wordID // of the rules' vocabulary; 0 for a word that no rule names
}

// Signs that stand for what nobody says in his own words. Rules can name them.
const (
	signCode   = "CODE"   // `inline code`
	signQuote  = "QUOTE"  // "quoted text"
	signNumber = "NUM"    // 42, 3.5, 6MB
	signURL    = "URL"    // https://…
	signPath   = "PATH"   // src/a.go, v1.2
	signYes    = "EMOJI"  // a picture
	signOther  = "SYMBOL" // anything else
)

// sentences splits the conversation. Where a great deal is said, only the latest messages are looked at.
func sentences(c *conversation) []sentence {
	list := make([]sentence, 0, 2*len(c.messages))
	said, from := 0, len(c.messages)
	for from > 0 && (said == 0 || said+min(len(c.messages[from-1].text), maxMessage) <= maxSpeech) {
		from--
		said += min(len(c.messages[from].text), maxMessage)
	}
	for i := from; i < len(c.messages); i++ {
		m := &c.messages[i]
		lead := ""
		blocks, failed := prose(shortened(m.text))
		m.pasted = failed
		for _, b := range blocks {
			if b.heading {
				lead = strings.ToLower(b.text)
			}
			parts := splitSentences(b.text)
			for j, text := range parts {
				s := newSentence(text)
				s.message, s.agent, s.at, s.heading, s.item = i, m.agent, m.at, b.heading, b.item
				if b.item {
					s.lead = lead
				}
				if len(s.words) > 0 {
					list = append(list, s)
				}
				if !b.heading && !b.item {
					lead = ""
					if j == len(parts)-1 && strings.HasSuffix(strings.TrimRight(text, "* _"), ":") {
						lead = strings.ToLower(text)
					}
				}
			}
		}
	}
	return list
}

// Bounds on what is looked at, so that a pasted book costs no more than a long message.
const (
	maxMessage  = 16 << 10 // bytes of a message: its two ends
	maxSentence = 300      // words
	maxSpeech   = 96 << 10 // bytes of all messages; the latest count
)

// shortened is a message without its middle where it is too long.
func shortened(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage/2]+"\n\n"+text[len(text)-maxMessage/2:], "")
}

func newSentence(text string) sentence {
	if !singleSpaced(text) {
		text = strings.Join(strings.Fields(text), " ")
	}
	s := sentence{text: text, words: tokens(text)}
	s.words = s.words[:min(len(s.words), maxSentence)]
	for i := len(s.words) - 1; i >= 0 && isMark(s.words[i].word); i-- {
		if s.words[i].word == "!" { // "?!" is no question
			s.question = false
			break
		}
		s.question = s.question || s.words[i].word == "?" && !onlyTagged(s.words[:i])
	}
	return s
}

// onlyTagged says whether a statement ends in ", ok" or the like, so that a question mark behind it asks for no more than a nod.
func onlyTagged(words []token) bool {
	n := len(words)
	return n > 3 && words[n-2].word == "," && among(words[n-1].word, "ok okay k alright please pls yes understood deal")
}

// singleSpaced says whether all white space is one blank, and none at the ends.
func singleSpaced(text string) bool {
	before := byte(' ')
	for i := range len(text) {
		c := text[i]
		if c >= 0x80 || c < ' ' || c == ' ' && before == ' ' {
			return false
		}
		before = c
	}
	return before != ' '
}

func isMark(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// splitSentences splits a block at full stops, question and exclamation marks that end a sentence, and at line ends that are no soft wraps.
func splitSentences(text string) []string {
	var list []string
	start := 0
	quoted, code := false, false
	flush := func(end int) {
		if part := strings.TrimSpace(text[start:end]); part != "" {
			list = append(list, part)
		}
		start = end
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '`':
			code = !code
		case '"':
			quoted = !quoted
		case '\n':
			quoted = false
			if !softWrap(text[start:i]) {
				code = false
				flush(i + 1)
			}
		case '.', '!', '?':
			if !code && !quoted && endsSentence(text, i) {
				end := i + 1
				for end < len(text) && strings.IndexByte(`.!?"')*_`, text[end]) >= 0 {
					end++
				}
				i = end - 1
				flush(end)
			}
		}
	}
	flush(len(text))
	return list
}

// softWrap says that a line goes on in the next one: it is long and has no end.
func softWrap(before string) bool {
	const long = 50
	before = strings.TrimRight(before, " ")
	if i := strings.LastIndexByte(before, '\n'); i >= 0 {
		before = before[i+1:]
	}
	if len(before) < long || strings.HasSuffix(before, ".") || strings.HasSuffix(before, ":") || strings.HasSuffix(before, "?") || strings.HasSuffix(before, "!") {
		return false
	}
	return true
}

// short forms that end in a full stop within a sentence.
var shortForms = []string{"e.g", "i.e", "etc", "vs", "cf", "approx", "incl", "resp", "dr", "mr", "mrs", "ms", "st", "no", "fig", "al", "ca", "esp"}

func endsSentence(text string, i int) bool {
	if i+1 == len(text) {
		return true
	}
	next := i + 1
	for next < len(text) && strings.IndexByte(`.!?"')*_`, text[next]) >= 0 {
		next++
	}
	if next == len(text) {
		return true
	}
	if text[next] != ' ' && text[next] != '\n' {
		return false
	}
	if text[i] != '.' {
		return true
	}
	word := text[strings.LastIndexAny(text[:i], " \n(")+1 : i]
	for _, short := range shortForms {
		if strings.EqualFold(word, short) {
			if short != "etc" && short != "no" {
				return false
			}
			r, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[next:], " \n"))
			return unicode.IsUpper(r)
		}
	}
	return len(word) > 1 || i == 0 || !unicode.IsUpper(rune(text[i-1]))
}

type tokenList []token

func (l *tokenList) add(words ...string) {
	for _, w := range words {
		*l = append(*l, token{word: w})
	}
}

// tokens makes words of a sentence.
func tokens(text string) []token {
	list := make(tokenList, 0, len(text)/5+2)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == ' ' || r == '*' || r == '_' || r == '\u200b':
			i += size
		case r == '`':
			end := strings.IndexByte(text[i+1:], '`')
			if end < 0 {
				i++
				continue
			}
			list.add(signCode)
			i += end + 2
			for i < len(text) && text[i] == '`' {
				i++
			}
		case r == '"' || r == '“' || r == '„' || r == '«':
			i += quoteEnd(text[i:], r, size)
			list.add(signQuote)
		case r == '\'' && (i == 0 || text[i-1] == ' ' || text[i-1] == '('):
			if n := singleQuoteEnd(text[i:]); n > 0 {
				list.add(signQuote)
				i += n
			} else {
				i++
			}
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '/' || r == '~' || r == '@' || r == '.' && i+1 < len(text) && isWordByte(text[i+1]):
			end := wordEnd(text, i)
			if end > i {
				list.addWord(text[i:end])
			}
			i = max(end, i+size)
		default:
			i += size
			switch r {
			case '—', '–':
				list.add("—")
			case '→':
				list.add("->")
			case '-':
				switch {
				case strings.HasPrefix(text[i:], "> "):
					list.add("->")
					i++
				case strings.HasPrefix(text[i:], "-"), strings.HasPrefix(text[i:], " ") && i >= 2 && text[i-2] == ' ':
					list.add("—")
				}
			case ',', ';', ':', '?', '!', '(', ')', '=', '+', '%', '&', '<', '>', '$', '€', '£':
				list.add(string(r))
			case '.', '…':
				if r == '…' || i < len(text) && text[i] == '.' {
					list.add("…")
				} else {
					list.add(".")
				}
			case '’', '‘', '\'':
			default:
				if r > 0x2000 {
					list.add(signYes)
				}
			}
		}
	}
	return list
}

func isWordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || digit(b) || b == '/' || b == '_' || b >= 0x80
}

// quoteEnd is the length of a quotation, with its marks. One that is not closed is one mark.
func quoteEnd(text string, open rune, size int) int {
	closer := map[rune]string{'"': `"`, '“': "”", '„': "“", '«': "»"}[open]
	end := strings.Index(text[size:], closer)
	if end < 0 && open == '„' {
		closer = "”"
		end = strings.Index(text[size:], closer)
	}
	if end < 0 {
		return size
	}
	return size + end + len(closer)
}

func singleQuoteEnd(text string) int {
	for i := 1; i < len(text); i++ {
		if text[i] == '\'' && text[i-1] != ' ' && (i+1 == len(text) || strings.IndexByte(" .,;:!?)", text[i+1]) >= 0) {
			return i + 1
		}
	}
	return 0
}

func wordEnd(text string, i int) int {
	for i < len(text) {
		if c := text[i]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' { // most characters
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		inside := unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || unicode.Is(unicode.Mn, r)
		if !inside {
			next, _ := utf8.DecodeRuneInString(text[i+size:])
			joins := strings.ContainsRune(`'’-./:@\~#=&?%+`, r)
			inside = joins && i+size < len(text) && (unicode.IsLetter(next) || unicode.IsDigit(next) || next == '/' && r != '.' || next == '_') &&
				(r != '?' && r != '&' && r != '=' && r != '%' && r != '+' || strings.Contains(text[:i], "://"))
			if r == '/' && !joins {
				inside = true
			}
		}
		if !inside {
			break
		}
		i += size
	}
	if i < len(text) && text[i] == '/' {
		i++
	}
	return i
}

// contractions are split, so that rules need to know one spelling only.
var contractions = []struct{ end, word string }{
	{"n't", "not"}, {"'re", "are"}, {"'ve", "have"}, {"'ll", "will"}, {"'m", "am"}, {"'d", "would"}, {"'s", "s"},
}

// addWord adds what is between two blanks: a word, or the parts of one.
func (l *tokenList) addWord(raw string) {
	if onlyLetters(raw) && !runTogether(raw) { // most words
		l.add(raw)
		return
	}
	word := strings.ReplaceAll(strings.ToLower(raw), "’", "'")
	switch {
	case strings.Contains(word, "://"):
		l.add(signURL)
		return
	case word == "can't" || word == "cannot" || word == "cant":
		l.add("can", "not")
		return
	case word == "won't" || word == "wont":
		l.add("will", "not")
		return
	case word == "let's" || word == "lets":
		l.add("let", "us")
		return
	case word == "dont" || word == "doesnt" || word == "didnt" || word == "isnt" || word == "wasnt" || word == "couldnt" || word == "shouldnt" || word == "havent":
		l.add(word[:len(word)-2], "not")
		return
	case word == "ive" || word == "weve":
		l.add(word[:len(word)-2], "have")
		return
	case word == "im":
		l.add("i", "am")
		return
	case digit(word[0]):
		if among(word, "401 403 404 413 422 429 502 503 504") { // a status, not a number
			l.add(word)
			return
		}
		if isNumber(word) {
			l.add(signNumber)
			return
		}
	}
	for _, c := range contractions {
		if rest, ok := strings.CutSuffix(word, c.end); ok && rest != "" {
			l.add(rest, c.word)
			return
		}
	}
	if strings.ContainsAny(word, `/\`) || strings.Contains(word, ".") {
		if a, b, ok := strings.Cut(word, "/"); ok && isAlpha(a) && isAlpha(b) {
			l.add(a, "/", b)
			return
		}
		l.add(signPath)
		return
	}
	if strings.Contains(word, "-") {
		l.addHyphenated(word)
		return
	}
	if a, b, ok := strings.Cut(word, ":"); ok {
		l.add(a, ":", b)
		return
	}
	l.add(word)
}

// addHyphenated splits a compound; names such as rate-limiter come apart, and rules name the parts.
func (l *tokenList) addHyphenated(word string) {
	for part := range strings.SplitSeq(word, "-") {
		if part != "" {
			l.add(part)
		}
	}
}

func isAlpha(s string) bool {
	for _, r := range s {
		if !unicode.IsLetter(r) {
			return false
		}
	}
	return s != ""
}

// isNumber takes 42, 3.5, 1,000, 6mb, 15min, 90s, 10k; not v2 or 2fa.
func isNumber(word string) bool {
	rest := strings.TrimLeft(word, "0123456789.,_")
	switch rest {
	case "", "k", "m", "g", "b", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "ms", "s", "sec", "secs", "min", "mins", "h", "hr", "hrs", "d", "x", "rpm", "rps", "qps", "px", "th", "st", "nd", "rd", "am", "pm", "kbps", "mbps", "gbps", "days", "bit":
		return true
	}
	return false
}

// onlyLetters reports whether a word is made of small letters a to z alone.
func onlyLetters(word string) bool {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return word != ""
}

// runTogether reports whether letters alone are two words, as addWord takes them.
func runTogether(word string) bool {
	switch word {
	case "cannot", "cant", "wont", "lets", "dont", "doesnt", "didnt", "isnt", "wasnt", "couldnt", "shouldnt", "havent", "ive", "weve", "im":
		return true
	}
	return false
}
