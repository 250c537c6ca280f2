package edit

import (
	"context"
	"errors"
	"fmt"
	"path"
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
	lookLimit = 500 * time.Millisecond
	lookPause = 5 * time.Minute // after a look that did not come to its end
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

// path is the file that the input names.
func (c toolCall) path() string { return absolute(c.CWD, c.file) }

// root is the folder that is looked through for changes.
func (c toolCall) root() string {
	root, ok := project.Root(c.ProjectDir())
	if !ok {
		root = filepath.Clean(c.ProjectDir())
	}
	return project.Physical(root)
}

// changed are the Clojure files that a tool has changed, by absolute path: the one that it names, or those that differ from the session's
// last look at the project.
func (v *evaluator) changed(ctx context.Context, c toolCall) []string {
	if !c.edits() {
		return v.scan(ctx, c)
	}
	if c.failed || c.file == "" || kindOf(c.file) == foreign {
		return nil // an edit that fails has changed nothing
	}
	return []string{c.path()}
}

// isSource reports whether a file by its name below the project is one to load. Hidden folders hold other work trees and caches.
func isSource(name string) bool {
	return slices.Contains(loaded[:], path.Ext(name)) && !strings.HasPrefix(name, ".") && !strings.Contains(name, "/.")
}

// scan goes once through the project's files and compares with the session's last look, which it replaces. The first look of a session only
// takes the stamps. Nothing is known when that took too long; the last look then stays.
func (v *evaluator) scan(ctx context.Context, c toolCall) []string {
	root := c.root()
	if filepath.Dir(root) == root {
		return nil // no project: the host did not say where it is
	}
	if pausing(v.memory.read().noLook, lookPause) {
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
	now, err := project.Scan(limited, root, v.program.Env, isSource)
	if err != nil {
		unlock()
		v.note("no look at the files of %s: %v", root, err)
		if ctx.Err() == nil {
			v.memory.change(ctx, func(m *evalMemory) { m.noLook = time.Now().Add(lookPause) })
			v.unseen = unseen(root, err)
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
	return before.Changed(now)
}

// unseen tells that a project was not looked through; silence would say that all is loaded.
func unseen(root string, err error) *trouble {
	why := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		why = fmt.Sprintf("it takes over %v", lookLimit)
	}
	return &trouble{path: root, summary: "Not evaluated", warning: true, text: fmt.Sprintf(
		"%s was not looked through for changed files: %s. What commands change there may not be loaded into the REPL; what Edit and Write change is.", root, why)}
}

// keepSeen puts into the session's look how the files were that have been dealt with, so that the next scan does not find them.
func (v *evaluator) keepSeen(ctx context.Context, c toolCall, seen project.Look) {
	if len(seen) == 0 || !v.memory.hasLook() {
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
	for path, stamp := range seen {
		if isSource(path) && project.Contains([]string{root}, path) && look[path] != stamp {
			look[path], different = stamp, true
		}
	}
	if different {
		if err = session.WriteFile(file, look.Encode(root), session.WriteOptions{State: true}); err != nil {
			v.note("the look is not kept: %v", err)
		}
	}
}
