//go:build unix

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// commands are the handlers of a settings file as text, to be searched.
func (w *world) commands(file string) string { return normalize(w.project.Read(file), w.names()) }

var installRules = []ruleTest{
	{title: "install writes at the root of the git repository", run: func(t *testing.T) {
		w := newProgramWorld(t, fakes.WithFile("a/b/c.clj", "", 0o644), fakes.WithGit())
		w.dir = w.project.Path("a/b")
		before := w.project.Snapshot()
		w.byHand("install").is(0, report("brepl", localSettings+": created", "")+"note: the project is the git work tree $PROJECT\n", "")
		assert.DeepEqual(t, before.Changes(w.project.Snapshot()), slices.Concat([]string{
			"added .brepl", "added " + hooksFile, "added .claude", "added " + localSettings,
		}, addedSkill("")))
	}},
	{title: "local settings hold the binary's absolute path unless brepl on the PATH is that file", run: func(t *testing.T) {
		w := newProgramWorld(t)
		w.env = append(w.env, "PATH=/usr/bin:/bin")
		w.byHand("install").is(0, report("$BREPL", localSettings+": created", ""), "")
		assert.Assert(t, strings.Contains(w.commands(localSettings), `"command": "$BREPL hook stop"`), w.commands(localSettings))

		// Another program of that name is not ours.
		w = newProgramWorld(t)
		w.tool("brepl", "exit 0")
		w.byHand("install").is(0, report("$BREPL", localSettings+": created", "")+
			"warning: brepl on your PATH is another file ($WORLD/bin/brepl): the hooks call this one, $BREPL\n", "")
		assert.Assert(t, strings.Contains(w.commands(localSettings), `"command": "$BREPL hook stop"`), w.commands(localSettings))
	}},
	{title: "project settings hold plain brepl", run: func(t *testing.T) {
		w := newProgramWorld(t)
		w.env = append(w.env, "PATH=/usr/bin:/bin")
		w.byHand("install", "--scope", "project").is(0, report("brepl", ".claude/settings.json: created", "")+
			"warning: brepl is not on your PATH, and the project's settings call it by that name: the hooks will not run until it is\n", "")
		assert.Assert(t, strings.Contains(w.commands(".claude/settings.json"), `"command": "brepl hook stop"`), w.commands(".claude/settings.json"))
		assert.Equal(t, content(t, w.project.Path(localSettings)), "absent")
	}},
	{title: "install warns when two scopes hold different texts of our commands", run: func(t *testing.T) {
		w := newProgramWorld(t)
		w.byHand("install", "--scope", "project", "--debug").is(0, report("brepl", ".claude/settings.json: created", " --debug"), "")
		w.byHand("install").is(0, strings.NewReplacer(hooksCreated, hooksKept, skillCreated, skillKept).Replace(report("brepl", localSettings+": created", ""))+
			"warning: $PROJECT/.claude/settings.json has \"brepl hook validate --debug\" for PreToolUse, "+
			"which is not what was installed here: both run; remove them with: brepl hook uninstall --scope project\n", "")
	}},
	{title: "--skip-eval writes no PostToolUse entry, --debug bakes the flag in", run: func(t *testing.T) {
		w := newProgramWorld(t)
		assert.Equal(t, w.byHand("install", "--skip-eval", "--debug").exit, 0)
		assert.Equal(t, canonical(t, w.project.Read(localSettings)), canonical(t, `{"hooks":{
			"PreToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"brepl hook validate --debug"}]}],
			"Stop":[{"matcher":"","hooks":[{"type":"command","command":"brepl hook stop --debug"}]}],
			"SessionEnd":[{"matcher":"*","hooks":[{"type":"command","command":"brepl hook session-end --debug"}]}]}}`))
	}},
	{title: "a timeout is written on the Stop entry when the hooks' sum comes near 600 s", run: func(t *testing.T) {
		for _, c := range []struct {
			seconds, entry string
		}{
			{"540", `{"type":"command","command":"brepl hook stop"}`},
			{"541", `{"type":"command","command":"brepl hook stop","timeout":610}`},
			{"3000", `{"type":"command","command":"brepl hook stop","timeout":3060}`},
		} {
			w := newProgramWorld(t, fakes.WithHooks(hooksEDN(bash("tests", "true", ":timeout "+c.seconds))))
			assert.Equal(t, w.byHand("install", "--skip-eval").exit, 0)
			assert.Equal(t, canonical(t, w.project.Read(localSettings)), canonical(t, `{"hooks":{
				"PreToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"brepl hook validate"}]}],
				"Stop":[{"matcher":"","hooks":[`+c.entry+`]}],
				"SessionEnd":[{"matcher":"*","hooks":[{"type":"command","command":"brepl hook session-end"}]}]}}`))
			w.hook("check").is(0, ".brepl/hooks.edn can be used: 1 hook (tests)\n", "")
		}
	}},
	{title: "own handlers are recognised by their program, and a shell line that contains one is foreign", run: func(t *testing.T) {
		foreign := []string{"cd x && brepl hook stop", "echo brepl hook stop", "brepl-extra hook stop", "brepl balance"}
		own := []string{"brepl hook stop", "brepl hooks stop", "'/opt/my tools/brepl' hook stop", `\"/x/brepl\" hook eval`, "/x/brepl hook stop --port 1"}
		var handlers []string
		for _, command := range append(foreign, own...) {
			handlers = append(handlers, `{"type":"command","command":"`+command+`"}`)
		}
		handlers = append(handlers, `{"type":"command","command":"/x/brepl","args":["hook","stop"]}`)
		w := newProgramWorld(t, fakes.WithHooks("{}"), fakes.WithFile(localSettings, `{"hooks":{"Stop":[{"hooks":[`+strings.Join(handlers, ",")+`]}]}}`, 0o644))
		r := w.byHand("uninstall")
		assert.Equal(t, r.exit, 0, r.stderr)
		assert.Equal(t, canonical(t, w.project.Read(localSettings)), canonical(t, `{"hooks":{"Stop":[{"hooks":[`+strings.Join(handlers[:len(foreign)], ",")+`]}]}}`))
	}},
	{title: "uninstall gives back the original bytes", run: func(t *testing.T) {
		for name, text := range map[string]string{
			"another hook":       prettier,
			"CRLF":               strings.ReplaceAll(prettier, "\n", "\r\n"),
			"tabs":               strings.ReplaceAll(prettier, "  ", "\t"),
			"one line":           `{"hooks":{"PostToolUse":[{"matcher":"Write","hooks":[{"type":"command","command":"prettier"}]}]},"z":1}`,
			"a BOM":              "\ufeff" + prettier,
			"no hooks":           "{\n    \"model\": \"x\",\n    \"permissions\": {\"allow\": []}\n}",
			"an empty object":    "{}",
			"a Stop that stays":  "{\"hooks\": {\"Stop\": []}}\n",
			"empty hooks":        "{\"hooks\": {}}",
			"escapes, odd space": "{ \"a\\u00e9\\/\" :\t1e3 ,\n\n \"hooks\":{ } }\n\n",
			"comments":           "{\n  // mine\n  \"hooks\": {}, /* and */\n}\n",
		} {
			w := newProgramWorld(t, fakes.WithHooks("{}"), fakes.WithFile(localSettings, text, 0o600))
			before := w.project.Snapshot()
			r := w.byHand("install")
			assert.Equal(t, r.exit, 0, "%s: %s", name, r.stderr)
			assert.Assert(t, strings.Contains(w.project.Read(localSettings), "brepl hook stop"), name)
			r = w.byHand("uninstall")
			assert.Equal(t, r.exit, 0, "%s: %s", name, r.stderr)
			assert.Assert(t, strings.Contains(r.stdout, hooksFile+": stays; delete it if you no longer need it\n"), r.stdout)
			assert.DeepEqual(t, before.Changes(w.project.Snapshot()), []string(nil))
			assert.Equal(t, w.project.Read(localSettings), text, name)
		}
	}},
	{title: "uninstall removes a file that install created", run: func(t *testing.T) {
		w := newProgramWorld(t, fakes.WithHooks("{}"))
		before := w.project.Snapshot()
		assert.Equal(t, w.byHand("install").exit, 0)
		assert.Equal(t, w.byHand("uninstall").exit, 0)
		after := w.project.Snapshot()
		delete(after, ".claude") // an empty folder is nobody's loss
		assert.DeepEqual(t, before.Changes(after), []string(nil))
	}},
	{title: "a settings file with comments is edited with its comments kept, and the user is told", run: func(t *testing.T) {
		w := newProgramWorld(t, fakes.WithHooks("{}"), fakes.WithFile(localSettings, "{\n  // keep me\n  \"model\": \"x\", // and me\n}\n", 0o644))
		w.byHand("install").is(0, strings.Replace(report("brepl", localSettings+": updated", ""), hooksCreated, hooksKept, 1)+
			"warning: $PROJECT/"+localSettings+" has comments or trailing commas: the agent ignores such a file, and hooks in it do not run\n", "")
		for _, comment := range []string{"  // keep me\n", `"x", // and me`} {
			assert.Assert(t, strings.Contains(w.project.Read(localSettings), comment), w.project.Read(localSettings))
		}
	}},
	{title: "what cannot be edited is refused with line and column, and stays", run: func(t *testing.T) {
		for text, at := range map[string]string{
			"[]":                                ":1:1: ",
			"null":                              ":1:1: ",
			"{\n \"hooks\": null}":              ":2:11: ",
			"{\n \"hooks\": []}":                ":2:11: ",
			"{\"hooks\": {\"Stop\": {}}}":       ":1:20: ",
			"{\"hooks\": {},\n \"hooks\": {}}":  ":2:2: ",
			"{\"hooks\": {\n":                   ":2:1: ",
			strings.Repeat("[", 2_500_000):      ":1:",
			"{\"hooks\": {\"Stop\": [17]}}\n{}": ":2:1: ",
		} {
			w := newProgramWorld(t, fakes.WithHooks("{}"), fakes.WithFile(localSettings, text, 0o644))
			before := w.project.Snapshot()
			r := w.byHand("install")
			head := text[:min(len(text), 40)]
			assert.Equal(t, r.exit, 1, "%q: %s", head, r.stdout)
			assert.Assert(t, strings.HasPrefix(r.stderr, "brepl hook install: $PROJECT/"+localSettings+at), "%q: %s", head, r.stderr)
			assert.DeepEqual(t, before.Changes(w.project.Snapshot()), []string(nil))
		}
	}},
	{title: "an empty settings file is an empty object", run: func(t *testing.T) {
		w := newProgramWorld(t, fakes.WithHooks("{}"), fakes.WithFile(localSettings, "", 0o644))
		assert.Equal(t, w.byHand("install").exit, 0)
		assert.Assert(t, strings.Contains(w.project.Read(localSettings), `"brepl hook stop"`))
		assert.Equal(t, w.byHand("uninstall").exit, 0)
		assert.Equal(t, w.project.Read(localSettings), "")
	}},
	{title: "install --dry-run writes nothing", run: func(t *testing.T) {
		w := newProgramWorld(t)
		before := w.project.Snapshot()
		r := w.byHand("install", "--dry-run")
		assert.Equal(t, r.exit, 0, r.stderr)
		for _, line := range []string{"+            \"command\": \"brepl hook stop\"\n", "\n" + localSettings + ": would be created\n", "\n" + hooksFile + ": would be created; put your stop hooks there\n"} {
			assert.Assert(t, strings.Contains(r.stdout, line), r.stdout)
		}
		assert.DeepEqual(t, before.Changes(w.project.Snapshot()), []string(nil))
		home, err := os.ReadDir(w.home)
		assert.NilError(t, err)
		assert.Equal(t, len(home), 0)
	}},
	{title: "the hook that was installed blocks a stop", run: func(t *testing.T) {
		w := newProgramWorld(t, fakes.WithHooks(hooksEDN(bash("tests", "exit 1", retry))))
		assert.Equal(t, w.byHand("install").exit, 0)
		assert.Assert(t, strings.Contains(w.project.Read(localSettings), `"command": "brepl hook stop"`))
		// The host runs the entry's text under sh.
		spec := w.spec("-c", "brepl hook stop")
		spec.Path = "/bin/sh"
		w.result(fakes.Run(t, spec, fakes.OneLine(w.stopEvent()))).blocks("tests", 1)
	}},
	{title: "a path with blanks and quotes is quoted for the shell", run: func(t *testing.T) {
		w := newProgramWorld(t, fakes.WithHooks(hooksEDN(bash("tests", "exit 1", retry))))
		odd := filepath.Join(w.scratch, "my 'own' $tools")
		assert.NilError(t, os.Mkdir(odd, 0o700))
		assert.NilError(t, os.Link(brepl(t), filepath.Join(odd, "brepl")))
		w.env = append(w.env, "PATH=/usr/bin:/bin")
		spec := w.spec("hook", "install")
		spec.Path = filepath.Join(odd, "brepl")
		w.rules = append(w.rules, literal(odd, "$$ODD"))
		assert.Equal(t, w.result(fakes.Run(t, spec, fakes.DevNull())).exit, 0)
		command := w.installedStop()
		spec = w.spec("-c", command)
		spec.Path = "/bin/sh"
		assert.Equal(t, w.result(fakes.Run(t, spec, fakes.OneLine(w.stopEvent()))).exit, 2, command)
	}},
}

const (
	hooksCreated = hooksFile + ": created; put your stop hooks there\n"
	hooksKept    = hooksFile + ": already there, not touched\n"
	skillCreated = skillFile + ": created\n"
	skillKept    = skillFile + ": already as wanted\n"
)

// report is what install says of a project without hooks: program is how the settings call brepl, flags stand at the end
// of each command.
func report(program, file, flags string) string {
	list := []string{file}
	for _, handler := range []string{"PreToolUse: %s hook validate", "PostToolUse: %s hook eval", "Stop: %s hook stop", "SessionEnd: %s hook session-end"} {
		list = append(list, "  + "+fmt.Sprintf(handler, program)+flags)
	}
	return lines(list...) + hooksCreated + skillCreated
}
