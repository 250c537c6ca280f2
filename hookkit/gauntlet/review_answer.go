package gauntlet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hookkit/brepl/hookkit/text"
)

// answer is what a reviewer says.
type answer struct {
	violations []finding
	previous   map[string]bool // by the id of an earlier violation: is it fixed?
}

// finding is one violation as a reviewer tells it, not yet compared with anything.
type finding struct {
	file, issue, fix, priority string
	line                       int
}

// maxFindings bounds what one answer may say.
const maxFindings = 200

var errNoAnswer = errors.New("no JSON object with a status or violations in it")

// readAnswer finds the answer in what a tool printed: the last balanced object that is one, in a fenced block or not. What stands before
// it may be quoted from the diff. An object that wraps the answer's text, as the tools' JSON output does, is opened.
func readAnswer(output string) (answer, error) { return lastAnswer(output, 0) }

// maxWrapped is how often an answer may be wrapped in another object's text.
const maxWrapped = 2

func lastAnswer(text string, depth int) (answer, error) {
	err := errNoAnswer
	var faulty span // the last object that is meant as an answer and cannot be read
	for _, s := range objects(text) {
		a, objectErr := decodeAnswer([]byte(text[s.start:s.end]), depth)
		switch {
		case objectErr == nil && s.end > faulty.start:
			return a, nil // if another was faulty, it is only a brace of the prose that holds this one
		case objectErr == nil:
			return answer{}, err // it is not the last word
		case !errors.Is(objectErr, errNoAnswer) && errors.Is(err, errNoAnswer):
			err, faulty = objectErr, s
		}
	}
	return answer{}, err
}

func decodeAnswer(object []byte, depth int) (answer, error) {
	var raw struct {
		Status     *string           `json:"status"`
		Violations []json.RawMessage `json:"violations"`
		Previous   []struct {
			ID    string `json:"id"`
			Fixed bool   `json:"fixed"`
		} `json:"previous"`
		Result   *string `json:"result"`   // claude --output-format json
		Response *string `json:"response"` // gemini --output-format json
	}
	if err := json.Unmarshal(object, &raw); err != nil {
		if bytes.Contains(object, []byte(`"violations"`)) {
			return answer{}, fmt.Errorf("its JSON cannot be read: %w", err)
		}
		return answer{}, errNoAnswer
	}
	for _, text := range []*string{raw.Result, raw.Response} {
		if text == nil || depth >= maxWrapped {
			continue
		}
		if a, err := lastAnswer(*text, depth+1); !errors.Is(err, errNoAnswer) {
			return a, err
		}
	}
	if raw.Status == nil && raw.Violations == nil {
		return answer{}, errNoAnswer
	}
	a := answer{previous: map[string]bool{}}
	for _, one := range raw.Previous {
		a.previous[one.ID] = one.Fixed
	}
	for i, one := range raw.Violations {
		f, err := decodeFinding(one)
		if err != nil {
			return answer{}, fmt.Errorf("violation %d: %w", i+1, err)
		}
		if i < maxFindings {
			a.violations = append(a.violations, f)
		}
	}
	return a, a.checkStatus(raw.Status)
}

// checkStatus finds answers that say nothing clear. Violations, new or old, outweigh a status.
func (a answer) checkStatus(status *string) error {
	if len(a.violations) > 0 || status == nil {
		return nil
	}
	for _, fixed := range a.previous {
		if !fixed {
			return nil
		}
	}
	switch strings.ToLower(strings.TrimSpace(*status)) {
	case "pass", "passed", "ok", "approved":
		return nil
	case "fail", "failed":
		return errors.New("the status is fail, but there is no violation")
	}
	return fmt.Errorf("the status is %q, expected pass or fail", text.CutBytes(*status, 40))
}

func decodeFinding(raw json.RawMessage) (finding, error) {
	var v struct {
		File     string          `json:"file"`
		Line     json.RawMessage `json:"line"`
		Issue    string          `json:"issue"`
		Fix      string          `json:"fix"`
		Priority string          `json:"priority"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return finding{}, err
	}
	if strings.TrimSpace(v.File) == "" || strings.TrimSpace(v.Issue) == "" {
		return finding{}, errors.New("it has no file or no issue")
	}
	return finding{
		file: v.File, line: firstNumber(v.Line), issue: paragraph(v.Issue), fix: paragraph(v.Fix), priority: priorityOf(v.Priority),
	}, nil
}

// firstNumber reads 12, "12" and "12-15".
func firstNumber(raw json.RawMessage) int {
	text := strings.Trim(string(raw), `" L`)
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		text = text[:end]
	}
	n, _ := strconv.Atoi(text)
	return n
}

// priorities are in order; a smaller index is more urgent.
var priorities = []string{"critical", "high", "medium", "low"}

// priorityOf is medium for what is none.
func priorityOf(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, p := range priorities {
		if p == text {
			return p
		}
	}
	return "medium"
}

// longestText bounds an issue or a fix, in bytes: they are told to the agent.
const longestText = 2000

// paragraph is a reviewer's text on one line, so that it cannot pass for another part of a report.
func paragraph(said string) string { return text.CutBytes(text.Line(said), longestText) }

// span is a part of a text.
type span struct{ start, end int }

// objects finds the balanced JSON objects of a text that stand in no other one, and those of its fenced blocks, since prose with a brace
// may hold a block. The one that ends last stands first; there are at most maxObjects.
func objects(text string) []span {
	found := topLevel(text, 0)
	for _, block := range fenced(text) {
		found = append(found, topLevel(text[block.start:block.end], block.start)...)
	}
	slices.SortStableFunc(found, func(a, b span) int { return b.end - a.end })
	return found[:min(len(found), maxObjects)]
}

const maxObjects = 50

// fenced gives the contents of the last fenced blocks.
func fenced(text string) []span {
	var blocks []span
	start, offset := -1, 0
	for line := range strings.Lines(text) {
		next := offset + len(line)
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			if start < 0 {
				start = next
			} else {
				blocks = append(blocks, span{start, offset})
				start = -1
			}
		}
		offset = next
	}
	return blocks[max(0, len(blocks)-maxObjects):]
}

// topLevel finds in one pass the last balanced objects that stand in no other balanced one, the positions counted from offset. Strings may
// hold braces, but no line end, so that a quote in the prose spoils one line at most. A brace that nothing closes hides nothing behind it.
func topLevel(text string, offset int) []span {
	var open []int
	var closed []span
	inString, escaped := false, false
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '\n':
			inString, escaped = false, false
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"' && len(open) > 0:
			inString = !inString
		case inString:
		case c == '{':
			open = append(open, i)
		case c == '}' && len(open) > 0:
			start := open[len(open)-1]
			open = open[:len(open)-1]
			for len(closed) > 0 && closed[len(closed)-1].start > start {
				closed = closed[:len(closed)-1]
			}
			closed = append(closed, span{start, i + 1})
		}
	}
	closed = closed[max(0, len(closed)-maxObjects):]
	for i := range closed {
		closed[i].start += offset
		closed[i].end += offset
	}
	return closed
}
