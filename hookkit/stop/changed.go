package stop

import (
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"slices"
	"time"

	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/project"
)

// snapshotLimit bounds one look at the project's files. A slower one counts as "changed".
const snapshotLimit = 200 * time.Millisecond

// snapshot is a fingerprint of the [project.Files]: their paths, sizes, modification times and modes. With patterns, only the files below
// dir that match one count. The empty string is never equal to anything: the look took too long or failed, or no file matched.
func snapshot(ctx context.Context, dir string, env, patterns []string) string {
	ctx, cancel := context.WithTimeout(ctx, snapshotLimit)
	defer cancel()
	sum := fnv.New64a()
	found := false
	wanted := func(name string) bool {
		return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return hooksedn.Matches(p, name) })
	}
	err := project.Files(ctx, dir, env, wanted, func(name string, info fs.FileInfo) {
		found = true
		_, _ = fmt.Fprintf(sum, "%q %d %d %d\n", name, info.Size(), info.ModTime().UnixNano(), info.Mode()) // a hash takes everything
	})
	if err != nil || !found && len(patterns) > 0 {
		return ""
	}
	return fmt.Sprintf("%016x", sum.Sum64())
}

// unmatched returns the patterns that match no file, none of them when the look took too long.
func unmatched(ctx context.Context, dir string, env, patterns []string) []string {
	left := slices.Clone(patterns)
	if len(left) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, snapshotLimit)
	defer cancel()
	every := func(string) bool { return true }
	err := project.Files(ctx, dir, env, every, func(name string, _ fs.FileInfo) {
		left = slices.DeleteFunc(left, func(p string) bool { return hooksedn.Matches(p, name) })
	})
	if err != nil {
		return nil
	}
	return left
}
