// Package secret finds in text what must not be shown or shared: keys and tokens of known services, private keys, logins in addresses,
// what a name such as PASSWORD is given or said to have, what shells are given, and long strings that only a machine writes.
//
// It knows shapes and words, nothing else: it may take too much, and it misses a password that looks like a word and has no name.
// Everything takes time linear in the length of the text, and no memory where there is no secret.
//
// It serves the programs of this repository and carries no promise of stability.
package secret

import (
	"slices"
	"strings"
)

// A Kind says what a secret is. Kinds of known services, such as "github-token", stand in the table in heads.go.
type Kind string

// What is recognised by its own form.
const (
	PrivateKey    Kind = "private-key"
	Armoured      Kind = "armoured-block" // other PEM: certificates, messages
	JWT           Kind = "jwt"
	TelegramToken Kind = "telegram-token"
	SlackHook     Kind = "slack-hook" // the path of an address; it is all one needs to post
	DiscordHook   Kind = "discord-hook"
	TeamsHook     Kind = "teams-hook"
)

// What only its surroundings give away.
const (
	Authorization Kind = "authorization" // behind Bearer or Basic
	Cookie        Kind = "cookie"        // all pairs of a header
	Login         Kind = "login"         // NAME:PASSWORD in an address
	Credentials   Kind = "credentials"   // NAME:PASSWORD after an option; NAME/PASSWORD of Oracle
	AddressToken  Kind = "address-token" // what stands alone before the @ of an address
	Password      Kind = "password"      // after an option of one letter
	Value         Kind = "value"         // of a name such as PASSWORD
	Random        Kind = "random"        // letters and digits drawn by lot
	Exported      Kind = "exported"      // what a shell exports, whatever its name is
	// Hash is a long hexadecimal number without a name: a key, or only a checksum or a commit.
	Hash Kind = "hash"
)

// rank says which kind holds where several were found: what has a form of its own is cut out of what surrounds it.
func (k Kind) rank() int {
	switch k {
	case Hash:
		return 0
	case Exported:
		return 1
	case Random:
		return 2
	case Value, Password:
		return 3
	case Authorization, Cookie, Login, Credentials, AddressToken:
		return 4
	default:
		return ofItself
	}
}

const ofItself = 5

// Span is the place of a secret in a text, in bytes. It has no quotes and no name around it.
type Span struct {
	Start, End int
	Kind       Kind
}

// Find returns the secrets of a text in order. They do not overlap; two may touch. What nobody sees, such as a colour or a joiner of no
// width, hides no secret: a span holds it where it stands within one.
func Find(text string) []Span {
	seen, cuts := visible(text)
	s := scanner{text: seen}
	s.blocks()
	s.names()
	s.commands()
	s.addresses()
	s.tokens()
	s.runs()
	s.drawn()
	s.base64()
	spans := joined(s.spans)
	if cuts != nil {
		spans = inOriginal(spans, cuts)
		// A key may begin with what ends a sequence: "\x1b[" in front of AKIA would take the A along.
		as := scanner{text: text}
		as.tokens()
		spans = joined(append(spans, as.spans...))
	}
	return spans
}

// Masked is what [Mask] puts in place of a secret.
const Masked = "[masked]"

// Mask replaces the secrets of a text.
func Mask(text string) string {
	spans := Find(text)
	if spans == nil {
		return text
	}
	var b strings.Builder
	end := 0
	for i, span := range spans {
		if i == 0 || span.Start > end {
			b.WriteString(text[end:span.Start])
			b.WriteString(Masked)
		}
		end = span.End
	}
	b.WriteString(text[end:])
	return b.String()
}

// scanner collects the places of secrets. Each of its searches looks at the whole text, so none depends on what another one found.
type scanner struct {
	text  string
	spans []Span
	// Where the last looks ahead ended, so that no two go over the same text.
	value, token, digit ahead
	quotes              [len(quotePairs)]ahead
	tag                 int // the last closing tag, 2 more; 0: not looked for
}

// ahead remembers a look ahead: from from on the first place of something is at.
type ahead struct{ from, at int }

func (a *ahead) holds(i int) bool { return a.at > 0 && a.from <= i && i <= a.at }

func (s *scanner) hide(kind Kind, from, to int) {
	if from < to {
		s.spans = append(s.spans, Span{from, to, kind})
	}
}

// joined puts spans in order and takes overlaps out of them.
func joined(spans []Span) []Span {
	if spans == nil {
		return nil
	}
	slices.SortFunc(spans, func(a, b Span) int { return a.Start - b.Start })
	own := united(spans, true, nil)
	given := united(spans, false, own)
	out := make([]Span, 0, len(own)+len(given))
	for _, g := range given {
		for len(own) > 0 && own[0].Start < g.End {
			o := own[0]
			if g.Start < o.Start {
				out = append(out, Span{g.Start, o.Start, g.Kind})
			}
			if g.Start = max(g.Start, o.End); o.End > g.End {
				break // it may reach into the next one
			}
			out, own = append(out, o), own[1:]
		}
		if g.Start < g.End {
			out = append(out, g)
		}
	}
	out = append(out, own...)
	return out
}

// united are the spans that have a form of their own, or the others, in order, without those within one of known. Those that overlap are
// one, of the surest kind.
func united(spans []Span, own bool, known []Span) []Span {
	var out []Span
	for _, span := range spans {
		if (span.Kind.rank() == ofItself) != own {
			continue
		}
		for len(known) > 0 && known[0].End <= span.Start {
			known = known[1:]
		}
		if len(known) > 0 && known[0].Start <= span.Start && span.End <= known[0].End {
			continue
		}
		if n := len(out) - 1; n >= 0 && span.Start < out[n].End {
			out[n].End = max(out[n].End, span.End)
			if span.Kind.rank() > out[n].Kind.rank() {
				out[n].Kind = span.Kind
			}
			continue
		}
		out = append(out, span)
	}
	return out
}
