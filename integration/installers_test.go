//go:build unix

package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
)

// installers are the programs that put hooks into an agent's settings, each with the words before install, the handlers that it writes,
// and how it says what it does beside that.
var installers = []struct {
	program, words string
	handlers       []string
	more           string // after install
	mentioned      string // a line of somebody's that runs it too; "" where it has no such warning
}{
	{"brepl", "hook", []string{"PreToolUse: brepl hook validate", "PostToolUse: brepl hook eval", "Stop: brepl hook stop", "SessionEnd: brepl hook session-end"}, hooksKept, "brepl hook stop"},
	{"agent-gauntlet", "", []string{"Stop: agent-gauntlet stop-hook (timeout 300 s)"}, "note: there is no .gauntlet/config.yml yet, and without one every stop passes; `agent-gauntlet init` writes it\n", "agent-gauntlet stop-hook"},
	{"memory-triage", "", []string{"Stop: memory-triage hook (timeout 30 s)", "SessionEnd: memory-triage session-end"}, "", "memory-triage"},
	{"hookkit", "record", []string{
		"SessionStart: hookkit record event", "UserPromptSubmit: hookkit record event", "PreToolUse: hookkit record event",
		"PermissionRequest: hookkit record event", "PermissionDenied: hookkit record event", "PostToolUse: hookkit record event",
		"PostToolUseFailure: hookkit record event", "Notification: hookkit record event", "SubagentStart: hookkit record event",
		"SubagentStop: hookkit record event", "Stop: hookkit record event", "StopFailure: hookkit record event", "PreCompact: hookkit record event",
		"PostCompact: hookkit record event", "SessionEnd: hookkit record event",
	}, "note: recordings go to $HOME/.local/state/hookkit/recordings; end with: hookkit record uninstall\n", ""},
}

// installerWorld is a project under git with one of the programs on the PATH, or not.
func installerWorld(t *testing.T, program, words string, onPath bool, options ...fakes.ProjectOption) (w *world, run func(args ...string) result) {
	t.Helper()
	w = newWorld(t, "{}", append(options, fakes.WithGit())...)
	path := built(t, program)
	w.mayChange, w.rules = true, append(w.rules, literal(path, "$$PROGRAM"))
	w.env = append(w.env, "PATH=/usr/bin:/bin")
	if onPath {
		w.env = append(w.env, "PATH="+filepath.Dir(path)+":/usr/bin:/bin")
	}
	return w, func(args ...string) result {
		t.Helper()
		spec := w.spec(append(strings.Fields(words), args...)...)
		spec.Path = path
		return w.result(fakes.Run(t, spec, fakes.DevNull()))
	}
}

// reportOf is a report with these signs and handlers on a settings file.
func reportOf(head, sign string, handlers []string, more ...string) string {
	list := []string{head}
	for _, h := range handlers {
		list = append(list, "  "+sign+" "+h)
	}
	return lines(append(list, more...)...)
}

func sorted(text string) []string { return slices.Sorted(strings.Lines(text)) }

// oddSettings has comments, odd spaces, tabs and line ends, and hooks of others.
func oddSettings(mention string) string {
	return "// mine\n{\r\n\t\"model\" : \"x\",   /* and */ \"n\": 1e3,\n   \"hooks\":{ \"Stop\" : [ {\"hooks\":[{\"type\":\"command\",\"command\":\"say done\"},\n" +
		"\t\t{ \"command\":\"cd x && " + mention + "\",\"type\":\"command\" }]} ],\n\"Notification\":[]\n\t}, // last\n}\n"
}

// One installer for all programs: the same flags, report, words and exit codes, and the same rule for how the settings call the program.
func TestInstallers(t *testing.T) {
	fullRun(t)
	t.Parallel()
	for _, c := range installers {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			mention := c.mentioned
			if mention == "" {
				mention = "say this"
			}
			text := oddSettings(mention)
			w, run := installerWorld(t, c.program, c.words, true, fakes.WithFile(localSettings, text, 0o640))
			noSkill, path := []string{}, strings.TrimSpace(c.program+" "+c.words)
			if c.program == "brepl" {
				noSkill = []string{"--no-skill"}
			}
			warnings := commentsWarning + "\n"
			if c.mentioned != "" {
				warnings += "warning: $PROJECT/" + localSettings + ": \"cd x && " + mention + "\" for Stop is a line of your own and stays as it is; it runs " + c.program + " too\n"
			}
			others := "  2 other handlers are left as they are"
			said := func(head, sign string) string { return reportOf(head, sign, c.handlers, others) + c.more + warnings }

			before := w.project.Snapshot()
			r := run(append([]string{"install", "--dry-run"}, noSkill...)...)
			assert.Equal(t, r.exit, 0, r.stderr)
			assert.Assert(t, strings.HasPrefix(r.stdout, "diff $PROJECT/"+localSettings), r.stdout)
			assert.Assert(t, strings.HasSuffix(r.stdout, "\n"+said(localSettings+": would be updated", "+")), r.stdout)
			assert.DeepEqual(t, before.Changes(w.project.Snapshot()), []string(nil))

			run(append([]string{"install"}, noSkill...)...).is(0, said(localSettings+": updated", "+"), "")
			written := w.project.Read(localSettings)
			r = run(append([]string{"install"}, noSkill...)...)
			assert.Equal(t, r.exit, 0, r.stderr)
			// They stand in the order of the file now.
			assert.DeepEqual(t, sorted(r.stdout), sorted(said(localSettings+": already as wanted", "=")))
			assert.Equal(t, w.project.Read(localSettings), written)

			r = run(append([]string{"install", "--json"}, noSkill...)...)
			assert.Equal(t, r.exit, 0, r.stderr)
			var report map[string]any
			assert.NilError(t, json.Unmarshal([]byte(r.stdout), &report), r.stdout)
			for key, want := range map[string]any{"action": "install", "scope": "local", "dry_run": false, "root": "$PROJECT"} {
				assert.Equal(t, report[key], want)
			}
			file, _ := report["files"].([]any)[0].(map[string]any)
			assert.Assert(t, file["status"] == "unchanged" && len(file["kept"].([]any)) == len(c.handlers) && file["foreign"] == 2.0, "%v", file)

			run("uninstall", "--frobnicate").is(1, "", path+" uninstall: flag provided but not defined: -frobnicate\nRun '"+path+" uninstall --help' for usage.\n")
			run("uninstall", "now").is(1, "", path+" uninstall: unexpected argument \"now\"\nRun '"+path+" uninstall --help' for usage.\n")
			r = run("uninstall", "--dry-run")
			assert.Equal(t, r.exit, 0, r.stderr)
			assert.Equal(t, w.project.Read(localSettings), written)
			r = run("uninstall")
			assert.Equal(t, r.exit, 0, r.stderr)
			assert.Equal(t, w.project.Read(localSettings), text)
			r = run("uninstall")
			assert.Assert(t, cmp.Contains(r.stdout, localSettings+": no hooks of "+c.program+" in it\n"))
			assert.DeepEqual(t, before.Changes(w.project.Snapshot()), []string(nil))
		})
	}
}

// A program that the PATH does not lead to is called by its path, and by its name in settings that others share, with a warning.
func TestInstallersOffThePath(t *testing.T) {
	fullRun(t)
	t.Parallel()
	for _, c := range installers {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			w, run := installerWorld(t, c.program, c.words, false)
			before := w.project.Snapshot()
			path := strings.TrimSpace(c.program + " " + c.words)
			r := run("install")
			assert.Equal(t, r.exit, 0, r.stderr)
			for _, h := range c.handlers {
				event, command, _ := strings.Cut(h, ": ")
				assert.Assert(t, cmp.Contains(r.stdout, "  + "+event+": "+strings.Replace(command, c.program, "$PROGRAM", 1)+"\n"))
			}
			assert.Assert(t, cmp.Contains(normalize(w.project.Read(localSettings), w.names()), `"command": "$PROGRAM `))

			r = run("install", "--scope", "project")
			assert.Equal(t, r.exit, 0, r.stderr)
			assert.Assert(t, cmp.Contains(r.stdout, reportOf(".claude/settings.json: created", "+", c.handlers)))
			assert.Assert(t, cmp.Contains(r.stdout, "warning: "+c.program+" is not on your PATH, and the project's settings call it by that name: the hooks will not run until it is\n"))
			assert.Assert(t, cmp.Contains(r.stdout, "both run; remove them with: "+path+" uninstall\n"))

			r = run("uninstall", "--scope", "project")
			assert.Assert(t, cmp.Contains(r.stdout, ".claude/settings.json: deleted, because nothing else was in it\n"))
			assert.Assert(t, cmp.Contains(r.stdout, "warning: $PROJECT/"+localSettings+" still has hooks of "+c.program+"; remove them with: "+path+" uninstall\n"))
			assert.Equal(t, run("uninstall").exit, 0)
			assert.DeepEqual(t, before.Changes(w.project.Snapshot()), []string(nil))
			// What uninstall remembers of the file is in the program's own folder of state.
			dirs, err := os.ReadDir(filepath.Join(w.home, ".local", "state"))
			assert.NilError(t, err)
			assert.DeepEqual(t, slices.Collect(func(yield func(string) bool) {
				for _, d := range dirs {
					yield(d.Name())
				}
			}), []string{c.program})
		})
	}
}

// What has no gates cannot be installed into: without git nothing tells what has changed.
func TestGauntletInstallNeedsGit(t *testing.T) {
	t.Parallel()
	w := &gauntletWorld{newWorld(t, "")}
	w.gauntlet("install").is(1, "", "agent-gauntlet install: $PROJECT is in no git repository, and what has changed is found with git; run `git init` first\n")
	assert.Equal(t, content(t, w.project.Path(localSettings)), "absent")
}
