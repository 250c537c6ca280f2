package triage

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// talk is a labelled conversation.
type talk struct {
	name, source string
	want         []Category
	why          string
	conv         conversation
	proofs       []proof
}

// proof is a text that is marked as evidence.
type proof struct {
	category Category
	message  int
	text     string // bare
}

var (
	markLetters = map[string]Category{"D": Decision, "R": Runbook, "C": Constraint, "T": TechDebt, "P": Preference}
	markPattern = regexp.MustCompile(`<<([DRCTP](?:,[DRCTP])*): ((?s:.*?))>>`)
)

// readTalks reads a file of labelled conversations:
//
//	=== NAME
//	holds: DECISION, TECH_DEBT          or - for nothing
//	why: in one line
//	U: what the user says
//	A: what the agent says, over any number of lines, <<D: with the evidence marked>>
//	T: Edit PATH                        or Write, Read, Grep; Bash COMMAND -> OUTPUT
func readTalks(path string) ([]talk, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []talk
	for _, part := range strings.Split("\n"+string(data), "\n=== ")[1:] {
		t, err := parseTalk(part)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		t.source = filepath.Base(path)
		list = append(list, t)
	}
	return list, nil
}

func parseTalk(text string) (talk, error) {
	lines := strings.Split(text, "\n")
	t := talk{name: strings.TrimSpace(lines[0])}
	if len(lines) < 4 || !strings.HasPrefix(lines[1], "holds: ") || !strings.HasPrefix(lines[2], "why: ") {
		return t, fmt.Errorf("%s has no labels", t.name)
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(lines[1], "holds: "), ",") {
		if name = strings.TrimSpace(name); name != "-" {
			if !knownCategory(name) {
				return t, fmt.Errorf("%s: %q is no category", t.name, name)
			}
			t.want = append(t.want, Category(name))
		}
	}
	t.why = strings.TrimPrefix(lines[2], "why: ")
	const end = 1 << 20 // places count up to 0, the end of the transcript
	var said []string
	var open message
	flush := func() {
		if text := strings.TrimSpace(t.unmark(strings.Join(said, "\n"))); text != "" {
			open.text = text
			t.conv.messages = append(t.conv.messages, open)
		}
		said = nil
	}
	for i, line := range lines[3:] {
		switch {
		case strings.HasPrefix(line, "U: "), strings.HasPrefix(line, "A: "):
			flush()
			open, said = message{agent: line[0] == 'A', at: i - end}, []string{line[3:]}
		case strings.HasPrefix(line, "T: "):
			flush()
			name, rest, _ := strings.Cut(line[3:], " ")
			rest, _, _ = strings.Cut(rest, " -> ")
			use := toolUse{name: name, at: i - end}
			if name == "Bash" {
				use.command = rest
			} else {
				use.path = "/p/" + strings.TrimSpace(rest)
			}
			t.conv.tools = append(t.conv.tools, use)
		case said != nil:
			said = append(said, line)
		}
	}
	flush()
	return t, nil
}

// unmark takes the marks out of a message and notes what they say.
func (t *talk) unmark(text string) string {
	return markPattern.ReplaceAllStringFunc(text, func(s string) string {
		m := markPattern.FindStringSubmatch(s)
		for letter := range strings.SplitSeq(m[1], ",") {
			t.proofs = append(t.proofs, proof{markLetters[letter], len(t.conv.messages), bare(m[2])})
		}
		return m[2]
	})
}

// bare is a text without what Markdown and line ends do to it.
func bare(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("*", "", "_", "", "`", "").Replace(text)), " ")
}

// isEvidence says whether a sentence is marked as evidence of a category.
func (t *talk) isEvidence(c Category, s *sentence) bool {
	text := bare(s.text)
	return slices.ContainsFunc(t.proofs, func(p proof) bool {
		return p.category == c && p.message == s.message && (strings.Contains(text, p.text) || len(text) > 3 && strings.Contains(p.text, text))
	})
}

// readCases reads the cases in a folder, as memory-triage eval does. Those that the loop guard lets go hold nothing to learn from.
func readCases(dir string) ([]talk, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []talk
	for _, e := range entries {
		c, err := readCase(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if c.conversation == nil || len(c.conversation.messages) == 0 {
			continue
		}
		list = append(list, talk{name: e.Name(), source: filepath.Base(dir), want: c.want, why: c.why, conv: *c.conversation})
	}
	return list, nil
}

// readSentences reads the table of sentences, each a conversation of one message.
func readSentences(path string) ([]talk, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []talk
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		columns := strings.SplitN(line, "\t", 4)
		if strings.HasPrefix(line, "#") || len(columns) != 4 {
			continue
		}
		t := talk{name: columns[2], source: filepath.Base(path)}
		if columns[0] != "-" {
			for name := range strings.SplitSeq(columns[0], ",") {
				t.want = append(t.want, Category(name))
			}
		}
		t.conv.messages = []message{{agent: columns[1] == "agent", text: strings.ReplaceAll(columns[3], `\n`, "\n")}}
		list = append(list, t)
	}
	return list, nil
}

// readDialogues reads the table of short conversations.
func readDialogues(path string) ([]talk, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []talk
	for line := range strings.Lines(string(data)) {
		want, turns, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue
		}
		t := talk{name: turns, source: filepath.Base(path)}
		if want != "-" {
			for name := range strings.SplitSeq(want, ",") {
				t.want = append(t.want, Category(name))
			}
		}
		for i, turn := range strings.Split(turns, " || ") {
			const end = 1000 // places count up to 0, the end of the transcript
			if path, edited := strings.CutPrefix(turn, "E:"); edited {
				t.conv.tools = append(t.conv.tools, toolUse{name: "Edit", path: "/p/" + path, at: i - end})
				continue
			}
			t.conv.messages = append(t.conv.messages, message{agent: strings.HasPrefix(turn, "A: "), text: turn[len("U: "):], at: i - end})
		}
		list = append(list, t)
	}
	return list, nil
}

// runTalks applies rules and weights to every conversation in a file.
func runTalks(path string) ([]labelled, error) {
	talks, err := readTalks(path)
	if err != nil {
		return nil, err
	}
	config := defaultConfig()
	cases := make([]labelled, len(talks))
	for i := range talks {
		t := &talks[i]
		a, err := analyseConversation(&t.conv, &config)
		if err != nil {
			return nil, err
		}
		cases[i] = labelled{name: t.name, want: t.want, block: len(t.want) > 0, why: t.why, got: a.decide(&config, verdict{})}
	}
	return cases, nil
}

// runCases applies rules and weights to every case in a folder.
func runCases(dir string) ([]labelled, error) {
	folders, _, err := caseFolders(dir)
	if err != nil {
		return nil, err
	}
	return runFolders(folders)
}
