package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hookkit/brepl/fakes"
)

const expectUsage = "[not] blocked|allowed|goes-on|ended|asked|failed TEXT|told TEXT|shown TEXT|silent|hooks N|exit N [EVENT]|file PATH TEXT|<<FILE"

// expect compares the last turn with what the script says. The error says that the expectation itself is wrong.
func (p *player) expect(c scriptLine) error {
	if p.last == nil {
		return errors.New("there is no turn yet to expect something of")
	}
	words, not := c.words, false
	if words[0] == "not" {
		words, not = words[1:], true
	}
	if len(words) == 0 {
		return errors.New("write it as: expect " + expectUsage)
	}
	holds, came, err := p.holds(p.last, words[0], words[1:])
	if err != nil {
		return err
	}
	if holds == not {
		p.sim.Failures = append(p.sim.Failures, p.errorf(c.number, "expected %s; %s", c.text, came).Error())
	}
	return nil
}

// wrongExpect says what is wrong with the words of an expectation.
func wrongExpect(words []string) error {
	if words[0] == "not" {
		words = words[1:]
	}
	usage := errors.New("write it as: expect " + expectUsage)
	if len(words) == 0 {
		return usage
	}
	counts := map[string][]int{
		"blocked": {0}, "allowed": {0}, "goes-on": {0}, "ended": {0}, "asked": {0}, "silent": {0},
		"failed": {1}, "told": {1}, "shown": {1}, "hooks": {1}, "exit": {1, 2}, "file": {2},
	}
	if !slices.Contains(counts[words[0]], len(words)-1) {
		return usage
	}
	if words[0] == "hooks" || words[0] == "exit" {
		if _, err := strconv.Atoi(words[1]); err != nil {
			return fmt.Errorf("%q is no number", words[1])
		}
	}
	return nil
}

// holds judges one expectation and says what came instead.
func (p *player) holds(t *fakes.Turn, what string, words []string) (holds bool, came string, err error) {
	came = "the turn was:\n" + strings.TrimRight(t.String(), "\n")
	wants := func(n int) bool { return len(words) == n }
	contains := func(text string) bool { return strings.Contains(text, p.names(words[0])) }
	switch {
	case what == "blocked" && wants(0):
		return t.Blocked, came, nil
	case what == "allowed" && wants(0):
		return !t.Blocked && !t.Ended, came, nil
	case what == "goes-on" && wants(0):
		return t.GoesOn, came, nil
	case what == "ended" && wants(0):
		return t.Ended, came, nil
	case what == "asked" && wants(0):
		return t.Asked, came, nil
	case what == "silent" && wants(0):
		return len(t.Told)+len(t.Shown) == 0, came, nil
	case what == "failed" && wants(1):
		return t.ToolFailed && contains(t.ToolResult), came, nil
	case what == "told" && wants(1):
		return contains(t.ToldText()), came, nil
	case what == "shown" && wants(1):
		return contains(t.ShownText()), came, nil
	case what == "hooks" && wants(1):
		n, err := strconv.Atoi(words[0])
		return len(t.Hooks) == n, fmt.Sprintf("%d ran; %s", len(t.Hooks), came), err
	case what == "exit" && (wants(1) || wants(2)):
		n, err := strconv.Atoi(words[0])
		return slices.ContainsFunc(t.Hooks, func(h fakes.HookRun) bool {
			return h.Exit == n && (len(words) == 1 || h.Event == words[1])
		}), came, err
	case what == "file" && wants(2):
		return p.fileHas(words[0], words[1])
	}
	return false, "", errors.New("write it as: expect " + expectUsage)
}

// fileHas compares a file: it contains the text, and is equal to a text of whole lines.
func (p *player) fileHas(name, text string) (holds bool, came string, err error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.dir, filepath.FromSlash(name))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return false, err.Error(), nil //nolint:nilerr // a file that cannot be read does not have the text
	}
	if strings.HasSuffix(text, "\n") {
		return string(data) == text, "the file is:\n" + string(data), nil
	}
	return strings.Contains(string(data), text), "the file is:\n" + string(data), nil
}

// names puts the folders of this run into an expected text.
func (p *player) names(text string) string {
	return strings.NewReplacer("$PROJECT", p.dir, "$HOME", p.home, "$TMPDIR", p.temp).Replace(text)
}
