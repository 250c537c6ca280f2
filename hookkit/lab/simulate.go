package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
)

// SimulateOptions says where a script is played.
type SimulateOptions struct {
	// Dir is an existing project, whose real hooks run and in which the agent's work lands. "" is a scratch project made of the script's files.
	Dir string
	// Env is the environment of the client. HOME and TMPDIR are replaced by scratch folders, XDG_* is left out.
	Env []string
}

// Simulation is what came of a script.
type Simulation struct {
	Version  int             `json:"hookkit_simulate"` // of this format: 1
	Script   string          `json:"script"`
	Client   string          `json:"client"`
	Turns    []SimulatedTurn `json:"turns"`
	Failures []string        `json:"failures"` // "file:line: what was expected and what came"
	Ignored  []string        `json:"ignored"`  // what the client ignores of the settings
	Story    string          `json:"-"`
}

// SimulatedTurn is one turn of the agent or the user.
type SimulatedTurn struct {
	Line    int             `json:"line"`
	Action  string          `json:"action"`
	Blocked bool            `json:"blocked"`
	GoesOn  bool            `json:"goes_on"`
	Ended   bool            `json:"ended"`
	Told    []Text          `json:"told"`
	Shown   []Text          `json:"shown"`
	Hooks   []SimulatedHook `json:"hooks"`
	Files   []SimulatedFile `json:"files"`
}

// Simulate plays a script. name stands in messages. The error says that the script is wrong or could not be played; an expectation that
// did not come true is a Failure, and the script goes on.
func Simulate(ctx context.Context, name, text string, options SimulateOptions) (*Simulation, error) {
	s, err := parseScript(name, text)
	if err != nil {
		return nil, err
	}
	root, err := makeTempDir("", "simulate")
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot make a scratch folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(root) }() // a scratch folder
	p := &player{script: s, dir: options.Dir, home: filepath.Join(root, "home"), temp: filepath.Join(root, "tmp")}
	if p.dir == "" {
		p.dir = filepath.Join(root, "project")
	}
	p.sim = &Simulation{
		Version: 1, Script: name, Client: "Claude Code " + claudecode.Version,
		Turns: []SimulatedTurn{}, Failures: []string{}, Ignored: []string{},
	}
	p.env = slices.DeleteFunc(slices.Clone(options.Env), func(v string) bool {
		return strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "XDG_") // they lead to the user's own files
	})
	marker := newMarker()
	p.env = append(p.env, "HOME="+p.home, "TMPDIR="+p.temp, "BREPL_STATE_DIR="+p.temp, checkMarker+"="+marker)
	defer endWith(ctx, marker)()
	if err := p.prepare(); err != nil {
		return nil, err
	}
	defer p.close()
	for _, c := range s.commands {
		if err := ctx.Err(); err != nil {
			return nil, s.errorf(c.number, "interrupted: %v", err)
		}
		err := p.play(c)
		if ctx.Err() != nil { // what is ended with us proves nothing
			return nil, s.errorf(c.number, "interrupted: %v", ctx.Err())
		}
		if err != nil {
			return nil, s.errorf(c.number, "%v", err)
		}
	}
	p.finish()
	return p.sim, nil
}

// player plays one script.
type player struct {
	*script
	sim             *Simulation
	dir, home, temp string
	env             []string
	options         []fakes.ClaudeOption

	claude *fakes.Claude // nil before the first turn
	told   int           // turns of claude that are in sim
	last   *fakes.Turn   // what expect looks at
	agent  *fakes.Subagent
	tasks  []string // that have not reported
}

// prepare resolves every <<NAME, so that the other files are known, and writes these.
func (p *player) prepare() error {
	for i, c := range p.commands {
		if _, known := p.verbs()[c.verb]; !known {
			return p.errorf(c.number, "there is no command %q; there are %s", c.verb, strings.Join(slices.Sorted(maps.Keys(p.verbs())), ", "))
		}
		for n, word := range c.words {
			if !wantsWords(c.verb) {
				break
			}
			content, err := p.resolve(word)
			if err != nil {
				return p.errorf(c.number, "%v", err)
			}
			p.commands[i].words[n] = content
		}
		if err := p.verbs()[c.verb].wrong(p.commands[i]); err != nil { // before anything has run
			return p.errorf(c.number, "%v", err)
		}
	}
	for _, dir := range []string{p.dir, p.home, p.temp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("cannot make a scratch folder: %w", err)
		}
	}
	for _, f := range p.files {
		if f.taken {
			continue
		}
		if err := p.write(f); err != nil {
			return p.errorf(f.number, "%v", err)
		}
	}
	return nil
}

// write puts a file of the script in its place: "~/…" in the home folder, all else in the project. What begins with #! can be run.
func (p *player) write(f scriptFile) error {
	base, name := p.dir, f.name
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		base, name = p.home, rest
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("%q leads out of the project", f.name)
	}
	path := filepath.Join(base, filepath.FromSlash(name))
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists; a script replaces nothing in a project that it did not make", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	mode := os.FileMode(0o600)
	if strings.HasPrefix(f.content, "#!") {
		mode = 0o700
	}
	return os.WriteFile(path, []byte(f.content), mode)
}

func (p *player) client() (*fakes.Claude, error) {
	if p.claude != nil {
		return p.claude, nil
	}
	var err error
	p.claude, err = fakes.StartClaude(p.dir, append([]fakes.ClaudeOption{fakes.ClaudeEnv(p.env), fakes.ClaudeHome(p.home)}, p.options...)...)
	return p.claude, err
}

func (p *player) close() {
	if p.claude != nil {
		p.claude.Close()
	}
}

// play does one command.
func (p *player) play(c scriptLine) error {
	turn, err := p.verbs()[c.verb].do(c)
	if err != nil {
		return err
	}
	if turn != nil {
		p.last = turn
	}
	p.note(c.number)
	return nil
}

// note takes over the turns that a command made, those included that happened by themselves.
func (p *player) note(line int) {
	if p.claude == nil {
		return
	}
	turns := p.claude.Turns()
	for _, t := range turns[p.told:] {
		p.sim.Turns = append(p.sim.Turns, SimulatedTurn{
			Line: line, Action: t.Action, Blocked: t.Blocked, GoesOn: t.GoesOn, Ended: t.Ended,
			Told: textsOf(t.Told), Shown: textsOf(t.Shown), Hooks: hooksOf(t.Hooks), Files: filesOf(t.Files),
		})
	}
	p.told = len(turns)
}

func (p *player) finish() {
	if p.claude == nil {
		return
	}
	for _, d := range p.claude.Dropped() {
		p.sim.Ignored = append(p.sim.Ignored, strings.TrimSpace(d.Path+" "+d.What)+": "+d.Why)
	}
	p.sim.Story = p.claude.Story()
}

// verb is a command of scripts.
type verb struct {
	usage       string
	words       bool // its text is split
	least, most int  // words
	do          func(c scriptLine) (*fakes.Turn, error)
	choices     []string // what the first word can be; nil: anything
}

// wrong says what is wrong with a command as it is written.
func (v verb) wrong(c scriptLine) error {
	usage := fmt.Errorf("write it as: %s", strings.TrimSpace(c.verb+" "+v.usage))
	switch n := len(c.words); {
	case v.words && (n < v.least || n > v.most), !v.words && v.least > 0 && c.text == "", c.verb == "edit" && n == 4 && c.words[3] != "all":
		return usage
	case v.choices != nil && n > 0 && !slices.Contains(v.choices, c.words[0]):
		return fmt.Errorf("%s is one of %s, not %q", c.verb, strings.Join(v.choices, ", "), c.words[0])
	case c.verb == "expect":
		return wrongExpect(c.words)
	case c.verb == "agent":
		return wrongAgent(c.words)
	}
	return nil
}

// verbs is the table of all commands.
func (p *player) verbs() map[string]verb {
	turn := func(do func(claude *fakes.Claude, c scriptLine) *fakes.Turn) func(scriptLine) (*fakes.Turn, error) {
		return func(c scriptLine) (*fakes.Turn, error) {
			claude, err := p.client()
			if err != nil {
				return nil, err
			}
			return do(claude, c), nil
		}
	}
	option := func(do func(c scriptLine) (fakes.ClaudeOption, error)) func(scriptLine) (*fakes.Turn, error) {
		return func(c scriptLine) (*fakes.Turn, error) {
			if p.claude != nil {
				return nil, fmt.Errorf("%s must stand before the first turn", c.verb)
			}
			o, err := do(c)
			if err == nil && o != nil {
				p.options = append(p.options, o)
			}
			return nil, err
		}
	}
	return map[string]verb{
		"mode": {usage: "MODE", words: true, least: 1, most: 1, choices: []string{"default", "acceptEdits", "plan", "bypassPermissions"}, do: option(func(c scriptLine) (fakes.ClaudeOption, error) {
			return fakes.ClaudeMode(c.words[0]), nil
		})},
		"user": {usage: "approves|refuses", words: true, least: 1, most: 1, choices: []string{"approves", "refuses"}, do: option(func(c scriptLine) (fakes.ClaudeOption, error) {
			return fakes.ClaudeApprove(func(string, json.RawMessage) bool { return c.words[0] == "approves" }), nil
		})},
		"headless": {words: true, do: option(func(scriptLine) (fakes.ClaudeOption, error) { return fakes.ClaudeHeadless(), nil })},
		"env": {usage: "NAME=VALUE", words: true, least: 1, most: 1, do: option(func(c scriptLine) (fakes.ClaudeOption, error) {
			if name, _, ok := strings.Cut(c.words[0], "="); !ok || name == "" {
				return nil, fmt.Errorf("%q is not NAME=VALUE", c.words[0])
			}
			p.env = append(p.env, c.words[0])
			return nil, nil
		})},
		"start": {usage: "[SOURCE]", words: true, most: 1, choices: []string{"startup", "resume", "fork"}, do: turn(func(claude *fakes.Claude, c scriptLine) *fakes.Turn {
			return claude.Start(append(c.words, "startup")[0])
		})},
		"prompt": {usage: "TEXT", least: 1, most: 1, do: turn(func(claude *fakes.Claude, c scriptLine) *fakes.Turn { return claude.Prompt(c.text) })},
		"write": {usage: "PATH TEXT|<<FILE", words: true, least: 2, most: 2, do: turn(func(claude *fakes.Claude, c scriptLine) *fakes.Turn {
			return claude.Write(c.words[0], c.words[1])
		})},
		"edit": {usage: "PATH OLD|<<FILE NEW|<<FILE [all]", words: true, least: 3, most: 4, do: turn(func(claude *fakes.Claude, c scriptLine) *fakes.Turn {
			var options []fakes.EditOption
			if len(c.words) == 4 {
				options = append(options, fakes.ReplaceAll())
			}
			return claude.Edit(c.words[0], c.words[1], c.words[2], options...)
		})},
		"read":       {usage: "PATH", words: true, least: 1, most: 1, do: turn(func(claude *fakes.Claude, c scriptLine) *fakes.Turn { return claude.Read(c.words[0]) })},
		"bash":       {usage: "COMMAND", least: 1, most: 1, do: turn(func(claude *fakes.Claude, c scriptLine) *fakes.Turn { return claude.Bash(c.text) })},
		"background": {usage: "COMMAND", least: 1, most: 1, do: turn(p.background)},
		"subagent":   {usage: "TYPE TEXT", words: true, least: 2, most: 2, do: turn(p.subagent)},
		"agent":      {usage: "write|edit|read|bash|stop …", words: true, least: 1, most: 4, do: p.agentTurn},
		"report":     {words: true, do: p.report},
		"stop": {usage: "[MESSAGE]", most: 1, do: turn(func(claude *fakes.Claude, c scriptLine) *fakes.Turn {
			if c.text == "" {
				return claude.Stop()
			}
			return claude.Stop(c.text)
		})},
		"interrupt": {words: true, do: turn(func(claude *fakes.Claude, _ scriptLine) *fakes.Turn { return claude.Interrupt() })},
		"clear":     {words: true, do: turn(func(claude *fakes.Claude, _ scriptLine) *fakes.Turn { return claude.Clear() })},
		"compact":   {words: true, do: turn(func(claude *fakes.Claude, _ scriptLine) *fakes.Turn { return claude.Compact() })},
		"exit": {usage: "[REASON]", words: true, most: 1, choices: []string{"clear", "resume", "logout", "prompt_input_exit", "other"}, do: turn(func(claude *fakes.Claude, c scriptLine) *fakes.Turn {
			return claude.Exit(append(c.words, "prompt_input_exit")[0])
		})},
		"expect": {usage: expectUsage, words: true, least: 1, most: 4, do: func(c scriptLine) (*fakes.Turn, error) { return nil, p.expect(c) }},
	}
}

func (p *player) background(claude *fakes.Claude, c scriptLine) *fakes.Turn {
	t := claude.Background(c.text, c.text)
	if t.ToolRan {
		p.tasks = append(p.tasks, t.TaskID)
	}
	return t
}

func (p *player) subagent(claude *fakes.Claude, c scriptLine) *fakes.Turn {
	t := claude.Subagent(c.words[0], c.words[1], c.words[1])
	p.agent = t.Agent
	if p.agent != nil {
		p.tasks = append(p.tasks, t.TaskID)
	}
	return t
}

// agentTurn is a turn of the last sub-agent.
func (p *player) agentTurn(c scriptLine) (*fakes.Turn, error) {
	if p.agent == nil {
		return nil, errors.New("there is no sub-agent; start one with: subagent TYPE TEXT")
	}
	words := c.words[1:]
	switch {
	case c.words[0] == "write" && len(words) == 2:
		return p.agent.Write(words[0], words[1]), nil
	case c.words[0] == "edit" && len(words) == 3:
		return p.agent.Edit(words[0], words[1], words[2]), nil
	case c.words[0] == "read" && len(words) == 1:
		return p.agent.Read(words[0]), nil
	case c.words[0] == "bash" && len(words) == 1:
		return p.agent.Bash(words[0]), nil
	case c.words[0] == "stop" && len(words) <= 1:
		return p.agent.Stop(words...), nil
	}
	return nil, wrongAgent(c.words)
}

// wrongAgent says what is wrong with the words of a sub-agent's turn.
func wrongAgent(words []string) error {
	n := len(words) - 1
	if most, ok := map[string]int{"write": 2, "edit": 3, "read": 1, "bash": 1, "stop": 1}[words[0]]; ok && (n == most || words[0] == "stop" && n == 0) {
		return nil
	}
	return errors.New("write it as: agent write PATH TEXT, agent edit PATH OLD NEW, agent read PATH, agent bash 'COMMAND', agent stop ['MESSAGE']")
}

// report is the end of the task that has waited longest.
func (p *player) report(scriptLine) (*fakes.Turn, error) {
	if len(p.tasks) == 0 {
		return nil, errors.New("there is no background task or sub-agent that has not reported")
	}
	id := p.tasks[0]
	p.tasks = p.tasks[1:]
	return p.claude.Report(id), nil
}
