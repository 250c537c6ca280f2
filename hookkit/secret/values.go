package secret

import "strings"

// sign is what stands between a name and its value.
type sign struct {
	end                          int // the value may follow from here
	assigns, colon, tight, query bool
}

func separator(text string, i int) (sign, bool) {
	at := skipBlanks(text, i)
	s := sign{end: at}
	for _, assigns := range [...]string{"==", "=>", "=", ":=", "%3D", "%3d"} {
		if strings.HasPrefix(text[at:], assigns) {
			s.end, s.assigns = at+len(assigns), true
			break
		}
	}
	switch {
	case s.assigns:
	case strings.HasPrefix(text[at:], "::") || strings.HasPrefix(text[at:], scheme):
		return s, false
	case strings.HasPrefix(text[at:], ":"):
		s.end, s.colon = at+1, true
	case strings.HasPrefix(text[at:], "%3A"):
		s.end, s.colon = at+3, true
	case at == i && (strings.HasPrefix(text[at:], `("`) || strings.HasPrefix(text[at:], `('`)):
		s.end, s.assigns = at+1, true
	default:
		return s, false
	}
	// "**Password:** …", "Password: <code>…"
	for s.end < len(text) && text[s.end] == '*' {
		s.end++
	}
	s.end = tagAt(text, s.end)
	s.tight = at == i && s.end < len(text) && !blank(text[s.end])
	if start := skipBlanks(text, s.end); tagAt(text, start) > start {
		s.end = tagAt(text, start)
	}
	return s, true
}

// isOption says whether the name from from on is an option (--password) or a keyword (:password).
func isOption(text string, from int) bool {
	if from == 0 || text[from-1] != '-' && text[from-1] != ':' {
		return false
	}
	from--
	for from > 0 && text[from-1] == '-' {
		from--
	}
	return from == 0 || strings.IndexByte(" \n\t\r`'\"([{,", text[from-1]) >= 0
}

// closed skips what closes a name: quotes, brackets, emphasis.
func closed(text string, i int) int {
	for i < len(text) {
		switch {
		case strings.IndexByte("\\\"'`*]_", text[i]) >= 0:
			i++
		case strings.HasPrefix(text[i:], "%5D") || strings.HasPrefix(text[i:], "%5d") || strings.HasPrefix(text[i:], "%22"):
			i += 3
		default:
			end := tagAt(text, i)
			if end == i {
				return i
			}
			i = end
		}
	}
	return i
}

// tagAt is the end of an HTML tag that sets words off, <code> or </b>; i where there is none.
func tagAt(text string, i int) int {
	if i >= len(text) || text[i] != '<' {
		return i
	}
	name, _, ok := strings.Cut(text[i+1:min(len(text), i+10)], ">")
	if ok && isOneOf(strings.TrimPrefix(name, "/"), "b", "i", "u", "em", "tt", "kbd", "var", "code", "samp", "span", "strong") {
		return i + len("<>") + len(name)
	}
	return i
}

// valueSpan is the place of a value, without its quotes; end is where what follows it begins.
type valueSpan struct {
	from, to, end int
	quoted        bool
}

// hideValue returns where the value ends.
func (s *scanner) hideValue(kind Kind, v valueSpan) int {
	s.hide(kind, v.from, v.to)
	return v.to
}

// valueAt finds the value that begins at i or behind blanks.
func (s *scanner) valueAt(i int) valueSpan {
	text := s.text
	i = skipBlanks(text, i)
	if v, ok := s.quotedAt(i); ok {
		return v
	}
	if !s.value.holds(i) {
		end := i
		for end < len(text) && !blank(text[end]) && !endsValue(text, end) {
			end++
		}
		s.value = ahead{i, end}
	}
	return valueSpan{from: i, to: s.trimmed(i, s.value.at), end: s.value.at}
}

// trimmed is where a value ends without the signs of the sentence it stands in.
func (s *scanner) trimmed(from, to int) int {
	const far = 256
	from = max(from, to-far)
	inside := s.text[from:to]
	for ; to > from; to-- {
		var open byte
		switch c := s.text[to-1]; c {
		case '.', ',', ';', ':', '`', '\'', '"', '*':
			continue
		case ')':
			open = '('
		case ']', '}':
			open = c - 2
		case '>':
			open = '<'
		default:
			return to
		}
		if strings.IndexByte(inside, open) >= 0 {
			break
		}
	}
	return to
}

// shellValueAt is valueAt for what a shell assigns: $(echo a b), ${A:-a b} and (a b) are values with all their words.
func (s *scanner) shellValueAt(i int) valueSpan {
	const far = 1 << 10 // nobody's command is longer; what is still open there goes to the end
	text := s.text
	i = skipBlanks(text, i)
	var depth [16]byte
	open := depth[:0] // what closes the brackets and quotes that are open
	bracket := false
	end := i
	for ; end < min(len(text), i+far); end++ {
		c := text[end]
		n := len(open)
		switch {
		case c == '\\':
			end++
		case n > 0 && c == open[n-1]:
			open = open[:n-1]
		case n > 0 && open[n-1] == '\'':
		case c == '(' && (end == i || n > 0 && open[n-1] == ')' || strings.IndexByte("$<>", text[end-1]) >= 0):
			open, bracket = append(open, ')'), true
		case c == '{' && end > i && text[end-1] == '$':
			open, bracket = append(open, '}'), true
		case c == '"' && (n > 0 || end == i), c == '\'' && (n > 0 && open[n-1] != '"' || end == i):
			open = append(open, c)
		case n > 0:
		case blank(c) || c == ')' || endsValue(text, end):
			if !bracket {
				return s.valueAt(i)
			}
			return valueSpan{from: i, to: end, end: end, quoted: text[i] == '"'}
		}
	}
	if !bracket {
		return s.valueAt(i)
	}
	return valueSpan{from: i, to: len(text), end: len(text), quoted: text[i] == '"'}
}

var quotePairs = [...]struct{ open, end string }{
	{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"„", "“"}, {"‘", "’"}, {"«", "»"}, {"%22", "%22"},
}

// quotedAt finds a value in quotes. Where they do not close, a cut sentence ends within it.
func (s *scanner) quotedAt(i int) (valueSpan, bool) {
	const mostEscaped = 64 // quotes within a value
	text := s.text
	slashes := i
	for slashes < len(text) && text[slashes] == '\\' {
		slashes++
	}
	for k := range quotePairs {
		q := &quotePairs[k]
		if !strings.HasPrefix(text[slashes:], q.open) {
			continue
		}
		v := valueSpan{from: slashes + len(q.open), quoted: true}
		if v.from < len(text) && blank(text[v.from]) { // it closes something
			return valueSpan{}, false
		}
		for at, escapes := v.from, 0; ; at, escapes = at+len(q.end), escapes+1 {
			if at = s.quoteFrom(k, at); at == len(text) {
				v.to, v.end = at, at
				return v, q.open != "'" && q.open != "‘"
			}
			v.to, v.end = at, at+len(q.end)
			if slashes > i { // \"…\"
				v.to = max(v.from, v.from+len(strings.TrimRight(text[v.from:at], `\`)))
				return v, true
			}
			if at == v.from || text[at-1] != '\\' || escapes == mostEscaped {
				return v, true
			}
		}
	}
	return valueSpan{}, false
}

// quoteFrom is where the next closing quote of a pair stands from i on, the end of the text where none does.
func (s *scanner) quoteFrom(pair, i int) int {
	found := &s.quotes[pair]
	if !found.holds(i) {
		at := strings.Index(s.text[i:], quotePairs[pair].end)
		if at < 0 {
			at = len(s.text) - i
		}
		*found = ahead{i, i + at}
	}
	return found.at
}

// endsValue says whether a value without quotes ends at i within a word: another pair follows, or the quote or tag around it closes.
func endsValue(text string, i int) bool {
	switch text[i] {
	case '&', ';', ',':
		j := i + 1
		for j < len(text) && strings.IndexByte("\"'{", text[j]) >= 0 {
			j++
		}
		start := j
		for j < len(text) && (tokenByte(text[j]) || text[j] == '.') {
			j++
		}
		return j > start && j < len(text) && (text[j] == '=' || text[j] == '"' && j+1 < len(text) && text[j+1] == ':')
	case '"', '\'', '`':
		return i+1 == len(text) || blank(text[i+1]) || strings.IndexByte(".,;:!?)]}|*\\", text[i+1]) >= 0
	case '\\':
		return i+1 < len(text) && strings.IndexByte("\"'`", text[i+1]) >= 0 && endsValue(text, i+1)
	case '<':
		return strings.HasPrefix(text[i:], "</")
	}
	return false
}

// reference says whether a value only stands for one: $NAME, ${NAME}, %NAME%, {{NAME}}. In small letters it may be a password that begins with a
// dollar, unless the name itself tells of a secret.
func reference(value string) bool {
	name := ""
	switch n := len(value); {
	case n < 2 || n > 128:
		return false
	case strings.HasPrefix(value, "{{") || strings.HasPrefix(value, "${{"): // a template
		return true
	case value[0] == '%' && value[n-1] == '%':
		name = value[1 : n-1]
	case value[0] == '$' && value[1] == '{' && value[n-1] == '}':
		var standard string
		if name, standard, _ = strings.Cut(value[2:n-1], ":-"); len(standard) >= 4 {
			return false
		}
	case value[0] == '$':
		if name = value[1:]; strings.ContainsFunc(name, isLower) && judge(name, "") == none {
			return false
		}
	}
	for i := range len(name) {
		if !letterOrDigit(name[i]) && name[i] != '_' {
			return false
		}
	}
	return name != "" && !digit(name[0])
}

func isLower(r rune) bool { return r >= 'a' && r <= 'z' }

// code says whether a value is a call, or something's part that is given with blanks around the sign: token := lexer.Next().
func code(value string, sep sign) bool {
	if len(value) > 128 {
		return false
	}
	dot := false
	for i := range len(value) {
		switch c := value[i]; {
		case c == '.' && i > 0:
			dot = true
		case c == '&' && i == 0:
		case c == '(' || c == '{':
			return i > 0
		case !lower(c|0x20) && c != '_':
			return false
		}
	}
	return dot && sep.assigns && !sep.tight
}

func uuid(value string) bool {
	for i := range len(value) {
		c := value[i]
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash && c != '-' || !dash && !digit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return len(value) == 36
}
