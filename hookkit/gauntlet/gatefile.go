package gauntlet

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"go.yaml.in/yaml/v3"

	"github.com/hookkit/brepl/hookkit/config"
	"github.com/hookkit/brepl/hookkit/text"
)

// Default timeouts. The seed's entry gives the whole stop hook 300 s; by hand and in CI a gate may take longer.
const (
	defaultCheckTimeout  = 15 * time.Minute
	defaultReviewTimeout = 5 * time.Minute
)

type (
	checkFile struct {
		Command          string   `yaml:"command"`
		WorkingDirectory string   `yaml:"working_directory"`
		Parallel         bool     `yaml:"parallel"`
		RunLocally       *bool    `yaml:"run_locally"`
		RunInCI          *bool    `yaml:"run_in_ci"`
		Timeout          *float64 `yaml:"timeout"`
		FailFast         bool     `yaml:"fail_fast"`
		FixInstructions  string   `yaml:"fix_instructions"`
		CannotRun        string   `yaml:"cannot_run"`
	}
	reviewFront struct {
		CLIPreference []string `yaml:"cli_preference"`
		NumReviews    *int     `yaml:"num_reviews"`
		Parallel      *bool    `yaml:"parallel"`
		RunLocally    *bool    `yaml:"run_locally"`
		RunInCI       *bool    `yaml:"run_in_ci"`
		Timeout       *float64 `yaml:"timeout"`
		Model         string   `yaml:"model"`
		CannotRun     string   `yaml:"cannot_run"`
	}
)

// loadGates reads the files of checks and reviews and ties them to the entry points.
func (c *Config) loadGates(raw *configFile, text string) error {
	var faults []error
	for _, kind := range []Kind{Check, Review} {
		for _, path := range gateFiles(c.Root, kind) {
			gate, err := c.loadGate(kind, path)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			if other := c.gate(kind, gate.Name); other != nil {
				faults = append(faults, fmt.Errorf("%s: there is %s already: two files for one %s", rel(c.Root, path), rel(c.Root, other.Path), kind))
				continue
			}
			c.Gates = append(c.Gates, gate)
		}
	}
	faults = append(faults, c.tie(raw, text)...)
	faults = append(faults, c.toolFaults(text)...)
	if err := errors.Join(faults...); err != nil {
		return err
	}
	sum := fnv.New128a()
	_, _ = sum.Write([]byte(text)) // a hash takes everything
	for _, gate := range c.Gates {
		_, _ = sum.Write([]byte(gate.definition))
	}
	c.definition = fmt.Sprintf("%x", sum.Sum(nil))
	return nil
}

// gateFiles lists the files of one kind of gates, by name.
func gateFiles(root string, kind Kind) []string {
	dir, endings := checksDir, []string{".yml", ".yaml"}
	if kind == Review {
		dir, endings = reviewsDir, []string{".md"}
	}
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
	if err != nil {
		return nil // no such folder: no gates of this kind
	}
	var paths []string
	for _, entry := range entries {
		if slices.Contains(endings, filepath.Ext(entry.Name())) && !strings.HasPrefix(entry.Name(), ".") {
			paths = append(paths, filepath.Join(root, filepath.FromSlash(dir), entry.Name()))
		}
	}
	return paths
}

func (c *Config) loadGate(kind Kind, path string) (*Gate, error) {
	data, err := readSettings(path)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	g := &Gate{Kind: kind, Name: strings.TrimSuffix(name, filepath.Ext(name)), Path: path, RunLocally: true, RunInCI: true}
	var faults []config.Fault
	if kind == Check {
		faults, err = c.checkGate(g, data)
	} else {
		faults, err = c.reviewGate(g, data)
	}
	if err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		return nil, &config.Error{Path: rel(c.Root, path), Faults: faults}
	}
	sum := fnv.New128a()
	_, _ = fmt.Fprintf(sum, "%s\x00%s\x00%s", data, g.FixInstructions, g.Name) // a hash takes everything
	g.definition = fmt.Sprintf("%x", sum.Sum(nil))
	return g, nil
}

func (c *Config) checkGate(g *Gate, data []byte) (faults []config.Fault, err error) {
	file := checkFile{}
	if err = config.Decode(rel(c.Root, g.Path), data, &file); err != nil {
		return nil, err
	}
	if strings.TrimSpace(file.Command) == "" {
		faults = append(faults, config.Fault{Text: "command is missing: a check needs one"})
	}
	g.Command, g.Parallel, g.FailFast = file.Command, file.Parallel, file.FailFast
	if file.WorkingDirectory != "" {
		if !filepath.IsLocal(file.WorkingDirectory) {
			faults = append(faults, keyFault(data, "working_directory", "expected a folder of the project, found %q", file.WorkingDirectory))
		}
		g.WorkingDirectory = filepath.ToSlash(filepath.Clean(file.WorkingDirectory))
	}
	faults = append(faults, g.common(data, file.RunLocally, file.RunInCI, file.Timeout, file.CannotRun, defaultCheckTimeout)...)
	if file.FixInstructions != "" {
		text, err := c.fixInstructions(file.FixInstructions)
		if err != nil {
			faults = append(faults, keyFault(data, "fix_instructions", "%v", err))
		}
		g.FixInstructions = text
	}
	return faults, nil
}

// fixInstructions reads the file that the key names, below .gauntlet.
func (c *Config) fixInstructions(name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("expected a file under %s, found %q", configDir, name)
	}
	text, err := readSettings(filepath.Join(c.Root, configDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no file %s/%s", configDir, name)
	}
	return strings.TrimSpace(string(text)), err
}

func (c *Config) reviewGate(g *Gate, data []byte) ([]config.Fault, error) {
	front, body, hasFront := cutFront(data)
	file := reviewFront{}
	if hasFront {
		// The front matter begins in line 2: a blank line in front keeps the numbers right.
		front = append([]byte("\n"), front...)
		if err := config.Decode(rel(c.Root, g.Path), front, &file); err != nil {
			return nil, err
		}
	}
	var faults []config.Fault
	if !hasFront && bytes.HasPrefix(body, []byte("---")) {
		faults = append(faults, config.Fault{Line: 1, Text: "the front matter has no end: a line \"---\" is missing"})
	}
	g.CLIPreference, g.Model, g.NumReviews = file.CLIPreference, file.Model, 1
	if file.NumReviews != nil {
		g.NumReviews = *file.NumReviews
		if g.NumReviews < 1 {
			faults = append(faults, keyFault(front, "num_reviews", "expected a whole number of at least 1, found %d", g.NumReviews))
		}
	}
	g.Parallel = file.Parallel == nil || *file.Parallel
	g.Instructions = strings.TrimSpace(string(body))
	if g.Instructions == "" {
		faults = append(faults, config.Fault{Text: "the body is empty: it is the reviewer's instructions"})
	}
	return append(faults, g.common(front, file.RunLocally, file.RunInCI, file.Timeout, file.CannotRun, defaultReviewTimeout)...), nil
}

// cutFront splits a file into its front matter, the lines between two lines "---" at its beginning, and the rest.
func cutFront(data []byte) (front, body []byte, ok bool) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	first, rest, found := bytes.Cut(data, []byte("\n"))
	if !found || string(bytes.TrimRight(first, " \t\r")) != "---" {
		return nil, data, false
	}
	for at := 0; at < len(rest); {
		line, _, _ := bytes.Cut(rest[at:], []byte("\n"))
		next := min(at+len(line)+1, len(rest))
		if string(bytes.TrimRight(line, " \t\r")) == "---" {
			return rest[:at], rest[next:], true
		}
		at = next
	}
	return nil, data, false
}

// common settles what checks and reviews share.
func (g *Gate) common(data []byte, locally, inCI *bool, seconds *float64, cannotRun string, timeout time.Duration) (faults []config.Fault) {
	if locally != nil {
		g.RunLocally = *locally
	}
	if inCI != nil {
		g.RunInCI = *inCI
	}
	g.Timeout = timeout
	const longest = 24 * 60 * 60
	if seconds != nil {
		g.Timeout = time.Duration(*seconds * float64(time.Second))
		if !(*seconds > 0 && *seconds <= longest) { // NaN is neither
			faults = append(faults, keyFault(data, "timeout", "expected seconds, more than 0 and at most a day, found %g", *seconds))
		}
	}
	g.CannotRun = Policy(cannotRun)
	switch g.CannotRun {
	case CannotRunAllows, CannotRunBlocks:
	case "":
		g.CannotRun = CannotRunAllows
	default:
		faults = append(faults, keyFault(data, "cannot_run", "expected block or allow, found %q", cannotRun))
	}
	return faults
}

// tie gives each entry point its gates.
func (c *Config) tie(raw *configFile, text string) (faults []error) {
	var doc yaml.Node
	_ = yaml.Unmarshal([]byte(text), &doc) // it has been decoded before
	fault := func(line int, format string, args ...any) {
		faults = append(faults, &config.Error{Path: rel(c.Root, c.Path), Faults: []config.Fault{{Line: line, Text: fmt.Sprintf(format, args...)}}})
	}
	if raw.EntryPoints == nil {
		fault(0, "entry_points is missing: it says which gates are for which files")
	}
	for i, section := range raw.EntryPoints {
		line := nodeLine(&doc, "entry_points", i)
		entry := EntryPoint{Path: cleanPattern(section.Path), Exclude: section.Exclude}
		for _, pattern := range append([]string{section.Path}, section.Exclude...) {
			if why := badPattern(pattern); why != "" {
				fault(line, "entry point %q: %s", section.Path, why)
			}
		}
		for _, group := range []struct {
			kind  Kind
			names []string
		}{{Check, section.Checks}, {Review, section.Reviews}} {
			for _, name := range group.names {
				gate := c.gate(group.kind, name)
				if gate == nil {
					fault(line, "entry point %q: %s", section.Path, c.unknownGate(group.kind, name))
					continue
				}
				entry.Gates = append(entry.Gates, gate)
				if gate.Kind == Review && len(gate.CLIPreference) == 0 && len(c.CLIPreference) == 0 {
					fault(line, "cli.default_preference is missing: review %q needs a tool", gate.Name)
				}
			}
		}
		c.EntryPoints = append(c.EntryPoints, entry)
	}
	return faults
}

func (c *Config) gate(kind Kind, name string) *Gate {
	for _, g := range c.Gates {
		if g.Kind == kind && g.Name == name {
			return g
		}
	}
	return nil
}

func (c *Config) unknownGate(kind Kind, name string) string {
	var names []string
	for _, path := range gateFiles(c.Root, kind) {
		names = append(names, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	}
	where := checksDir + "/" + name + ".yml"
	if kind == Review {
		where = reviewsDir + "/" + name + ".md"
	}
	if slices.Contains(names, name) {
		return fmt.Sprintf("%s %q cannot be used: its file is faulty", kind, name)
	}
	if meant := text.Near(name, names); meant != "" {
		return fmt.Sprintf("unknown %s %q; did you mean %q?", kind, name, meant)
	}
	return fmt.Sprintf("unknown %s %q: there is no %s", kind, name, where)
}

// cleanPattern is a path of an entry point without "./" in front and "/" at the end.
func cleanPattern(text string) string {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "./"), "/")
	if text == "" {
		return "."
	}
	return text
}

func badPattern(text string) string {
	switch {
	case text == "":
		return "an empty path; the root is \".\""
	case strings.HasPrefix(text, "/") || slices.Contains(strings.Split(text, "/"), ".."):
		return fmt.Sprintf("%q leads outside of the project", text)
	case !doublestar.ValidatePattern(text):
		return fmt.Sprintf("%q is a malformed pattern", text)
	}
	return ""
}

// keyFault is a fault of a key at the top of a file, with its line.
func keyFault(data []byte, key, format string, args ...any) config.Fault {
	var doc yaml.Node
	_ = yaml.Unmarshal(data, &doc) // it has been decoded before
	return config.Fault{Line: nodeLine(&doc, key, -1), Text: key + ": " + fmt.Sprintf(format, args...)}
}

// nodeLine is the line of a key at the top of a document, or with i ≥ 0 of an item of its list; 0 if it is not there.
func nodeLine(doc *yaml.Node, key string, i int) int {
	if len(doc.Content) == 0 {
		return 0
	}
	top := doc.Content[0]
	for k := 0; k+1 < len(top.Content); k += 2 {
		if top.Content[k].Value != key {
			continue
		}
		if list := top.Content[k+1]; i >= 0 && i < len(list.Content) {
			return list.Content[i].Line
		}
		return top.Content[k].Line
	}
	return 0
}
