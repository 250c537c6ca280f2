package gauntlet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hookkit/brepl/hookkit/text"
)

// A snapshot is the work tree as a tree of git's: what is staged, what is not, and what is untracked and not ignored, so that two
// moments can be compared whatever was committed, staged or undone in between. It is made in a copy of the index, and what is new goes
// to an object folder of ours: the repository stays as it is.

// snapshotter makes snapshots in a folder of ours.
type snapshotter struct {
	repo *repository
	dir  string // for the objects and the copy of the index
	kept string // more objects to look among: those of earlier snapshots; "" for none

	index string // the copy of git's index, after stage
}

func (s *snapshotter) objects() string { return filepath.Join(s.dir, "objects") }

// env makes git write objects to our folder, and see the repository's and ours.
func (s *snapshotter) env() []string {
	others := quoteAlternate(s.repo.objects)
	if s.kept != "" {
		others += string(filepath.ListSeparator) + quoteAlternate(s.kept)
	}
	return []string{"GIT_OBJECT_DIRECTORY=" + s.objects(), "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + others}
}

// maxUntracked is how large an untracked file may be, in bytes. A larger one is data that somebody forgot to ignore: hashing it at every
// stop would take longer than the gates.
const maxUntracked = 64 << 20

// stage puts the work tree into a copy of git's index. notes name what does not count, and why. Call close when done.
func (s *snapshotter) stage(ctx context.Context) (notes []string, err error) {
	if err = os.MkdirAll(s.objects(), 0o700); err != nil {
		return nil, err
	}
	s.index = filepath.Join(s.dir, fmt.Sprintf("index-%d", os.Getpid()))
	// Huge files are looked for while git is at work, since there are hardly ever any.
	adding, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var huge []string
	var listErr error
	var wait sync.WaitGroup
	wait.Go(func() {
		if huge, listErr = s.huge(ctx); len(huge) > 0 {
			stop(errHuge)
		}
	})
	note, err := s.add(adding, []byte("."))
	wait.Wait()
	if len(huge) > 0 {
		pathspecs := []byte(".")
		for _, name := range huge {
			pathspecs = append(append(append(pathspecs, 0), ":(exclude,literal)"...), name...)
			notes = append(notes, text.Name(name)+" is untracked and too large to be looked at: it does not count as changed; add it to .gitignore")
		}
		note, err = s.add(ctx, pathspecs)
	}
	if note != "" {
		notes = append(notes, note)
	}
	return notes, errors.Join(err, listErr)
}

var errHuge = errors.New("there is a huge file")

// add adds what the pathspecs name to a new copy of git's index. Files that cannot be read stay as they were there; note says so.
func (s *snapshotter) add(ctx context.Context, pathspecs []byte) (note string, err error) {
	_ = os.Remove(s.index + ".lock") // of a call that was ended
	if err = copyIndex(s.repo.index, s.index); err != nil {
		return "", fmt.Errorf("cannot copy git's index: %w", err)
	}
	// Speed counts more than room: the objects go when a run has passed. A monitor that git would start could hold our streams.
	_, err = s.repo.gitFed(ctx, s.staged(), pathspecs, "-c", "core.compression=0", "-c", "core.safecrlf=false", "-c", "core.splitIndex=false",
		"-c", "core.fsmonitor=false", "-c", "advice.addEmbeddedRepo=false",
		"add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
	if failed, ok := errors.AsType[*gitError](err); ok && failed.exit == 1 {
		return "some files could not be looked at, and count as unchanged: " + failed.text, nil
	}
	return "", err
}

// huge lists the untracked files that are too large.
func (s *snapshotter) huge(ctx context.Context) (names []string, err error) {
	list, err := s.repo.git(ctx, "ls-files", "-z", "--others", "--exclude-standard", "--", ".")
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		info, gone := os.Lstat(filepath.Join(s.repo.dir, filepath.FromSlash(name)))
		if gone == nil && info.Mode().IsRegular() && info.Size() > maxUntracked {
			names = append(names, name)
		}
	}
	return names, err
}

// staged is env with the copy of the index.
func (s *snapshotter) staged() []string { return append(s.env(), "GIT_INDEX_FILE="+s.index) }

// tree writes what is staged as a tree and returns its id.
func (s *snapshotter) tree(ctx context.Context) (string, error) {
	// What is in an index is in the repository; looking for each object would take most of the time.
	out, err := s.repo.gitWith(ctx, s.staged(), "write-tree", "--missing-ok")
	return strings.TrimSpace(string(out)), err
}

// close removes the copy of the index. What a killed run left of one goes with the next pruning.
func (s *snapshotter) close() {
	if s.index != "" {
		_ = os.Remove(s.index)
		_ = os.Remove(s.index + ".lock")
	}
}

// copyIndex copies git's index, with its time: git takes a file for possibly changed when it is as young as the index. A repository
// without commits may have none.
func copyIndex(from, to string) error {
	_ = os.Remove(to) // of a process that had our number before
	// A second name is as good as a copy: git writes a new file and gives it the name, and leaves the old one alone.
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// prune removes objects that no snapshot since a time has written or met again.
func (s *snapshotter) prune(before time.Time) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return // there are none
	}
	defer func() { _ = root.Close() }() // only a handle
	_ = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil //nolint:nilerr // what cannot be removed is not worth an error
		}
		if info, err := entry.Info(); err == nil && info.ModTime().Before(before) {
			_ = root.Remove(path)
		}
		return nil
	})
}

// diff is the text of what differs between two trees in these files. Names are literal, whatever is in them.
func (s *snapshotter) diff(ctx context.Context, from, to string, files []Change) ([]byte, error) {
	const most = 512 << 10 // bytes of names on one command line; more, and the whole difference is taken
	names := 0
	for _, f := range files {
		names += len(f.Path) + 1
	}
	args := []string{
		"--literal-pathspecs", "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--relative",
		"--src-prefix=a/", "--dst-prefix=b/", from, to, "--",
	}
	if names <= most {
		for _, f := range files {
			args = append(args, f.Path)
		}
	}
	return s.repo.gitWith(ctx, s.env(), args...)
}
