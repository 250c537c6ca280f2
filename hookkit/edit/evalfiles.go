package edit

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/session"
)

// Bounds for finding out what a tool has changed.
const (
	lookLimit   = 500 * time.Millisecond
	lookPause   = 5 * time.Minute // after a walk that did not come to its end
	ignoreLimit = time.Second
)

// toolCall is what an event says about the tool that has run.
type toolCall struct {
	*hookkit.Common
	tool, file string
	failed     bool
}

// edits reports whether a tool names in its input the one file that it changes.
func (c toolCall) edits() bool {
	switch c.tool {
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		return true
	}
	return false
}

// root is the folder that is looked through for changes.
func (c toolCall) root() string { return project.Physical(project.Find(c.ProjectDir())) }

// changed are the Clojure files that a tool has changed, by absolute path: the one that it names, or those that differ from the session's
// last look at the project.
func (v *evaluator) changed(ctx context.Context, c toolCall) []string {
	if !c.edits() {
		return v.scan(ctx, c)
	}
	if c.failed || c.file == "" || kindOf(c.file) == foreign {
		return nil // an edit that fails has changed nothing
	}
	return []string{absolute(c.CWD, c.file)}
}

// isSource reports whether a file has the name of one that can be loaded.
func isSource(name string) bool { return slices.Contains(loaded[:], filepath.Ext(name)) }

// scan walks once through the project and compares with the session's last look, which it replaces. The first look of a session only
// takes the stamps. Nothing is known when the walk took too long; the last look then stays.
func (v *evaluator) scan(ctx context.Context, c toolCall) []string {
	root := c.root()
	if filepath.Dir(root) == root {
		return nil // no project: the host did not say where it is
	}
	if time.Now().Before(v.memory.read().noLook) {
		return nil
	}
	file, err := v.memory.lookFile(true)
	if err != nil {
		v.note("no look at the files: %v", err)
		return nil
	}
	unlock, err := v.memory.session.Lock(ctx, memoryWait)
	if err != nil {
		v.note("no look at the files: %v", err)
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	now, err := project.Scan(limited, root, isSource)
	if err != nil {
		unlock()
		v.note("no look at the files of %s: %v", root, err)
		if ctx.Err() == nil {
			v.memory.change(ctx, func(m *evalMemory) { m.noLook = time.Now().Add(lookPause) })
		}
		return nil
	}
	defer unlock()
	before, err := project.ReadLook(file, root)
	if err != nil {
		v.note("first look at the files: %v", err)
	}
	if err != nil || !before.Equal(now) {
		if writeErr := session.WriteFile(file, now.Encode(root), session.WriteOptions{State: true}); writeErr != nil {
			v.note("the look is not kept: %v", writeErr)
			return nil // or the same files would be new each time
		}
	}
	if err != nil {
		return nil
	}
	return notIgnored(ctx, root, v.program.Env, before.Changed(now))
}

// lookAgain notes how files are now that have been dealt with, so that the next scan does not find them.
func (v *evaluator) lookAgain(ctx context.Context, c toolCall, paths []string) {
	if len(paths) == 0 || !v.memory.hasLook() {
		return
	}
	root := c.root()
	file, err := v.memory.lookFile(false)
	if err != nil {
		return
	}
	unlock, err := v.memory.session.Lock(ctx, memoryWait)
	if err != nil {
		return
	}
	defer unlock()
	look, err := project.ReadLook(file, root)
	if err != nil {
		return
	}
	different := false
	for _, path := range paths {
		if project.Contains([]string{root}, path) && isSource(path) {
			different = look.Update(path) || different
		}
	}
	if different {
		if err = session.WriteFile(file, look.Encode(root), session.WriteOptions{State: true}); err != nil {
			v.note("the look is not kept: %v", err)
		}
	}
}

// notIgnored leaves out what git ignores; all stay where git does not say. It is asked only about files that have changed, which is why
// the walk itself need not know the rules of .gitignore.
func notIgnored(ctx context.Context, root string, env, paths []string) []string {
	if len(paths) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, ignoreLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "--no-optional-locks", "check-ignore", "-z", "--stdin")
	cmd.Dir = root
	cmd.Env = append(slices.Clone(env), "LC_ALL=C")
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	cmd.WaitDelay = time.Millisecond // a child of git that hangs must not hold us
	out, _ := cmd.Output()           // it ends with 1 where nothing is ignored, and with 128 outside of a repository
	ignored := map[string]bool{}
	for path := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		ignored[string(path)] = true
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Lstat(path)
		return ignored[path] || err != nil
	})
}
