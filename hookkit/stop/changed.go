package stop

import (
	"bytes"
	"context"
	"fmt"
	"hash"
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// snapshotLimit bounds one look at the project's files. A slower one counts as "changed".
const snapshotLimit = 200 * time.Millisecond

// skippedFolders are passed over where git does not tell what to ignore.
var skippedFolders = [...]string{".git", "target", "node_modules", ".cpcache"}

// snapshot is a fingerprint of the project's files: their paths, sizes and modification times.
// In a git repository these are the tracked and the untracked, not ignored files.
// With patterns, only the files below dir that match one count. The empty string means that
// the look took too long or failed, and is never equal to anything.
func snapshot(ctx context.Context, dir string, env, patterns []string) string {
	ctx, cancel := context.WithTimeout(ctx, snapshotLimit)
	defer cancel()
	sum := fnv.New64a()
	add := func(path string, info fs.FileInfo) {
		if matchesAny(patterns, path) {
			addFile(sum, path, info)
		}
	}
	err := gitFiles(ctx, dir, env, add)
	if err != nil && ctx.Err() == nil {
		err = walkFiles(ctx, dir, add)
	}
	if err != nil || ctx.Err() != nil {
		return ""
	}
	return fmt.Sprintf("%016x", sum.Sum64())
}

func matchesAny(patterns []string, path string) bool {
	if len(patterns) == 0 {
		return true
	}
	for _, p := range patterns {
		// The patterns were checked when the configuration was read.
		if ok, err := doublestar.Match(p, path); err == nil && ok {
			return true
		}
	}
	return false
}

func addFile(sum hash.Hash64, path string, info fs.FileInfo) {
	_, _ = fmt.Fprintf(sum, "%q %d %d %d\n", path, info.Size(), info.ModTime().UnixNano(), info.Mode())
}

// gitFiles calls add for each file below dir that git tracks or would track.
// Paths use slashes and are relative to dir. A tracked file that is gone is left out.
func gitFiles(ctx context.Context, dir string, env []string, add func(string, fs.FileInfo)) error {
	cmd := exec.CommandContext(ctx, "git", "--no-optional-locks", "ls-files", "-z",
		"--cached", "--others", "--exclude-standard", "--deduplicate")
	cmd.Dir = dir
	cmd.Env = append(slices.Clone(env), "LC_ALL=C")
	cmd.WaitDelay = snapshotLimit
	list, err := cmd.Output()
	if err != nil {
		return err
	}
	for name := range bytes.SplitSeq(bytes.TrimSuffix(list, []byte{0}), []byte{0}) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if info, err := os.Lstat(filepath.Join(dir, string(name))); err == nil && !info.IsDir() {
			add(string(name), info)
		}
	}
	return nil
}

func walkFiles(ctx context.Context, dir string, add func(string, fs.FileInfo)) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil: // unreadable: as good as not there
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			if path != dir && isSkipped(entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil //nolint:nilerr // the file went away while we looked
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		add(filepath.ToSlash(rel), info)
		return nil
	})
}

func isSkipped(name string) bool {
	return slices.Contains(skippedFolders[:], name)
}

// checkPattern reports what is wrong with a :when-changed pattern, "" when nothing is.
func checkPattern(pattern string) string {
	switch {
	case pattern == "":
		return "an empty pattern"
	case strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "../"):
		return "a pattern outside the project"
	case !doublestar.ValidatePattern(pattern):
		return "a malformed pattern"
	}
	return ""
}
