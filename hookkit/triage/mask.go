package triage

import (
	"slices"
	"strings"
)

// masked is what stands in place of a secret.
const masked = "[masked]"

// secretHeads begin tokens of known services; the number is how many characters of a token must follow.
var secretHeads = []struct {
	head string
	tail int
}{
	{"AKIA", 12},
	{"ASIA", 12},
	{"ghp_", 16},
	{"gho_", 16},
	{"ghu_", 16},
	{"ghs_", 16},
	{"ghr_", 16},
	{"github_pat_", 16},
	{"glpat-", 12},
	{"xoxb-", 10},
	{"xoxp-", 10},
	{"xoxa-", 10},
	{"xoxs-", 10},
	{"xoxr-", 10},
	{"xapp-", 10},
	{"sk_live_", 8},
	{"sk_test_", 8},
	{"rk_live_", 8},
	{"pk_live_", 8},
	{"whsec_", 8},
	{"sk-ant-", 8},
	{"sk-proj-", 8},
	{"sk-or-", 8},
	{"sk-", 16},
	{"AIza", 20},
	{"ya29.", 10},
	{"GOCSPX-", 8},
	{"npm_", 16},
	{"pypi-", 12},
	{"SG.", 16},
	{"key-", 24},
	{"hf_", 12},
	{"dop_v1_", 12},
	{"shpat_", 12},
	{"shpss_", 12},
	{"dckr_pat_", 8},
	{"hvs.", 8},
	{"s.", 24},
	{"EAAC", 20},
	{"eyJ", 20},
	{"ATATT", 12},
	{"lin_api_", 8},
	{"sq0atp-", 8},
	{"sq0csp-", 8},
	{"PMAK-", 8},
	{"NRAK-", 8},
	{"glsa_", 8},
	{"xkeysib-", 8},
	{"AC", 32},
	{"SK", 32},
	{"-----BEGIN", 0},
}

// secretNames are names whose value is secret: password=…, token: …, "the api key is …".
var secretNames = []string{
	"password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "api_key", "api-key", "accesskey", "access_key", "access-key", "accountkey", "privatekey", "private_key",
	"client_secret", "auth", "credential", "credentials", "pass", "pin", "key", "dsn", "sharedaccesskey", "sas", "cookie", "sessionid", "otp",
}

// mask replaces secrets: keys and tokens of known shapes, private keys, passwords in URLs, values of names such as PASSWORD, what
// export gives a variable, and long strings that only a machine writes. It may mask too much; it is only used for text that is shown.
func mask(text string) string {
	if i := strings.Index(text, "-----BEGIN"); i >= 0 && strings.Contains(text[i:], "KEY") {
		rest := text[i:]
		end := len(rest)
		if j := strings.Index(rest, "-----END"); j >= 0 {
			end = j + len("-----END")
			if k := strings.Index(rest[end:], "-----"); k >= 0 {
				end += k + len("-----")
			}
		}
		return mask(text[:i]) + masked + mask(rest[end:])
	}
	var b strings.Builder
	secretNext, exported := false, false
	for i := 0; i < len(text); {
		if isSpace(text[i]) {
			b.WriteByte(text[i])
			i++
			continue
		}
		end := i
		for end < len(text) && !isSpace(text[end]) {
			end++
		}
		word := text[i:end]
		i = end
		bare := strings.Trim(strings.ToLower(word), "`'\"*_(),.;:=")
		switch {
		case exported && strings.Contains(word, "="):
			name, _, _ := strings.Cut(word, "=")
			b.WriteString(name + "=" + masked)
			// A quoted value may hold spaces.
			if q := strings.IndexAny(word, `"'`); q >= 0 && strings.Count(word, word[q:q+1]) == 1 {
				if j := strings.IndexByte(text[i:], word[q]); j >= 0 {
					i += j + 1
				}
			}
		case secretNext && slices.Contains([]string{"is", "was", "=", ":", "to", "->", "the", "bearer", "basic", "", "now", "again", "still", "set", "for", "value", "are", "and"}, bare):
			b.WriteString(word)
			secretNext = bare != "for" && bare != "and" && bare != "the" && bare != "set"
		case secretNext && likelyValue(bare, word):
			b.WriteString(masked)
			secretNext = false
		default:
			b.WriteString(maskWord(word))
			secretNext = namesSecret(bare) && !strings.Contains(strings.Trim(word, ":="), "=") || bare == "bearer" || bare == "basic"
		}
		exported = bare == "export" || bare == "setx"
	}
	return b.String()
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// namesSecret says whether a word ends with the name of something secret.
func namesSecret(word string) bool {
	for _, name := range secretNames {
		if word == name {
			return name != "pass" && name != "auth" && name != "cookie"
		}
		if rest, ok := strings.CutSuffix(word, name); ok && (strings.HasSuffix(rest, "_") || strings.HasSuffix(rest, "-") || strings.HasSuffix(rest, ".") || strings.HasSuffix(rest, "--")) {
			return true
		}
	}
	return false
}

// likelyValue says whether a word after "the password is" is the password: nobody's prose has digits or signs within a word.
func likelyValue(bare, word string) bool {
	return len(bare) >= 4 && (strings.ContainsAny(bare, "0123456789") || strings.ContainsAny(strings.Trim(word, ".,;:!?)("), "`'\"#$%&@^_") && !strings.Contains(word, "'s") && !strings.Contains(word, "n't"))
}

func maskWord(word string) string {
	for _, s := range secretHeads {
		at := strings.Index(word, s.head)
		if at < 0 || at > 0 && isTokenByte(word[at-1]) {
			continue
		}
		end := at + len(s.head)
		for end < len(word) && (isTokenByte(word[end]) || word[end] == '.' && end+1 < len(word) && isTokenByte(word[end+1])) {
			end++
		}
		if end-at-len(s.head) >= s.tail {
			return maskWord(word[:at]) + masked + maskWord(word[end:])
		}
	}
	if scheme := strings.Index(word, "://"); scheme >= 0 {
		rest := word[scheme+3:]
		host := rest
		if slash := strings.IndexAny(rest, "/?#"); slash >= 0 && strings.Contains(rest[:slash], "@") {
			host = rest[:slash]
		}
		if at := strings.LastIndexByte(host, '@'); at >= 0 {
			return word[:scheme+3] + masked + "@" + maskWord(rest[at+1:])
		}
		if strings.Contains(rest, "hooks.slack.com/") || strings.Contains(rest, "discord.com/api/webhooks/") || strings.Contains(rest, "webhook.office.com/") {
			return word[:scheme+3] + masked
		}
	}
	if at := strings.IndexAny(word, "=:"); at > 0 && at+1 < len(word) {
		name := strings.ToLower(strings.TrimLeft(strings.Trim(word[:at], "`'\"{}(,"), "-"))
		if i := strings.LastIndexAny(name, "?&;"); i >= 0 {
			name = name[i+1:]
		}
		if value := strings.Trim(word[at+1:], "`'\"}),.;"); namesSecret(name) && value != "" && !strings.HasPrefix(value, "//") {
			return word[:at+1] + masked
		}
		if word[at] == '=' || word[at] == ':' && !strings.HasPrefix(word[at:], "://") {
			// A query or a connection string holds several of them.
			if i := strings.IndexAny(word[at+1:], "&;"); i >= 0 {
				return maskWord(word[:at+1+i]) + word[at+1+i:at+2+i] + maskWord(word[at+2+i:])
			}
		}
	}
	return maskLong(word)
}

func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || digit(c) || c == '_' || c == '-' || c == '+' || c == '/' || c == '='
}

// maskLong masks runs of letters and digits that look drawn by lot: long, and mixing digits with letters.
func maskLong(word string) string {
	const long = 24
	start := 0
	var b strings.Builder
	for i := 0; i <= len(word); i++ {
		if i < len(word) && isTokenByte(word[i]) && word[i] != '/' && word[i] != '-' || i < len(word) && word[i] == '/' && i > start+16 {
			continue
		}
		run := word[start:i]
		if len(run) >= long && drawn(run) || len(run) >= 9 && len(run) <= 10 && i < len(word) && word[i] == ':' && allDigits(run) {
			b.WriteString(masked)
			if i < len(word) && word[i] == ':' { // a bot's token: number, colon, secret
				b.WriteByte(':')
				b.WriteString(masked)
				return b.String()
			}
		} else {
			b.WriteString(run)
		}
		if i < len(word) {
			b.WriteByte(word[i])
		}
		start = i + 1
	}
	return b.String()
}

func allDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

func drawn(run string) bool {
	digits, upper, lower := 0, 0, 0
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
	return digits >= 3 && upper+lower >= 4 || upper >= 6 && lower >= 6 && !strings.Contains(run, "_") && digits > 0
}
