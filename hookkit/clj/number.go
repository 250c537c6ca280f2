package clj

import "strings"

// number is a token taken apart by the rules of Clojure's LispReader.matchNumber.
type number struct {
	kind   Kind   // Integer, Float or Ratio
	digits string // Integer: with the sign, for strconv.ParseInt with base
	base   int
}

// parseNumber takes a token apart that starts like a number.
func parseNumber(s string) (number, bool) {
	sign := ""
	body := s
	if body != "" && (body[0] == '+' || body[0] == '-') {
		if body[0] == '-' {
			sign = "-"
		}
		body = body[1:]
	}
	if body == "" || !digit(body[0]) {
		return number{}, false
	}
	if over, under, isRatio := strings.Cut(body, "/"); isRatio {
		// A denominator of 0 reads as a division by zero.
		return number{kind: Ratio}, allDigits(over, 10) && allDigits(under, 10) && strings.Trim(under, "0") != ""
	}
	if n, ok := parseInteger(sign, body); ok {
		return n, true
	}
	return number{kind: Float}, floatSpelling(body)
}

// parseInteger takes the spellings 0, 42, 0x2A, 052 and 2r101010. A leading zero means octal. N at the end is allowed, but after a
// radix it is a digit.
func parseInteger(sign, s string) (number, bool) {
	base, digits := 10, strings.TrimSuffix(s, "N")
	switch at := strings.IndexAny(s, "rR"); {
	case at == 1 || at == 2:
		if s[0] == '0' || !allDigits(s[:at], 10) {
			return number{}, false
		}
		base, digits = int(s[at-1]-'0'), s[at+1:]
		if at == 2 {
			base += 10 * int(s[0]-'0')
		}
	case len(digits) > 2 && (digits[:2] == "0x" || digits[:2] == "0X"):
		base, digits = 16, digits[2:]
	case len(digits) > 1 && digits[0] == '0':
		base, digits = 8, digits[1:]
	}
	return number{kind: Integer, digits: sign + digits, base: base}, base >= 2 && base <= 36 && allDigits(digits, base)
}

// floatSpelling says whether s is digits with a fraction, an exponent, both, or neither, and perhaps M at the end.
func floatSpelling(s string) bool {
	s, decimal := strings.CutSuffix(s, "M")
	whole, exponent, hasExponent := s, "", false
	if at := strings.IndexAny(s, "eE"); at >= 0 {
		whole, exponent, hasExponent = s[:at], s[at+1:], true
	}
	if hasExponent {
		if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
			exponent = exponent[1:]
		}
		if !allDigits(exponent, 10) {
			return false
		}
	}
	whole, fraction, hasPoint := strings.Cut(whole, ".")
	if !hasPoint && !hasExponent && !decimal && len(whole) > 1 && whole[0] == '0' {
		return false // 08 is a wrong octal number
	}
	return allDigits(whole, 10) && (fraction == "" || allDigits(fraction, 10))
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// allDigits says whether s has at least one character and all are digits in this base, of either case.
func allDigits(s string, base int) bool {
	for i := range len(s) {
		c := s[i]
		value := 99
		switch {
		case digit(c):
			value = int(c - '0')
		case c >= 'a' && c <= 'z':
			value = int(c-'a') + 10
		case c >= 'A' && c <= 'Z':
			value = int(c-'A') + 10
		}
		if value >= base {
			return false
		}
	}
	return s != ""
}
