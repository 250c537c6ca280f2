package lab

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A rule finds one kind of value in plain text.
type rule struct {
	hints []string // one of them is in every line with a finding, in lower case; none: ask possible
	// possible is a quick look at a line, for what has no hint. Expressions are slow, and a hook's end waits for us.
	possible func(line string) bool
	pattern  *regexp.Regexp
	// replace returns what the match becomes. groups are the texts of the pattern's groups, groups[0] the whole match; replacing
	// group i is what swap does.
	replace func(s *sanitiser, m match) string
}

// match is one finding.
type match struct {
	text   string
	groups []int // as of FindStringSubmatchIndex
}

func (m match) group(i int) string {
	if m.groups[2*i] < 0 {
		return ""
	}
	return m.text[m.groups[2*i]:m.groups[2*i+1]]
}

// swap is the whole match with another text for group i.
func (m match) swap(i int, with string) string {
	return m.text[m.groups[0]:m.groups[2*i]] + with + m.text[m.groups[2*i+1]:m.groups[1]]
}

// last is the last group that took part in the match.
func (m match) last() int {
	for i := len(m.groups)/2 - 1; i > 0; i-- {
		if m.groups[2*i] >= 0 {
			return i
		}
	}
	return 0
}

// apply replaces what the rule finds. lower is the text in lower case.
func (r *rule) apply(s *sanitiser, text, lower string) string {
	hinted := slices.ContainsFunc(r.hints, func(hint string) bool { return strings.Contains(lower, hint) })
	if !hinted && (r.possible == nil || !r.possible(text)) {
		return text
	}
	var b strings.Builder
	from := 0
	for _, groups := range r.pattern.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[from:groups[0]])
		b.WriteString(r.replace(s, match{text, groups}))
		from = groups[1]
	}
	if from == 0 {
		return text
	}
	return b.String() + text[from:]
}

// What a name of a secret has in it, and what stands between a name and its value in shells, JSON (also inside of a string), YAML, EDN
// and code.
const (
	secretNames = `(?:secret|passwd|password|passphrase|pwd|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key|credential|auth[_-]?key|signing[_-]?key|encryption[_-]?key)`
	// surelySecret are whole names.
	surelySecret = `(?:access|refresh|id|auth|bearer|session|api)[_-]?token|` +
		`x-[a-z0-9-]{0,30}(?:auth|key|token)|x-auth-[a-z0-9-]{1,30}|[a-z0-9_.-]{0,40}[_-]pass|pg_?password`
	between = `(?:\\*["'])?\s*(?:[:=]>?\s*|\s)`
	bare    = `([^\s"'\\,;(){}\[\]<>&|]{4,})`
	quoted  = `\\*"([^"\\\r\n]{4,})|\\*'([^'\\\r\n]{4,})`
)

// newRules makes the rules in the order in which they are applied: what is recognised by its own form comes before what only its
// surroundings give away.
func newRules() []rule {
	whole := func(kind, pattern string, hints ...string) rule {
		return rule{hints, nil, regexp.MustCompile(pattern), func(s *sanitiser, m match) string { return s.secret(kind, m.group(0)) }}
	}
	hints := func(list ...string) []string { return list }
	return []rule{
		whole("private-key", `-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\z)`, "private key"),
		whole("jwt", `\beyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*`, "eyj"),
		whole("anthropic-key", `\bsk-ant-[A-Za-z0-9_-]{8,}`, "sk-ant-"),
		whole("openai-key", `\bsk-[A-Za-z0-9_-]{16,}`, "sk-"),
		whole("github-token", `\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,})`, "gh", "github_pat_"),
		whole("gitlab-token", `\bglpat-[A-Za-z0-9_-]{16,}`, "glpat-"),
		whole("slack-token", `\bxox[abeoprs]-[A-Za-z0-9-]{8,}`, "xox"),
		whole("google-key", `\bAIza[A-Za-z0-9_-]{30,}`, "aiza"),
		whole("stripe-key", `\b[sr]k_(?:live|test)_[A-Za-z0-9]{10,}`, "k_live_", "k_test_"),
		whole("npm-token", `\bnpm_[A-Za-z0-9]{20,}`, "npm_"),
		whole("aws-key", `\b(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{16}\b`, "akia", "asia", "agpa", "aida", "aroa", "anpa"),
		whole("sendgrid-key", `\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, "sg."),
		whole("digitalocean-token", `\bdo[opr]_v1_[A-Za-z0-9]{16,}`, "_v1_"),
		whole("huggingface-token", `\bhf_[A-Za-z0-9]{20,}`, "hf_"),
		{hints("hooks.slack.com"), nil, regexp.MustCompile(`hooks\.slack\.com/([A-Za-z0-9/_-]{8,})`), replaceSecret("slack-hook", nil)},
		{hints("://"), nil, regexp.MustCompile(`://[^\s/:@"'\\]*:([^\s/"'\\]+)@`), func(s *sanitiser, m match) string {
			return m.swap(1, s.unlessStandIn("password", m.group(1)))
		}},
		{hints("://"), nil, regexp.MustCompile(`://([^\s/:@"'\\]{8,})@`), func(s *sanitiser, m match) string {
			return m.swap(1, s.unlessStandIn("token", m.group(1)))
		}},
		{
			hints("authorization"), nil,
			regexp.MustCompile(`(?i)\bauthorization` + between + `(?:\\*["'])?(?:(?:bearer|basic|token|digest|apikey|negotiate)\s+)?([^\s"'\\,;]{3,})`),
			replaceSecret("authorization", func(_, value string) bool { return len(value) >= 4 && hasDigitOrLong(value) }),
		},
		{
			hints("bearer", "basic"), nil,
			regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=-]{8,})`),
			replaceSecret("authorization", func(_, value string) bool { return hasDigit(value) }),
		},
		{
			hints("cookie"), nil,
			regexp.MustCompile(`(?i)\b(?:set-)?cookie(?:\\*["'])?\s*:\s*(?:\\*["'])?([^\r\n"'\\]{4,})`),
			replaceSecret("cookie", nil),
		},
		{ // a phrase of several words, up to what ends a value in code
			hints("passw", "passphrase", "pwd"), nil,
			regexp.MustCompile(`(?i)\b[a-z0-9_.-]{0,40}(?:passwd|password|passphrase|pwd):[ \t]+([^\s"'\\{}()\[\]<>,;=][^"'\\{}()\[\]<>,;=\r\n]*[^\s"'\\{}()\[\]<>,;=])`),
			replaceSecret("secret", func(_, value string) bool { return isSecretValue(value) }),
		},
		{ // what these names have is a secret, even without a digit
			hints("token", "key", "auth", "pass"), nil,
			regexp.MustCompile(`(?i)\b(?:` + surelySecret + `)(?:\\*["'])?(?:[:=][ \t]?(?:` + quoted + `|([^\s"'\\,;(){}\[\]<>&|]{6,}))|\s*[:=]\s*(?:` + quoted + `))`),
			replaceSecret("secret", func(_, value string) bool { return isSecretValue(value) && !strings.Contains(value, "://") }),
		},
		{ // an option and its value in a list of words
			hints("-"), nil,
			regexp.MustCompile(`(?i)["']--?[a-z0-9_-]{0,40}` + secretNames + `[a-z0-9_-]{0,20}\\*["']\s*,?\s*\\*["']([^"'\\\r\n]{3,})`),
			replaceSecret("secret", func(_, value string) bool { return isOptionValue(value) }),
		},
		{
			hints("secret", "passw", "passphrase", "pwd", "token", "key", "credential"), nil,
			regexp.MustCompile(`(?i)\b([a-z0-9_.-]{0,40}` + secretNames + `[a-z0-9_.-]{0,40})` + between + `(?:` + quoted + `|` + bare + `)`),
			replaceSecret("secret", acceptAssignment),
		},
		{
			hints("-u"), nil, regexp.MustCompile(`(?:^|\s)(?:-u|--user)[ =]\\*["']?([^\s:"'\\]+:[^\s"'\\]{3,})`),
			replaceSecret("password", nil),
		},
		{
			nil, hasRandomRun, regexp.MustCompile(`\b[A-Za-z_][A-Za-z0-9_.-]*` + between + `(?:\\*["'])?([A-Za-z0-9+/_-]{20,}={0,2})`),
			replaceSecret("secret", func(_, value string) bool { return looksRandom(value) }),
		},
		{hints("@"), nil, regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b`), replaceEmail},
		{hints("/home/", "/users/"), nil, regexp.MustCompile(`/(?:home|Users)/([A-Za-z0-9._-]+)`), replaceUser},
		{hints(`:\`), nil, regexp.MustCompile(`(?i)\b[a-z]:\\+users\\+([^\\/\s"':;<>|*?]+)`), replaceUser},
		{hints("-home-", "-users-"), nil, regexp.MustCompile(`(?:^|[/\s"'])-(?:home|Users)-([A-Za-z0-9]+)`), replaceUser},
		{
			hints(".local", ".internal", ".lan", ".corp", ".intranet"), nil,
			regexp.MustCompile(`(?:@|//)([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.(?:local|internal|lan|corp|intranet))\b`),
			func(s *sanitiser, m match) string {
				if strings.HasSuffix(m.group(1), ".example.internal") {
					return m.group(0)
				}
				return m.swap(1, s.standIn("host", m.group(1), func(n int) string { return fmt.Sprintf("host%d.example.internal", n) }))
			},
		},
		{nil, manyDashes, regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), func(s *sanitiser, m match) string {
			return s.uuidOf(otherKind, m.group(0))
		}},
		{hints("_"), nil, regexp.MustCompile(`\b(toolu|srvtoolu|msg|req|call)_([A-Za-z0-9]{12,})`), func(s *sanitiser, m match) string {
			if strings.HasPrefix(m.group(2), "01Fake") {
				return m.group(0)
			}
			kind := m.group(1)
			return s.standIn(kind, m.group(0), func(n int) string { return fmt.Sprintf("%s_01Fake%018d", kind, n) })
		}},
		{
			nil, hasRandomRun, regexp.MustCompile(`^[ \t>|+*-]*([A-Za-z0-9+/_-]{20,}={0,2})(?:\s|$)`),
			replaceSecret("secret", func(_, value string) bool { return looksRandom(value) && changesOften(value) }),
		},
	}
}

// replaceSecret replaces the last group of a match by a secret's stand-in, where accept, given the first and the last group, agrees.
func replaceSecret(kind string, accept func(name, value string) bool) func(*sanitiser, match) string {
	return func(s *sanitiser, m match) string {
		i := m.last()
		value := m.group(i)
		if strings.Contains(value, secretPrefix) || accept != nil && !accept(m.group(1), value) {
			return m.group(0)
		}
		return m.swap(i, s.secret(kind, value))
	}
}

func (s *sanitiser) unlessStandIn(kind, value string) string {
	if strings.HasPrefix(value, secretPrefix) || isReference(value) {
		return value
	}
	return s.secret(kind, value)
}

// acceptAssignment tells a secret from code and counters: tokens = 5, token = lexer.Next(), password: $PASSWORD.
func acceptAssignment(name, value string) bool {
	name = strings.ToLower(name)
	if !isSecretValue(value) || strings.HasSuffix(name, "tokens") {
		return false
	}
	for _, plain := range []string{"secret", "passwd", "password", "passphrase", "pwd"} {
		if strings.Contains(name, plain) {
			return true
		}
	}
	return hasDigit(value) && !isNumber(value)
}

// isSecretValue is false for what no secret is: a word of a language, a reference to a variable, a stand-in.
func isSecretValue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "false", "null", "none", "string", "undefined", "required", "optional":
		return false
	}
	return len(value) >= 4 && !strings.HasPrefix(value, secretPrefix) && !isReference(value)
}

// isReference: $NAME, ${NAME} and %NAME% stand for a value. All else that begins with these characters may be one.
func isReference(value string) bool {
	name, ok := strings.CutPrefix(value, "$")
	if ok {
		if inner, braced := strings.CutPrefix(name, "{"); braced {
			name = strings.TrimSuffix(inner, "}")
		}
	} else if name, ok = strings.CutPrefix(value, "%"); ok {
		name, ok = strings.CutSuffix(name, "%")
	}
	if !ok || name == "" || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c >= 0x80 || !isWordByte(c) && c != '_' {
			return false
		}
	}
	return true
}

// isOptionValue: what follows an option with a secret's name, unless it is the next option.
func isOptionValue(value string) bool {
	return len(value) >= 3 && !strings.HasPrefix(value, "-") && !strings.HasPrefix(value, secretPrefix) && !isReference(value)
}

// isSecretNumber tells a PIN from a counter: "password": 12345678, and not "max_tokens": 4096.
func isSecretNumber(name, digits string) bool {
	name = strings.ToLower(name)
	for _, counted := range []string{"tokens", "count", "limit", "budget", "length", "size", "usage"} {
		if strings.Contains(name, counted) {
			return false
		}
	}
	return len(digits) >= minKnown || strings.Contains(name, "pass") && len(digits) >= 4
}

// hasRandomRun: a run of 20 characters or more, in which looksRandom could find what it wants.
func hasRandomRun(line string) bool {
	run, upper, digit := 0, false, false
	for i := range len(line) {
		c := line[i]
		if !isWordByte(c) && strings.IndexByte("+/_-", c) < 0 || c >= 0x80 {
			run, upper, digit = 0, false, false
			continue
		}
		run++
		upper, digit = upper || 'A' <= c && c <= 'Z', digit || '0' <= c && c <= '9'
		if run >= 20 && upper && digit {
			return true
		}
	}
	return false
}

func manyDashes(line string) bool { return strings.Count(line, "-") >= 4 }

func hasDigit(value string) bool { return strings.ContainsAny(value, "0123456789") }

func hasDigitOrLong(value string) bool { return hasDigit(value) || len(value) >= 8 }

func isNumber(value string) bool { return strings.Trim(value, "0123456789._-+") == "" }

// looksRandom: letters of both cases and digits, with more bits to the character than text has. Hashes in hexadecimal are no secrets.
func looksRandom(value string) bool {
	var upper, lower, digit bool
	counts := map[rune]int{}
	for _, r := range value {
		counts[r]++
		upper, lower, digit = upper || unicode.IsUpper(r), lower || unicode.IsLower(r), digit || unicode.IsDigit(r)
	}
	bits := 0.0
	for _, n := range counts {
		p := float64(n) / float64(len(value))
		bits -= p * math.Log2(p)
	}
	const enough = 3.7 // English words run together stay below 3.5 at this length
	return upper && lower && digit && bits >= enough
}

// changesOften: random characters change between upper case, lower case and digits all the time; names and paths do not.
func changesOften(value string) bool {
	class := func(c byte) int {
		switch {
		case '0' <= c && c <= '9':
			return 1
		case 'A' <= c && c <= 'Z':
			return 2
		}
		return 3
	}
	changes := 0
	for i := range len(value) - 1 {
		if class(value[i]) != class(value[i+1]) {
			changes++
		}
	}
	return changes >= len(value)/3
}

func replaceEmail(s *sanitiser, m match) string {
	name, domain, _ := strings.Cut(m.group(0), "@")
	domain = strings.ToLower(domain)
	if name == "git" || strings.Contains(name, secretPrefix) || domain == "example.com" || domain == "example.org" || domain == "example.net" {
		return m.group(0)
	}
	return s.standIn("email", strings.ToLower(m.group(0)), func(n int) string { return fmt.Sprintf("person%d@example.com", n) })
}

// replaceUser replaces the name of a home folder, here or in the output of another machine.
func replaceUser(s *sanitiser, m match) string {
	name := m.group(1)
	if name == filepath.Base(HomeDir) || name == "Shared" || name == "Public" || isUserStandIn(name) {
		return m.group(0)
	}
	for _, w := range s.words {
		if strings.EqualFold(w.raw, name) {
			return m.swap(1, w.standIn)
		}
	}
	return m.swap(1, s.standIn("user", name, func(n int) string { return fmt.Sprintf("user%d", n+1) }))
}

func isUserStandIn(name string) bool {
	digits, ok := strings.CutPrefix(name, "user")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

const (
	sessionKind = "session"
	promptKind  = "prompt"
	otherKind   = "uuid"
)

// uuidOf returns the stand-in of an id: 1… for sessions, 2… for prompts, 3… for all others.
func (s *sanitiser) uuidOf(kind, raw string) string {
	digit := map[string]string{sessionKind: "1", promptKind: "2", otherKind: "3"}[kind]
	if isUUIDStandIn(raw) || raw == "" {
		return raw
	}
	frame := strings.Repeat(digit, 8) + "-" + strings.Repeat(digit, 4) + "-4" + strings.Repeat(digit, 3) + "-8" + strings.Repeat(digit, 3)
	text := s.standIn(kind, strings.ToLower(raw), func(n int) string { return fmt.Sprintf("%s-%012d", frame, n) })
	if len(raw) >= minKnown { // it may have another form, which no rule finds
		s.known[raw] = text
	}
	return text
}

func isUUIDStandIn(raw string) bool {
	for _, frame := range []string{"11111111-1111-4111-8111-", "22222222-2222-4222-8222-", "33333333-3333-4333-8333-"} {
		if strings.HasPrefix(raw, frame) {
			return true
		}
	}
	return false
}
