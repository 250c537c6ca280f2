package edit

import (
	"context"
	"errors"
	"fmt"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/settings"
)

// postToolUse looks at the file that an edit left on disk. It is balanced when the check before the edit was heard; it may not be when
// that check was not, or when somebody else has changed the file in between. Only what this edit broke is told.
func (v *validator) postToolUse(ctx context.Context, e *hookkit.PostToolUse) (hookkit.PostToolUseDecision, error) {
	if e.ToolName != "Write" && e.ToolName != "Edit" && e.ToolName != "MultiEdit" || kindOf(e.FilePath()) == foreign {
		return hookkit.AcceptResult(), nil
	}
	decision, err := within(ctx, validateLimit, func() (hookkit.PostToolUseDecision, error) { return v.look(e), nil })
	if errors.Is(err, context.DeadlineExceeded) {
		return hookkit.AcceptResult(), nil
	}
	return decision, err
}

func (v *validator) look(e *hookkit.PostToolUse) hookkit.PostToolUseDecision {
	path := absolute(e.CWD, e.FilePath())
	disk, err := load(path)
	if err != nil || !disk.exists || kindOf(path) == script && !isScript(disk.text) {
		return hookkit.AcceptResult()
	}
	errs := clj.CheckDelimiters("", []byte(disk.text))
	if len(errs) == 0 || excluded(v.program, path) {
		return hookkit.AcceptResult()
	}
	before, ok := v.before(e.SessionID, path)
	was := clj.CheckDelimiters("", []byte(before))
	if ok && len(was) > 0 && len(errs) <= len(was) {
		return hookkit.AcceptResult() // said before the edit
	}
	name := shown(v.program.Dir, path)
	opts := clj.RepairOptions{}
	if ok && len(was) == 0 {
		opts.Before = []byte(before)
	}
	text := fmt.Sprintf("%s is on disk now and is not balanced. %s", name, sentence(errs[0]))
	if repair := clj.Repair([]byte(disk.text), opts); repair.Refused == "" {
		text += fmt.Sprintf(" `brepl balance %s` would repair it: %s.", settings.ShellQuote(path), changesOf(disk.text, repair.Edits))
	}
	if ok {
		text += fmt.Sprintf(" `brepl backup restore %s` brings back what was there before the edit.", settings.ShellQuote(path))
	}
	return hookkit.AcceptResult().TellAgent(text)
}

// before is the content of a file before its last edit.
func (v *validator) before(sessionID, path string) (string, bool) {
	s, err := openStore(v.program, sessionID)
	if err != nil {
		return "", false
	}
	list, err := s.list()
	if err != nil {
		return "", false
	}
	last, ok := newest(list, path)
	if !ok {
		return "", false
	}
	content, err := last.content()
	return string(content), err == nil
}
