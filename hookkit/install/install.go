package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/settings"
)

// Install writes our entries into the settings file of the scope,
// .brepl/hooks.edn when there is none, and the agent's skill. It can be run again at any time: what is
// already as wanted is not touched, what is not is replaced, and everything else in
// the file stays byte for byte. On an error the report says what was done until then.
func Install(ctx context.Context, env Env, o Options) (Report, error) {
	scope := scopeOf(o)
	r := Report{Action: "install", Scope: scope, DryRun: o.DryRun, Files: []File{}}
	root, notes, err := env.project()
	if err != nil {
		return r, err
	}
	r.Root, r.Notes = root, notes
	note, err := env.refuse(root, scope)
	if err != nil {
		return r, err
	}
	if note != "" {
		r.Notes = append(r.Notes, note)
	}
	program, warnings, err := env.program(scope)
	if err != nil {
		return r, err
	}
	r.Warnings = warnings
	want := entries(program, o)
	out, err := settings.Apply(ctx, settings.Job{
		Path:     scope.PathIn(root),
		StateDir: env.StateDir,
		DryRun:   o.DryRun,
		Spec:     settings.Spec{Own: Own, Events: Events(), Want: want},
	})
	r.addFile(&out, err)
	if err != nil {
		return r, err
	}
	r.warnForeign(out.Path, out.Foreign)
	r.warnDropped(out.Path, out.Removed)
	ours := slices.Concat(out.Kept, out.Added)
	r.compare(ours, env.others(root, out.Path))
	if scope == settings.Project && root != filepath.Clean(env.Dir) {
		r.Notes = append(r.Notes, "the agent reads "+out.Path+" only when it is started in "+root)
	}
	if err = r.writeTemplate(o.DryRun); err != nil || o.NoSkill {
		return r, err
	}
	if env.isHome(root) {
		r.Notes = append(r.Notes, "the agent's skill is not written here, where it would count for every project; `brepl skill install` does it")
		return r, nil
	}
	return r, r.installSkill(o.DryRun, false)
}

// Uninstall takes our handlers out of the settings file of the scope, in all
// events, and deletes the skill unless somebody has changed it. Where install had found no handlers of ours, the file is as it was
// before, byte for byte, if nobody else has changed it. hooks.edn stays.
func Uninstall(ctx context.Context, env Env, o Options) (Report, error) {
	scope := scopeOf(o)
	r := Report{Action: "uninstall", Scope: scope, DryRun: o.DryRun, Files: []File{}}
	root, notes, err := env.project()
	if err != nil {
		return r, err
	}
	r.Root, r.Notes = root, notes
	if !o.NoSkill && !env.isHome(root) {
		// First, so that a folder which install has made for both is empty when the settings are gone.
		if err := r.uninstallSkill(o.DryRun); err != nil {
			return r, err
		}
	}
	paths := []string{scope.PathIn(root)}
	// Programs that know no git root have installed where they stood.
	if here := scope.PathIn(filepath.Clean(env.Dir)); here != paths[0] && slices.ContainsFunc(settings.Handlers(here), Own) {
		paths = append(paths, here)
	}
	for _, path := range paths {
		out, err := settings.Apply(ctx, settings.Job{
			Path:     path,
			StateDir: env.StateDir,
			DryRun:   o.DryRun,
			Spec:     settings.Spec{Own: Own, Events: Events(), Everywhere: true},
		})
		r.addFile(&out, err)
		if err != nil {
			return r, err
		}
		r.warnForeign(out.Path, out.Foreign)
	}
	for _, f := range env.others(root, paths...) {
		if len(f.handlers) > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s still has hooks of %s%s", f.Path, Program, howToRemove(f.File, root)))
		}
	}
	if !o.DryRun {
		session.RemoveStrays(templatePath(root))
	}
	if _, err := os.Lstat(templatePath(root)); err == nil {
		r.Template = &Template{Path: templatePath(root), Status: Present}
	}
	return r, nil
}

func scopeOf(o Options) settings.Scope {
	if o.Scope == "" {
		return settings.Local
	}
	return o.Scope
}

func howToRemove(f settings.File, root string) string {
	switch {
	case f.Path == settings.Project.PathIn(root):
		return "; remove them with: brepl hook uninstall --scope project"
	case f.Path == settings.Local.PathIn(root):
		return "; remove them with: brepl hook uninstall"
	default:
		return ""
	}
}

// other is a settings file of another scope with our handlers in it.
type other struct {
	settings.File
	handlers []settings.Handler
}

// others reads the settings files that the host merges with those at paths.
func (e Env) others(root string, paths ...string) []other {
	files := settings.Files(root, e.Home)
	for _, f := range settings.Files(e.Dir, "") {
		if !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	var list []other
	for _, f := range files {
		if slices.Contains(paths, f.Path) {
			continue
		}
		handlers := slices.DeleteFunc(settings.Handlers(f.Path), func(h settings.Handler) bool { return !Own(h) })
		list = append(list, other{f, handlers})
	}
	return list
}

// compare warns of handlers in other files that run beside ours.
func (r *Report) compare(ours []settings.Handler, others []other) {
	for _, f := range others {
		same := false
		var differ *settings.Handler
		for i, h := range f.handlers {
			if slices.ContainsFunc(ours, func(o settings.Handler) bool {
				return o.Event == h.Event && o.Command == h.Command && slices.Equal(o.Args, h.Args)
			}) {
				same = true
			} else if differ == nil {
				differ = &f.handlers[i]
			}
		}
		switch {
		case differ != nil:
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s has %q for %s, which is not what was installed here: both run%s",
				f.Path, differ.Command, differ.Event, howToRemove(f.File, r.Root)))
		case same:
			r.Notes = append(r.Notes, f.Path+" has the same commands; the agent runs each once")
		}
	}
}

// warnForeign names shell lines that call our hooks and that were left alone.
func (r *Report) warnForeign(path string, foreign []settings.Handler) {
	for _, h := range foreign {
		if mentions(h) {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %q for %s is a line of your own and stays as it is; it runs %s too", path, h.Command, h.Event, Program))
		}
	}
}

// warnDropped names what somebody had added to handlers of ours that were written anew.
func (r *Report) warnDropped(path string, removed []settings.Handler) {
	for _, h := range removed {
		if len(h.More) > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %q for %s is replaced, and what was added to it goes: %s",
				path, h.Command, h.Event, strings.Join(h.More, ", ")))
		}
	}
}

func templatePath(root string) string { return filepath.Join(root, ".brepl", "hooks.edn") }

// writeTemplate creates hooks.edn. Whatever has that name already is left alone.
func (r *Report) writeTemplate(dryRun bool) (err error) {
	path := templatePath(r.Root)
	r.Template = &Template{Path: path, Status: Present}
	defer func() {
		if err != nil {
			r.Template.Status = Failed
		}
	}()
	if !dryRun {
		session.RemoveStrays(path)
	}
	_, err = os.Lstat(path)
	if err == nil {
		if link, _ := os.Readlink(path); link != "" && missing(path) {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s is a symbolic link to %s, which is not there: no stop hooks run", path, link))
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot look at %s: %w", path, err)
	}
	if dryRun {
		r.Template.Status = Created
		r.Diff += string(diff.Diff("/dev/null", nil, path, []byte(template)))
		return nil
	}
	if err = os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a project's folder, read by all who work on it
		return fmt.Errorf("cannot create %s: %w", path, err)
	}
	err = session.WriteFile(path, []byte(template), session.WriteOptions{Mode: 0o644, Sync: true, Absent: true})
	if errors.Is(err, session.ErrChanged) {
		return nil // somebody made one right now
	}
	if err == nil {
		r.Template.Status = Created
	}
	return err
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
