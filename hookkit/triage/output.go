package triage

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// finding is a category that holds something, with the best sentence for it.
type finding struct {
	Category Category
	Score    float64
	Quote    string // masked and cleaned, one line
}

// maxQuote is the length of a quote, in characters.
const maxQuote = 200

// The seed's closing sentences; the second place is named because not everybody has the skill.
const defaultInstruction = "Use the memory-management skill to save each item, or write each to a file under `.claude/memory/`.\nAfter saving, you may stop."

// compose writes the text for the agent.
func compose(findings []finding, instruction string) string {
	var b strings.Builder
	b.WriteString("Save the following memories before stopping:\n")
	for _, f := range findings {
		fmt.Fprintf(&b, "- [%s] %s\n", f.Category, f.Quote)
	}
	if instruction == "" {
		instruction = defaultInstruction
	}
	b.WriteString("\n" + instruction + "\n")
	return b.String()
}

// userLine is what the user is told beside it.
func userLine(findings []finding) string {
	names := make([]string, 0, len(findings))
	for _, f := range findings {
		names = append(names, string(f.Category))
	}
	return "memory-triage: worth saving: " + strings.Join(names, ", ")
}

// quote makes one harmless line of a sentence: secrets masked, marks that a terminal or a reader could obey removed, markup escaped.
func quote(text string) string {
	text = harmless(mask(text))
	if utf8.RuneCountInString(text) > maxQuote {
		runes := []rune(text)
		text = strings.TrimRight(string(runes[:maxQuote-1]), " ") + "…"
	}
	return text
}

func harmless(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029 || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0000:
			return -1
		}
		return r
	}, text)
	text = strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(text)
	return strings.Join(strings.Fields(text), " ")
}
