package project

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxEntries bounds the files and folders that are gone through at once.
const maxEntries = 100_000

// ErrTooLarge says that a folder holds more than is gone through.
var ErrTooLarge = errors.New("there are more than " + strconv.Itoa(maxEntries) + " files")

// skippedFolders are passed over where git does not tell what to ignore.
var skippedFolders = [...]string{".git", "target", "node_modules", ".cpcache"}

// Files calls visit for each file below root that counts as the project's own: in a git work tree what is tracked, and what is not and is
// not ignored; elsewhere all but what lies in folders named .git, target, node_modules or .cpcache. A work tree inside of another one, or
// of a plain folder, is asked for its own files. Names are relative to root, with slashes; only files whose name want takes are looked at.
// A symbolic link is a file and is not followed; what is gone or cannot be read is left out. env is the environment for git.
//
// The errors are [ErrTooLarge], for over 100,000 files and folders, and the reason of ctx.
func Files(ctx context.Context, root string, env []string, want func(name string) bool, visit func(name string, info fs.FileInfo)) error {
	w := &walk{ctx: ctx, root: Physical(root), env: GitEnv(env), want: want, visit: visit}
	_, inGit := GitRoot(w.root)
	err := w.folder("", inGit)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// localVariables tie git to another repository than that of the folder it runs in; a git hook that starts us sets them.
var localVariables = [...]string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
	"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_TRACE",
}

// GitEnv is the environment of git's calls: no locale, no questions, no other repository, no fetching of missing objects.
func GitEnv(env []string) []string {
	own := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(localVariables[:], name)
	})
	return append(own, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1")
}

// walk is one call of Files.
type walk struct {
	ctx     context.Context
	root    string
	env     []string
	want    func(string) bool
	visit   func(string, fs.FileInfo)
	entries int
}

// folder goes through a folder by its name, with git's help where it is in a work tree.
func (w *walk) folder(name string, inGit bool) error {
	if inGit {
		list, err := w.git(name)
		if err == nil {
			return w.listed(name, list)
		}
		if w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		if errors.Is(err, exec.ErrWaitDelay) {
			return err // half an answer must not make the project's own of what git ignores
		}
	}
	return w.plain(name)
}

// step counts an entry.
func (w *walk) step() error {
	if w.entries++; w.entries > maxEntries {
		return ErrTooLarge
	}
	return w.ctx.Err()
}

// git asks for the files below a folder that git tracks ("H mode object stage<tab>name") or would track ("? name").
func (w *walk) git(name string) ([]byte, error) {
	cmd := exec.CommandContext(w.ctx, "git", "ls-files", "-z", "-t", "--stage", "--cached", "--others", "--exclude-standard")
	cmd.Dir = filepath.Join(w.root, name)
	cmd.Env = w.env
	cmd.WaitDelay = 250 * time.Millisecond // a child of git that hangs must not hold us; a busy machine must not cut git's answer
	return cmd.Output()
}

// listed goes through git's list. A folder in it is another work tree: a submodule, or one that is simply there. Only folders and what is
// wanted are looked at: a look at each file takes longer than git does.
func (w *walk) listed(prefix string, list []byte) error {
	before := ""
	for part := range bytes.SplitAfterSeq(list, []byte{0}) {
		entry, isEntry := strings.CutSuffix(string(part), "\x00")
		if !isEntry {
			continue // behind the last one
		}
		own, isFolder := listedName(entry)
		if own == before {
			continue // of a merge with conflicts
		}
		before = own
		if err := w.step(); err != nil {
			return err
		}
		name := path.Join(prefix, own)
		if !isFolder && !w.want(name) {
			continue
		}
		at := filepath.Join(w.root, name)
		info, err := os.Lstat(at)
		switch {
		case err != nil:
		case !info.IsDir():
			if w.want(name) {
				w.visit(name, info)
			}
		case isFolder: // in place of a file, git lists what is in it
			if err := w.folder(name, isWorkTree(at)); err != nil {
				return err
			}
		}
	}
	return nil
}

// listedName takes the name out of a line of git's list, and says whether it is that of another work tree.
func listedName(entry string) (name string, isFolder bool) {
	const submodule = "160000 "
	tag, name, _ := strings.Cut(entry, " ")
	if tag == "?" {
		return strings.TrimSuffix(name, "/"), strings.HasSuffix(name, "/")
	}
	mode := name
	_, name, _ = strings.Cut(name, "\t")
	return name, strings.HasPrefix(mode, submodule)
}

// plain goes through a folder without git's help.
func (w *walk) plain(prefix string) error {
	top := filepath.Join(w.root, prefix)
	return filepath.WalkDir(top, func(at string, entry fs.DirEntry, err error) error {
		if stop := w.step(); stop != nil {
			return stop
		}
		switch {
		case err != nil && entry != nil && entry.IsDir():
			return fs.SkipDir
		case err != nil || at == top:
			return nil //nolint:nilerr // what cannot be read is as good as not there
		}
		below, err := filepath.Rel(top, at)
		if err != nil {
			return err
		}
		name := path.Join(prefix, filepath.ToSlash(below))
		switch {
		case entry.IsDir() && slices.Contains(skippedFolders[:], entry.Name()):
			return fs.SkipDir
		case entry.IsDir() && isWorkTree(at):
			if err := w.folder(name, true); err != nil {
				return err
			}
			return fs.SkipDir
		case entry.IsDir() || !w.want(name):
			return nil
		}
		if info, err := entry.Info(); err == nil {
			w.visit(name, info)
		}
		return nil
	})
}
