package edit

import (
	"fmt"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
)

// summary says in a few words what is wrong with a text.
func summary(e *clj.Error) string {
	switch {
	case !e.Incomplete:
		return "Syntax error: unmatched delimiter"
	case strings.HasPrefix(e.Opener, "#\""):
		return "Syntax error: unclosed regex"
	case e.Expected == `"`:
		return "Syntax error: unclosed string"
	case e.Expected != "":
		return "Syntax error: unclosed delimiter"
	}
	return "Syntax error: unexpected end of file"
}

// sentence says what to do about the first error of a text.
func sentence(e *clj.Error) string {
	switch {
	case e.Incomplete && e.Expected == `"`:
		what := "string"
		if strings.HasPrefix(e.Opener, "#") {
			what = "regex"
		}
		return fmt.Sprintf("Found unclosed %s at line %d. Please add missing closing quote.", what, e.OpenerPos.Line)
	case e.Incomplete && e.Expected != "":
		return fmt.Sprintf("Found unclosed '%s' at line %d. Please add missing closing %s.", e.Opener, e.OpenerPos.Line, closerName(e.Expected))
	case e.Expected != "":
		return fmt.Sprintf("Found a closing %s at line %d where '%s' should close the '%s' of line %d. Please fix the one or the other.",
			closerName(e.Found), e.Pos.Line, e.Expected, e.Opener, e.OpenerPos.Line)
	}
	return fmt.Sprintf("Found an error at line %d: %s. Please fix it.", e.Pos.Line, e.Message)
}

func closerName(closer string) string {
	switch closer {
	case ")":
		return "parenthesis"
	case "]":
		return "bracket"
	}
	return "brace"
}

// maxNamed is how many places or changes a message names.
const maxNamed = 8

// changesOf says in one line what a repair did to a text.
func changesOf(src string, edits []clj.Edit) string {
	var parts []string
	for i, one := range edits {
		if i == maxNamed {
			parts = append(parts, fmt.Sprintf("%d more", len(edits)-i))
			break
		}
		parts = append(parts, changeOf(src, one))
	}
	return strings.Join(parts, ", ")
}

func changeOf(src string, one clj.Edit) string {
	where := place(one.Pos)
	rest, _, _ := strings.Cut(src[one.Pos.Offset+len(one.Removed):], "\n")
	same := "" // one more of several equal closers: any of them may be the new one
	if one.Removed == "" {
		same = strings.TrimSpace(one.Inserted)
	}
	if strings.Trim(rest, same+" ,\t\r") == "" {
		where = fmt.Sprintf("the end of line %d", one.Pos.Line)
	}
	switch {
	case one.Removed == "":
		return fmt.Sprintf("added %s at %s", brackets(one.Inserted), where)
	case one.Inserted == "":
		return fmt.Sprintf("removed %s at %s", brackets(one.Removed), where)
	}
	return fmt.Sprintf("put %s for %s at %s", brackets(one.Inserted), brackets(one.Removed), where)
}

// maxBrackets is how many brackets in a row a message shows.
const maxBrackets = 40

func brackets(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > maxBrackets {
		return fmt.Sprintf("`%s…` (%d brackets)", text[:maxBrackets], len(text))
	}
	return "`" + text + "`"
}

func place(p clj.Pos) string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// placesOf lists where a person should look, a line each; no line end follows the last.
func placesOf(repair clj.RepairResult, errs clj.ErrorList) string {
	var lines []string
	places := repair.Places
	if len(places) == 0 {
		for _, e := range errs {
			places = append(places, clj.Place{Pos: e.Pos, Text: e.Message})
		}
	}
	for i, one := range places {
		if i == maxNamed {
			lines = append(lines, fmt.Sprintf("  and %d more places", len(places)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("  %s %s", place(one.Pos), one.Text))
	}
	return strings.Join(lines, "\n")
}
