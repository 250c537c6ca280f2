package triage

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hookkit/brepl/hookkit/secret"
	"github.com/hookkit/brepl/hookkit/text"
)

// finding is a category that holds something, with the best sentence for it.
type finding struct {
	Category Category
	Score    float64
	Quote    string // masked and cleaned, one line
}

// maxQuote is the length of a quote, in characters, with what is said of others.
const maxQuote = 200

// The seed's closing sentences; the second place is named because not everybody has the skill.
const defaultInstruction = "Use the memory-management skill to save each item, or write each to a file under `.claude/memory/`.\nAfter saving, you may stop."

// listHead begins the text for the agent.
const listHead = "Save the following memories before stopping:"

// holdsList says whether a text that the host hands to the agent holds a list of ours.
func holdsList(text string) bool { return strings.Contains(text, listHead) }

// compose writes the text for the agent.
func compose(findings []finding, instruction string) string {
	var b strings.Builder
	b.WriteString(listHead + "\n")
	for _, f := range findings {
		fmt.Fprintf(&b, "- [%s] %s\n", f.Category, f.Quote)
	}
	// A project's file may hold it: it is no more trusted than a quote.
	if instruction = cleanLines(instruction); instruction == "" {
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

// quote makes one harmless line of a sentence: what nobody sees or a terminal obeys is taken out, then secrets are masked, then markup is
// escaped. In another order a secret could hide behind what is taken out later.
func quote(said string) string { return text.CutRunes(harmless(mask(said)), maxQuote) }

// mask is a text as people see it, without secrets.
func mask(s string) string { return secret.Mask(text.Visible(s)) }

// andMore tells the agent how many more a quote stands for: a category has one line, and what was asked for is not asked for again.
func andMore(quote string, others int) string {
	if others == 0 {
		return quote
	}
	more := fmt.Sprintf(" (and %d more)", others)
	return text.CutRunes(quote, maxQuote-len(more)) + more
}

// harmless makes one line and escapes markup.
func harmless(s string) string {
	return strings.Join(strings.Fields(withoutMarkup(text.Visible(s))), " ")
}

// withoutMarkup escapes what could open or close a tag, such as a reminder of the host's.
func withoutMarkup(text string) string {
	return strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(text)
}

// oneLine is a name, or an error that holds one, as a terminal can show it: without what it obeys, on one line. Nothing is masked or
// escaped, so that people find the file.
func oneLine(s string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(text.Visible(s))
}

// oneLineError is an error for people.
func oneLineError(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(oneLine(err.Error()))
}

// cleanLines is a configured text as the agent may read it: lines stay, but none that looks like an item of our list, and no markup.
func cleanLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(withoutMarkup(strings.ReplaceAll(mask(text), "\r", ""))) {
		if bare := strings.TrimLeft(line, " \t"); strings.HasPrefix(bare, "-") {
			if item := strings.TrimLeft(bare, "- \t"); strings.HasPrefix(item, "[") {
				line = item
			}
		}
		b.WriteString(line)
	}
	return strings.TrimSpace(b.String())
}
