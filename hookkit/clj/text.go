package clj

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// textProblem is a fault within a string, at a byte offset in it.
type textProblem struct {
	at      int
	message string
	onlyEDN bool // Clojure reads it: half of a surrogate pair, which no UTF-8 text can hold
}

// decodeString replaces the escapes of what stands between the quotes of a string. A bad escape is reported and left as written.
func decodeString(s string) (string, []textProblem) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	var problems []textProblem
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		r, size, problem := decodeEscape(s[i:])
		switch {
		case problem != "":
			problems = append(problems, textProblem{at: i, message: problem})
			b.WriteString(s[i : i+size])
		case utf16.IsSurrogate(r):
			// Two \u escapes in a row can make one character, as Java stores it.
			low, lowSize, lowProblem := decodeEscape(s[i+size:])
			pair := utf16.DecodeRune(r, low)
			if lowProblem != "" || pair == utf8.RuneError {
				problems = append(problems, textProblem{at: i, onlyEDN: true, message: "Half of a surrogate pair: " + s[i:i+size] +
					", expected \\uD800-\\uDBFF and then \\uDC00-\\uDFFF"})
			} else {
				size += lowSize
			}
			b.WriteRune(pair)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String(), problems
}

// decodeEscape reads the escape at the start of s. Its size is at least 1 where s is not empty.
func decodeEscape(s string) (r rune, size int, problem string) {
	if len(s) < 2 || s[0] != '\\' {
		return 0, min(len(s), 1), "EOF while reading an escape"
	}
	switch c := s[1]; c {
	case 't':
		return '\t', 2, ""
	case 'r':
		return '\r', 2, ""
	case 'n':
		return '\n', 2, ""
	case 'b':
		return '\b', 2, ""
	case 'f':
		return '\f', 2, ""
	case '\\', '"':
		return rune(c), 2, ""
	case 'u':
		size = 2
		for size < len(s) && size < 6 && allDigits(s[size:size+1], 16) {
			size++
		}
		if size < 6 {
			return 0, size, "Invalid unicode escape: " + s[:size] + ", expected \\u and four hexadecimal digits"
		}
		return parseRune(s[2:6], 16), 6, ""
	case '0', '1', '2', '3', '4', '5', '6', '7':
		size = 2
		for size < len(s) && size < 4 && s[size] >= '0' && s[size] <= '7' {
			size++
		}
		if size < 4 && size < len(s) && starts[s[size]]&endNumber == 0 {
			_, width := utf8.DecodeRuneInString(s[size:])
			return 0, size + width, "Invalid octal escape: " + s[:size+width] + ", expected three octal digits, or a space or delimiter after fewer"
		}
		if r = parseRune(s[1:size], 8); r > 0o377 {
			return 0, size, "Octal escape out of range: " + s[:size] + ", expected \\0 to \\377"
		}
		return r, size, ""
	}
	_, width := utf8.DecodeRuneInString(s[1:])
	size = 1 + width
	return 0, size, "Unsupported escape character: " + s[:size] + `, expected one of \t \r \n \b \f \\ \" \u0000 \377`
}

// parseRune reads digits that were checked.
func parseRune(digits string, base int) rune {
	v, err := strconv.ParseUint(digits, base, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(v)
}

// decodeChar reads a character token such as \a, \newline, \u0028 or \o50.
func decodeChar(token string) (r rune, problem string) {
	name := token[1:]
	r, size := utf8.DecodeRuneInString(name)
	if size == len(name) && size > 0 {
		if r > 0xFFFF {
			return r, "Unsupported character: " + token + ", it takes two UTF-16 units; use a string"
		}
		return r, ""
	}
	switch name {
	case "newline":
		return '\n', ""
	case "space":
		return ' ', ""
	case "tab":
		return '\t', ""
	case "backspace":
		return '\b', ""
	case "formfeed":
		return '\f', ""
	case "return":
		return '\r', ""
	case "":
		return 0, "EOF while reading character"
	}
	switch name[0] {
	case 'u':
		if len(name) != 5 || !allDigits(name[1:], 16) {
			return 0, "Invalid unicode character: " + token + ", expected \\u and four hexadecimal digits"
		}
		if r = parseRune(name[1:], 16); utf16.IsSurrogate(r) {
			return 0, "Invalid character constant: " + token + ", it is half of a surrogate pair"
		}
		return r, ""
	case 'o':
		if len(name) <= 4 && allDigits(name[1:], 8) {
			if r = parseRune(name[1:], 8); r <= 0o377 {
				return r, ""
			}
		}
		if allDigits(name[1:], 10) {
			return 0, "Invalid octal character: " + token + ", expected \\o0 to \\o377"
		}
	}
	return 0, "Unsupported character: " + token
}

// QuoteString gives s as an EDN string literal with its quotes. Control characters are escaped; bytes that are not UTF-8 become U+FFFD.
// Reading the literal gives s back.
func QuoteString(s string) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		default:
			if r < 0x20 || r == 0x7F {
				b.WriteString(`\u00`)
				b.WriteByte(hex[r>>4])
				b.WriteByte(hex[r&0xF])
				continue
			}
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
