package triage

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// masked is what stands in place of a secret.
const masked = "[masked]"

// mask replaces secrets: keys and tokens of known shapes, private keys, passwords in URLs and commands, values of names such as PASSWORD, what
// export gives a variable, and long strings that only a machine writes. It may mask too much; it is only used for text that is shown.
// What nobody sees is taken out first: it would tear a secret apart for us and for no reader.
func mask(text string) string {
	m := masker{text: visible(text)}
	m.keyBlocks()
	m.names()
	m.commands()
	m.urls()
	m.tokens()
	m.longRuns()
	m.drawnTokens()
	return m.result()
}

// masker collects the places of secrets; each of its searches looks at the whole text, so none depends on what another one found.
type masker struct {
	text  string
	spans []secretSpan
}

// secretSpan is the place of a secret.
type secretSpan struct{ from, to int }

func (m *masker) hide(from, to int) {
	if from < to {
		m.spans = append(m.spans, secretSpan{from, to})
	}
}

func (m *masker) result() string {
	slices.SortFunc(m.spans, func(a, b secretSpan) int { return a.from - b.from })
	var b strings.Builder
	end := 0
	for i, s := range m.spans {
		if i == 0 || s.from > end {
			b.WriteString(m.text[end:s.from])
			b.WriteString(masked)
		}
		end = max(end, s.to)
	}
	b.WriteString(m.text[end:])
	return b.String()
}

// visible takes out what steers a terminal and what has no looks of its own; line ends and tabs stay.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return r
		case r < utf8.RuneSelf:
			if r < ' ' || r == 0x7f {
				return -1
			}
			return r
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
			r == 0x2028 || r == 0x2029 || r >= 0xe0000:
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, withoutEscapes(text))
}

// withoutEscapes takes terminal sequences out as a whole: their letters would stick to the token that they colour.
func withoutEscapes(text string) string {
	text = strings.ReplaceAll(text, "\u009b", "\x1b[")
	if strings.IndexByte(text, 0x1b) < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != 0x1b {
			b.WriteByte(text[i])
			i++
			continue
		}
		i++
		if i < len(text) && text[i] == '[' {
			i++
			for i < len(text) && text[i] >= 0x20 && text[i] < 0x40 {
				i++
			}
			if i < len(text) && text[i] >= 0x40 && text[i] < 0x7f {
				i++
			}
		} else if i < len(text) && text[i] == ']' { // a title or a link; one that stays open takes nothing with it
			rest := text[i:]
			if end := strings.IndexAny(rest, "\a\x1b\n"); end >= 0 && rest[end] != '\n' {
				i += end
			}
		}
	}
	return b.String()
}

// keyBlocks hides private keys and what else is armoured like them. One that is cut off goes to the end.
func (m *masker) keyBlocks() {
	for from := 0; ; {
		i := strings.Index(m.text[from:], "-----BEGIN")
		if i < 0 {
			return
		}
		from += i
		end := len(m.text)
		if j := strings.Index(m.text[from:], "-----END"); j >= 0 {
			end = from + j + len("-----END")
			if k := strings.Index(m.text[end:], "-----"); k >= 0 {
				end += k + len("-----")
			}
		}
		m.hide(from, end)
		from = end
	}
}

// secretHeads begin tokens of known services; tail is how many characters of a token must follow. A plain head begins ordinary words
// too: such a token has a digit and begins a word.
var secretHeads = []struct {
	head  string
	tail  int
	plain bool
}{
	{"AKIA", 12, false},
	{"ASIA", 12, false},
	{"ghp_", 16, false},
	{"gho_", 16, false},
	{"ghu_", 16, false},
	{"ghs_", 16, false},
	{"ghr_", 16, false},
	{"github_pat_", 16, false},
	{"glpat-", 12, false},
	{"gldt-", 12, false},
	{"glrt-", 12, false},
	{"glrtr-", 12, false},
	{"glft-", 12, false},
	{"glffct-", 12, false},
	{"glptt-", 12, false},
	{"glcbt-", 12, false},
	{"glimt-", 12, false},
	{"glwt-", 12, false},
	{"gloas-", 12, false},
	{"glsoat-", 12, false},
	{"glagent-", 12, true},
	{"GR1348941", 12, false},
	{"pscale_pw_", 12, false},
	{"pscale_tkn_", 12, false},
	{"pscale_oauth_", 12, false},
	{"xoxb-", 10, false},
	{"xoxe-", 10, false},
	{"xoxp-", 10, false},
	{"xoxa-", 10, false},
	{"xoxs-", 10, false},
	{"xoxr-", 10, false},
	{"xapp-", 10, false},
	{"sk_live_", 8, false},
	{"sk_test_", 8, false},
	{"rk_live_", 8, false},
	{"rk_test_", 8, false},
	{"pk_live_", 8, false},
	{"whsec_", 8, false},
	{"sk-ant-", 8, false},
	{"sk-proj-", 8, false},
	{"sk-or-", 8, false},
	{"sk-", 16, true},
	{"AIza", 20, false},
	{"ya29.", 10, false},
	{"GOCSPX-", 8, false},
	{"npm_", 16, false},
	{"pypi-", 12, true},
	{"SG.", 16, true},
	{"key-", 24, true},
	{"hf_", 12, false},
	{"dop_v1_", 12, false},
	{"doo_v1_", 12, false},
	{"dor_v1_", 12, false},
	{"shpat_", 12, false},
	{"shpss_", 12, false},
	{"dckr_pat_", 8, false},
	{"hvs.", 8, false},
	{"s.", 24, true},
	{"EAAC", 20, true},
	{"eyJ", 20, false},
	{"ATATT", 12, false},
	{"lin_api_", 8, false},
	{"sq0atp-", 8, false},
	{"sq0csp-", 8, false},
	{"PMAK-", 8, false},
	{"NRAK-", 8, false},
	{"glsa_", 8, false},
	{"xkeysib-", 8, false},
	{"AC", 32, true},
	{"SK", 32, true},
}

// tokens hides tokens of known shapes, wherever in a word they begin.
func (m *masker) tokens() {
	text := m.text
	for i := 0; i < len(text); i++ {
		if !letterOrDigit(text[i]) {
			continue
		}
		begins := m.beginsToken(i)
		for _, s := range secretHeads {
			if !strings.HasPrefix(text[i:], s.head) || s.plain && i > 0 && (text[i-1] == '-' || text[i-1] == '_' || text[i-1] == '.') {
				continue
			}
			start := i + len(s.head)
			end := start
			for end < len(text) && (isTokenByte(text[end]) || text[end] == '.' && end+1 < len(text) && isTokenByte(text[end+1])) {
				end++
			}
			withDigit := strings.ContainsAny(text[start:end], "0123456789")
			switch {
			case end-start < s.tail, s.plain && !withDigit:
				continue
			case !begins && (s.plain || len(s.head) < 4 || s.head == "npm_" || !withDigit): // glued to a word; pnpm_config_…
				continue
			case (s.head == "AKIA" || s.head == "ASIA") && strings.ToUpper(text[start:start+s.tail]) != text[start:start+s.tail]:
				continue
			}
			for end < len(text) && (isTokenByte(text[end]) || strings.IndexByte("+/=~%", text[end]) >= 0) {
				end++
			}
			m.hide(i, end)
			i = end - 1
			break
		}
	}
}

// beginsToken says whether a token can begin at i: behind anything but a letter or a digit, except those of an escape: %3D, \n.
func (m *masker) beginsToken(i int) bool {
	text := m.text
	if i == 0 || !letterOrDigit(text[i-1]) {
		return true
	}
	return i >= 3 && text[i-3] == '%' || i >= 2 && text[i-2] == '\\'
}

func letterOrDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || digit(c)
}

func isTokenByte(c byte) bool { return letterOrDigit(c) || c == '_' || c == '-' }

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// longRuns hides runs of letters and digits that look drawn by lot: long, and mixing digits with letters.
func (m *masker) longRuns() {
	const long = 24
	text := m.text
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && (letterOrDigit(text[i]) || text[i] == '_' || text[i] == '+' || text[i] == '/' && i > start+16) {
			i++
		}
		run := text[start:i]
		// The key of an AWS account has no head; slashes in it are no folders.
		whole := i
		for whole < len(text) && (letterOrDigit(text[whole]) || text[whole] == '+' || text[whole] == '/') && whole-start <= 40 {
			whole++
		}
		switch {
		case whole-start == 40 && drawnKey(text[start:whole]) && (start == 0 || text[start-1] != '/'):
			i = whole
			m.hide(start, i)
		case len(run) >= long && drawn(run):
			for i < len(text) && text[i] == '=' {
				i++
			}
			m.hide(start, i)
		case i < len(text) && text[i] == ':' && isBot(run): // a bot's token: number, colon, secret
			end := i + 1
			for end < len(text) && isTokenByte(text[end]) {
				end++
			}
			if end-i > 16 {
				i = end
				m.hide(start, i)
			}
		}
		if i < len(text) {
			i++
		}
	}
}

func isBot(run string) bool {
	run = strings.TrimPrefix(run, "bot")
	return len(run) >= 8 && len(run) <= 10 && strings.Trim(run, "0123456789") == ""
}

func count(run string) (digits, upper, lower int) {
	for i := range len(run) {
		switch c := run[i]; {
		case digit(c):
			digits++
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		}
	}
	return digits, upper, lower
}

func drawn(run string) bool {
	digits, upper, lower := count(run)
	parted := strings.Count(run, "_") >= 2
	if parted && upper == 0 && wordsAndNumbers(run) {
		return false
	}
	// OrderServiceV2Test2024, TLS_RSA_WITH_AES_256_GCM_SHA384: what has letters of one case only is a name if it is parted.
	if mixed := upper > 0 && lower > 0; parted && !choppy(run) || mixed && pieceLength(run) >= 240 {
		return false
	}
	return digits >= 3 && upper+lower >= 4 || upper >= 6 && lower >= 6 && !strings.Contains(run, "_") && digits > 0
}

// wordsAndNumbers says whether a run is like 20240611_create_shipments.
func wordsAndNumbers(run string) bool {
	for part := range strings.SplitSeq(run, "_") {
		if digits, _, lower := count(part); digits > 0 && lower > 0 || digits+lower != len(part) || lower > 14 || digits > 14 {
			return false
		}
	}
	return true
}

func drawnKey(run string) bool {
	digits, upper, lower := count(run)
	return digits > 0 && upper >= 6 && lower >= 6
}

// urls hides who logs in, with or without a scheme, and the addresses of web hooks, which are all one needs to post.
func (m *masker) urls() {
	text := m.text
	for i := 0; i < len(text); {
		from, to := wordAt(text, i)
		word := text[from:to]
		i = to
		for _, host := range []string{"hooks.slack.com/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "webhook.office.com/"} {
			if at := strings.Index(word, host); at >= 0 {
				m.hide(from+at, to-len(word)+len(strings.TrimRight(word, ".,;:)`'\"")))
			}
		}
		if strings.IndexByte(word, '@') < 0 {
			m.brokenLogin(from, to)
			continue
		}
		if at := strings.Index(word, "jdbc:oracle:"); at >= 0 { // …:thin:NAME/PASSWORD@
			at += len("jdbc:oracle:")
			at += strings.IndexByte(word[at:], ':') + 1
			m.hide(from+at, from+strings.LastIndexByte(word, '@'))
			continue
		}
		schemes := 0
		for at := 0; ; schemes++ {
			j := strings.Index(word[at:], "://")
			if j < 0 {
				break
			}
			at += j + len("://")
			rest := word[at:]
			if next := strings.Index(rest, "://"); next >= 0 {
				rest = rest[:next]
			}
			host := rest[:strings.IndexAny(rest+"/", "/?#")]
			name, _, named := strings.Cut(host, "@")
			switch {
			case strings.Contains(name, ":") && strings.Contains(rest, "@"): // a password may hold a slash, and an @ too
				m.hide(from+at, from+at+strings.LastIndexByte(rest, '@'))
			case named:
				m.hide(from+at, from+at+strings.LastIndexByte(host, '@'))
			}
		}
		if schemes == 0 {
			m.login(from, word)
		}
	}
}

// brokenLogin hides SCHEME://NAME:PASSWORD where a line ends within the password, or the text: what follows the colon is no port.
func (m *masker) brokenLogin(from, to int) {
	text := m.text
	at := strings.Index(text[from:to], "://")
	if at < 0 {
		return
	}
	at += from + len("://")
	_, port, ok := strings.Cut(text[at:to], ":")
	if !ok || port == "" || strings.ContainsAny(port[:1], "0123456789$<{[:*/?#") || strings.Contains(text[at:to], "/:") {
		return
	}
	next, end := wordAt(text, to)
	if i := strings.IndexByte(text[next:end], '@'); i >= 0 && next+i+1 < end && letterOrDigit(text[next+i+1]) {
		m.hide(at, next+strings.LastIndexByte(text[next:end], '@'))
	} else if next == end && !strings.EqualFold(strings.TrimRight(port, "`'\".,;)/"), "port") {
		m.hide(at, to)
	}
}

// login hides NAME:PASSWORD before @HOST.
func (m *masker) login(from int, word string) {
	start := len(word) - len(strings.TrimLeft(word, "`'\"(<[{"))
	at := strings.LastIndexByte(word, '@')
	colon := strings.IndexByte(word, ':')
	if colon <= start || colon+1 >= at || at+1 >= len(word) || !letterOrDigit(word[at+1]) || strings.HasPrefix(word[at+1:], "sha256:") {
		return
	}
	switch strings.ToLower(word[start:colon]) {
	case "mailto", "npm", "pkg", "workspace", "sip", "acct", "link", "file", "user", "group", "domain", "serviceaccount":
		return
	}
	m.hide(from+start, from+at)
}

// wordAt is the first word from i on; it is empty at the end of the text.
func wordAt(text string, i int) (from, to int) {
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	from = i
	for i < len(text) && !isSpace(text[i]) {
		i++
	}
	return from, i
}

// commands hides what shells are given: variables that are exported, and passwords after options of one letter.
func (m *masker) commands() {
	text := m.text
	tool := ""     // whose options are read
	before := ""   // the word before, bare
	skipped := 0   // up to here a value was hidden
	given := false // names are given values: export A=1 B=2
	for i := 0; i < len(text); {
		from, to := wordAt(text, i)
		i = to
		word := text[from:to]
		bare := strings.Trim(word, "`'\"*_(),.;:=$")
		if from < skipped {
			continue
		}
		equals := strings.IndexByte(word, '=')
		switch {
		case given && equals > 0:
			v := shellValueAt(text, from+equals+1)
			m.hide(v.from, v.to)
			skipped = v.end
		case given && before == "setx": // NAME VALUE
			v := valueAt(text, i)
			if !prosaic(text[v.from:v.to]) {
				m.hide(v.from, v.to)
				skipped = v.end
			}
			given = false
		case given && !strings.HasPrefix(word, "-") && word != `\` && (bare == "" || strings.ToUpper(word) != word):
			given = false
		}
		switch name := bare[strings.LastIndexAny(bare, `/\`)+1:]; {
		case strings.EqualFold(name, "export") || strings.EqualFold(name, "setx"):
			given = true
		case strings.ContainsAny(word, "|;&") && !strings.HasPrefix(word, "-") && optionOf(name) == "":
			tool = ""
		case optionOf(name) != "":
			tool = name
		case strings.HasPrefix(word, "-"):
			m.option(tool, from, to)
		case name == "login" && (before == "docker" || before == "podman" || before == "registry" || before == "az" || before == "oc"):
			tool = "login"
		}
		before = bare
	}
}

// optionOf is the option of a tool that takes a password. "=" behind it: the password may also be the next word.
func optionOf(tool string) string {
	switch tool {
	case "mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlsh", "mycli", "mariadb", "mariadb-dump", "mariadb-admin", "7z", "7za":
		return "-p"
	case "sshpass", "mongo", "mongosh", "mongodump", "mongorestore", "login":
		return "-p="
	case "redis-cli":
		return "-a="
	case "ldapsearch", "ldapmodify", "ldapadd":
		return "-w="
	case "sqlcmd", "bcp", "unzip", "zip":
		return "-P="
	}
	return ""
}

// option hides the password that an option has.
func (m *masker) option(tool string, from, to int) {
	text := m.text
	word := text[from:to]
	if rest, ok := strings.CutPrefix(word, "--"); ok {
		name, _, assigned := strings.Cut(rest, "=")
		if name == "user" || name == "proxy-user" {
			at := to
			if assigned {
				at = from + len("--=") + len(name)
			}
			m.userAndPassword(at)
		}
		return
	}
	if strings.HasPrefix(word, "-u") || strings.HasPrefix(word, "-U") {
		m.userAndPassword(from + len("-u"))
		return
	}
	option, next := strings.CutSuffix(optionOf(tool), "=")
	rest, ok := strings.CutPrefix(word, option)
	switch {
	case !ok || option == "" || strings.HasPrefix(rest, "-"):
	case strings.Trim(rest, "`'\".,;") != "":
		v := valueAt(text, to-len(rest))
		m.hide(v.from, v.to)
	case next && rest == "":
		if v := valueAt(text, to); !prosaic(text[v.from:v.to]) && !strings.HasPrefix(text[v.from:], "-") {
			m.hide(v.from, v.to)
		}
	}
}

// userAndPassword hides a value such as NAME:PASSWORD; 1000:1000 is what containers are told of users.
func (m *masker) userAndPassword(at int) {
	v := valueAt(m.text, at)
	value := m.text[v.from:v.to]
	name, password, ok := strings.Cut(value, ":")
	if !ok {
		name, password, ok = strings.Cut(value, "%")
	}
	if ok && name != "" && password != "" && !strings.HasPrefix(password, "//") && strings.Trim(value, "0123456789:") != "" {
		m.hide(v.from, v.to)
	}
}
