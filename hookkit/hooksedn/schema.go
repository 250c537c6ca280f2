package hooksedn

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/proc"
	"github.com/hookkit/brepl/hookkit/text"
)

// field is a row of the schema of a hook.
type field struct {
	key      string // without the colon
	of       Type   // "" for every type
	required bool
	expected string // how an error names what belongs here
	set      func(h *Hook, n *clj.Node, src []byte) wrong
}

// wrong is the place where a value is not what was expected, and why if that is not plain; a nil place is fine.
type wrong struct {
	at  *clj.Node
	why string
}

// unless is the check of a whole value.
func unless(ok bool, n *clj.Node) wrong {
	if ok {
		return wrong{}
	}
	return wrong{at: n}
}

// fields is the schema of hooks.edn: a hook's keys, what each takes and where it goes.
var fields = [...]field{
	{key: "type", required: true, expected: ":tests, :repl or :bash", set: setType},
	{key: "name", required: true, expected: "a string that is not empty, on one line", set: setName},
	{key: "retry-on-failure?", expected: "true or false", set: setBool(func(h *Hook) *bool { return &h.Retry })},
	{key: "loop-on-failure?", expected: "true or false", set: setBool(func(h *Hook) *bool { return &h.Retry })},
	{key: "max-retries", expected: "an integer of 0 or more (0: no limit)", set: setMaxRetries},
	{key: "required?", expected: "true or false", set: setBool(func(h *Hook) *bool { return &h.Required })},
	{key: "timeout", expected: "a positive integer (seconds)", set: setSeconds(func(h *Hook) *time.Duration { return &h.Timeout })},
	{key: "when-changed", expected: "a vector of glob patterns (strings)", set: setPatterns(func(h *Hook) *[]string { return &h.WhenChanged })},
	{key: "code", of: REPL, required: true, expected: "a string with Clojure code, or a form", set: setCode},
	{key: "command", of: Bash, required: true, expected: "a string with a shell command", set: setCommand},
	{key: "cwd", of: Bash, expected: "a string with a directory", set: setCwd},
	{key: "env", of: Bash, expected: "a map of strings to strings", set: setEnv},
	{key: "namespaces", of: Tests, expected: "a string with a regular expression", set: setNamespaces},
	{key: "paths", of: Tests, expected: "a vector of glob patterns (strings)", set: setPatterns(func(h *Hook) *[]string { return &h.Tests.Paths })},
	{key: "exclude", of: Tests, expected: "a vector of glob patterns (strings)", set: setPatterns(func(h *Hook) *[]string { return &h.Tests.Exclude })},
	{key: "focus", of: Tests, expected: "a keyword, or a vector of keywords", set: setKeywords(func(h *Hook) *[]string { return &h.Tests.Focus })},
	{key: "skip", of: Tests, expected: "a keyword, or a vector of keywords", set: setKeywords(func(h *Hook) *[]string { return &h.Tests.Skip })},
	{key: "changed-only?", of: Tests, expected: "true or false", set: setBool(func(h *Hook) *bool { return &h.Tests.ChangedOnly })},
	{key: "namespace-timeout", of: Tests, expected: "a positive integer (seconds)", set: setSeconds(func(h *Hook) *time.Duration { return &h.Tests.NamespaceTimeout })},
}

// topKeys are the keys at the top of hooks.edn.
var topKeys = []string{"stop", "subagents?", "skip-while-background?", "inform", "validate", "eval"}

const (
	defaultTimeout    = 60 * time.Second
	defaultMaxRetries = 10
)

// parse checks a configuration. path is used in messages, dir is the project. With an error it gives what has no fault.
func parse(path, dir string, src []byte) (*Config, error) {
	p := &parser{config: &Config{Path: path, Dir: dir, src: src}, src: src}
	name := path
	if rel, err := filepath.Rel(dir, path); err == nil {
		name = rel
	}
	p.file = name
	if m := p.read("{:stop []}"); m != nil {
		p.top(m)
	}
	if len(p.errs) > 0 {
		return p.config, p.failure()
	}
	return p.config, nil
}

// read gives the map that a file holds; nil where it holds none, or what else seems wrong may come from that. example is such a map.
func (p *parser) read(example string) *clj.Node {
	if !utf8.Valid(p.src) {
		p.addAt(clj.Pos{Line: 1, Column: 1}, "the file is not UTF-8")
		return nil
	}
	// Read as Clojure, because :code may be a form with quotes and the like in it. Nothing is evaluated: elsewhere in the
	// file such forms are of a wrong kind, and the checks say so.
	forms, errs := clj.ReadAll(p.file, p.src, clj.Options{Dialect: clj.Clojure, MaxDepth: maxDepth, MaxBytes: maxBytes})
	for _, e := range errs {
		p.errs = append(p.errs, Remark{Pos: e.Pos, Text: e.Message})
	}
	switch {
	case len(errs) > 0 && (len(forms) == 0 || len(clj.CheckDelimiters(p.file, p.src)) > 0):
		return nil
	case len(forms) == 0:
		p.addAt(clj.Pos{Line: 1, Column: 1}, "the file is empty; expected a map such as "+example)
		return nil
	case forms[0].Kind != clj.Map:
		p.add(forms[0], "expected a map such as %s, found %s", example, describe(forms[0]))
		return nil
	}
	for _, extra := range forms[1:] {
		p.add(extra, "expected one map, found something after it")
	}
	return forms[0]
}

// parser collects what the file holds and what is wrong with it.
type parser struct {
	file   string
	src    []byte
	config *Config
	errs   []Remark
}

func (p *parser) failure() error { return &ConfigError{File: p.file, src: p.src, Faults: p.errs} }

func (p *parser) add(n *clj.Node, format string, args ...any) {
	p.addAt(n.Start, fmt.Sprintf(format, args...))
}

func (p *parser) addAt(pos clj.Pos, what string) {
	p.errs = append(p.errs, Remark{Pos: pos, Text: text.Escaped(what, "")})
}

func (p *parser) doubt(n *clj.Node, format string, args ...any) {
	p.config.Doubts = append(p.config.Doubts, Remark{Pos: n.Start, Text: text.Escaped(fmt.Sprintf(format, args...), "")})
}

func (p *parser) top(m *clj.Node) {
	if m.Get("stop") == nil {
		p.checkMissing(m, "stop", topKeys)
	}
	for key, value := range m.Pairs() {
		name := keyword(key)
		switch name {
		case "stop":
			if value.Kind != clj.Vector {
				p.add(value, ":stop must be a vector of hooks, found %s", describe(value))
				continue
			}
			p.hooks(value.Children)
		case "subagents?":
			p.flag(key, value, &p.config.Subagents)
		case "skip-while-background?":
			p.flag(key, value, &p.config.SkipWhileBackground)
		case "inform":
			switch keyword(value) {
			case "user":
				p.config.InformUser = true
			case "agent":
			default:
				p.add(value, ":inform must be :user or :agent, found %s", describe(value))
			}
		case "validate":
			p.section(name, value, []option{{"exclude", p.globs(&p.config.Exclude)}})
		case "eval":
			p.section(name, value, []option{{"exclude", p.globs(&p.config.Eval.Exclude)}, {"unmap", p.unless(&p.config.Eval.KeepGone)}})
		default:
			p.doubt(key, "unknown key %s%s", clj.Source(p.src, key), suggestion(name, topKeys))
		}
	}
}

// option is a key of a map at the top, and what reads its value there; label begins what is wrong with it.
type option struct {
	key string
	set func(label string, value *clj.Node)
}

// section reads a map at the top that is about the edit hooks. They pass over what is wrong there.
func (p *parser) section(name string, m *clj.Node, options []option) {
	if m.Kind != clj.Map {
		p.add(m, ":%s must be a map such as {:exclude [\"test/broken/**\"]}, found %s", name, describe(m))
		return
	}
	known := make([]string, len(options))
	for i, o := range options {
		known[i] = o.key
	}
	for key, value := range m.Pairs() {
		at := slices.Index(known, keyword(key))
		if at < 0 {
			p.doubt(key, ":%s: unknown key %s%s", name, clj.Source(p.src, key), suggestion(keyword(key), known))
			continue
		}
		options[at].set(fmt.Sprintf(":%s: :%s", name, known[at]), value)
	}
}

// unless reads a flag whose false is what is noted.
func (p *parser) unless(into *bool) func(label string, value *clj.Node) {
	return func(label string, value *clj.Node) {
		b, ok := value.Bool()
		if !ok {
			p.add(value, "%s must be true or false, found %s", label, describe(value))
		}
		*into = ok && !b
	}
}

// globs reads patterns of files in the project.
func (p *parser) globs(into *[]string) func(label string, value *clj.Node) {
	return func(label string, value *clj.Node) {
		if value.Kind != clj.Vector {
			p.add(value, "%s must be a vector of glob patterns (strings), found %s", label, describe(value))
			return
		}
		for _, c := range value.Children {
			switch problem := checkPattern(c.Text); {
			case c.Kind != clj.String:
				p.add(c, "%s must hold glob patterns (strings), found %s", label, describe(c))
			case problem != "":
				p.add(c, "%s must hold glob patterns of files in the project, found %s, which is %s", label, describe(c), problem)
			default:
				*into = append(*into, c.Text)
			}
		}
	}
}

// checkMissing finds a key that was misspelt, where nothing would be kept from passing without it: :stop.
func (p *parser) checkMissing(m *clj.Node, missing string, known []string) {
	for key := range m.Pairs() {
		if key.Kind != clj.Keyword && key.Kind != clj.Symbol && key.Kind != clj.String {
			continue
		}
		if !slices.Contains(known, keyword(key)) && text.Distance(key.Text, missing) <= 1 {
			p.add(key, ":%s is missing (there is `%s`; did you mean `:%s`?)", missing, clj.Source(p.src, key), missing)
		}
	}
}

func (p *parser) flag(key, value *clj.Node, into *bool) {
	b, ok := value.Bool()
	if !ok {
		p.add(value, "%s must be true or false, found %s", clj.Source(p.src, key), describe(value))
	}
	*into = b
}

func (p *parser) hooks(entries []*clj.Node) {
	seen := map[string]clj.Pos{}
	for i, entry := range entries {
		if entry.Kind != clj.Map {
			p.add(entry, "hook %d must be a map, found %s", i+1, describe(entry))
			continue
		}
		h := p.hook(i, entry)
		if h.Name == "" {
			continue
		}
		if first, double := seen[h.Name]; double {
			p.add(entry.Get("name"), "hook %d: the :name %q is taken by the hook at line %d; names tell counts apart", i+1, h.Name, first.Line)
			continue
		}
		seen[h.Name] = entry.Start
		p.config.Hooks = append(p.config.Hooks, h)
	}
}

func (p *parser) hook(index int, entry *clj.Node) *Hook {
	h := &Hook{Timeout: defaultTimeout, MaxRetries: defaultMaxRetries, Cwd: ".", Source: clj.Source(p.src, entry)}
	label := fmt.Sprintf("hook %d", index+1)
	if n := entry.Get("name"); n != nil && n.Kind == clj.String && !strings.ContainsFunc(n.Text, unicode.IsControl) {
		label = fmt.Sprintf("hook '%s'", n.Text)
	}
	// The type decides which other fields are looked at, so it comes first.
	typeKnown := false
	if n := entry.Get("type"); n != nil {
		typeKnown = setType(h, n, p.src).at == nil
	}
	for i := range fields {
		f := &fields[i]
		if f.of != "" && (!typeKnown || f.of != h.Type) {
			continue
		}
		n := entry.Get(f.key)
		switch {
		case n == nil && f.required:
			p.addAt(entry.Start, fmt.Sprintf("%s: :%s is missing; expected %s%s", label, f.key, f.expected, nearMiss(entry, f.key)))
		case n != nil:
			if w := f.set(h, n, p.src); w.at != nil {
				p.add(w.at, "%s: :%s must be %s, found %s%s", label, f.key, f.expected, describe(w.at), w.why)
			}
		}
	}
	p.checkCode(h, label, entry)
	if entry.Get("retry-on-failure?") != nil && entry.Get("loop-on-failure?") != nil {
		p.add(entry.Get("loop-on-failure?"), "%s: :loop-on-failure? is the old name of :retry-on-failure?; give one of them", label)
	}
	for key := range entry.Pairs() {
		p.checkKey(label, h, typeKnown, key)
	}
	return h
}

// checkCode finds code that cannot be read, before a server answers it with silence.
func (p *parser) checkCode(h *Hook, label string, entry *clj.Node) {
	n := entry.Get("code")
	if h.Type != REPL || n == nil {
		return
	}
	if n.Kind == clj.String && strings.TrimSpace(h.Code) == "" {
		p.add(n, "%s: :code is empty", label)
	}
	for _, e := range clj.CheckDelimiters("", []byte(h.Code)) {
		if n.Kind == clj.String {
			p.add(n, "%s: :code cannot be read: at its line %d, column %d: %s", label, e.Pos.Line, e.Pos.Column, e.Message)
		} else {
			p.add(n, "%s: :code cannot be read: %s", label, e.Message)
		}
	}
}

func (p *parser) checkKey(label string, h *Hook, typeKnown bool, key *clj.Node) {
	name := keyword(key)
	for i := range fields {
		if fields[i].key != name {
			continue
		}
		if of := fields[i].of; typeKnown && of != "" && of != h.Type {
			p.doubt(key, "%s: :%s has no meaning in a hook of :type %s", label, name, h.Type)
		}
		return
	}
	p.doubt(key, "%s: unknown key %s%s", label, clj.Source(p.src, key), suggestion(name, fieldKeys()))
}

func fieldKeys() []string {
	keys := make([]string, len(fields))
	for i := range fields {
		keys[i] = fields[i].key
	}
	return keys
}

// nearMiss points from a missing key to one in the entry that was probably meant: :cmd for :command.
func nearMiss(entry *clj.Node, missing string) string {
	known := fieldKeys()
	for key := range entry.Pairs() {
		if name := keyword(key); name != "" && !slices.Contains(known, name) && similar(name, missing) {
			return fmt.Sprintf(" (there is `:%s`; did you mean `:%s`?)", name, missing)
		}
	}
	return ""
}

func setType(h *Hook, n *clj.Node, _ []byte) wrong {
	t := Type(":" + keyword(n))
	if t == REPL || t == Bash || t == Tests {
		h.Type = t
	}
	return unless(h.Type == t, n)
}

func setName(h *Hook, n *clj.Node, _ []byte) wrong {
	h.Name = text.Clean(n.Text) // it stands in everything that the agent is told
	if n.Kind != clj.String || strings.TrimSpace(h.Name) == "" || strings.ContainsFunc(n.Text, unicode.IsControl) {
		h.Name = ""
	}
	return unless(h.Name != "", n)
}

func setBool(of func(*Hook) *bool) func(*Hook, *clj.Node, []byte) wrong {
	return func(h *Hook, n *clj.Node, _ []byte) wrong {
		b, ok := n.Bool()
		*of(h) = *of(h) || b
		return unless(ok, n)
	}
}

func setMaxRetries(h *Hook, n *clj.Node, _ []byte) wrong {
	i, ok := n.Int()
	h.MaxRetries = int(i)
	return unless(ok && i >= 0 && i <= math.MaxInt32, n)
}

func setSeconds(of func(*Hook) *time.Duration) func(*Hook, *clj.Node, []byte) wrong {
	const longest = math.MaxInt64 / int64(time.Second) / 1000 // sums of hooks must not overflow
	return func(h *Hook, n *clj.Node, _ []byte) wrong {
		i, ok := n.Int()
		*of(h) = time.Duration(min(i, longest)) * time.Second
		return unless(ok && i > 0, n)
	}
}

func setCode(h *Hook, n *clj.Node, src []byte) wrong {
	switch n.Kind {
	case clj.String:
		h.Code = n.Text
	case clj.Nil, clj.Bool, clj.Integer, clj.Float, clj.Keyword, clj.Char:
		return wrong{at: n} // never what somebody wants evaluated
	default:
		h.Code = clj.Source(src, n)
	}
	return wrong{}
}

func setCommand(h *Hook, n *clj.Node, _ []byte) wrong {
	h.Command = n.Text
	return unless(n.Kind == clj.String && strings.TrimSpace(n.Text) != "" && !strings.ContainsRune(n.Text, 0), n)
}

func setCwd(h *Hook, n *clj.Node, _ []byte) wrong {
	h.Cwd = n.Text
	return unless(n.Kind == clj.String && n.Text != "" && !strings.ContainsRune(n.Text, 0), n)
}

func setEnv(h *Hook, n *clj.Node, _ []byte) wrong {
	if n.Kind != clj.Map {
		return wrong{at: n}
	}
	for key, value := range n.Pairs() {
		switch {
		case key.Kind != clj.String:
			return wrong{at: key}
		case key.Text == "" || strings.ContainsAny(key.Text, "=\x00"):
			return wrong{key, ", which is no name of a variable"}
		case value.Kind != clj.String:
			return wrong{at: value}
		case strings.ContainsRune(value.Text, 0):
			return wrong{value, ", which holds a NUL"}
		}
		h.Env = append(h.Env, proc.Var{Name: key.Text, Value: value.Text})
	}
	return wrong{}
}

func setPatterns(of func(*Hook) *[]string) func(*Hook, *clj.Node, []byte) wrong {
	return func(h *Hook, n *clj.Node, _ []byte) wrong {
		if n.Kind != clj.Vector || len(n.Children) == 0 {
			return wrong{at: n}
		}
		for _, c := range n.Children {
			if c.Kind != clj.String {
				return wrong{at: c}
			}
			if problem := checkPattern(c.Text); problem != "" {
				return wrong{c, ", which is " + problem}
			}
			*of(h) = append(*of(h), c.Text)
		}
		return wrong{}
	}
}

// setKeywords takes names that are read again when they are sent: nothing but plain keywords.
func setKeywords(of func(*Hook) *[]string) func(*Hook, *clj.Node, []byte) wrong {
	return func(h *Hook, n *clj.Node, _ []byte) wrong {
		words := []*clj.Node{n}
		if n.Kind == clj.Vector || n.Kind == clj.Set {
			words = n.Children
		}
		for _, c := range words {
			if name := keyword(c); name == "" || name[0] == ':' { // ::a means another one elsewhere
				return wrong{at: c}
			}
			*of(h) = append(*of(h), keyword(c))
		}
		return unless(len(words) > 0, n)
	}
}

// setNamespaces takes a regular expression, as a string or as Clojure writes one. It is the server's to understand.
func setNamespaces(h *Hook, n *clj.Node, _ []byte) wrong {
	h.Tests.Namespaces = n.Text
	return unless((n.Kind == clj.String || n.Kind == clj.Regex) && n.Text != "", n)
}

func keyword(n *clj.Node) string {
	if n == nil || n.Kind != clj.Keyword {
		return ""
	}
	return n.Text
}
