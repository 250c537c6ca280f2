package secret

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// placeholder says whether a value stands for any: key=value.
func placeholder(word string) bool {
	return isOneOf(word, "value", "values", "val", "v", "id", "name", "true", "false", "null", "nil", "none", "yes", "no") ||
		len(word) < 4 && strings.Trim(word, "0123456789") == ""
}

// ofLanguage says whether a value is a word of a language or a schema: no secret is one.
func ofLanguage(word string) bool {
	return isOneOf(strings.TrimRight(firstBytes(word), ".,;:"), "true", "false", "null", "none", "string", "undefined", "required", "optional")
}

// likelyValue says whether a word is a password without being told so: nobody's prose has digits or signs within a word.
func likelyValue(word string) bool {
	word = firstBytes(word)
	bare := strings.Trim(word, "`'\"*_(),.;:=")
	return len(bare) >= 4 && (strings.ContainsAny(bare, "0123456789") ||
		strings.ContainsAny(strings.Trim(word, ".,;:!?)("), "`'\"#$%&@^_") && !strings.Contains(word, "'s") && !strings.Contains(word, "n't"))
}

// prosaic says whether a word goes on with a sentence rather than being somebody's password: "the password is required".
func prosaic(word string) bool {
	const longest = 64
	if word = strings.TrimRight(firstBytes(word), "!?"); word == "" || functionWord(word) {
		return true
	}
	if len(word) > longest {
		return false
	}
	if strings.ContainsAny(word, "0123456789") {
		return len(word) < 4
	}
	if !strings.ContainsFunc(word, unicode.IsLower) {
		return len(word) <= 5 // JWT, UUID
	}
	if listed(proseWords, word) {
		return true
	}
	if head, tail, ok := strings.Cut(word, "-"); ok && head != "" && tail != "" {
		return prosaic(tail) || prosaic(head)
	}
	for i, r := range word {
		if !unicode.IsLetter(r) && r != '\'' && r != '’' || i > 0 && unicode.IsUpper(r) { // nobody speaks in mIxed case
			return false
		}
	}
	for _, end := range [...]string{"ed", "ing", "able", "ible", "ous", "less", "ly", "ory", "ary", "ant", "ent", "ful", "’s", "'s", "n't", "n’t", "bar", "lich", "ig", "iert"} {
		if len(word) > len(end)+2 && strings.HasSuffix(word, end) {
			return true
		}
	}
	return len(word) > 5 && strings.EqualFold(word[:2], "ge") && (strings.HasSuffix(word, "t") || strings.HasSuffix(word, "en"))
}

// functionWord says whether a word carries a sentence and no meaning.
func functionWord(word string) bool {
	return listed(functionWords, strings.TrimRight(firstBytes(word), ".,;:!?"))
}

// listed says whether a word stands in a list, without regard to case.
func listed(list, word string) bool {
	var buf [32]byte
	if len(word) > len(buf)-utf8.UTFMax || strings.Contains(word, " ") {
		return false
	}
	b := append(appendLower(append(buf[:0], ' '), word), ' ')
	return strings.Contains(list, string(b))
}

// firstBytes is enough of a value to judge it by: values may be as long as the text, and have many names in them.
func firstBytes(word string) string { return word[:min(len(word), 256)] }

// In blanks, so that nothing has to be built at start.
const (
	functionWords = " a an the this that these those it its it's he she they we you i our your their there here is are was were be been being am do does did has have had " +
		"can could will would shall should may might must and or nor but if then else than as so because since when where while which who whose what why how " +
		"for to of in on at by with without from into onto over under per via after before until between through during about not no never any all some each every both " +
		"either neither only also still yet too just more most less either option flag argument parameter switch switches flags options please let's let don't " +
		"der die das den dem des ein eine einen einem einer eines ist sind war wird werden wurde und oder aber wenn dann als weil da wo wie was wer für zu zum zur von vom " +
		"im in am an auf mit ohne aus bei nach vor über unter nicht kein keine nie nur auch noch schon sehr wir ihr sie er es ich muss müssen soll sollen darf kann – — - -> → / = "
	proseWords = " required optional stored kept sent read set unset held built put cut lost found hidden written taken given shown known broken stolen chosen bound split " +
		"wrong right correct invalid valid bad good fine okay ok safe unsafe weak strong long short empty blank missing present absent available visible plain plaintext public private " +
		"secret dead alive gone new old stale fresh live local global static dynamic unique random opaque part data text enough ready open free full big small large same different " +
		"self up down off out back done due set true false null nil none undefined mandatory necessary needed wanted useless useful easy hard simple complex common rare " +
		"case base too one two three four five six ten half nothing something anything everything someone somebody nobody another other " +
		"string number int integer boolean bool object map list array struct header cookie env environment config configuration file vault keychain redis postgres " +
		"base64 hex utf jwt json yaml xml uuid guid oauth saml ldap kerberos bcrypt argon scrypt sha md hmac rsa aes tls ssl " +
		"never always now today tomorrow yesterday later soon once twice often usually sometimes already again instead rather really probably maybe perhaps actually currently " +
		"us them me him her mine ours yours theirs rotated renewed server client side user users time times minutes hours days seconds " +
		"falsch richtig leer neu alt weg da dort hier klar egal ungültig gültig nötig notwendig erforderlich optional sicher unsicher abgelaufen verschlüsselt drin fest " +
		"dabei bekannt unbekannt verloren vergessen jetzt bereits immer öffentlich lang kurz pflicht teil klartext abgelehnt worden "
)
