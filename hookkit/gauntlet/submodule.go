package gauntlet

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/text"
)

// addSubmodules counts the submodules as changed in which something is not committed: a tree names no more than their commit. What it is
// has no name, so it is never the same as before.
func (a *activity) addSubmodules(ctx context.Context, c *Changes) error {
	root, ok := project.GitRoot(a.config.Root)
	if !ok || !project.Exists(filepath.Join(root, ".gitmodules")) {
		return nil
	}
	out, err := a.snaps.repo.gitWith(ctx, a.snaps.staged(), "diff-files", "-z", "--raw", "--ignore-submodules=none", "--relative")
	if err != nil {
		return err
	}
	changed, err := parseRaw(out)
	if err != nil {
		return err
	}
	for _, f := range changed {
		if f.mode != "160000" {
			continue
		}
		f.object = "run " + a.summary.RunID
		if i := slices.IndexFunc(c.Files, func(known Change) bool { return known.Path == f.Path }); i >= 0 {
			c.Files[i].object = f.object
		} else {
			c.Files = append(c.Files, f)
		}
		c.unnamed = true
		note := text.Name(f.Path) + " is a submodule with changes that are not committed in it: checks see them, reviews do not"
		if !slices.Contains(a.ends.omitted, note) {
			a.ends.omitted = append(a.ends.omitted, note)
		}
	}
	slices.SortFunc(c.Files, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return nil
}
