package triage

import (
	"fmt"
	"slices"
	"strings"
)

// explain tells people how the scores came about. A nil analysis is a transcript in which nobody says anything.
func (a *analysis) explain(c *Config) string {
	if a == nil {
		return "Nobody says anything in this transcript.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d messages, %d sentences", len(a.conv.messages), len(a.sentences))
	if a.conv.partial {
		b.WriteString("; more came before")
	}
	b.WriteString("\n")
	for _, category := range Categories() {
		score, threshold := a.scores[category], c.threshold(category)
		word := "no"
		if score >= threshold {
			word = "yes"
		} else if score >= threshold/2 {
			word = "in doubt"
		}
		fmt.Fprintf(&b, "\n%s  %.2f of %.2f: %s\n", category, score, threshold, word)
		if k := slices.Index(wordings[:], category); k >= 0 && (a.ruled[k] > 0 || a.saidBest(category) > 0) {
			fmt.Fprintf(&b, "  the rules alone %.2f, the best wording %.2f\n", a.ruled[k], a.saidBest(category))
		}
		a.list(&b, "+", category, a.spoken)
		a.list(&b, "+", category, a.found)
		a.list(&b, "-", category, a.missed)
	}
	return b.String()
}

func (a *analysis) list(b *strings.Builder, sign string, category Category, hits []evidence) {
	hits = slices.Clone(hits)
	slices.SortStableFunc(hits, func(x, y evidence) int { return x.sentence - y.sentence })
	for i := range hits {
		h := &hits[i]
		if h.category != category {
			continue
		}
		s := &a.sentences[h.sentence]
		who := "user"
		if s.agent {
			who = "agent"
		}
		fmt.Fprintf(b, "  %s %.2f  message %d, %s: %s\n            rule %q, weight %.2f", sign, h.weight, s.message+1, who, a.quoteOf(h), h.rule, h.raw)
		why := h.why
		if h.rule == wordingRule {
			why = a.wordingOf(h)
		}
		if len(why) > 0 {
			b.WriteString("; " + quote(strings.Join(why, "; ")))
		}
		b.WriteString("\n")
	}
}
