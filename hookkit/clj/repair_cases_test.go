package clj

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// agentCase is a text as an agent may leave it, with a slip or two, and the code that was meant.
type agentCase struct {
	name, text, want string
	open             bool // want is not known: only a refusal is right
}

// agentCases reads testdata/repair_agent.txt: cases that start with a line "=== NAME". ⟦removed|inserted⟧ is what a repair changes. The
// name of a text that allows no repair starts with "open:".
func agentCases(tb testing.TB) []agentCase {
	tb.Helper()
	data, err := os.ReadFile("testdata/repair_agent.txt")
	assert.NilError(tb, err)
	var cases []agentCase
	for i, part := range strings.Split("\n"+string(data), "\n===")[1:] {
		name, marked, _ := strings.Cut(part, "\n")
		c := agentCase{name: strconv.Itoa(i+1) + name, open: strings.HasPrefix(name, " open:")}
		marked = strings.TrimRight(marked, "\n") + "\n"
		for marked != "" {
			same, rest, found := strings.Cut(marked, "⟦")
			c.text, c.want = c.text+same, c.want+same
			if !found {
				break
			}
			change, after, _ := strings.Cut(rest, "⟧")
			removed, inserted, _ := strings.Cut(change, "|")
			c.text, c.want = c.text+removed, c.want+inserted
			marked = after
		}
		cases = append(cases, c)
	}
	return cases
}

func TestRepairOfWhatAgentsWrite(t *testing.T) {
	for _, c := range agentCases(t) {
		t.Run(c.name, func(t *testing.T) {
			r := Repair([]byte(c.text), RepairOptions{})
			if c.open {
				assert.Assert(t, r.Refused != "", "became\n%s", r.Text)
				return
			}
			assert.Equal(t, r.Refused, "", "%v", r.Places)
			assert.Equal(t, string(r.Text), c.want)
		})
	}
}

func TestRepairOfWhatAgentsWriteWithTheFileBefore(t *testing.T) {
	// The edit that made the damage changed a word nearby as well.
	for _, c := range agentCases(t) {
		if c.open {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			before := otherWord(c.text, c.want)
			assert.Equal(t, len(faultsOf(before)), 0, "%s", before)
			r := Repair([]byte(c.text), RepairOptions{Before: before})
			assert.Equal(t, r.Refused, "", "%v", r.Places)
			assert.Equal(t, string(r.Text), c.want)
		})
	}
}

// otherWord gives want with another word right before the first place where it differs from text.
func otherWord(text, want string) []byte {
	differs := 0
	for differs < len(want) && differs < len(text) && text[differs] == want[differs] {
		differs++
	}
	var last Token
	for _, token := range Scan([]byte(want)) {
		if isWord := token.Kind == TokenAtom || token.Kind == TokenNumber; isWord && token.End <= differs || last.End == 0 && isWord {
			last = token
		}
	}
	return bytes.Join([][]byte{[]byte(want[:last.Start]), []byte("other"), []byte(want[last.End:])}, nil)
}
