package secret

import (
	"slices"
	"strings"
)

// told hides the value in prose: the password is …, Passwort für den Server: … It returns where the value ends, 0 where none was hidden.
func (s *scanner) told(how sureness, from, at int) int {
	text := s.text
	said := false // something is said to be the value
	words := 0    // of what the name belongs to: "for the staging server"
	for range 12 {
		if how == hint || at < len(text) && !blank(text[at]) {
			return 0 // the clause ends
		}
		v := s.valueAt(at)
		value := text[v.from:v.to]
		if value == "" && v.end > v.from { // a sign alone
			v.to, value = v.end, text[v.from:v.end]
		}
		if value == "" || reference(value) {
			return 0
		}
		if v.quoted {
			if how == strong && (said || words == 0 && quotedSecret(value)) || said && strings.ContainsAny(firstBytes(value), "0123456789") {
				if schemed := v.behindScheme(text); schemed != v {
					return s.hideValue(Authorization, schemed)
				}
				return s.hideValue(Value, v)
			}
			return 0
		}
		arrow := strings.HasPrefix(text[v.from:v.end], "->") || value == "→"
		tail := endOfWord(text, v.from)
		rest := strings.TrimLeft(text[v.to:tail], "`'\"*_)")
		switch {
		case isOneOf(value, "is", "was", "are", "were", "=", ":", "ist", "war", "lautet", "heißt", "sind", "est", "es", "è", "é", "becomes", "equals"):
			said = true
		case said && (adverb(value) || value == "=" || value == ":"):
		case !said && words == 0 && (arrow || isOneOf(value, "to", "auf")):
			if said = arrow || s.setBefore(from); !said {
				if next := s.valueAt(v.end); likelyValue(text[next.from:next.to]) {
					return s.hideValue(Value, next)
				}
				return 0
			}
		case !said && words == 0 && (adverb(value) || isOneOf(value, "value", "set")):
		case said && isOneOf(value, "changed", "set", "reset", "rotated", "updated") && strings.HasPrefix(text[tail:], " to "):
			at = tail + len(" to")
			continue
		case said:
			if likelyValue(value) || how == strong && !prosaic(value) {
				return s.hideValue(Value, v)
			}
			return 0
		case words > 0 || isOneOf(value, "for", "of", "on", "from", "in", "at", "there", "here", "für", "von", "vom", "zum", "zur", "im", "am", "pour", "de", "para"):
			if words++; words > 6 {
				return 0
			}
			if strings.HasPrefix(rest, ":") && how == strong {
				said = true
			}
		default:
			// "the token abc123"; "the key v2" speaks of something else. "login bob password swordfish" is a line of ~/.netrc.
			few := isOneOf(text[from:min(len(text), from+3)], "pin", "otp") // digits are enough
			long := len(value) >= 8 && strings.ContainsAny(firstBytes(value), "0123456789")
			sameLine := !strings.Contains(text[at:v.from], "\n")
			if likelyValue(value) && sameLine && strings.IndexByte("-(", value[0]) < 0 && (how == strong || few || long) || how == strong && s.loginBefore(from) {
				return s.hideValue(Value, v)
			}
			return 0
		}
		if !said && rest != "" {
			return 0
		}
		at = tail
	}
	return 0
}

// quotedSecret says whether a quotation right behind a name is its value: the token "not yet valid" is none.
func quotedSecret(value string) bool {
	if len(value) < 4 || value[0] == '-' {
		return false
	}
	for word := range strings.FieldsSeq(firstBytes(value)) {
		if functionWord(word) {
			return false
		}
	}
	return true
}

func adverb(word string) bool {
	return isOneOf(word, "now", "still", "again", "currently", "always", "just", "simply", "only", "literally", "also", "jetzt", "noch", "nun", "weiterhin", "einfach", "bearer", "basic")
}

// setBefore says whether something is being set: "changed the password to …".
func (s *scanner) setBefore(from int) bool {
	words := s.wordsBefore(from)
	return slices.ContainsFunc(words[:], func(word string) bool {
		return isOneOf(word, "set", "change", "changed", "reset", "rotate", "rotated", "update", "updated", "setze", "setzen", "ändere", "geändert")
	})
}

func (s *scanner) loginBefore(from int) bool {
	return strings.EqualFold(s.wordsBefore(from)[1], "login")
}

// wordsBefore are the four words before from, the nearest one first. Only what is near is looked at.
func (s *scanner) wordsBefore(from int) (words [4]string) {
	text := s.text[max(0, from-40):from]
	for i := range words {
		text = strings.TrimRight(text, " \n\t\r")
		words[i] = text[strings.LastIndexAny(text, " \n\t\r")+1:]
		text = text[:len(text)-len(words[i])]
	}
	return words
}
