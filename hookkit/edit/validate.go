package edit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/session"
)

// validateLimit is how long a check may take. An edit whose check takes longer goes on unchecked.
const validateLimit = 5 * time.Second

// validator is `brepl hook validate`: the handler of the PreToolUse event.
type validator struct {
	program *cli.Program
	note    func(format string, args ...any) // for the debug log
}

// preToolUse answers an edit of a Clojure file. Everything else passes without a look at any file.
func (v *validator) preToolUse(ctx context.Context, e *hookkit.PreToolUse) (hookkit.PreToolUseDecision, error) {
	if e.ToolName != "Write" && e.ToolName != "Edit" && e.ToolName != "MultiEdit" {
		return hookkit.AllowTool(), nil
	}
	file := e.FilePath()
	if kindOf(file) == foreign {
		return hookkit.AllowTool(), nil
	}
	decision, err := within(ctx, validateLimit, func() (hookkit.PreToolUseDecision, error) { return v.judge(e), nil })
	if errors.Is(err, context.DeadlineExceeded) {
		name := shown(v.program.Dir, absolute(e.CWD, file))
		return hookkit.AllowTool().TellUser(fmt.Sprintf("brepl: checking %s took more than %v; the edit was not checked.", name, validateLimit)), nil
	}
	return decision, err
}

// within runs f, which may hang in the file system, for at most limit. A panic of f is an error: nothing that f does can end the process.
func within[D any](ctx context.Context, limit time.Duration, f func() (D, error)) (D, error) {
	type outcome struct {
		decision D
		err      error
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if r := recover(); r != nil {
				o.err = fmt.Errorf("a fault in brepl: %v", r)
			}
			done <- o
		}()
		o.decision, o.err = f()
	}()
	select {
	case o := <-done:
		return o.decision, o.err
	case <-ctx.Done():
		var none D
		return none, ctx.Err()
	}
}

// judge decides about an edit, and backs up the file unless the edit is refused.
func (v *validator) judge(e *hookkit.PreToolUse) hookkit.PreToolUseDecision {
	c, ok := readCall(e)
	if !ok {
		return hookkit.AllowTool()
	}
	path := absolute(e.CWD, c.file)
	disk, err := load(path)
	if err != nil {
		v.note("%v", err)
		if !c.write {
			return hookkit.AllowTool()
		}
	}
	first := disk.text
	if c.write {
		first = c.content
	}
	if kindOf(path) == script && !isScript(first) {
		return hookkit.AllowTool()
	}
	s, ok := c.simulate(disk.text)
	if !ok {
		v.note("the host refuses this edit itself")
		return hookkit.AllowTool()
	}
	decision := v.decide(e, c, s, path)
	if disk.exists && !decision.Denies() {
		if err := v.backUp(e, path, disk); err != nil {
			v.note("no backup: %v", err)
			_, _ = fmt.Fprintf(v.program.Stderr, "brepl: no backup of %s: %v\n", shown(v.program.Dir, path), err)
		}
	}
	return decision
}

func (v *validator) backUp(e *hookkit.PreToolUse, path string, disk onDisk) error {
	s, err := openStore(v.program, session.IDOf(e.Base()))
	if err != nil {
		return err
	}
	_, err = s.save(path, []byte(disk.text), disk.mode)
	return err
}

// decide is the table of verdicts. s is what the edit would leave of the file at path.
//
//	after the edit     before it                   verdict
//	balanced           -                           allowed, nothing said
//	broken             excluded by hooks.edn       allowed, nothing said
//	broken             broken, as many faults      allowed with context; a Write is repaired where it can be
//	broken             balanced, or fewer faults   repaired, else denied
func (v *validator) decide(e *hookkit.PreToolUse, c call, s simulation, path string) hookkit.PreToolUseDecision {
	errs := clj.CheckDelimiters("", []byte(s.after))
	if len(errs) == 0 || excluded(v.program, v.note, path) {
		return hookkit.AllowTool()
	}
	was := clj.CheckDelimiters("", []byte(s.base))
	noWorse := len(was) > 0 && len(errs) <= len(was)
	name := shown(v.program.Dir, path)
	if noWorse && !c.write {
		return stillBroken(name, was, errs)
	}
	opts := clj.RepairOptions{}
	if len(was) == 0 && s.base != "" {
		opts.Before = []byte(s.base)
	}
	repair := clj.Repair([]byte(s.after), opts)
	reason := repair.Refused
	if reason == "" {
		input, larger, err := c.rewrite(e, s, repair)
		if e.Host == hookkit.Codex || e.Host == hookkit.Cursor {
			err = errors.New("this host takes no other input for a tool")
		}
		if err == nil {
			return hookkit.RewriteTool(input, rewritten(name, c, s, repair, larger))
		}
		reason = err.Error() + " (it is: " + changesOf(s.after, repair.Edits) + ")"
	}
	if noWorse {
		return stillBroken(name, was, errs)
	}
	return hookkit.DenyTool(summary(errs[0]), denial(name, reason, repair, errs)+excludeHint(v.program, path))
}

// lookAgain follows a repair that could have been another one.
const lookAgain = "Look whether that is what you meant."

// rewritten tells the agent what was done to its edit, in one line.
func rewritten(name string, c call, s simulation, repair clj.RepairResult, larger bool) string {
	text := fmt.Sprintf("brepl repaired the brackets of this edit before it was written to %s: %s.", name, changesOf(s.after, repair.Edits))
	switch {
	case larger && c.multi:
		text += " An edit was added at the end for it."
	case larger:
		text += " The replaced part of the file was enlarged for it."
	}
	if repair.Confidence != clj.Sure {
		text += " " + lookAgain
	}
	return text
}

// stillBroken tells the agent that a file which was broken before its edit still is.
func stillBroken(name string, was, errs clj.ErrorList) hookkit.PreToolUseDecision {
	return hookkit.AllowTool().TellAgent(fmt.Sprintf("%s was not balanced before this edit (%d unmatched) and is not after it (%d unmatched). First: %s %s",
		name, len(was), len(errs), place(errs[0].Pos), errs[0].Message))
}

// denial is what the agent reads of an edit that is refused.
func denial(name, reason string, repair clj.RepairResult, errs clj.ErrorList) string {
	return fmt.Sprintf("%s\n%s was not written, and not repaired: %s.\nPlaces to look at, as line:column of the file after the edit:\n%s",
		sentence(errs[0]), name, reason, placesOf(repair, errs))
}

// answer is the object of the form with arguments.
type answer struct {
	Continue       bool     `json:"continue"`
	Decision       string   `json:"decision"`
	StopReason     string   `json:"stopReason,omitempty"`
	Reason         string   `json:"reason,omitempty"`
	SuppressOutput *bool    `json:"suppressOutput,omitempty"`
	Warnings       []string `json:"warnings,omitempty"`
	Correction     string   `json:"correction,omitempty"`
}

// validateText is the form with arguments: it judges a text that is to be written to a file.
func validateText(ctx context.Context, p *cli.Program, args []string) int {
	if len(args) != 2 {
		return p.UsageError(fmt.Errorf("expected FILE and CONTENT, found %d arguments", len(args)))
	}
	a, err := within(ctx, validateLimit, func() (answer, error) {
		text := args[1]
		if text == "-" {
			var err error
			if text, err = readText(p.Stdin); err != nil {
				return answer{}, err
			}
		}
		return judgeText(p, args[0], text), nil
	})
	if err != nil {
		a = answer{Continue: true, Decision: "allow", SuppressOutput: new(false), Warnings: []string{"Not checked: " + why(err)}}
	}
	encoder := json.NewEncoder(p.Stdout)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(a) // a closed stdout: there is nobody to tell
	return 0
}

func why(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("it took more than %v", validateLimit)
	}
	return err.Error()
}

func judgeText(p *cli.Program, file, text string) answer {
	allow := answer{Continue: true, Decision: "allow", SuppressOutput: new(true)}
	k := kindOf(file)
	if k == foreign || k == script && !isScript(text) {
		return allow
	}
	errs := clj.CheckDelimiters("", []byte(text))
	path := absolute(p.Dir, file)
	if len(errs) == 0 || excluded(p, nil, path) {
		return allow
	}
	repair := clj.Repair([]byte(text), clj.RepairOptions{})
	if repair.Refused == "" && utf8.ValidString(text) {
		allow.SuppressOutput = new(false)
		allow.Warnings = []string{"Brackets were repaired: " + changesOf(text, repair.Edits)}
		allow.Correction = string(repair.Text)
		return allow
	}
	reason := repair.Refused
	if reason == "" {
		reason = "the content is not UTF-8"
	}
	return answer{
		Continue: true, Decision: "block", StopReason: summary(errs[0]),
		Reason: denial(shown(p.Dir, path), reason, repair, errs) + excludeHint(p, path),
	}
}
