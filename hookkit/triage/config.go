package triage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Mode says who decides.
type Mode string

// The modes of the seed.
const (
	Hybrid    Mode = "hybrid"    // the rules, and a model where they are in doubt and there is a key
	Heuristic Mode = "heuristic" // the rules alone
	Off       Mode = "off"       // nothing is asked for
)

// Config is the settings under "triage" in memory-config.json.
type Config struct {
	Mode        Mode
	Messages    int     // how many messages from the end are looked at
	Threshold   float64 // what a category's score must reach, 0..1
	Thresholds  map[Category]float64
	Provider    string                           // gemini-flash, claude-haiku, or openai with an endpoint
	Timeout     time.Duration                    // for the model, in all
	Blocking    bool                             // false: the user is told and the agent may stop
	Instruction string                           // replaces the closing sentences
	Endpoint    string                           // of a provider with an OpenAI-compatible API; from the user's file only
	Model       string                           // of that endpoint
	Keywords    map[string]map[Category][]string // more words, by language and category
	Files       []string                         // where settings were read
}

func defaultConfig() Config {
	return Config{
		Mode: Hybrid, Messages: defaultMessages, Threshold: 0.6, Thresholds: map[Category]float64{}, Provider: "gemini-flash",
		Timeout: 10 * time.Second, Blocking: true,
	}
}

// threshold is what a category's score must reach.
func (c *Config) threshold(of Category) float64 {
	if t, ok := c.Thresholds[of]; ok {
		return t
	}
	return c.Threshold
}

const configName = "memory-config.json"

// configSource is a file that may hold settings.
type configSource struct {
	path string
	user bool // the user's own: it may say where requests go
}

// configSources lists the files in which settings are looked for; the first that exists counts for each setting.
func configSources(project string, env func(string) string) []configSource {
	var list []configSource
	if filepath.IsAbs(project) {
		for _, dir := range []string{".claude/memory", ".claude", "."} {
			list = append(list, configSource{path: filepath.Join(project, dir, configName)})
		}
	}
	dir := env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		dir = ""
		if home := env("HOME"); filepath.IsAbs(home) {
			dir = filepath.Join(home, ".config")
		}
	}
	if dir != "" {
		list = append(list, configSource{path: filepath.Join(dir, "memory-triage", configName), user: true})
	}
	if home := env("HOME"); filepath.IsAbs(home) {
		list = append(list, configSource{path: filepath.Join(home, ".claude", configName), user: true})
	}
	return list
}

// loadConfig reads the settings: environment over the project's file over the user's over the defaults. It never fails: each warning
// names a value that cannot be used, and its place.
func loadConfig(project string, env func(string) string) (Config, []string) {
	l := configLoader{config: defaultConfig()}
	sources := configSources(project, env)
	for _, source := range slices.Backward(sources) { // the nearest last, so that it counts
		l.file(source)
	}
	l.environment(env)
	return l.config, l.warnings
}

type configLoader struct {
	config   Config
	warnings []string
}

func (l *configLoader) warn(place, name string, value any, want string) {
	l.warnings = append(l.warnings, fmt.Sprintf("memory-triage: %s: %s is %v: %s; the default is used", place, name, shown(value), want))
}

// shown is a value for a warning, short and harmless.
func shown(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return "unreadable"
	}
	const most = 60
	text := harmless(mask(string(data)))
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.ToValidUTF8(text, "")
}

func (l *configLoader) file(source configSource) {
	data, err := readSmall(source.path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		l.warnings = append(l.warnings, fmt.Sprintf("memory-triage: %s cannot be read: %v; it is ignored", source.path, err))
		return
	}
	var file struct {
		Triage map[string]json.RawMessage `json:"triage"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &file); err != nil {
		l.warnings = append(l.warnings, fmt.Sprintf("memory-triage: %s: %v; it is ignored", place(source.path, data, err), err))
		return
	}
	l.config.Files = append(l.config.Files, source.path)
	names := make([]string, 0, len(file.Triage))
	for name := range file.Triage {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		var value any
		if json.Unmarshal(file.Triage[name], &value) == nil && value != nil {
			l.set(source.path, name, value, source.user)
		}
	}
}

// place adds line and column to a file's name.
func place(path string, data []byte, err error) string {
	offset := int64(-1)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = e.Offset
	} else if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = e.Offset
	}
	if offset < 0 || offset > int64(len(data)) {
		return path
	}
	before := data[:offset]
	return fmt.Sprintf("%s:%d:%d", path, bytes.Count(before, newline)+1, max(1, len(before)-bytes.LastIndexByte(before, '\n')-1))
}

// readSmall reads a regular file of settings. A FIFO does not make it wait.
func readSmall(path string) ([]byte, error) {
	f, size, err := openTranscript(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	const most = 1 << 20
	if size > most {
		return nil, fmt.Errorf("it has %d bytes, more than %d", size, most)
	}
	data := make([]byte, size)
	n, err := f.ReadAt(data, 0)
	if n < len(data) && err != nil {
		return nil, err
	}
	return data[:n], nil
}

// limits of numbers in the settings.
const (
	maxMessages = 1000
	maxTimeout  = 25 * time.Second // the host ends the hook after 30 s
)

func (l *configLoader) set(place, name string, value any, user bool) {
	number, isNumber := value.(float64)
	text, isText := value.(string)
	c := &l.config
	switch name {
	case "mode":
		if m := Mode(text); m == Hybrid || m == Heuristic || m == Off {
			c.Mode = m
		} else {
			l.warn(place, name, value, "give hybrid, heuristic or off")
		}
	case "max_transcript_messages":
		if n := int(number); isNumber && float64(n) == number && n >= 1 && n <= maxMessages {
			c.Messages = n
		} else {
			l.warn(place, name, value, "give a whole number from 1 to 1000")
		}
	case "heuristic_threshold":
		if isNumber && number > 0 && number <= 1 {
			c.Threshold = number
		} else {
			l.warn(place, name, value, "give a number over 0, up to 1")
		}
	case "thresholds":
		l.thresholds(place, value)
	case "llm_provider":
		if isText && slices.Contains([]string{"gemini-flash", "claude-haiku", "openai", "none"}, text) {
			c.Provider = text
		} else {
			l.warn(place, name, value, "give gemini-flash, claude-haiku, openai or none")
		}
	case "llm_timeout_ms":
		if d := time.Duration(number) * time.Millisecond; isNumber && number >= 1 && d <= maxTimeout {
			c.Timeout = d
		} else {
			l.warn(place, name, value, "give milliseconds from 1 to 25000")
		}
	case "blocking":
		if yes, ok := value.(bool); ok {
			c.Blocking = yes
		} else {
			l.warn(place, name, value, "give true or false")
		}
	case "instruction":
		if isText && len(text) <= 2000 {
			c.Instruction = strings.TrimSpace(text)
		} else {
			l.warn(place, name, value, "give a text of at most 2000 bytes")
		}
	case "llm_endpoint", "llm_model":
		switch {
		case !user:
			l.warnings = append(l.warnings, fmt.Sprintf("memory-triage: %s: %s counts only in the user's own settings; it is ignored", place, name))
		case !isText:
			l.warn(place, name, value, "give a text")
		case name == "llm_endpoint":
			c.Endpoint = text
		default:
			c.Model = text
		}
	case "keywords":
		l.keywords(place, value)
	default:
		l.warnings = append(l.warnings, fmt.Sprintf("memory-triage: %s: %s is no setting; it is ignored", place, shown(name)))
	}
}

func (l *configLoader) thresholds(place string, value any) {
	table, ok := value.(map[string]any)
	if !ok {
		l.warn(place, "thresholds", value, "give an object of categories and numbers")
		return
	}
	for name, v := range table {
		number, isNumber := v.(float64)
		if !knownCategory(name) || !isNumber || number <= 0 || number > 1 {
			l.warn(place, "thresholds."+name, v, "give a category and a number over 0, up to 1")
			continue
		}
		l.config.Thresholds[Category(name)] = number
	}
}

// keywords are more words by language: {"de": {"DECISION": ["wir haben uns für … entschieden"]}}.
func (l *configLoader) keywords(place string, value any) {
	data, err := json.Marshal(value)
	var table map[string]map[Category][]string
	if err == nil {
		err = json.Unmarshal(data, &table)
	}
	if err != nil {
		l.warn(place, "keywords", value, "give languages, in them categories, in them lists of words")
		return
	}
	for language, categories := range table {
		for category := range categories {
			if !knownCategory(string(category)) || category == SessionSummary {
				l.warn(place, "keywords."+language+"."+string(category), len(categories[category]), "it is no category that is found by words")
				delete(categories, category)
			}
		}
	}
	l.config.Keywords = table
}

// environment takes MEMORY_TRIAGE_MODE and its sisters. Where requests go is not among them: a project's settings can set variables.
func (l *configLoader) environment(env func(string) string) {
	for _, name := range []string{"mode", "max_transcript_messages", "heuristic_threshold", "llm_provider", "llm_timeout_ms", "blocking", "instruction"} {
		variable := "MEMORY_TRIAGE_" + strings.ToUpper(name)
		text := env(variable)
		if text == "" {
			continue
		}
		var value any = text
		if name == "max_transcript_messages" || name == "heuristic_threshold" || name == "llm_timeout_ms" {
			if number, err := strconv.ParseFloat(text, 64); err == nil {
				value = number
			}
		}
		if name == "blocking" {
			if yes, err := strconv.ParseBool(text); err == nil {
				value = yes
			}
		}
		l.set(variable, name, value, true)
	}
}

// keywordRules makes rules of the configured words.
func (c *Config) keywordRules() []rule {
	var rules []rule
	languages := make([]string, 0, len(c.Keywords))
	for language := range c.Keywords {
		languages = append(languages, language)
	}
	slices.Sort(languages)
	for _, language := range languages {
		for _, category := range Categories() {
			for _, words := range c.Keywords[language][category] {
				r := rule{name: "configured (" + language + ")", category: category, weight: plain}
				if pattern := asPattern(words); pattern != "" {
					r.any = []string{pattern}
					rules = append(rules, r)
				}
			}
		}
	}
	return rules
}

// asPattern makes a pattern of plain words; "…" and "..." are a gap.
func asPattern(words string) string {
	var parts []string
	named := 0
	for _, w := range tokens(strings.ReplaceAll(words, "...", "…")) {
		switch {
		case w.word == "…":
			parts = append(parts, "...")
		case !isMark(w.word):
			parts = append(parts, strings.NewReplacer("|", "", "{", "", "}", "", "?", "").Replace(w.word))
			named++
		}
	}
	if named == 0 {
		return ""
	}
	return strings.Join(parts, " ")
}
