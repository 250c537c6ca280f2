package install

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/hookkit/brepl/hookkit/settings"
	"github.com/hookkit/brepl/hookkit/text"
)

// A Status says what became of a file, or would with a dry run.
type Status string

// What can become of a file.
const (
	Created   Status = "created"
	Updated   Status = "updated"
	Unchanged Status = "unchanged"
	Deleted   Status = "deleted" // nothing but our hooks was in it
	Absent    Status = "absent"  // it was not there, and is not
	Present   Status = "present" // it was there and was not touched
	Failed    Status = "failed"  // it is as it was, or not there; the error says why
)

// A Report is what a command did, for people and as JSON. It has the same shape for all programs.
type Report struct {
	Action   string         `json:"action"`          // "install" or "uninstall"
	Scope    settings.Scope `json:"scope,omitempty"` // "" where no settings are concerned
	DryRun   bool           `json:"dry_run"`
	Root     string         `json:"root"` // the project's folder
	Files    []File         `json:"files"`
	Template *Template      `json:"hooks_edn,omitempty"`
	Skill    *Skill         `json:"skill,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
	Notes    []string       `json:"notes,omitempty"`
	Diff     string         `json:"diff,omitempty"` // with DryRun: unified, all files
	Error    string         `json:"error,omitempty"`

	program string // whose hooks they are
	remove  string // the command line that takes them out again
}

// A File is a settings file in a Report.
type File struct {
	Path    string   `json:"path"`
	Status  Status   `json:"status"`
	Added   []string `json:"added,omitempty"`   // "Stop: brepl hook stop"
	Removed []string `json:"removed,omitempty"` // ours, no longer wanted
	Kept    []string `json:"kept,omitempty"`    // ours, as wanted
	Foreign int      `json:"foreign"`           // handlers of others
}

// A Template is .brepl/hooks.edn in a Report.
type Template struct {
	Path   string `json:"path"`
	Status Status `json:"status"`
}

// A Skill is the agent's SKILL.md in a Report. Present means that somebody has changed it.
type Skill struct {
	Path   string `json:"path"`
	Status Status `json:"status"`
}

func (r *Report) addFile(out *settings.Outcome, err error) {
	f := File{Path: out.Path, Status: statusOf(out, err), Foreign: len(out.Foreign)}
	if err == nil {
		f.Added, f.Removed, f.Kept = describe(out.Added), describe(out.Removed), describe(out.Kept)
	}
	r.Files = append(r.Files, f)
	r.Warnings = append(r.Warnings, out.Warnings...)
	if err != nil || !r.DryRun || !out.Changed() {
		return
	}
	from, to := out.Path, out.Path
	if !out.Existed {
		from = "/dev/null"
	}
	if out.Deleted {
		to = "/dev/null"
	}
	r.Diff += string(diff.Diff(from, out.Before, to, out.After))
}

func statusOf(out *settings.Outcome, err error) Status {
	switch {
	case err != nil:
		return Failed
	case out.Deleted:
		return Deleted
	case out.Written && out.Existed:
		return Updated
	case out.Written:
		return Created
	case out.Existed:
		return Unchanged
	default:
		return Absent
	}
}

func describe(handlers []settings.Handler) []string {
	var list []string
	for _, h := range handlers {
		line := h.Event + ": " + strings.Join(append([]string{h.Command}, h.Args...), " ")
		if h.Timeout > 0 {
			line += fmt.Sprintf(" (timeout %d s)", int(h.Timeout.Seconds()))
		}
		list = append(list, line)
	}
	return list
}

// Text is the report for people: what was written where, what was left, and
// what to look at. Paths are relative to the project where they are inside it. What steers a terminal is shown escaped: names of folders
// and lines of a settings file are somebody else's.
func (r *Report) Text() string {
	var b strings.Builder
	b.WriteString(text.Escaped(r.Diff, "\n\r\t\ufeff"))
	would := ""
	if r.DryRun {
		would = "would be "
	}
	for _, f := range r.Files {
		path := r.short(f.Path)
		switch f.Status {
		case Created, Updated:
			fmt.Fprintf(&b, "%s: %s%s\n", path, would, f.Status)
		case Deleted:
			fmt.Fprintf(&b, "%s: %sdeleted, because nothing else was in it\n", path, would)
		case Unchanged:
			fmt.Fprintf(&b, "%s: %s\n", path, r.unchanged())
		case Absent:
			fmt.Fprintf(&b, "%s: there is none, so nothing is installed\n", path)
		default:
			fmt.Fprintf(&b, "%s: left as it is\n", path)
		}
		list(&b, "-", f.Removed)
		list(&b, "+", f.Added)
		list(&b, "=", f.Kept)
		switch {
		case f.Foreign == 1:
			b.WriteString("  1 other handler is left as it is\n")
		case f.Foreign > 1:
			fmt.Fprintf(&b, "  %d other handlers are left as they are\n", f.Foreign)
		}
	}
	if t := r.Template; t != nil {
		path := r.short(t.Path)
		switch {
		case t.Status == Created:
			fmt.Fprintf(&b, "%s: %screated; put your stop hooks there\n", path, would)
		case t.Status == Failed:
			fmt.Fprintf(&b, "%s: not created\n", path)
		case r.Action == uninstallAction:
			fmt.Fprintf(&b, "%s: stays; delete it if you no longer need it\n", path)
		default:
			fmt.Fprintf(&b, "%s: already there, not touched\n", path)
		}
	}
	if s := r.Skill; s != nil {
		path := r.short(s.Path)
		switch s.Status {
		case Created, Updated, Deleted:
			fmt.Fprintf(&b, "%s: %s%s\n", path, would, s.Status)
		case Unchanged:
			fmt.Fprintf(&b, "%s: already as wanted\n", path)
		case Absent:
			fmt.Fprintf(&b, "%s: there is none\n", path)
		case Failed:
			fmt.Fprintf(&b, "%s: left as it is\n", path)
		default:
			fmt.Fprintf(&b, "%s: changed by somebody, not touched\n", path)
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", text.Escaped(note, ""))
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", text.Escaped(warning, ""))
	}
	return b.String()
}

func (r *Report) unchanged() string {
	if r.Action == uninstallAction {
		return "no hooks of " + r.program + " in it"
	}
	return "already as wanted"
}

func list(b *strings.Builder, sign string, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(b, "  %s %s\n", sign, text.Escaped(line, ""))
	}
}

func (r *Report) short(path string) string {
	if rel, err := filepath.Rel(r.Root, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return text.Escaped(path, "")
}
