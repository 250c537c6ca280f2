package edit

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/settings"
)

// source is a changed file as it is on disk now.
type source struct {
	path, name string // absolute; as it is shown
	text       string
	was        string // before the edit, where that is known
}

// trouble is what the agent should know about a file.
type trouble struct {
	path    string
	place   string // the file as it is shown, with the line where one is known; "" for what is of no file
	summary string // a few words, for the user
	text    string // what is wrong: the same text is the same trouble
	printed string // what the file printed before
	warning bool   // it never blocks: nothing is known to be wrong with the code
	once    bool   // the same text another time is another event
}

// syntax reads a changed file and looks at its brackets. They are balanced when the check before an edit was heard; they may not be when
// that check was not, when another tool has written the file, or when somebody else has changed it in between. They are repaired in place
// where the repair is sure, which repaired says; else the agent is told how to get the file back. ok says that the file can be loaded.
func (v *evaluator) syntax(c toolCall, path string) (src source, repaired string, wrong *trouble, ok bool) {
	disk, err := load(path)
	if err != nil || !disk.exists || kindOf(path) == script && !isScript(disk.text) {
		if err != nil {
			v.note("%v", err)
		}
		return src, "", nil, false
	}
	src = source{path: path, name: shown(v.program.Dir, path), text: disk.text}
	errs := clj.CheckDelimiters("", []byte(disk.text))
	if len(errs) == 0 {
		if c.edits() && path == c.path() {
			src.was, _, _ = v.lastBackup(path)
		}
		return src, "", nil, true
	}
	if r := v.rules(); r.names(r.Exclude, path) {
		return src, "", nil, false
	}
	before, last, backedUp := v.lastBackup(path)
	known := backedUp && c.edits() && path == c.path() // of another tool it is not known whether it has changed that state
	was := clj.CheckDelimiters("", []byte(before))
	if known && len(was) > 0 && len(errs) <= len(was) {
		return src, "", nil, false // said before the edit
	}
	opts := clj.RepairOptions{}
	if known && len(was) == 0 {
		opts.Before = []byte(before)
	}
	repair := clj.Repair([]byte(disk.text), opts)
	if repair.Refused == "" && repair.Confidence == clj.Sure && utf8.ValidString(disk.text) {
		kept, err := v.replace(path, disk, repair.Text)
		if err == nil {
			src.text, src.was = string(repair.Text), before
			return src, fmt.Sprintf("%s was not balanced on disk, and brepl repaired it there: %s. What was there is backup %d.",
				src.name, changesOf(disk.text, repair.Edits), kept.id), nil, true
		}
		v.note("not repaired: %v", err)
		if errors.Is(err, session.ErrChanged) {
			return src, "", nil, false // whoever writes right now is not done
		}
	}
	text := fmt.Sprintf("%s is on disk now and is not balanced. %s", src.name, sentence(errs[0]))
	if repair.Refused == "" {
		text += fmt.Sprintf(" `brepl balance %s` would repair it: %s.", settings.ShellQuote(path), changesOf(disk.text, repair.Edits))
	}
	switch {
	case known:
		text += fmt.Sprintf(" `brepl backup restore %s` brings back what was there before the edit.", settings.ShellQuote(path))
	case backedUp:
		text += fmt.Sprintf(" `brepl backup restore %s` brings back what was there at %s, before an edit.", settings.ShellQuote(path), last.taken().Format(time.TimeOnly))
	}
	line := errs[0].Pos.Line
	if errs[0].Incomplete {
		line = errs[0].OpenerPos.Line
	}
	return src, "", &trouble{path: path, place: fmt.Sprintf("%s:%d", src.name, line), summary: summary(errs[0]), text: text}, false
}

// lastBackup is the newest backup of a file in this session, and its content.
func (v *evaluator) lastBackup(path string) (content string, last backup, ok bool) {
	s, err := openStore(v.program, v.memory.session.ID())
	if err != nil {
		return "", backup{}, false
	}
	list, err := s.list()
	if err != nil {
		return "", backup{}, false
	}
	if last, ok = newest(list, path); !ok {
		return "", backup{}, false
	}
	data, err := last.content()
	return string(data), last, err == nil
}

// replace writes the repaired text after a backup, unless the file has changed since it was read.
func (v *evaluator) replace(path string, disk onDisk, text []byte) (backup, error) {
	s, err := openStore(v.program, v.memory.session.ID())
	if err != nil {
		return backup{}, err
	}
	kept, err := s.save(path, []byte(disk.text), disk.mode)
	if err != nil {
		return backup{}, fmt.Errorf("no backup can be made: %w", err)
	}
	return kept, session.WriteFile(path, text, session.WriteOptions{Sync: true, Expect: []byte(disk.text)})
}
