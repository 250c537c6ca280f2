package stop

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path"
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
// In a git repository these are the tracked and the untracked, not ignored files, and all files of repositories inside it.
// With patterns, only the files below dir that match one count. The empty string is never equal to anything: the look
// took too long or failed, or no file matched.
func snapshot(ctx context.Context, dir string, env, patterns []string) string {
	sum := fnv.New64a()
	found := false
	err := eachFile(ctx, dir, env, func(name string, info fs.FileInfo) {
		if len(patterns) > 0 && !slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) }) {
			return
		}
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
	err := eachFile(ctx, dir, env, func(name string, _ fs.FileInfo) {
		left = slices.DeleteFunc(left, func(p string) bool { return matches(p, name) })
	})
	if err != nil {
		return nil
	}
	return left
}

// matches reports whether a pattern means a file: by itself, or as a folder that holds it.
func matches(pattern, name string) bool {
	pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/")
	for _, p := range []string{pattern, pattern + "/**"} {
		// The patterns were checked when the configuration was read.
		if ok, err := doublestar.Match(p, name); err == nil && ok {
			return true
		}
	}
	return false
}

// eachFile calls f for each file of the project that counts, within snapshotLimit. Names use slashes and are relative to dir.
func eachFile(ctx context.Context, dir string, env []string, f func(name string, info fs.FileInfo)) error {
	ctx, cancel := context.WithTimeout(ctx, snapshotLimit)
	defer cancel()
	err := gitFiles(ctx, dir, env, f)
	if err != nil && ctx.Err() == nil {
		err = walkFiles(ctx, dir, "", f)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// gitFiles asks git for the files below dir that it tracks or would track. A tracked file that is gone is left out.
func gitFiles(ctx context.Context, dir string, env []string, f func(string, fs.FileInfo)) error {
	cmd := exec.CommandContext(ctx, "git", "--no-optional-locks", "ls-files", "-z",
		"--cached", "--others", "--exclude-standard", "--deduplicate")
	cmd.Dir = dir
	cmd.Env = append(slices.Clone(env), "LC_ALL=C")
	cmd.WaitDelay = time.Millisecond // a child of git that hangs must not hold us
	list, err := cmd.Output()
	if err != nil {
		return err
	}
	for entry := range bytes.SplitSeq(bytes.TrimSuffix(list, []byte{0}), []byte{0}) {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := strings.TrimSuffix(string(entry), "/")
		info, err := os.Lstat(filepath.Join(dir, name))
		switch {
		case err != nil:
		case info.IsDir(): // another repository: a submodule, or one that is simply there
			if err := walkFiles(ctx, filepath.Join(dir, name), name, f); err != nil {
				return err
			}
		default:
			f(name, info)
		}
	}
	return nil
}

// walkFiles goes through a folder without git's help. prefix stands before the names.
func walkFiles(ctx context.Context, dir, prefix string, f func(string, fs.FileInfo)) error {
	return filepath.WalkDir(dir, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil: // unreadable: as good as not there
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			if at != dir && slices.Contains(skippedFolders[:], entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil //nolint:nilerr // the file went away while we looked
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		f(path.Join(prefix, filepath.ToSlash(rel)), info)
		return nil
	})
}

// checkPattern reports what is wrong with a :when-changed pattern, "" when nothing is.
func checkPattern(pattern string) string {
	switch {
	case pattern == "":
		return "an empty pattern"
	case strings.HasPrefix(pattern, "/") || slices.Contains(strings.Split(pattern, "/"), ".."):
		return "a pattern outside the project"
	case !doublestar.ValidatePattern(pattern):
		return "a malformed pattern"
	}
	return ""
}
