package gauntlet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/config"
	"github.com/hookkit/brepl/hookkit/text"
)

// adapter is how a review tool is called. The prompt with the diff goes to its stdin, or is its last argument.
type adapter struct {
	name    string
	command []string
	// modelFlag precedes the name of a model; "" where the tool cannot be told one.
	modelFlag string
	argument  bool // the prompt is the last argument
	// limits and logins are texts, in lower case, by which its output shows that it will not work now.
	limits, logins []string
}

// maxArgument bounds a prompt that is given as an argument: Linux takes 128 KiB for one.
const maxArgument = 120 << 10

// Texts that several tools use.
var (
	usageLimits = []string{
		"usage limit", "rate limit", "quota exceeded", "quota exhausted", "resource_exhausted", "limit reached", "out of credits",
		"credit balance is too low", "too many requests",
	}
	loginTexts = []string{
		"not logged in", "please run /login", "please log in", "please login", "log in to continue", "login required", "authentication required",
		"not authenticated", "invalid api key", "unauthorized", "run codex login", "sign in",
	}
)

// adapters is the table of tools, in order of preference where the configuration has none. Each is called so that it may read files
// but not change them, as far as the tool offers that. The flags are those of the tools' pages in November 2026: claude's CLI reference,
// codex's page on non-interactive mode, gemini's on headless mode, cursor's on its CLI, copilot's programmatic reference.
var adapters = []adapter{
	{
		name: "claude", modelFlag: "--model", limits: usageLimits, logins: loginTexts,
		command: []string{"claude", "-p", "--output-format", "text", "--allowedTools", "Read,Glob,Grep", "--max-turns", "20"},
	},
	{
		name: "codex", modelFlag: "--model", limits: usageLimits, logins: loginTexts,
		command: []string{"codex", "exec", "--sandbox", "read-only", "--color", "never", "-"},
	},
	{
		name: "gemini", modelFlag: "--model", limits: usageLimits, logins: loginTexts,
		command: []string{"gemini", "--output-format", "text"},
	},
	{
		name: "cursor-agent", modelFlag: "--model", limits: usageLimits, logins: loginTexts,
		command: []string{"cursor-agent", "-p", "--mode", "ask", "--output-format", "text"},
	},
	{
		name: "copilot", modelFlag: "--model", limits: usageLimits, logins: loginTexts,
		command: []string{"copilot", "-s", "--deny-tool", "write", "--deny-tool", "shell"},
	},
}

// adapterFor is the row of a tool, with what the configuration says otherwise. ok is false for a name that neither knows.
func adapterFor(name string, overrides map[string]AdapterConfig) (a adapter, ok bool) {
	i := slices.IndexFunc(adapters, func(a adapter) bool { return a.name == name })
	if i >= 0 {
		a = adapters[i]
	}
	override, given := overrides[name]
	if !given {
		return a, i >= 0
	}
	if i < 0 {
		a = adapter{name: name, limits: usageLimits, logins: loginTexts}
	}
	if len(override.Command) > 0 {
		a.command = override.Command
		a.modelFlag = ""
	}
	if override.ModelFlag != "" {
		a.modelFlag = override.ModelFlag
	}
	if override.Prompt != "" {
		a.argument = override.Prompt == "argument"
	}
	if len(override.UsageLimit) > 0 {
		a.limits = nil
		for _, text := range override.UsageLimit {
			a.limits = append(a.limits, strings.ToLower(text))
		}
	}
	return a, len(a.command) > 0
}

// toolFaults finds review tools that nobody knows, and overrides that cannot be meant. source is that of the configuration.
func (c *Config) toolFaults(source string) (faults []error) {
	fault := func(format string, args ...any) {
		faults = append(faults, &config.Error{Path: rel(c.Root, c.Path), Faults: []config.Fault{keyFault([]byte(source), "cli", format, args...)}})
	}
	known := slices.Sorted(maps.Keys(c.Adapters))
	for _, a := range adapters {
		known = append(known, a.name)
	}
	check := func(names []string, tell func(name, why string)) {
		for _, name := range names {
			if _, ok := adapterFor(name, c.Adapters); ok {
				continue
			}
			why := "give it a command under cli.adapters." + name
			if meant := text.Near(name, known); meant != "" && meant != name {
				why = fmt.Sprintf("did you mean %q?", meant)
			}
			tell(name, why)
		}
	}
	check(c.CLIPreference, func(name, why string) { fault("default_preference: unknown tool %q; %s", name, why) })
	for _, g := range c.Gates {
		check(g.CLIPreference, func(name, why string) {
			faults = append(faults, fmt.Errorf("%s: cli_preference: unknown tool %q; %s", rel(c.Root, g.Path), name, why))
		})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Adapters)) {
		if prompt := c.Adapters[name].Prompt; prompt != "" && prompt != "stdin" && prompt != "argument" {
			fault("adapters.%s.prompt: expected stdin or argument, found %q", name, prompt)
		}
	}
	return faults
}

// argv is the command line for a model, "" being the tool's own choice. A "-" at the end of the command, which stands for stdin, stays there.
func (a adapter) argv(model, prompt string) []string {
	argv := slices.Clone(a.command)
	if model != "" && a.modelFlag != "" {
		end := len(argv)
		if argv[end-1] == "-" {
			end--
		}
		argv = slices.Insert(argv, end, a.modelFlag, model)
	}
	if a.argument {
		argv = append(argv, prompt)
	}
	return argv
}

// unwilling says why the tool will not work, from what it printed: a limit, or a login that is missing; "" if its output shows neither.
// It is asked only about output without an answer, since an answer may speak of logins and limits.
func (a adapter) unwilling(output string) string {
	output = strings.ToLower(output)
	for _, text := range a.limits {
		if strings.Contains(output, text) {
			return "usage limit reached"
		}
	}
	for _, text := range a.logins {
		if strings.Contains(output, text) {
			return "not logged in"
		}
	}
	return ""
}
