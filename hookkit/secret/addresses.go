package secret

import "strings"

// hooks are hosts whose paths are all one needs to post.
var hooks = [...]struct {
	host string
	kind Kind
}{
	{"hooks.slack.com/", SlackHook},
	{"discord.com/api/webhooks/", DiscordHook},
	{"discordapp.com/api/webhooks/", DiscordHook},
	{"webhook.office.com/", TeamsHook},
}

const scheme = "://"

// addresses finds who logs in, with or without a scheme, and web hooks.
func (s *scanner) addresses() {
	text := s.text
	for _, h := range hooks {
		for from := 0; ; {
			at := strings.Index(text[from:], h.host)
			if at < 0 {
				break
			}
			at += from + len(h.host)
			from = endOfWord(text, at)
			s.hide(h.kind, at, at+len(strings.TrimRight(text[at:from], ".,;:)`'\"\\")))
		}
	}
	if !strings.Contains(text, "@") && !strings.Contains(text, scheme) {
		return
	}
	for from, to := wordAt(text, 0); from < to; from, to = wordAt(text, to) {
		word := text[from:to]
		if strings.IndexByte(word, '@') < 0 {
			s.brokenLogin(from, to)
		} else if at := strings.Index(word, "jdbc:oracle:"); at >= 0 { // …:thin:NAME/PASSWORD@
			at += len("jdbc:oracle:")
			at += strings.IndexByte(word[at:], ':') + 1
			s.hide(Credentials, from+at, from+strings.LastIndexByte(word, '@'))
		} else if strings.Contains(word, scheme) {
			s.schemes(from, word)
		} else {
			s.login(from, word)
		}
	}
}

// schemes hides who logs in behind each scheme of a word.
func (s *scanner) schemes(from int, word string) {
	for {
		i := strings.Index(word, scheme)
		if i < 0 {
			return
		}
		i += len(scheme)
		from, word = from+i, word[i:]
		rest := word
		if next := strings.Index(rest, scheme); next >= 0 {
			rest = rest[:next]
		}
		host := rest
		if end := strings.IndexAny(host, "/?#"); end >= 0 {
			host = host[:end]
		}
		before, _, named := strings.Cut(host, "@")
		if _, password, ok := strings.Cut(before, ":"); ok { // a password may hold a slash, and an @ too
			port := !named && strings.Trim(password, "0123456789") == "" // what follows is a path
			if end := strings.LastIndexByte(rest, '@'); end >= 0 && !port && (end > len(before) || !reference(password)) {
				s.hide(Login, from, from+end)
			}
		} else if named && (len(before) >= 8 || s.digitIn(from, from+len(before))) { // not git@, root@
			s.hide(AddressToken, from, from+strings.LastIndexByte(host, '@'))
		}
	}
}

// brokenLogin hides SCHEME://NAME:PASSWORD where a line ends within the password, or the text: what follows the colon is no port.
func (s *scanner) brokenLogin(from, to int) {
	text := s.text
	at := strings.Index(text[from:to], scheme)
	if at < 0 {
		return
	}
	at += from + len(scheme)
	_, port, ok := strings.Cut(text[at:to], ":")
	if !ok || port == "" || strings.IndexByte("0123456789$<{[:*/?#", port[0]) >= 0 || strings.Contains(text[at:to], "/:") {
		return
	}
	next, end := wordAt(text, to)
	if i := strings.IndexByte(text[next:end], '@'); i >= 0 && next+i+1 < end && letterOrDigit(text[next+i+1]) {
		s.hide(Login, at, next+strings.LastIndexByte(text[next:end], '@'))
	} else if next == end && !strings.EqualFold(strings.TrimRight(port, "`'\".,;)/"), "port") {
		s.hide(Login, at, to)
	}
}

// login hides NAME:PASSWORD before @HOST.
func (s *scanner) login(from int, word string) {
	start := len(word) - len(strings.TrimLeft(word, "`'\"(<[{"))
	at := strings.LastIndexByte(word, '@')
	colon := strings.IndexByte(word, ':')
	if colon <= start || colon+1 >= at || at+1 >= len(word) || !letterOrDigit(word[at+1]) || strings.HasPrefix(word[at+1:], "sha256:") {
		return
	}
	switch name := word[start:colon]; {
	case isOneOf(name, "mailto", "npm", "pkg", "workspace", "sip", "acct", "link", "file", "user", "group", "domain", "serviceaccount"):
	default:
		s.hide(Login, from+start, from+at)
	}
}

// wordAt is the first word from i on; it is empty at the end of the text.
func wordAt(text string, i int) (from, to int) {
	from = skipBlanks(text, i)
	return from, endOfWord(text, from)
}

func endOfWord(text string, i int) int {
	for i < len(text) && !blank(text[i]) {
		i++
	}
	return i
}

func skipBlanks(text string, i int) int {
	for i < len(text) && blank(text[i]) {
		i++
	}
	return i
}
