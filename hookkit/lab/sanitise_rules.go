package lab

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/secret"
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

// newRules makes the rules in the order in which they are applied, after secrets have got their stand-ins.
func newRules() []rule {
	hints := func(list ...string) []string { return list }
	return []rule{
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
	}
}

// secrets puts stand-ins for the secrets of a text.
func (s *sanitiser) secrets(text string) string {
	spans := secret.Find(text)
	if spans == nil {
		return text
	}
	var b strings.Builder
	from := 0
	for _, span := range spans {
		raw := text[span.Start:span.End]
		kind := string(span.Kind)
		switch span.Kind {
		case secret.Hash: // commits and checksums are what a recording is read for; keys like them have names
			continue
		case secret.Login: // who logs in stays
			if i := strings.IndexByte(raw, ':'); i >= 0 {
				raw = raw[i+1:]
			}
			kind = "password"
		case secret.Password, secret.Credentials:
			kind = "password"
		case secret.AddressToken:
			kind = "token"
		case secret.Value, secret.Random, secret.Exported:
			kind = "secret"
		default: // the kind is a name
		}
		if raw == "" || strings.Contains(raw, secretPrefix) || span.Kind == secret.Value && behindStandIn(text[:span.Start]) {
			continue
		}
		b.WriteString(text[from : span.End-len(raw)])
		if span.Kind == secret.Exported { // it may be any word
			b.WriteString(s.standInOf(kind, raw))
		} else {
			b.WriteString(s.secret(kind, raw))
		}
		from = span.End
	}
	return b.String() + text[from:]
}

// behindStandIn says whether a text ends with a stand-in and blanks. It reads like a name: -pstand-in-password-1 shop.
func behindStandIn(text string) bool {
	text = strings.TrimRight(text, " \t")
	return strings.Contains(text[strings.LastIndexAny(text, " \t\n")+1:], secretPrefix)
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

func manyDashes(line string) bool { return strings.Count(line, "-") >= 4 }

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
