package triage

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nameKind says how surely what a name has is secret.
type nameKind int

const (
	noName     nameKind = iota
	weakName            // key, pin: such words have other meanings
	strongName          // password
)

// strongEnds are ends of names whose value is secret, without what separates their words.
var strongEnds = []string{
	"password", "passwords", "passwd", "passphrase", "passcode", "passwort", "kennwort", "wachtwoord", "contraseña", "senha", "depasse", "пароль", "pwd",
	"secret", "secrets", "geheimnis", "token", "jwt", "apikey", "accesskey", "secretkey", "privatekey", "accountkey", "authkey", "signingkey", "encryptionkey", "masterkey",
	"sharedkey", "storagekey", "deploykey", "licensekey", "servicekey", "sessionkey", "sshkey", "appkey", "credential", "credentials", "creds", "mnemonic", "seedphrase",
	"connectionstring", "sessionid", "authorization", "accesssignature",
}

// kindOf judges a name: DB_PASSWORD, accessToken, x-api-key, "api key". before is the word in front of it.
func kindOf(name, before string) nameKind {
	parts := nameParts(name)
	if len(parts) == 0 {
		return noName
	}
	last := parts[len(parts)-1]
	flat := strings.Join(parts, "")
	switch last {
	case "key", "keys", "phrase", "word", "string", "id", "passe", "signature":
		if len(parts) == 1 && before != "" {
			flat = strings.ToLower(before) + flat
		}
	}
	for _, end := range strongEnds {
		if strings.HasSuffix(flat, end) {
			return strongName
		}
	}
	switch last {
	case "pass", "auth", "pw":
		if len(parts) > 1 || last == "pw" {
			return strongName
		}
		return weakName
	case "key":
		if len(parts) > 1 && name == strings.ToUpper(name) {
			return strongName
		}
		return weakName
	case "pin", "cookie", "otp", "sas", "dsn", "sig", "signature":
		return weakName
	}
	for _, part := range parts {
		switch part {
		case "password", "passwd", "passwort", "passphrase", "pwd", "secret", "token":
			return weakName
		}
	}
	return noName
}

// nameParts splits a name into its words, in lower case and without numbers at the end.
func nameParts(name string) []string {
	name = strings.TrimRight(name, "0123456789")
	if strings.IndexFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' || unicode.IsUpper(r) }) < 0 {
		if name == "" {
			return nil
		}
		return []string{name}
	}
	var parts []string
	var part strings.Builder
	flush := func() {
		if part.Len() > 0 {
			parts = append(parts, part.String())
			part.Reset()
		}
	}
	lower := false
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.':
			flush()
			lower = false
			continue
		case unicode.IsUpper(r) && lower:
			flush()
		}
		lower = unicode.IsLower(r)
		part.WriteRune(unicode.ToLower(r))
	}
	flush()
	return parts
}

// names hides what the text gives a name of something secret.
func (m *masker) names() {
	text := m.text
	before, end := "", 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r != '_' && !unicode.IsLetter(r) {
			i += size
			continue
		}
		from := i
		for i < len(text) {
			if r, size = utf8.DecodeRuneInString(text[i:]); r != '_' && r != '-' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
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
		lower := strings.ToLower(name)
		switch {
		case lower == "bearer" || lower == "basic":
			m.scheme(lower, to)
		case lower == "cookie" || lower == "set-cookie":
			m.cookies(to)
		case lower == "by" && strings.EqualFold(before, "identified"):
			v := valueAt(text, to)
			m.hide(v.from, v.to)
		default:
			if kind := kindOf(name, before); kind != noName {
				m.valueOf(kind, before, from, to)
			}
		}
		before, end = name, to
	}
}

// scheme hides what follows "Bearer" or "Basic". The latter is an ordinary word: without a header before it only what looks encoded goes.
func (m *masker) scheme(name string, to int) {
	text := m.text
	for _, space := range []string{"%20", "+"} {
		if strings.HasPrefix(text[to:], space) {
			to += len(space)
		}
	}
	sep, ok := separator(text, to)
	if ok {
		to = sep.end
	}
	v := valueAt(text, to)
	value := text[v.from:v.to]
	switch strings.ToLower(value) {
	case "token", "tokens", "auth", "authentication", "authorization", "scheme", "schemes", "header", "headers", "credentials", "access", "realm":
		return
	}
	if prosaic(value) && !strings.ContainsAny(value, "=+/") {
		return
	}
	if name == "basic" && !encoded(value) {
		return
	}
	m.hide(v.from, v.to)
}

// encoded says whether a word is none that somebody would say.
func encoded(word string) bool {
	if len(word) < 6 {
		return false
	}
	digits, upper, lower := count(word[1:])
	return digits > 0 || upper > 0 && lower > 0 || strings.HasSuffix(word, "=")
}

// cookies hides the pairs of a header.
func (m *masker) cookies(to int) {
	text := m.text
	sep, ok := separator(text, to)
	if !ok {
		return
	}
	for i := sep.end; ; {
		from, end := wordAt(text, i)
		equals := strings.IndexByte(text[from:end], '=')
		if equals < 0 {
			if v := valueAt(text, from); i == sep.end && (sep.tight || likelyValue(text[v.from:v.to])) {
				m.hide(v.from, v.to)
			}
			return
		}
		v := valueAt(text, from+equals+1)
		m.hide(v.from, v.to)
		i = max(end, v.end)
	}
}

// valueOf hides the value of a name that stands from from to to.
func (m *masker) valueOf(kind nameKind, before string, from, to int) {
	text := m.text
	at := closed(text, to)
	sep, ok := separator(text, at)
	if j := skipBlanks(text, at); !ok && j < len(text) && text[j] == '(' { // password (staging): …
		if end := strings.IndexByte(text[j:min(len(text), j+40)], ')'); end >= 0 {
			sep, ok = separator(text, j+end+1)
		}
	}
	if !ok && from > 0 && text[from-1] == '<' && strings.HasPrefix(text[to:], ">") && strings.Contains(text[to:], "</") { // XML
		sep, ok = sign{end: to + 1, assigns: true, tight: true}, true
	}
	if ok {
		m.assigned(kind, from, to, sep)
		return
	}
	if at >= len(text) {
		return
	}
	if option := isOption(text, from); option && isSpace(text[at]) || option && at > to && text[at] == ',' { // also in a list: "--password", "…"
		v := valueAt(text, at+1)
		value := text[v.from:v.to]
		keyword := text[from-1] == ':'
		if !strings.HasPrefix(value, "-") && (v.quoted || !prosaic(value)) && (!keyword || kind == strongName && !strings.HasPrefix(value, ":")) {
			m.hide(v.from, v.to)
		}
		return
	}
	if strings.EqualFold(before, "env") && before != "env" && isSpace(text[at]) { // a Dockerfile's ENV NAME VALUE
		v := valueAt(text, at)
		m.hide(v.from, v.to)
		return
	}
	m.told(kind, from, at)
}

// assigned hides the value behind a sign.
func (m *masker) assigned(kind nameKind, from, to int, sep sign) {
	text := m.text
	v := valueAt(text, sep.end)
	if sep.assigns && sep.tight || strings.HasPrefix(text[v.from:], "$(") {
		v = shellValueAt(text, sep.end)
	}
	value := text[v.from:v.to]
	name := strings.ToLower(text[from:to])
	if strings.HasSuffix(name, "authorization") || strings.HasSuffix(name, "auth") || strings.HasSuffix(name, "token") {
		switch scheme, rest, more := strings.Cut(value, " "); strings.ToLower(scheme) {
		case "bearer", "basic", "token", "digest", "apikey", "negotiate", "hawk", "ntlm":
			if more {
				value, v.from = rest, v.from+len(scheme)+1
				break
			}
			if v.quoted || v.end >= len(text) || text[v.end] != ' ' && text[v.end] != '+' && text[v.end] != '%' {
				break
			}
			next := valueAt(text, v.end)
			if after := text[next.from:next.to]; after != "" && !functionWord(after) {
				m.hide(next.from, next.to)
				return
			}
		}
	}
	query := from > 0 && (text[from-1] == '?' || text[from-1] == '&')
	switch {
	case value == "" || sep.colon && strings.HasPrefix(value, "//"):
		return
	case v.quoted, query:
	case kind == strongName:
		if functionWord(value) && (!sep.assigns || !sep.tight) || sep.colon && strings.HasSuffix(name, "s") && prosaic(value) {
			return
		}
	case !sep.assigns:
		if !likelyValue(value) && (name != "pass" || prosaic(value)) {
			return
		}
	case sep.tight:
		if placeholder(value) {
			return
		}
	case prosaic(value):
		return
	}
	if kind == weakName && v.quoted && !query && !likelyValue(value) && !sep.assigns {
		return // "key": "order_lines"
	}
	to = v.to
	if !v.quoted && !sep.tight && severalWords(name) {
		to = m.phrase(v)
	}
	m.hide(v.from, to)
}

func severalWords(name string) bool {
	for _, end := range []string{"passphrase", "phrase", "mnemonic", "credentials", "creds"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// phrase is where the words of a phrase end: at a sign, or at a word that goes on with the sentence.
func (m *masker) phrase(v valueSpan) int {
	end := v.to
	for end == v.end {
		next := valueAt(m.text, end)
		if word := m.text[next.from:next.to]; next.quoted || word == "" || functionWord(word) && word != "/" {
			break
		}
		end, v = next.to, next
	}
	return end
}

// told hides the value in prose: the password is …, Passwort für den Server: …
func (m *masker) told(kind nameKind, from, at int) {
	text := m.text
	said := false // something is said to be the value
	words := 0    // of what the name belongs to: "for the staging server"
	reset := from > 0 && m.setBefore(from)
	for range 12 {
		if at < len(text) && !isSpace(text[at]) {
			return // the clause ends
		}
		v := valueAt(text, at)
		value := text[v.from:v.to]
		if value == "" && v.end > v.from { // a sign alone
			v.to, value = v.end, text[v.from:v.end]
		}
		switch {
		case value == "":
			return
		case v.quoted:
			if kind == strongName && (said || words == 0 && quotedSecret(value)) || said && strings.ContainsAny(value, "0123456789") {
				m.hide(v.from, v.to)
			}
			return
		}
		lower := strings.ToLower(value)
		if strings.HasPrefix(text[v.from:v.end], "->") {
			lower = "->"
		}
		_, tail := wordAt(text, v.from)
		rest := strings.TrimLeft(text[v.to:tail], "`'\"*_)")
		switch {
		case isCopula(lower):
			said = true
		case said && (isAdverb(lower) || lower == "=" || lower == ":"):
		case !said && words == 0 && (lower == "to" || lower == "auf" || lower == "->" || lower == "→"):
			said = reset || lower != "to" && lower != "auf"
			if !said {
				if next := valueAt(text, v.end); likelyValue(text[next.from:next.to]) {
					m.hide(next.from, next.to)
				}
				return
			}
		case !said && words == 0 && isAdverb(lower) || !said && words == 0 && (lower == "value" || lower == "set"):
		case said && (lower == "changed" || lower == "set" || lower == "reset" || lower == "rotated" || lower == "updated") && strings.HasPrefix(text[tail:], " to "):
			at = tail + len(" to")
			continue
		case said:
			if likelyValue(value) || kind == strongName && !prosaic(value) {
				m.hide(v.from, v.to)
			}
			return
		case words > 0 || isPreposition(lower):
			if words++; words > 6 {
				return
			}
			if strings.HasPrefix(rest, ":") && kind == strongName {
				said = true
				v.end = tail
			}
		default:
			// "the token abc123"; "the key v2" speaks of something else.
			if likelyValue(value) && strings.IndexByte("-(", value[0]) < 0 && (kind == strongName || ofDigits(text[from:]) || len(value) >= 8 && strings.ContainsAny(value, "0123456789")) {
				m.hide(v.from, v.to)
			}
			return
		}
		if !said && rest != "" {
			return
		}
		at = tail
	}
}

// quotedSecret says whether a quotation right behind a name is its value: the token "not yet valid" is none.
func quotedSecret(value string) bool {
	return len(value) >= 4 && value[0] != '-' && !slices.ContainsFunc(strings.Fields(value), functionWord)
}

// ofDigits says whether a text begins with the name of something that has a few digits only.
func ofDigits(text string) bool {
	return len(text) >= 3 && (strings.EqualFold(text[:3], "pin") || strings.EqualFold(text[:3], "otp"))
}

// setBefore says whether something is being set: "changed the password to …".
func (m *masker) setBefore(from int) bool {
	words := strings.Fields(m.text[max(0, from-40):from])
	for _, w := range words[max(0, len(words)-4):] {
		switch strings.ToLower(w) {
		case "set", "change", "changed", "reset", "rotate", "rotated", "update", "updated", "setze", "setzen", "ändere", "geändert":
			return true
		}
	}
	return false
}

func isCopula(word string) bool {
	switch word {
	case "is", "was", "are", "were", "=", ":", "ist", "war", "lautet", "heißt", "sind", "est", "es", "è", "é", "becomes", "equals":
		return true
	}
	return false
}

func isAdverb(word string) bool {
	switch word {
	case "now", "still", "again", "currently", "always", "just", "simply", "only", "literally", "also", "jetzt", "noch", "nun", "weiterhin", "einfach", "bearer", "basic":
		return true
	}
	return false
}

func isPreposition(word string) bool {
	switch word {
	case "for", "of", "on", "from", "in", "at", "there", "here", "für", "von", "vom", "zum", "zur", "im", "am", "pour", "de", "para":
		return true
	}
	return false
}

// isOption says whether the name from from on is an option (--password) or a keyword (:password).
func isOption(text string, from int) bool {
	if from == 0 || text[from-1] != '-' && text[from-1] != ':' {
		return false
	}
	before := strings.TrimRight(text[:from-1], "-")
	return before == "" || strings.IndexByte(" \n\t\r`'\"([{,", before[len(before)-1]) >= 0
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
	if !ok {
		return i
	}
	switch strings.ToLower(strings.TrimPrefix(name, "/")) {
	case "b", "i", "u", "em", "tt", "kbd", "var", "code", "samp", "span", "strong":
		return i + len("<>") + len(name)
	}
	return i
}

func skipBlanks(text string, i int) int {
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	return i
}

// sign is what stands between a name and its value.
type sign struct {
	end                   int // the value may follow from here
	assigns, colon, tight bool
}

func separator(text string, i int) (sign, bool) {
	at := skipBlanks(text, i)
	s := sign{end: at}
	for _, assigns := range []string{"==", "=>", "=", ":=", "%3D", "%3d"} {
		if strings.HasPrefix(text[at:], assigns) {
			s.end, s.assigns = at+len(assigns), true
			break
		}
	}
	switch {
	case s.assigns:
	case strings.HasPrefix(text[at:], "::") || strings.HasPrefix(text[at:], "://"):
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
	if tag := tagAt(text, s.end); tag > s.end {
		s.end = tag
	}
	s.tight = at == i && s.end < len(text) && !isSpace(text[s.end])
	if start := skipBlanks(text, s.end); tagAt(text, start) > start {
		s.end = tagAt(text, start)
	}
	return s, true
}

// valueSpan is the place of a value, without its quotes; end is where what follows it begins.
type valueSpan struct {
	from, to, end int
	quoted        bool
}

// valueAt finds the value that begins at i or behind blanks.
func valueAt(text string, i int) valueSpan {
	i = skipBlanks(text, i)
	if v, ok := quotedAt(text, i); ok {
		return v
	}
	v := valueSpan{from: i, to: i}
	for v.to < len(text) && !isSpace(text[v.to]) && !endsValue(text, v.to) {
		v.to++
	}
	v.end = v.to
	for v.to > v.from {
		c := text[v.to-1]
		if strings.IndexByte(".,;:`'\"*", c) < 0 &&
			(c != ')' || strings.Contains(text[v.from:v.to], "(")) && (c != ']' || strings.Contains(text[v.from:v.to], "[")) &&
			(c != '}' || strings.Contains(text[v.from:v.to], "{")) && (c != '>' || strings.Contains(text[v.from:v.to], "<")) {
			break
		}
		v.to--
	}
	return v
}

// shellValueAt is valueAt for what a shell assigns: $(echo a b), ${A:-a b} and (a b) are values with all their words.
func shellValueAt(text string, i int) valueSpan {
	const far = 1 << 10 // nobody's command is longer; what is still open there goes to the end
	i = skipBlanks(text, i)
	var open []byte // what closes the brackets and quotes that are open
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
		case isSpace(c) || c == ')' || endsValue(text, end):
			if !bracket {
				return valueAt(text, i)
			}
			return valueSpan{from: i, to: end, end: end, quoted: text[i] == '"'}
		}
	}
	if !bracket {
		return valueAt(text, i)
	}
	return valueSpan{from: i, to: len(text), end: len(text), quoted: text[i] == '"'}
}

// quotedAt finds a value in quotes. Where they do not close, a cut sentence ends within it.
func quotedAt(text string, i int) (valueSpan, bool) {
	slashes := i
	for slashes < len(text) && text[slashes] == '\\' {
		slashes++
	}
	for _, q := range []struct{ open, end string }{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"„", "“"}, {"‘", "’"}, {"«", "»"}, {"%22", "%22"}} {
		if !strings.HasPrefix(text[slashes:], q.open) {
			continue
		}
		if after := slashes + len(q.open); after < len(text) && isSpace(text[after]) { // it closes something
			return valueSpan{}, false
		}
		v := valueSpan{from: slashes + len(q.open), quoted: true}
		for at := v.from; ; {
			j := strings.Index(text[at:], q.end)
			if j < 0 {
				if q.open == "'" || q.open == "‘" {
					return valueSpan{}, false
				}
				v.to, v.end = len(text), len(text)
				return v, true
			}
			at += j
			v.to, v.end = at, at+len(q.end)
			if slashes > i { // \"…\"
				v.to = max(v.from, v.from+len(strings.TrimRight(text[v.from:at], `\`)))
				return v, true
			}
			if at == v.from || text[at-1] != '\\' {
				return v, true
			}
			at += len(q.end)
		}
	}
	return valueSpan{}, false
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
		for j < len(text) && (isTokenByte(text[j]) || text[j] == '.') {
			j++
		}
		return j > start && j < len(text) && (text[j] == '=' || text[j] == '"' && j+1 < len(text) && text[j+1] == ':')
	case '"', '\'', '`':
		return i+1 == len(text) || isSpace(text[i+1]) || strings.IndexByte(".,;:!?)]}|*", text[i+1]) >= 0
	case '<':
		return strings.HasPrefix(text[i:], "</")
	}
	return false
}

// placeholder says whether a value stands for any: key=value.
func placeholder(word string) bool {
	switch strings.ToLower(word) {
	case "value", "values", "val", "v", "id", "name", "true", "false", "null", "nil", "none", "yes", "no":
		return true
	}
	return len(word) < 4 && strings.Trim(word, "0123456789") == ""
}

// likelyValue says whether a word is a password without being told so: nobody's prose has digits or signs within a word.
func likelyValue(word string) bool {
	bare := strings.Trim(word, "`'\"*_(),.;:=")
	return len(bare) >= 4 && (strings.ContainsAny(bare, "0123456789") ||
		strings.ContainsAny(strings.Trim(word, ".,;:!?)("), "`'\"#$%&@^_") && !strings.Contains(word, "'s") && !strings.Contains(word, "n't"))
}

// prosaic says whether a word goes on with a sentence rather than being somebody's password: "the password is required".
func prosaic(word string) bool {
	word = strings.TrimRight(word, "!?")
	if word == "" || functionWord(word) {
		return true
	}
	if strings.ContainsAny(word, "0123456789") {
		return len(word) < 4
	}
	if upper := strings.ToUpper(word) == word; upper {
		return len(word) <= 5 // JWT, UUID
	}
	lower := strings.ToLower(word)
	if strings.Contains(proseWords, " "+lower+" ") {
		return true
	}
	if head, tail, ok := strings.Cut(lower, "-"); ok && head != "" && tail != "" {
		return prosaic(tail) || prosaic(head)
	}
	for _, r := range lower {
		if !unicode.IsLetter(r) && r != '\'' && r != '’' {
			return false
		}
	}
	if lower[1:] != word[1:] {
		return false // nobody speaks in mIxed case
	}
	for _, end := range []string{"ed", "ing", "able", "ible", "ous", "less", "ly", "ory", "ary", "ant", "ent", "ful", "’s", "'s", "n't", "n’t", "bar", "lich", "ig", "iert"} {
		if len(lower) > len(end)+2 && strings.HasSuffix(lower, end) {
			return true
		}
	}
	return len(lower) > 5 && strings.HasPrefix(lower, "ge") && (strings.HasSuffix(lower, "t") || strings.HasSuffix(lower, "en"))
}

// functionWord says whether a word carries a sentence and no meaning.
func functionWord(word string) bool {
	return strings.Contains(functionWords, " "+strings.ToLower(strings.TrimRight(word, ".,;:!?"))+" ")
}

// In spaces, so that nothing has to be built at start.
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
