package clj

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// atom makes the node of a token that is a whole form.
func (r *reader) atom(t Token) {
	text := r.text[t.Start:t.End]
	n := r.newNode()
	n.Start, n.End, n.Text = r.at.at(t.Start), r.at.at(t.End), text
	switch t.Kind {
	case TokenNumber:
		r.number(n)
	case TokenString:
		n.Kind = String
		body, problems := decodeString(unquote(text, `"`, t.Incomplete))
		n.Text = body
		for _, p := range problems {
			if !t.Incomplete && (r.edn || !p.onlyEDN) {
				r.errors.add(t.Start+1+p.at, p.message)
			}
		}
	case TokenRegex:
		n.Kind = Regex
		n.Text = unquote(text, `#"`, t.Incomplete)
		if r.edn {
			r.errors.add(t.Start, r.brief(n)+" (regex)"+onlyClojure)
		}
	case TokenChar:
		n.Kind = Char
		if _, problem := decodeChar(text); problem != "" && !t.Incomplete {
			r.errors.add(t.Start, problem)
		}
	case TokenUnreadable:
		n.Kind = Symbol
		r.errors.add(t.Start, "Unreadable form: "+r.brief(n)+", it was printed from an object that has no literal")
	default:
		r.word(n)
	}
	r.forms = append(r.forms, n)
}

// unquote gives what stands between the quotes.
func unquote(text, open string, incomplete bool) string {
	text = text[len(open):]
	if incomplete {
		return text
	}
	return text[:len(text)-1]
}

func (r *reader) number(n *Node) {
	num, ok := parseNumber(n.Text)
	n.Kind = num.kind
	if end := n.End.Offset; r.edn && end < len(r.src) && r.src[end] == '%' {
		// Clojure reads 80% as 80 and %. EDN has no function arguments, and no space here is a slip.
		r.errors.add(n.Start.Offset, "Invalid number: "+r.brief(n)+"%")
		return
	}
	if ok {
		return
	}
	n.Kind = Integer
	if num.kind == Ratio {
		if over, under, _ := strings.Cut(strings.TrimLeft(n.Text, "+-"), "/"); allDigits(over, 10) && allDigits(under, 10) {
			r.errors.add(n.Start.Offset, "Divide by zero: "+r.brief(n))
			return
		}
	}
	r.errors.add(n.Start.Offset, "Invalid number: "+r.brief(n))
}

// word reads a symbol, keyword, nil or boolean.
func (r *reader) word(n *Node) {
	switch n.Text {
	case "nil":
		n.Kind = Nil
		return
	case "true", "false":
		n.Kind = Bool
		return
	}
	written := n.Text
	n.Kind = Symbol
	if name, isKeyword := strings.CutPrefix(written, ":"); isKeyword {
		n.Kind, n.Text = Keyword, name
	}
	if n.Text != "" && plainWord(n.Text) {
		return
	}
	first, _ := utf8.DecodeRuneInString(written)
	switch {
	case unicode.IsDigit(first):
		r.errors.add(n.Start.Offset, "Invalid number: "+r.brief(n))
	case !validWord(written, r.edn):
		r.errors.add(n.Start.Offset, "Invalid token: "+r.brief(n))
	case r.edn && strings.HasPrefix(written, "::"):
		r.errors.add(n.Start.Offset, r.brief(n)+" (auto-resolved keyword)"+onlyClojure)
	}
}

// plainWord says whether a word is valid at first sight, as most are.
func plainWord(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '.', c == '*', c == '!', c == '?', digit(c):
		default:
			return false
		}
	}
	return !digit(s[0])
}

// validWord says whether Clojure reads s as a symbol or keyword (LispReader.matchSymbol).
func validWord(s string, edn bool) bool {
	namespace := s[:strings.LastIndexByte(s, '/')+1]
	if strings.HasSuffix(s, "//") {
		namespace = s[:len(s)-1]
	}
	if strings.HasSuffix(s, ":") || strings.HasSuffix(namespace, ":/") && s != ":/" || strings.Contains(s[1:], "::") {
		return false
	}
	if keyword, isKeyword := strings.CutPrefix(s, ":"); isKeyword && validName(keyword) {
		return true
	}
	// The colon of :1 counts as the first character of its name.
	return validName(s) || !edn && arrayClass(s)
}

// validName says whether s is a name, or a namespace, a slash and a name. Neither starts with a digit. Only the name may be "/"; the
// namespace may hold slashes.
func validName(s string) bool {
	startsWell := func(s string) bool { return s != "" && s[0] != '/' && !digit(s[0]) }
	if s == "/" {
		return true
	}
	if !startsWell(s) {
		return false
	}
	if namespace, isSlash := strings.CutSuffix(s, "//"); isSlash {
		return namespace != ""
	}
	at := strings.LastIndexByte(s, '/')
	return at < 0 || startsWell(s[at+1:])
}

// arrayClass says whether s is a class of arrays such as String/2, which Clojure has since 1.12.
func arrayClass(s string) bool {
	class, dimensions, found := strings.Cut(s, "/")
	return found && validName(class) && len(dimensions) == 1 && dimensions[0] >= '1' && dimensions[0] <= '9'
}
