//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// What the skill teaches works: every block and every command of the table, run by a shell as the agent would.
func TestSkillCommands(t *testing.T) { // not beside tests that count connections: ls asks every server
	brepl(t)
	w := newProgramWorld(t, fakes.WithFile("src/my/app/core.clj", "(ns my.app.core)\n", 0o644),
		fakes.WithFile("test/my/app/core_test.clj", "(ns my.app.core-test (:require [clojure.test :refer [deftest]] my.app.core))\n(deftest total)\n", 0o644))
	assert.Equal(t, w.byHand("install", "--no-skill").exit, 0)
	_, err := os.Stat(w.project.Path(skillFile))
	assert.Assert(t, os.IsNotExist(err))
	w.run(fakes.DevNull(), "skill", "install").is(0, skillFile+": created\n", "")
	server := w.withREPL(fakes.NREPLRelaxed())
	runs(server.OnContains("clojure.test/report").AnyTimes(), `{:event :plan :namespaces ["my.app.core-test"] :missing []}`,
		`{:event :ns :ns "my.app.core-test" :test 1 :pass 1 :ms 1}`, `{:event :end :ms 3}`)
	text := w.project.Read(skillFile)

	ran := 0
	shell := func(command string) {
		t.Helper()
		ran++
		spec := w.spec("-c", command)
		spec.Path = "/bin/sh"
		r := w.result(fakes.Run(t, spec, fakes.DevNull()))
		if strings.Contains(r.stderr+r.stdout, "none failed last time") {
			r.exit-- // no test ran
		}
		assert.Check(t, r.exit == 0, "$ %s\nexit %d\n%s%s", command, r.exit, r.stdout, r.stderr)
	}
	for _, b := range docBlocks(text) {
		assert.Equal(t, b.language, "bash")
		shell(b.text)
	}
	// The file has a backup, and another content: what brings it back works too.
	w.run(fakes.OneLine(fakes.PreEditEvent(w.project.Path("src/my/app/core.clj"), "(ns my", "(ns  my", fakes.InProject(w.dir), fakes.InSession(w.session)).JSON()), "hook", "validate")
	w.project.Write("src/my/app/core.clj", "(ns  my.app.core)\n")
	for line := range strings.Lines(text) {
		row, inTable := strings.CutPrefix(line, "| ")
		_, commands, _ := strings.Cut(row, " | ")
		if !inTable {
			continue
		}
		for i, part := range strings.Split(commands, "`") {
			if i%2 == 1 {
				shell(strings.NewReplacer("HOST", server.Host(), "7888", portOf(server), "FILE", "src/my/app/core.clj").Replace(part))
			}
		}
	}
	assert.Assert(t, ran > 15, "%d commands", ran)
	assert.Equal(t, w.project.Read("src/my/app/core.clj"), "(ns my.app.core)\n")
	_, err = os.Stat(filepath.Join(w.project.Dir(), ".brepl"))
	assert.NilError(t, err)
}

func portOf(server *fakes.NREPL) string {
	_, port, _ := strings.Cut(server.Addr(), ":")
	return port
}
