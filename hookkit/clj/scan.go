package clj

import (
	"bytes"
	"unicode/utf8"
)

// TokenKind says what a token is.
type TokenKind uint8

// The kinds of tokens. Up to TokenComment they are between forms, from TokenAtom to TokenUnreadable each is a whole form, and from
// TokenQuote on each is a prefix that takes the form after it (two forms for TokenMeta and TokenTag).
const (
	TokenEOF     TokenKind = iota // the end of the text, no bytes
	TokenSpace                    // whitespace, commas, a byte order mark at the start
	TokenComment                  // ; or #! up to the end of the line, which is not part of it
	TokenAtom                     // symbol, keyword, nil, true, false, or what is spelled like one
	TokenNumber                   // what starts like a number
	TokenString
	TokenRegex // #"…"
	TokenChar  // \a, \newline, \u0028
	TokenUnreadable
	TokenOpen  // ( [ { #( #{
	TokenClose // ) ] }
	TokenQuote // '
	TokenSyntaxQuote
	TokenUnquote
	TokenUnquoteSplicing
	TokenDeref
	TokenVar      // #'
	TokenMeta     // ^ and #^
	TokenDiscard  // #_
	TokenReadEval // #=
	TokenReaderConditional
	TokenReaderConditionalSplicing
	TokenSymbolic  // ##
	TokenNamespace // #:name, #::name or #::, before a map
	TokenTag       // # before a tag symbol
)

// Token is a piece of the text: src[Start:End].
type Token struct {
	Start, End int // bytes
	Kind       TokenKind

	// Incomplete marks a string, regex or character that the end of the text cut off. It is the last token then.
	Incomplete bool
}

// Scanner cuts a text into tokens. Each byte of the text is in exactly one token, in order. It allocates nothing.
type Scanner struct {
	src []byte
	pos int
}

// NewScanner starts at the beginning of src, which must not change while it is used.
func NewScanner(src []byte) *Scanner { return &Scanner{src: src} }

// Scan gives all tokens of src without the one for the end.
func Scan(src []byte) []Token {
	tokens := make([]Token, 0, len(src)/4+1)
	for s := NewScanner(src); ; {
		t := s.Next()
		if t.Kind == TokenEOF {
			return tokens
		}
		tokens = append(tokens, t)
	}
}

// How a byte starts a token, in the low bits, and where it ends one.
const (
	inAtom = iota // also: everything from 0x80 on
	isSpace
	isDigit
	isSign
	isQuote // "
	isComment
	isBackslash
	isDispatch // #
	isOpen
	isClose
	isPrefix // ' ` ~ @ ^

	startMask = 0x1F
	endNumber = 1 << 5 // ends a number: whitespace and all macro characters
	endAtom   = 1 << 6 // ends a symbol: whitespace and macro characters but # ' %
	wideSpace = 1 << 7 // may start whitespace that is not ASCII: looked at only after endAtom, which is set with it
	ends      = endAtom | endNumber
)

// starts has the ASCII part of Clojure's macro characters and of Java's Character.isWhitespace, and the comma.
var starts = [256]uint8{
	'\t': isSpace | ends, '\n': isSpace | ends, '\v': isSpace | ends, '\f': isSpace | ends, '\r': isSpace | ends,
	0x1C: isSpace | ends, 0x1D: isSpace | ends, 0x1E: isSpace | ends, 0x1F: isSpace | ends, ' ': isSpace | ends, ',': isSpace | ends,
	'0': isDigit, '1': isDigit, '2': isDigit, '3': isDigit, '4': isDigit,
	'5': isDigit, '6': isDigit, '7': isDigit, '8': isDigit, '9': isDigit,
	'+': isSign, '-': isSign,
	'"': isQuote | ends, ';': isComment | ends, '\\': isBackslash | ends,
	'#': isDispatch | endNumber, '%': inAtom | endNumber,
	'(': isOpen | ends, '[': isOpen | ends, '{': isOpen | ends, ')': isClose | ends, ']': isClose | ends, '}': isClose | ends,
	'\'': isPrefix | endNumber, '`': isPrefix | ends, '~': isPrefix | ends, '@': isPrefix | ends, '^': isPrefix | ends,
	0xE1: inAtom | ends | wideSpace, 0xE2: inAtom | ends | wideSpace, 0xE3: inAtom | ends | wideSpace,
}

// wideSpaceLen gives the length of the whitespace character outside ASCII that starts at src[i], 0 if there is none. These are the
// characters of Java's Character.isWhitespace; the no-break spaces U+00A0, U+2007 and U+202F are not among them.
func wideSpaceLen(src []byte, i int) int {
	if i+2 >= len(src) {
		return 0
	}
	a, b, c := src[i], src[i+1], src[i+2]
	switch {
	case a == 0xE1 && b == 0x9A && c == 0x80, // U+1680
		a == 0xE2 && b == 0x80 && (c >= 0x80 && c <= 0x8A && c != 0x87 || c == 0xA8 || c == 0xA9), // U+2000…, U+2028, U+2029
		a == 0xE2 && b == 0x81 && c == 0x9F, // U+205F
		a == 0xE3 && b == 0x80 && c == 0x80: // U+3000
		return 3
	}
	return 0
}

// Next gives the next token, TokenEOF at the end and from then on.
func (s *Scanner) Next() Token {
	src, start := s.src, s.pos
	if start >= len(src) {
		return Token{Start: start, End: start, Kind: TokenEOF}
	}
	i := start + 1
	kind := TokenAtom
	incomplete := false
	flags := starts[src[start]]
	switch flags & startMask {
	case isSpace:
		kind = TokenSpace
		i = spaceEnd(src, i)
	case isOpen:
		kind = TokenOpen
	case isClose:
		kind = TokenClose
	case isQuote:
		kind = TokenString
		i, incomplete = stringEnd(src, i)
	case isComment:
		kind = TokenComment
		i = lineEnd(src, i)
	case isDigit:
		kind = TokenNumber
		i = atomEnd(src, i, endNumber)
	case isSign:
		if i < len(src) && starts[src[i]]&startMask == isDigit {
			kind = TokenNumber
			i = atomEnd(src, i, endNumber)
		} else {
			i = atomEnd(src, i, endAtom)
		}
	case isBackslash:
		kind = TokenChar
		if i == len(src) {
			incomplete = true
			break
		}
		// The first character belongs to the token whatever it is: \( and \; and \space.
		_, size := utf8.DecodeRune(src[i:])
		i = atomEnd(src, i+size, endAtom)
	case isPrefix:
		kind, i = prefixAt(src, start)
	case isDispatch:
		kind, i, incomplete = dispatchAt(src, start)
	default:
		switch {
		case start == 0 && bytes.HasPrefix(src, []byte("\uFEFF")):
			kind, i = TokenSpace, len("\uFEFF")
		case flags&wideSpace != 0 && wideSpaceLen(src, start) > 0:
			kind = TokenSpace
			i = spaceEnd(src, start+wideSpaceLen(src, start))
		default:
			i = atomEnd(src, i, endAtom)
		}
	}
	s.pos = i
	return Token{Start: start, End: i, Kind: kind, Incomplete: incomplete}
}

func spaceEnd(src []byte, i int) int {
	for i < len(src) {
		flags := starts[src[i]]
		switch {
		case flags&startMask == isSpace:
			i++
		case flags&wideSpace != 0 && wideSpaceLen(src, i) > 0:
			i += wideSpaceLen(src, i)
		default:
			return i
		}
	}
	return i
}

func atomEnd(src []byte, i int, end uint8) int {
	for i < len(src) {
		flags := starts[src[i]]
		if flags&end != 0 && (flags&wideSpace == 0 || wideSpaceLen(src, i) > 0) {
			return i
		}
		i++
	}
	return i
}

func lineEnd(src []byte, i int) int {
	for i < len(src) && src[i] != '\n' && src[i] != '\r' {
		i++
	}
	return i
}

// stringEnd gives the place after the closing quote of the string or regex whose first character is at i.
func stringEnd(src []byte, i int) (end int, incomplete bool) {
	for i < len(src) {
		switch src[i] {
		case '"':
			return i + 1, false
		case '\\':
			i += 2
		default:
			i++
		}
	}
	return len(src), true
}

func prefixAt(src []byte, i int) (TokenKind, int) {
	switch src[i] {
	case '\'':
		return TokenQuote, i + 1
	case '`':
		return TokenSyntaxQuote, i + 1
	case '@':
		return TokenDeref, i + 1
	case '^':
		return TokenMeta, i + 1
	}
	if i+1 < len(src) && src[i+1] == '@' {
		return TokenUnquoteSplicing, i + 2
	}
	return TokenUnquote, i + 1
}

// dispatchAt cuts the token that starts with the # at src[i].
func dispatchAt(src []byte, i int) (kind TokenKind, end int, incomplete bool) {
	if i+1 == len(src) {
		return TokenTag, i + 1, false
	}
	end = i + 2
	switch src[i+1] {
	case '(', '{':
		return TokenOpen, end, false
	case '"':
		end, incomplete = stringEnd(src, end)
		return TokenRegex, end, incomplete
	case '!':
		return TokenComment, lineEnd(src, end), false
	case '_':
		return TokenDiscard, end, false
	case '\'':
		return TokenVar, end, false
	case '^':
		return TokenMeta, end, false
	case '=':
		return TokenReadEval, end, false
	case '#':
		return TokenSymbolic, end, false
	case '<':
		return TokenUnreadable, atomEnd(src, end, endAtom), false
	case ':':
		return TokenNamespace, atomEnd(src, end, endAtom), false
	case '?':
		if end < len(src) && src[end] == '@' {
			return TokenReaderConditionalSplicing, end + 1, false
		}
		return TokenReaderConditional, end, false
	}
	return TokenTag, i + 1, false
}
