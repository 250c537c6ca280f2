package edit

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/reload"
)

// maxUses is how many places are told that still use what left a file.
const maxUses = 12

// left tells what left a file and is still used elsewhere, and which values the REPL has kept.
func (v *evaluator) left(ctx context.Context, src source, o reload.Outcome) (list []trouble) {
	tell := func(text string) {
		list = append(list, trouble{path: src.path, summary: "Still used", warning: true, once: true, text: text})
	}
	if len(o.Kept) > 0 {
		tell(fmt.Sprintf("%s: %s kept its old value, since a defonce is evaluated once. To have the new one, evaluate it in the REPL with def, or restart it.",
			src.name, strings.Join(o.Kept, ", ")))
	}
	if len(o.Gone) == 0 {
		return list
	}
	uses := v.uses(ctx, src, o)
	for _, name := range o.Gone {
		if places := uses[name]; len(places) > 0 {
			tell(fmt.Sprintf("%s left %s; still used in %s", name.Bare, src.name, v.places(places)))
		}
	}
	return list
}

// uses looks through the project's files for the names that left a file. Nothing is known when that takes too long.
func (v *evaluator) uses(ctx context.Context, src source, o reload.Outcome) map[reload.Name][]reload.Use {
	root := v.rootOf(src.path)
	limited, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	found := map[reload.Name][]reload.Use{}
	err := project.Files(limited, root, v.program.Env, isSource, func(name string, _ fs.FileInfo) {
		path := filepath.Join(project.Physical(root), name)
		disk, err := load(path)
		if err != nil || !disk.exists {
			return
		}
		for _, gone := range o.Gone {
			if bytes.Contains([]byte(disk.text), []byte(gone.Bare)) {
				found[gone] = append(found[gone], reload.Uses(path, []byte(disk.text), gone.Space, []string{gone.Bare})...)
			}
		}
	})
	if err != nil {
		v.note("who uses what left %s: %v", src.path, err)
	}
	return found
}

// places are uses as they are shown: by the file's name alone where no other file here has it.
func (v *evaluator) places(uses []reload.Use) string {
	paths := map[string][]string{} // by base name
	for _, use := range uses {
		base := filepath.Base(use.Path)
		if !slices.Contains(paths[base], use.Path) {
			paths[base] = append(paths[base], use.Path)
		}
	}
	var list []string
	for _, use := range uses[:min(len(uses), maxUses)] {
		name := filepath.Base(use.Path)
		if len(paths[name]) > 1 {
			name = shown(v.program.Dir, use.Path)
		}
		list = append(list, fmt.Sprintf("%s:%d", name, use.Line))
	}
	if more := len(uses) - maxUses; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}
