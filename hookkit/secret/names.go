package secret

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sureness says how surely what a name has is secret.
type sureness int

const (
	none   sureness = iota
	hint            // passwords_file: only a value behind a sign
	weak            // key, pin: such words have other meanings
	strong          // password
)

// strongEnds are ends of names whose value is secret, in lower case and without what separates their words, by their last byte: every
// word of a text is looked up.
var strongEnds = [...]struct {
	last byte
	ends []string
}{
	{'a', []string{"contraseña", "senha"}},
	{'c', []string{"mnemonic"}},
	{'d', []string{"password", "passwd", "pwd", "wachtwoord", "sessionid"}},
	{'e', []string{"passphrase", "passcode", "depasse", "seedphrase", "accesssignature"}},
	{'g', []string{"connectionstring"}},
	{'l', []string{"credential"}},
	{'n', []string{"token", "authorization"}},
	{'s', []string{"passwords", "secrets", "credentials", "creds", "geheimnis"}},
	{'t', []string{"secret", "passwort", "kennwort", "jwt"}},
	{'w', []string{"pw"}},
	{'y', []string{
		"apikey", "accesskey", "secretkey", "privatekey", "accountkey", "authkey", "signingkey", "encryptionkey", "masterkey", "sharedkey", "storagekey", "deploykey",
		"licensekey", "servicekey", "sessionkey", "sshkey", "appkey",
	}},
	{0x8c, []string{"пароль"}}, // ь ends with it
}

// hints are what other names have in them: API_KEY_PROD.
var hints = [...]string{"secret", "password", "passwd", "passphrase", "apikey", "accesskey", "privatekey", "credential", "authkey", "signingkey", "encryptionkey"}

// Named reports whether what a name has in an object is a secret: {"password": "swordfish"}.
func Named(name, value string) bool {
	return secretOf(judge(name, ""), name, value, sign{colon: true, tight: true}, true)
}

// Option reports whether the next word of a command is a secret: --password.
func Option(word string) bool {
	name := strings.TrimLeft(word, "-")
	return len(name) < len(word) && len(word)-len(name) <= 2 && !strings.Contains(name, "=") && judge(name, "") == strong
}

// OptionValue reports whether a word is the value of such an option, and not the next option.
func OptionValue(word string) bool {
	return word != "" && !strings.HasPrefix(word, "-") && !reference(word)
}

// judge judges a name: DB_PASSWORD, accessToken, x-api-key, "api key". before is the word in front of it.
func judge(name, before string) sureness {
	const most = 64 // bytes; of a longer name the end counts
	name = strings.TrimRight(lastBytes(name, most), "0123456789")
	if len(name) < 2 {
		return none
	}
	var buf [3 * most]byte // lower case may take more bytes
	flat := buf[:0]        // without what separates the parts
	if before != "" && isOneOf(name, "key", "keys", "phrase", "word", "string", "id", "passe", "signature") {
		flat = appendLower(flat, lastBytes(before, most))
	}
	whole := len(flat)
	from, last, parts := whole, whole, 0 // where the part that is read begins, and the last one that is not empty
	told := false
	wasLower := false
	for _, r := range name {
		separates := r == '_' || r == '-' || r == '.'
		if separates || wasLower && unicode.IsUpper(r) {
			if from < len(flat) {
				switch string(flat[from:min(len(flat), from+16)]) {
				case "password", "passwd", "passwort", "passphrase", "pwd", "secret", "token": // DB_PASSWORD_PROD
					told = true
				}
				last, from, parts = from, len(flat), parts+1
			}
			wasLower = false
		}
		if !separates {
			flat = utf8.AppendRune(flat, unicode.ToLower(r))
			wasLower = unicode.IsLower(r)
		}
	}
	if from < len(flat) {
		last, parts = from, parts+1
	}
	if len(flat) == 0 {
		return none
	}
	for i := range strongEnds {
		if strongEnds[i].last != flat[len(flat)-1] {
			continue
		}
		for _, end := range strongEnds[i].ends {
			if n := len(flat) - len(end); n >= 0 && string(flat[n:]) == end && (end != "pw" || n == last) {
				return strong
			}
		}
	}
	end := flat[last:]
	if len(end) > len("signature") {
		end = nil
	}
	header := parts > 1 && flat[0] == 'x' && (name[1] == '-' || name[1] == '_')
	switch string(end) {
	case "pass", "auth":
		if parts > 1 {
			return strong
		}
		return weak
	case "key":
		if header || parts > 1 && !strings.ContainsFunc(name, unicode.IsLower) {
			return strong
		}
		return weak
	case "pin", "cookie", "otp", "sas", "dsn", "sig", "signature":
		return weak
	}
	switch {
	case header && bytes.HasPrefix(flat, []byte("xauth")):
		return strong
	case told:
		return weak
	case parts > 1:
		for _, part := range hints {
			if bytes.Contains(flat, []byte(part)) {
				return hint
			}
		}
	}
	return none
}

func lastBytes(text string, most int) string {
	if len(text) > most {
		text = text[len(text)-most:]
	}
	return text
}

func appendLower(b []byte, text string) []byte {
	for _, r := range text {
		b = utf8.AppendRune(b, unicode.ToLower(r))
	}
	return b
}

// isOneOf compares without regard to case.
func isOneOf(word string, list ...string) bool {
	for _, w := range list {
		if len(w) == len(word) && strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

// names finds what the text gives a name of something secret.
func (s *scanner) names() {
	text := s.text
	before, end := "", 0
	for i := 0; i < len(text); {
		r, size := runeAt(text, i)
		if r != '_' && !unicode.IsLetter(r) {
			i += size
			continue
		}
		from := i
		for i < len(text) {
			if r, size = runeAt(text, i); r != '_' && r != '-' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				break
			}
			i += size
		}
		to := from + len(strings.TrimRight(text[from:i], "-."))
		// "%3Dtoken": the escape's letter is none of the name.
		if from >= 2 && text[from-2] == '%' && to-from > 1 {
			from++
		}
		name := text[from:to]
		// Only a word right before belongs to the name.
		if gap := text[end:from]; gap != " " && gap != "-" {
			before = ""
		}
		hidden := 0
		switch {
		case isOneOf(name, "bearer", "basic"):
			s.scheme(name, to)
		case isOneOf(name, "cookie", "set-cookie"):
			hidden = s.cookies(to)
		case isOneOf(name, "by") && strings.EqualFold(before, "identified"):
			s.hideValue(Value, s.valueAt(to))
		default:
			if how := judge(name, before); how != none {
				hidden = s.valueOf(how, before, from, to)
			}
		}
		before, end = name, to
		i = max(i, hidden)
	}
}

// runeAt is the character at i and its length.
func runeAt(text string, i int) (rune, int) {
	if text[i] < utf8.RuneSelf {
		return rune(text[i]), 1
	}
	return utf8.DecodeRuneInString(text[i:])
}

// scheme hides what follows "Bearer" or "Basic". The latter is an ordinary word: without a header before it only what looks encoded goes.
func (s *scanner) scheme(name string, to int) {
	text := s.text
	for _, space := range [...]string{"%20", "+"} {
		if strings.HasPrefix(text[to:], space) {
			to += len(space)
		}
	}
	if sep, ok := separator(text, to); ok {
		to = sep.end
	}
	v := s.valueAt(to)
	value := text[v.from:v.to]
	switch {
	case isOneOf(value, "token", "tokens", "auth", "authentication", "authorization", "scheme", "schemes", "header", "headers", "credentials", "access", "realm"),
		prosaic(value) && !strings.ContainsAny(value, "=+/"),
		strings.EqualFold(name, "basic") && !encoded(value):
		return
	}
	s.hideValue(Authorization, v)
}

// encoded says whether a word is none that somebody would say.
func encoded(word string) bool {
	if len(word) < 6 {
		return false
	}
	digits, uppers, lowers := count(word[1:])
	return digits > 0 || uppers > 0 && lowers > 0 || strings.HasSuffix(word, "=")
}

// cookies hides the pairs of a header; it returns where they end.
func (s *scanner) cookies(to int) (end int) {
	text := s.text
	sep, ok := separator(text, to)
	if !ok {
		return 0
	}
	from := 0 // of the first pair
	for i := sep.end; ; i = end {
		start, stop := wordAt(text, i)
		equals := strings.IndexByte(text[start:stop], '=')
		if equals < 0 {
			break
		}
		v := s.valueAt(start + equals + 1)
		if from == 0 {
			from = start + len(text[start:stop]) - len(strings.TrimLeft(text[start:stop], "\\\"'`"))
		}
		to, end = v.to, max(stop, v.end)
	}
	if end > 0 {
		s.hide(Cookie, from, to)
	} else if v := s.valueAt(sep.end); sep.tight || likelyValue(text[v.from:v.to]) {
		s.hideValue(Cookie, v)
		return v.to
	}
	return end
}

// valueOf hides the value of a name that stands from from to to; it returns where the value ends, 0 where none was hidden.
func (s *scanner) valueOf(how sureness, before string, from, to int) int {
	text := s.text
	at := closed(text, to)
	sep, ok := separator(text, at)
	if j := skipBlanks(text, at); !ok && j < len(text) && text[j] == '(' { // password (staging): …
		if end := strings.IndexByte(text[j:min(len(text), j+40)], ')'); end >= 0 {
			sep, ok = separator(text, j+end+1)
		}
	}
	if !ok && from > 0 && text[from-1] == '<' && strings.HasPrefix(text[to:], ">") && s.tagCloses(to) { // XML
		sep, ok = sign{end: to + 1, assigns: true, tight: true}, true
	}
	if ok {
		return s.assigned(how, from, to, sep)
	}
	if at >= len(text) {
		return 0
	}
	if option := isOption(text, from); option && blank(text[at]) || option && at > to && text[at] == ',' { // also in a list: "--password", "…"
		v := s.valueAt(at + 1)
		value := text[v.from:v.to]
		keyword := text[from-1] == ':'
		if !strings.HasPrefix(value, "-") && !reference(value) && (v.quoted || !prosaic(value)) && (!keyword || how == strong && !strings.HasPrefix(value, ":")) {
			return s.hideValue(Value, v)
		}
		return 0
	}
	if strings.EqualFold(before, "env") && before != "env" && blank(text[at]) { // a Dockerfile's ENV NAME VALUE
		return s.hideValue(Value, s.valueAt(at))
	}
	return s.told(how, from, at)
}

// tagCloses says whether a closing tag comes somewhere behind i.
func (s *scanner) tagCloses(i int) bool {
	if s.tag == 0 {
		s.tag = strings.LastIndex(s.text, "</") + 2
	}
	return s.tag-2 >= i
}

// assigned hides the value behind a sign.
func (s *scanner) assigned(how sureness, from, to int, sep sign) int {
	text := s.text
	v := s.valueAt(sep.end)
	if sep.assigns && sep.tight || strings.HasPrefix(text[v.from:], "$(") {
		v = s.shellValueAt(sep.end)
	}
	name, kind := text[from:to], Value
	if endsWith(name, "authorization") {
		kind = Authorization
	}
	if kind == Authorization || endsWith(name, "auth") || endsWith(name, "token") {
		if schemed := v.behindScheme(text); schemed != v {
			kind, v = Authorization, schemed
		} else if isScheme(text[v.from:v.to]) && !v.quoted && v.end < len(text) && strings.IndexByte(" +%", text[v.end]) >= 0 {
			next := s.valueAt(v.end)
			if after := text[next.from:next.to]; after != "" && !functionWord(after) {
				return s.hideValue(Authorization, next)
			}
		}
	}
	value := text[v.from:v.to]
	if sep.colon && (len(value) < 5 && strings.HasSuffix(text[:from], "${") || name == "PASS" && strings.HasSuffix(text[:from], "--- ")) {
		return 0 // ${NAME:-x}; --- PASS: TestName
	}
	sep.query = from > 0 && (text[from-1] == '?' || text[from-1] == '&')
	if !secretOf(how, name, value, sep, v.quoted) {
		return 0
	}
	if !v.quoted && !sep.tight {
		v.to = s.phrase(name, sep, v)
	}
	return s.hideValue(kind, v)
}

func isScheme(word string) bool {
	return isOneOf(word, "bearer", "basic", "token", "digest", "apikey", "negotiate", "hawk", "ntlm")
}

// behindScheme is a value without the name of a scheme that it begins with: "Bearer swordfish".
func (v valueSpan) behindScheme(text string) valueSpan {
	if first, _, more := strings.Cut(firstBytes(text[v.from:v.to]), " "); more && isScheme(first) {
		v.from += len(first) + 1
	}
	return v
}

// secretOf says whether a value is secret that a sign gives a name.
func secretOf(how sureness, name, value string, sep sign, quoted bool) bool {
	switch {
	case how == none, value == "", sep.colon && strings.HasPrefix(value, "//"), reference(value), ofLanguage(value), !quoted && code(value, sep):
		return false
	case how != strong && strings.Contains(firstBytes(value), scheme): // who logs in there is found without its name
		return false
	case sep.colon && quoted && (name == "session_id" || name == "sessionId"), // an event has it
		uuid(value) && (endsWith(name, "sessionid") || endsWith(name, "session_id") || endsWith(name, "session-id")): // a session of an agent
		return false
	case quoted, sep.query:
	case how == strong:
		prose := functionWord(value) && (!sep.assigns || !sep.tight) || sep.colon && endsWith(name, "s") && prosaic(value)
		return !prose
	case !sep.assigns:
		return likelyValue(value) || strings.EqualFold(name, "pass") && !prosaic(value)
	case sep.tight:
		return !placeholder(value) && !counted(name, value)
	default:
		return !prosaic(value)
	}
	if how == strong || sep.query || sep.assigns {
		return true
	}
	if strings.EqualFold(name, "key") { // "key": "item_1"
		digits, uppers, lowers := count(firstBytes(value))
		return len(value) >= 8 && digits > 0 && uppers+lowers > 0
	}
	return likelyValue(value) && !counted(name, value)
}

// counted says whether a value is a number that counts: token_count.
func counted(name, value string) bool {
	if strings.Trim(firstBytes(value), "0123456789") != "" {
		return false
	}
	for _, end := range [...]string{"count", "limit", "budget", "length", "size", "usage", "tokens"} {
		if endsWith(name, end) {
			return true
		}
	}
	return false
}

// phrase is where the words of a phrase end: at a sign, or at a word that goes on with the sentence. Only what some names have is one.
func (s *scanner) phrase(name string, sep sign, v valueSpan) int {
	oneLine := false
	switch {
	case endsWith(name, "phrase") || endsWith(name, "mnemonic") || endsWith(name, "credentials") || endsWith(name, "creds"):
	case sep.colon && (endsWith(name, "password") || endsWith(name, "passwd") || endsWith(name, "pwd")):
		oneLine = true
	default:
		return v.to
	}
	end := v.to
	for end == v.end {
		next := s.valueAt(end)
		word := s.text[next.from:next.to]
		if next.quoted || word == "" || functionWord(word) && word != "/" || oneLine && strings.Contains(s.text[end:next.from], "\n") {
			break
		}
		end, v = next.to, next
	}
	return end
}

// endsWith compares the end of a name without regard to case.
func endsWith(name, end string) bool {
	return len(name) >= len(end) && strings.EqualFold(name[len(name)-len(end):], end)
}
