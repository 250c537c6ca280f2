package triage

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/text"
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
	Endpoint    string                           // where requests go instead; from the user's file only
	EndpointOf  string                           // the provider beside it in that file: no other one's key goes there
	Model       string                           // another model of a provider; from the user's file only
	ModelOf     string                           // that provider
	Keywords    map[string]map[Category][]string // more words, by language and category
	Files       []string                         // where settings were read
}

func defaultConfig() Config {
	return Config{
		Mode: Hybrid, Messages: defaultMessages, Threshold: defaultThreshold, Thresholds: map[Category]float64{}, Provider: "gemini-flash",
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
	user bool // the user's own: it may say where requests go, unless it lies in the project's folder
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
	l := configLoader{config: defaultConfig(), project: project, home: homeOfUser}
	l.load(env)
	return l.config, l.warnings
}

type configLoader struct {
	config   Config
	warnings []string
	project  string
	home     func() string // the user's home, whatever HOME says
	users    []fs.FileInfo // the user's files that were read
}

func (l *configLoader) load(env func(string) string) {
	sources := configSources(l.project, env)
	for _, source := range slices.Backward(sources) { // the nearest last, so that it counts
		l.file(source)
	}
	l.environment(env)
}

// warn tells of a value that cannot be used.
func (l *configLoader) warn(place, name string, value any, want string) {
	l.say(place, fmt.Sprintf("%s is %s: %s", name, shown(value), want))
}

// say tells of something at a place that is ignored.
func (l *configLoader) say(place, what string) {
	l.warnings = append(l.warnings, fmt.Sprintf("%s: %s: %s; it is ignored", programName, oneLine(place), quote(what)))
}

// shown is a value for a warning, short and harmless.
func shown(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return "unreadable"
	}
	return text.CutBytes(harmless(mask(string(data))), 60)
}

func (l *configLoader) file(source configSource) {
	data, err := readSmall(source.path)
	if errors.Is(err, fs.ErrNotExist) || l.isUsers(source) {
		return
	}
	if err != nil {
		l.say(source.path, "the file cannot be read: "+withoutPath(err).Error())
		return
	}
	var file struct {
		Triage map[string]json.RawMessage `json:"triage"`
	}
	data = bytes.TrimPrefix(data, byteOrderMark)
	if err := json.Unmarshal(data, &file); err != nil {
		what := err.Error()
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			what = `give one object, and in it an object "triage"`
		}
		l.say(place(source.path, data, err), what)
		return
	}
	l.config.Files = append(l.config.Files, source.path)
	if source.user {
		l.dropProjects(source.path, file.Triage)
	}
	for _, name := range slices.Sorted(maps.Keys(file.Triage)) {
		var value any
		if err := json.Unmarshal(file.Triage[name], &value); err != nil {
			// The file is JSON, so it is a number.
			l.say(source.path, fmt.Sprintf("%s holds a number that is too large", shown(name)))
		} else if value != nil {
			l.set(source.path, name, value, source.user)
		}
	}
	if source.user {
		l.destination(source.path, file.Triage)
	}
}

// destination ties a file's endpoint and model to the provider that the same file names. A provider that something else chooses,
// a project's file or a variable that it sets, does not take its key there.
func (l *configLoader) destination(path string, settings map[string]json.RawMessage) {
	read := func(name string) (text string) {
		if json.Unmarshal(settings[name], &text) != nil {
			return "" // told already
		}
		return text
	}
	provider := read("llm_provider")
	if !slices.Contains(providers, provider) {
		provider = ""
	}
	if endpoint := read("llm_endpoint"); endpoint != "" {
		at, err := url.Parse(endpoint)
		switch {
		case err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "":
			l.warn(path, "llm_endpoint", endpoint, "give an address with http or https")
		case provider == "":
			l.say(path, "llm_endpoint needs llm_provider beside it")
		default:
			l.config.Endpoint, l.config.EndpointOf = endpoint, provider
		}
	}
	if model := read("llm_model"); model != "" {
		l.config.Model, l.config.ModelOf = model, cmp.Or(provider, defaultConfig().Provider)
	}
}

var (
	providers     = []string{"gemini-flash", "claude-haiku", "openai", "none"}
	byteOrderMark = []byte("\ufeff")
)

// withoutPath is an error without the path, which stands in front of it already.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
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

// readSmall reads a regular file that people write.
func readSmall(path string) ([]byte, error) {
	const most = 1 << 20
	return readRegular(path, most)
}

// readRegular reads a regular file of at most so many bytes. A FIFO does not make it wait.
func readRegular(path string, most int64) ([]byte, error) {
	f, size, err := openTranscript(path)
	if errors.Is(err, errNotRegular) {
		return nil, errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
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
		if isText && slices.Contains(providers, text) {
			c.Provider = text
		} else {
			l.warn(place, name, value, "give gemini-flash, claude-haiku, openai or none")
		}
	case "llm_timeout_ms":
		if isNumber && number >= 1 && number <= float64(maxTimeout.Milliseconds()) {
			c.Timeout = time.Duration(number * float64(time.Millisecond))
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
		if !user {
			l.say(place, name+" counts only in the user's own settings")
		} else if !isText {
			l.warn(place, name, value, "give a text")
		} // see destination
	case "keywords":
		l.keywords(place, value)
	default:
		l.say(place, shown(name)+" is no setting")
	}
}

func (l *configLoader) thresholds(place string, value any) {
	table, ok := value.(map[string]any)
	if !ok {
		l.warn(place, "thresholds", value, "give an object of categories and numbers")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		v := table[name]
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
	for _, language := range slices.Sorted(maps.Keys(table)) {
		categories := table[language]
		for _, category := range slices.Sorted(maps.Keys(categories)) {
			name := "keywords." + language + "." + string(category)
			if !knownCategory(string(category)) || category == SessionSummary {
				l.say(place, shown(name)+" is no category that is found by words")
				delete(categories, category)
				continue
			}
			categories[category] = slices.DeleteFunc(categories[category], func(words string) bool {
				if pattern := asPattern(words); pattern != "" && strings.Count(pattern, " ") < maxKeyword {
					return false
				}
				l.warn(place, name, words, fmt.Sprintf("give words, at most %d at once", maxKeyword))
				return true
			})
		}
	}
	with := Config{Keywords: table}
	if !fits(with.keywordRules()) {
		l.say(place, "keywords are too many for the tables")
		return
	}
	l.config.Keywords = table
}

// maxKeyword is how many words one keyword may have.
const maxKeyword = 30

// fits says whether the tables have room for more rules. They are filled up to half, as those of the program are; see compile.go.
func fits(extra []rule) bool {
	t := builtin()
	elements, words := 0, map[string]bool{}
	for i := range extra {
		for _, pattern := range extra[i].any {
			for word := range strings.FieldsSeq(pattern) {
				elements++
				words[word] = true
			}
		}
	}
	const most = 1 << 13 // rules: a fraction of what their numbers can count
	return len(extra) <= most && elements <= 1<<15-max(len(t.ids), len(t.elements)) && len(words) < hashSize/2-len(t.words)
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
		l.set(variable, name, value, false)
	}
	for _, name := range []string{"thresholds", "keywords", "llm_endpoint", "llm_model"} {
		if variable := "MEMORY_TRIAGE_" + strings.ToUpper(name); env(variable) != "" {
			l.say(variable, name+" can be set only in "+configName)
		}
	}
}

// configuredRule begins the names of rules that the configuration adds.
const configuredRule = "configured ("

// keywordRules makes rules of the configured words.
func (c *Config) keywordRules() []rule {
	var rules []rule
	for _, language := range slices.Sorted(maps.Keys(c.Keywords)) {
		for _, category := range Categories() {
			for _, words := range c.Keywords[language][category] {
				r := rule{name: configuredRule + language + ")", category: category, weight: plain}
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
