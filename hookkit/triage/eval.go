package triage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
)

// labelled is a case: a conversation and what two people would find in it.
type labelled struct {
	name  string
	want  []Category
	block bool
	got   []finding
	why   string
	// conversation is what was said, nil where the loop guard lets go or there is no transcript.
	conversation *conversation
}

func evalCommand() cli.Command {
	var mistakes, asJSON, satd bool
	return cli.Command{
		Name:  "eval",
		Usage: "[--mistakes] [--json] [--satd] DIR",
		Short: "Measure the rules on labelled cases",
		Long: `Reads DIR/NAME/transcript.jsonl, event.json and label.json ({"categories": […], "block": true, "why": …}) and prints
precision, recall and F1 of each category, exact sets and block decisions. Folders without a label are skipped. No model is asked and no state is kept.
With --satd DIR is a file of labelled texts, one JSON object a line (text, label, type): TECH_DEBT by type.`,
		Options: func(flags *flag.FlagSet) {
			flags.BoolVar(&mistakes, "mistakes", false, "list the cases that are not exact")
			flags.BoolVar(&asJSON, "json", false, "print one JSON object")
			flags.BoolVar(&satd, "satd", false, "DIR is a file of labelled texts")
		},
		Mixed: true,
		Run: func(_ context.Context, p *cli.Program, args []string) int {
			if len(args) != 1 {
				return p.UsageError(errors.New("name one folder of cases"))
			}
			path := args[0]
			if !filepath.IsAbs(path) {
				path = filepath.Join(p.Dir, path)
			}
			var err error
			if satd {
				err = evalTexts(p.Stdout, path)
			} else {
				err = evalCases(p.Stdout, path, mistakes, asJSON)
			}
			if err != nil {
				_, _ = fmt.Fprintf(p.Stderr, "%s: %v\n", p.Path(), oneLineError(err))
				return 1
			}
			return 0
		},
	}
}

func evalCases(w io.Writer, dir string, mistakes, asJSON bool) error {
	folders, skipped, err := caseFolders(dir)
	if err != nil {
		return err
	}
	cases, err := runFolders(folders)
	if err != nil {
		return err
	}
	q := measure(cases)
	q.Skipped = skipped
	if asJSON {
		data, jsonErr := json.MarshalIndent(q, "", "  ")
		if jsonErr == nil {
			_, jsonErr = fmt.Fprintln(w, string(data))
		}
		return jsonErr
	}
	var b strings.Builder
	b.WriteString(q.text())
	for i := range cases {
		if c := &cases[i]; mistakes && !c.exact() {
			fmt.Fprintf(&b, "%s\n  want %v\n  got  %v\n  %s\n", oneLine(c.name), c.want, c.categories(), quote(c.why))
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}

const labelName = "label.json"

// caseFolders lists the folders with a label, and counts the others. Symbolic links are followed.
func caseFolders(dir string) (folders []string, skipped int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		folder := filepath.Join(dir, e.Name())
		info, statErr := os.Stat(folder)
		if statErr == nil && !info.IsDir() {
			continue
		}
		_, labelErr := os.Stat(filepath.Join(folder, labelName))
		if statErr != nil || strings.HasPrefix(e.Name(), ".") || errors.Is(labelErr, os.ErrNotExist) {
			skipped++
			continue
		}
		folders = append(folders, folder)
	}
	if len(folders) == 0 {
		return nil, skipped, fmt.Errorf("%s holds no cases, which are folders with a %s", dir, labelName)
	}
	return folders, skipped, nil
}

// runFolders applies the rules to the cases in folders.
func runFolders(folders []string) ([]labelled, error) {
	cases := make([]labelled, 0, len(folders))
	for _, folder := range folders {
		c, err := runCase(folder)
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", filepath.Base(folder), err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func runCase(dir string) (labelled, error) {
	c, err := readCase(dir)
	if err != nil || c.conversation == nil {
		return c, err
	}
	config := defaultConfig()
	a, err := analyseConversation(c.conversation, &config)
	if err == nil && a != nil {
		c.got = a.decide(&config, verdict{})
	}
	return c, err
}

// readCase reads a case's label, event and transcript.
func readCase(dir string) (labelled, error) {
	c := labelled{name: filepath.Base(dir)}
	if err := c.readLabel(filepath.Join(dir, labelName)); err != nil {
		return c, fmt.Errorf("%s: %w", labelName, err)
	}
	event := &hookkit.Stop{}
	data, err := readSmall(filepath.Join(dir, "event.json"))
	if err == nil {
		parsed, parseErr := hookkit.ParseEvent(bytes.TrimPrefix(data, byteOrderMark))
		if parseErr != nil {
			return c, fmt.Errorf("event.json: %w", parseErr)
		}
		if stop, ok := parsed.(*hookkit.Stop); ok {
			event = stop
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return c, fmt.Errorf("event.json: %w", withoutPath(err))
	}
	if event.StopHookActive {
		return c, nil // the loop guard: nothing is listed
	}
	f, size, err := openTranscript(filepath.Join(dir, "transcript.jsonl"))
	if errors.Is(err, os.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer func() { _ = f.Close() }() // only read
	conv, err := readConversation(f, size, defaultMessages, event.CWD)
	conv.appendLast(event.LastAssistantMessage, defaultMessages)
	c.conversation = &conv
	return c, err
}

// readLabel reads what two people would find. A label that says less, or names a category that there is not, would be counted as a mistake of
// the rules, so it is an error. A category that is named twice counts once.
func (c *labelled) readLabel(path string) error {
	data, err := readSmall(path)
	if err != nil {
		return withoutPath(err)
	}
	var label struct {
		Categories *[]Category
		Block      *bool
		Why        string
	}
	if err := json.Unmarshal(bytes.TrimPrefix(data, byteOrderMark), &label); err != nil {
		return err
	}
	if label.Categories == nil {
		return errors.New("categories is missing: name them, or give [] for none")
	}
	if label.Block == nil {
		return errors.New("block is missing: say true or false")
	}
	for _, category := range *label.Categories {
		if !knownCategory(string(category)) {
			return fmt.Errorf("%s is no category: there are %s", shown(category), joined(Categories()))
		}
	}
	c.want, c.block, c.why = *label.Categories, *label.Block, label.Why
	return nil
}

func joined(list []Category) string {
	names := make([]string, 0, len(list))
	for _, c := range list {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

func (c *labelled) categories() []Category {
	list := make([]Category, 0, len(c.got))
	for _, f := range c.got {
		list = append(list, f.Category)
	}
	return list
}

func (c *labelled) exact() bool {
	want := slices.Compact(slices.Sorted(slices.Values(c.want)))
	return slices.Equal(slices.Sorted(slices.Values(c.categories())), want)
}

// quality is how well the rules do on labelled cases.
type quality struct {
	Cases      int           `json:"cases"`
	Skipped    int           `json:"skipped"` // folders that are no cases
	Categories []categoryRow `json:"categories"`
	Pooled     categoryRow   `json:"pooled"`
	Exact      float64       `json:"exact_sets"`
	Block      float64       `json:"block_decisions"`
}

type categoryRow struct {
	Category  Category `json:"category"`
	Right     int      `json:"right"`
	Wrong     int      `json:"wrong"`  // said and not so
	Missed    int      `json:"missed"` // so and not said
	Precision float64  `json:"precision"`
	Recall    float64  `json:"recall"`
	F1        float64  `json:"f1"`
}

func (r *categoryRow) ratios() {
	r.Precision, r.Recall = part2(r.Right, r.Right+r.Wrong), part2(r.Right, r.Right+r.Missed)
	r.F1 = part2(2*r.Right, 2*r.Right+r.Wrong+r.Missed)
}

// part2 is a ratio; of nothing, all is right.
func part2(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

func measure(cases []labelled) quality {
	q := quality{Cases: len(cases), Pooled: categoryRow{Category: "all"}}
	for _, category := range Categories() {
		row := categoryRow{Category: category}
		for i := range cases {
			got, want := slices.Contains(cases[i].categories(), category), slices.Contains(cases[i].want, category)
			switch {
			case got && want:
				row.Right++
			case got:
				row.Wrong++
			case want:
				row.Missed++
			}
		}
		row.ratios()
		q.Pooled.Right, q.Pooled.Wrong, q.Pooled.Missed = q.Pooled.Right+row.Right, q.Pooled.Wrong+row.Wrong, q.Pooled.Missed+row.Missed
		q.Categories = append(q.Categories, row)
	}
	q.Pooled.ratios()
	exact, block := 0, 0
	for i := range cases {
		if cases[i].exact() {
			exact++
		}
		if (len(cases[i].got) > 0) == cases[i].block {
			block++
		}
	}
	q.Exact, q.Block = part2(exact, len(cases)), part2(block, len(cases))
	return q
}

func (q *quality) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-16s %9s %7s %5s   right wrong missed\n", "", "precision", "recall", "F1")
	for _, r := range append(slices.Clone(q.Categories), q.Pooled) {
		fmt.Fprintf(&b, "%-16s %9.2f %7.2f %5.2f   %5d %5d %6d\n", r.Category, r.Precision, r.Recall, r.F1, r.Right, r.Wrong, r.Missed)
	}
	fmt.Fprintf(&b, "%d cases, exact sets %.1f %%, block decisions %.1f %%\n", q.Cases, 100*q.Exact, 100*q.Block)
	if q.Skipped > 0 {
		fmt.Fprintf(&b, "skipped: %d without a %s, or with a name that begins with a dot\n", q.Skipped, labelName)
	}
	return b.String()
}

// evalTexts measures TECH_DEBT on labelled texts: each is taken for one message of the agent's.
func evalTexts(w io.Writer, path string) error {
	const most = 256 << 20
	data, err := readRegular(path, most)
	if err != nil {
		return fmt.Errorf("%s: %w", path, withoutPath(err))
	}
	rules, err := newEngine(nil)
	if err != nil {
		return err
	}
	type count struct{ said, all int }
	types := map[string]*count{}
	var pooled categoryRow
	for line := range bytes.Lines(data) {
		var row struct {
			Text, Type string
			Label      int
		}
		if json.Unmarshal(line, &row) != nil {
			continue
		}
		row.Type = quote(row.Type) // it is shown
		c := conversation{messages: []message{{agent: true, text: row.Text}}}
		said := rules.analyse(&c).scores[TechDebt] >= defaultConfig().Threshold
		if types[row.Type] == nil {
			types[row.Type] = &count{}
		}
		types[row.Type].all++
		switch {
		case said && row.Label == 1:
			pooled.Right++
		case said:
			pooled.Wrong++
		case row.Label == 1:
			pooled.Missed++
		}
		if said {
			types[row.Type].said++
		}
	}
	if len(types) == 0 {
		return fmt.Errorf("%s holds no labelled texts", path)
	}
	pooled.ratios()
	var b strings.Builder
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range types {
			if !yield(name) {
				return
			}
		}
	}) {
		fmt.Fprintf(&b, "%-20s said of %4d of %4d, %5.1f %%\n", name, types[name].said, types[name].all, 100*part2(types[name].said, types[name].all))
	}
	fmt.Fprintf(&b, "pooled: precision %.2f, recall %.2f, F1 %.2f\n", pooled.Precision, pooled.Recall, pooled.F1)
	_, err = io.WriteString(w, b.String())
	return err
}
