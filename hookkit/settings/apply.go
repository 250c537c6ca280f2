package settings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookkit/brepl/hookkit/session"
)

// A Job is a settings file to be changed.
type Job struct {
	Path string
	Spec Spec // its Memory is set by Apply
	// StateDir is the folder for the lock and for what uninstall must remember,
	// absolute: the user's state folder, for example ~/.local/state/brepl. It is
	// made when it is missing. Nothing of this is put beside the settings file.
	StateDir string
	// DryRun works everything out and writes nothing, no lock either.
	DryRun bool
}

// An Outcome is what Apply did, or with DryRun would do.
type Outcome struct {
	Result
	Path          string
	Before, After []byte // text of the file; After is nil when the file goes
	Existed       bool   // there was a file
	Written       bool   // the file was created or replaced
	Deleted       bool   // the file was deleted: nothing else was in it
	// Warnings are lines for people about this file.
	Warnings []string
}

// Changed says that After is not Before, or that the file comes or goes.
func (o Outcome) Changed() bool { return o.Written || o.Deleted }

const (
	lockWait = 10 * time.Second
	tries    = 4 // plans, when somebody else writes the file at the same moment
)

// Apply plans and writes one settings file. Only one Apply works on a file at
// a time. A program that does not know our lock, such as the agent itself, may
// write the file in between: that is noticed, and the plan is made again from
// what it wrote; after some tries the error is session.ErrChanged. The file keeps
// its mode and owner; a symbolic link stays and its target is replaced; a
// read-only file is refused. On every error the file is as it was.
//
// When the state folder cannot be used, the work is done all the same, with a
// warning: what it is for can be done without in nearly every case.
func Apply(ctx context.Context, job Job) (Outcome, error) {
	store, err := openStore(job.StateDir, job.Path)
	var warnings []string
	if err == nil && !job.DryRun {
		var unlock func()
		if unlock, err = store.session.Lock(ctx, lockWait); err == nil {
			defer unlock()
		}
		if errors.Is(err, session.ErrLocked) || ctx.Err() != nil {
			return Outcome{Path: job.Path}, fmt.Errorf("%s: %w", job.Path, err)
		}
	}
	if err != nil {
		warnings = append(warnings, fmt.Sprintf("%s is not locked, and what stood in it before is not remembered: %v", job.Path, err))
		store = nil
	}
	if !job.DryRun {
		session.RemoveStrays(job.Path)
	}
	for try := 1; ; try++ {
		out, err := job.once(store)
		out.Warnings = slices.Concat(warnings, out.Warnings)
		if !errors.Is(err, session.ErrChanged) || try == tries || ctx.Err() != nil {
			return out, err
		}
	}
}

// once reads, plans and writes.
func (job Job) once(store *store) (Outcome, error) {
	out := Outcome{Path: job.Path}
	var err error
	if out.Before, out.Existed, err = readSettings(job.Path); err != nil {
		return out, err
	}
	var known known
	if !job.DryRun || store.exists() {
		known = store.load()
	}
	job.Spec.Memory = known.Filled
	if out.Result, err = Plan(job.Path, out.Before, job.Spec); err != nil {
		return out, err
	}
	out.After = out.Data
	if out.Comments {
		out.Warnings = append(out.Warnings, job.Path+" has comments or trailing commas: the agent ignores such a file, and hooks in it do not run")
	}
	if out.NoList {
		out.Warnings = append(out.Warnings, job.Path+" has a PreToolUse that is not an array: the agent drops every hook of such a file, and hooks in it do not run")
	}
	if out.Disabled {
		out.Warnings = append(out.Warnings, job.Path+` says "disableAllHooks": true: hooks in it do not run`)
	}
	uninstall := len(job.Spec.Want) == 0
	info, statErr := os.Lstat(job.Path)
	isLink := statErr == nil && info.Mode()&fs.ModeSymlink != 0
	switch {
	case bytes.Equal(out.Before, out.After):
		if uninstall && !job.DryRun {
			job.forget(store, known, !out.Existed)
		}
		return out, nil
	case out.Bare && (!isLink || known.MadeTarget):
		out.After, out.Deleted = nil, true
	default:
		out.Written = true
	}
	if n := linkCount(info); n > 1 && out.Written {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%s had %d hard links: the other names keep the old content", job.Path, n))
	}
	if job.DryRun {
		return out, nil
	}
	if out.Deleted {
		err = remove(resolve(job.Path), out.Before)
	} else {
		err = job.write(&out, store, known)
	}
	if err != nil {
		out.Written, out.Deleted = false, false
		return out, err
	}
	if uninstall {
		job.forget(store, known, out.Deleted)
	}
	return out, nil
}

// forget is the end of an uninstall: the memory goes, and with the file the folder that install made for it.
func (job Job) forget(store *store, known known, gone bool) {
	if known.MadeFolder && gone {
		_ = os.Remove(filepath.Dir(job.Path)) // stays when something else is in it
	}
	store.forget()
}

// write remembers first: a memory without the change does no harm, a change
// without the memory cannot be undone exactly.
func (job Job) write(out *Outcome, store *store, known known) error {
	opts := session.WriteOptions{Mode: 0o644, Sync: true, Expect: out.Before, Absent: !out.Existed}
	if !out.Existed {
		opts.Expect = nil
		dir := filepath.Dir(job.Path)
		_, folder := os.Lstat(dir)
		known.MadeFolder = errors.Is(folder, fs.ErrNotExist)
		_, link := os.Lstat(job.Path)
		known.MadeTarget = link == nil // it leads to nothing

		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a project's folder, as the agent makes it
			return fmt.Errorf("cannot write %s: %w", job.Path, err)
		}
		out.Memory = Memory{} // nothing was there: all of it goes again
	} else if opts.Expect == nil {
		opts.Expect = []byte{}
	}
	if len(job.Spec.Want) > 0 {
		known.Filled = out.Memory
		known.inherit(job, out.Foreign)
		if err := store.save(job.Path, known); err != nil {
			out.Warnings = append(out.Warnings, fmt.Sprintf("what stood in %s before is not remembered: %v", job.Path, err))
		}
	}
	return session.WriteFile(job.Path, out.After, opts)
}

// readSettings reads a file that need not exist.
func readSettings(path string) (data []byte, existed bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("cannot read settings: %w", err)
	case !info.Mode().IsRegular():
		return nil, true, fmt.Errorf("%s: %w", path, session.ErrNotRegular)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, true, fmt.Errorf("cannot read settings: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	data, err = io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, true, fmt.Errorf("cannot read settings: %w", err)
	}
	return data, true, nil
}

// remove deletes the file if it still holds what was read.
func remove(path string, expect []byte) error {
	now, _, err := readSettings(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, expect) {
		return &session.RefusedError{Path: path, Reason: session.ErrChanged, Hint: "nothing was deleted; try again"}
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o200 == 0 {
		return &session.RefusedError{Path: path, Reason: session.ErrReadOnly, Detail: fmt.Sprintf("mode %04o", info.Mode().Perm()), Hint: "make it writable first: chmod u+w " + path}
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("cannot delete settings: %w", err)
	}
	return nil
}
