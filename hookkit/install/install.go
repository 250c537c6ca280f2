package install

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/settings"
)

// do installs or uninstalls. On an error the report says what was done until then. remove is the command line that takes the hooks out.
func (c *command) do(ctx context.Context, env settings.Env, remove string) (r Report, err error) {
	r = Report{Action: c.action, Scope: c.scope, DryRun: c.dryRun, Files: []File{}, program: c.Hooks.Program, remove: remove}
	site, err := env.Site(c.scope)
	r.Root, r.Notes = site.Root, site.Notes
	if err != nil {
		return r, err
	}
	if c.action == installAction {
		err = c.install(ctx, &site, &r)
	} else {
		err = c.uninstall(ctx, &site, &r)
	}
	if c.after != nil {
		err = c.after(&r, site.IsHome(), err)
	}
	return r, err
}

// install writes the handlers into the settings file of the scope. It can be run again at any time: what is already as wanted is not
// touched, what is not is replaced, and everything else in the file stays byte for byte.
func (c *command) install(ctx context.Context, site *settings.Site, r *Report) error {
	out, err := site.Install(ctx, &c.Hooks, c.dryRun)
	r.Notes, r.Warnings = site.Notes, site.Warnings
	if out.Path != "" {
		r.addFile(&out, err)
	}
	if err != nil {
		return err
	}
	r.warnForeign(&c.Hooks, &out)
	r.warnDropped(&out)
	r.compare(slices.Concat(out.Kept, out.Added), c.others(site, out.Path))
	if c.scope == settings.Project && site.Root != filepath.Clean(site.Dir) {
		r.Notes = append(r.Notes, "the agent reads "+out.Path+" only when it is started in "+site.Root)
	}
	return nil
}

// uninstall takes the handlers out of the settings file of the scope, in all events.
func (c *command) uninstall(ctx context.Context, site *settings.Site, r *Report) error {
	paths := site.Installed(&c.Hooks)
	others := c.others(site, paths...)
	if c.before != nil {
		if err := c.before(r, site.IsHome(), others); err != nil {
			return err
		}
	}
	for _, path := range paths {
		out, err := site.Uninstall(ctx, &c.Hooks, path, c.dryRun)
		r.addFile(&out, err)
		if err != nil {
			return err
		}
		r.warnForeign(&c.Hooks, &out)
	}
	for _, f := range others {
		if len(f.handlers) > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s still has hooks of %s%s", f.Path, r.program, r.howToRemove(f.File)))
		}
	}
	return nil
}

func (r *Report) howToRemove(f settings.File) string {
	switch {
	case f.Path == settings.Project.PathIn(r.Root):
		return "; remove them with: " + r.remove + " --scope project"
	case f.Path == settings.Local.PathIn(r.Root):
		return "; remove them with: " + r.remove
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
func (c *command) others(site *settings.Site, paths ...string) []other {
	files := settings.Files(site.Root, settings.Home(site.Getenv))
	for _, f := range settings.Files(site.Dir, "") {
		if !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	var list []other
	for _, f := range files {
		if slices.Contains(paths, f.Path) {
			continue
		}
		handlers := slices.DeleteFunc(settings.Handlers(f.Path), func(h settings.Handler) bool { return !c.Own(h) })
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
				f.Path, differ.Command, differ.Event, r.howToRemove(f.File)))
		case same:
			r.Notes = append(r.Notes, f.Path+" has the same commands; the agent runs each once")
		}
	}
}

// warnForeign names shell lines that call the program's hooks and that were left alone.
func (r *Report) warnForeign(hooks *settings.Hooks, out *settings.Outcome) {
	for _, h := range out.Foreign {
		if hooks.Mentions != nil && hooks.Mentions(h) {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %q for %s is a line of your own and stays as it is; it runs %s too", out.Path, h.Command, h.Event, r.program))
		}
	}
}

// warnDropped names what somebody had added to handlers of ours that were written anew.
func (r *Report) warnDropped(out *settings.Outcome) {
	for _, h := range out.Removed {
		if len(h.More) > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %q for %s is replaced, and what was added to it goes: %s",
				out.Path, h.Command, h.Event, strings.Join(h.More, ", ")))
		}
	}
}
