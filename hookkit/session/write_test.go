//go:build unix

package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// faulty fails at one step, and counts the steps.
type faulty struct {
	osFiles
	at, step int
	failed   string
	before   func(step string) // what others do at that moment
}

var errInjected = errors.New("no space left on device")

func (f *faulty) fail(name string) error {
	f.step++
	if f.before != nil {
		f.before(name)
	}
	if f.step != f.at {
		return nil
	}
	f.failed = name
	return errInjected
}

func (f *faulty) create(path string, mode fs.FileMode) (file, error) {
	if err := f.fail("create"); err != nil {
		return nil, err
	}
	made, err := f.osFiles.create(path, mode)
	return &faultyFile{made, f}, err
}

func (f *faulty) rename(from, to string) error {
	if err := f.fail("rename"); err != nil {
		return err
	}
	return f.osFiles.rename(from, to)
}

func (f *faulty) exchange(a, b string) error {
	if err := f.fail("exchange"); err != nil {
		return err
	}
	return f.osFiles.exchange(a, b)
}

func (f *faulty) link(from, to string) error {
	if err := f.fail("link"); err != nil {
		return err
	}
	return f.osFiles.link(from, to)
}

func (f *faulty) syncDir(path string) error {
	if err := f.fail("syncDir"); err != nil {
		return err
	}
	return f.osFiles.syncDir(path)
}

type faultyFile struct {
	file
	f *faulty
}

func (f *faultyFile) Write(p []byte) (int, error) {
	if err := f.f.fail("write"); err != nil {
		n, _ := f.file.Write(p[:len(p)/2])
		return n, err
	}
	return f.file.Write(p)
}

func (f *faultyFile) Stat() (fs.FileInfo, error) {
	if err := f.f.fail("stat"); err != nil {
		return nil, err
	}
	return f.file.Stat()
}

func (f *faultyFile) Chmod(mode fs.FileMode) error {
	if err := f.f.fail("chmod"); err != nil {
		return err
	}
	return f.file.Chmod(mode)
}

func (f *faultyFile) Sync() error {
	if err := f.f.fail("sync"); err != nil {
		return err
	}
	return f.file.Sync()
}

func (f *faultyFile) Close() error {
	err := f.file.Close()
	if injected := f.f.fail("close"); injected != nil {
		return injected
	}
	return err
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	assert.NilError(t, err)
	return string(data)
}

func TestWriteFailsAtEveryStep(t *testing.T) {
	// Fault 17: disk full or I/O error at every step: the old file is untouched, nothing is left.
	var failed []string
	for at := 1; ; at++ {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		assert.NilError(t, os.WriteFile(path, []byte("old"), 0o640))
		sys := &faulty{at: at}
		err := writeFile(sys, path, []byte("new content"), WriteOptions{Sync: true})
		if sys.failed == "" {
			assert.NilError(t, err)
			break
		}
		failed = append(failed, sys.failed)
		if sys.failed == "syncDir" { // the file is complete and in place
			assert.NilError(t, err)
			assert.Equal(t, content(t, path), "new content")
		} else {
			assert.ErrorIs(t, err, errInjected)
			assert.Error(t, err, "cannot write "+path+": no space left on device")
			assert.Equal(t, content(t, path), "old")
		}
		assert.DeepEqual(t, tree(t, dir), []string{"f"})
	}
	assert.DeepEqual(t, failed, []string{"create", "stat", "write", "chmod", "sync", "close", "rename", "syncDir"})
}

func TestWriteKeepsMode(t *testing.T) {
	// Fault 16: mode 0600.
	dir := t.TempDir()
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o666, 0o700, 0o755 | fs.ModeSetgid} {
		path := filepath.Join(dir, fmt.Sprintf("f%o", uint32(mode)))
		assert.NilError(t, os.WriteFile(path, nil, 0o600))
		assert.NilError(t, os.Chmod(path, mode))
		assert.NilError(t, WriteFile(path, []byte("x"), WriteOptions{Mode: 0o611}))
		info, err := os.Stat(path)
		assert.NilError(t, err)
		assert.Equal(t, info.Mode(), mode)
	}
	for want, opts := range map[fs.FileMode]WriteOptions{0o600: {}, 0o640: {Mode: 0o640}} { // new files
		path := filepath.Join(dir, want.String())
		assert.NilError(t, WriteFile(path, nil, opts))
		info, err := os.Stat(path)
		assert.NilError(t, err)
		assert.Equal(t, info.Mode(), want)
	}
}

func TestWriteThroughLinks(t *testing.T) {
	// Fault 16: symlinked: the link stays. Hard-linked: the other name keeps the old content.
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	assert.NilError(t, os.MkdirAll(at("real/sub"), 0o700))
	assert.NilError(t, os.WriteFile(at("real/f"), []byte("old"), 0o600))
	assert.NilError(t, os.Symlink(at("real/sub"), at("way"))) // so that way/.. is real
	assert.NilError(t, os.Symlink("way/../f", at("relative")))
	assert.NilError(t, os.Symlink(at("relative"), at("twice")))
	assert.NilError(t, os.Symlink("real/new", at("dangling")))
	assert.NilError(t, os.Symlink("loop", at("loop")))

	assert.NilError(t, WriteFile(at("twice"), []byte("1"), WriteOptions{}))
	assert.Equal(t, content(t, at("real/f")), "1")
	assert.NilError(t, WriteFile(at("dangling"), []byte("2"), WriteOptions{}))
	assert.Equal(t, content(t, at("real/new")), "2")
	for _, name := range []string{"relative", "twice", "dangling"} {
		info, err := os.Lstat(at(name))
		assert.NilError(t, err)
		assert.Assert(t, info.Mode()&fs.ModeSymlink != 0, name)
		err = WriteFile(at(name), nil, WriteOptions{State: true})
		assert.ErrorIs(t, err, ErrSymlink)
	}
	assert.ErrorIs(t, WriteFile(at("loop"), nil, WriteOptions{}), ErrSymlink)

	assert.NilError(t, os.Link(at("real/f"), at("hard")))
	assert.NilError(t, WriteFile(at("real/f"), []byte("3"), WriteOptions{}))
	assert.Equal(t, content(t, at("real/f"))+content(t, at("hard")), "31")
}

func TestWriteRefuses(t *testing.T) {
	// Fault 16: read-only, other owner; and what is no file at all.
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	assert.NilError(t, os.WriteFile(at("ro"), []byte("old"), 0o400))
	err := WriteFile(at("ro"), []byte("new"), WriteOptions{})
	assert.ErrorIs(t, err, ErrReadOnly)
	assert.Error(t, err, at("ro")+" is not used: it is read-only (mode 0400); make it writable first: chmod u+w "+at("ro"))
	assert.Equal(t, content(t, at("ro")), "old")

	assert.ErrorIs(t, WriteFile(dir, nil, WriteOptions{}), ErrNotRegular)
	assert.NilError(t, os.Symlink("/dev/null", at("null")))
	assert.ErrorIs(t, WriteFile(at("null"), nil, WriteOptions{}), ErrNotRegular)
	assert.ErrorIs(t, WriteFile(at("no/such/folder"), nil, WriteOptions{}), fs.ErrNotExist)
	assert.DeepEqual(t, tree(t, dir), []string{"null", "ro"})
}

func TestWriteKeepsOwner(t *testing.T) {
	needRoot(t)
	path := filepath.Join(t.TempDir(), "f")
	assert.NilError(t, os.WriteFile(path, []byte("old"), 0o640))
	assert.NilError(t, os.Chown(path, 12345, 54321))
	assert.ErrorIs(t, WriteFile(path, nil, WriteOptions{State: true}), ErrOwner)
	assert.NilError(t, WriteFile(path, []byte("new"), WriteOptions{}))
	info, err := os.Stat(path)
	assert.NilError(t, err)
	uid, gid := owner(info)
	assert.DeepEqual(t, []int{uid, gid, int(info.Mode())}, []int{12345, 54321, 0o640})
}

func TestWriteExpecting(t *testing.T) {
	// Fault 19: two installers at once, the agent rewriting the file at the same moment.
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write := func(text string) { assert.NilError(t, os.WriteFile(path, []byte(text), 0o600)) }

	write("read")
	assert.NilError(t, WriteFile(path, []byte("1"), WriteOptions{Expect: []byte("read")}))
	for _, other := range []string{"", "rea", "read more", "else"} {
		write("read")
		sys := &faulty{before: func(step string) { // as late as the file is closed
			if step == "close" {
				write(other)
			}
		}}
		err := writeFile(sys, path, []byte("2"), WriteOptions{Expect: []byte("read")})
		assert.ErrorIs(t, err, ErrChanged)
		assert.Equal(t, content(t, path), other)
	}
	write("")
	assert.NilError(t, WriteFile(path, []byte("3"), WriteOptions{Expect: []byte{}}))

	err := WriteFile(path, []byte("4"), WriteOptions{Absent: true})
	assert.ErrorIs(t, err, ErrChanged)
	assert.Equal(t, content(t, path), "3")
	assert.NilError(t, os.Remove(path))
	assert.ErrorIs(t, WriteFile(path, []byte("5"), WriteOptions{Expect: []byte("3")}), ErrChanged)
	assert.NilError(t, WriteFile(path, []byte("6"), WriteOptions{Absent: true}))
	assert.Equal(t, content(t, path), "6")

	assert.NilError(t, os.Remove(path))
	sys := &faulty{at: 5} // a file system without hard links
	assert.NilError(t, writeFile(sys, path, []byte("7"), WriteOptions{Absent: true}))
	assert.Equal(t, sys.failed, "link")
	assert.Equal(t, content(t, path), "7")
	assert.DeepEqual(t, tree(t, dir), []string{"f"})
}

func needExchange(t *testing.T) {
	t.Helper()
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for _, path := range []string{a, b} {
		assert.NilError(t, os.WriteFile(path, nil, 0o600))
	}
	if err := exchange(a, b); err != nil {
		t.Skipf("two files cannot be exchanged here (%v): then the gap is there, as WriteOptions.Expect says", err)
	}
}

func TestWriteLosesNoRename(t *testing.T) {
	// Fault 19: the agent puts a file of its own in the place between our look at the old one and the exchange.
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	rewrite := func(text string) {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, "agent"), []byte(text), 0o600))
		assert.NilError(t, os.Rename(filepath.Join(dir, "agent"), path))
	}
	needExchange(t)
	for _, times := range []int{0, 1, 2, 3, 4} { // before as many exchanges
		rewrite("read")
		last, done := "ours", 0
		sys := &faulty{before: func(step string) {
			if step == "exchange" && done < times {
				done++
				last = fmt.Sprintf("agent %d", done)
				rewrite(last)
			}
		}}
		err := writeFile(sys, path, []byte("ours"), WriteOptions{Expect: []byte("read")})
		assert.Equal(t, errors.Is(err, ErrChanged), times > 0, "%d: %v", times, err)
		assert.Equal(t, done, times)
		assert.Equal(t, content(t, path), last)
		assert.DeepEqual(t, tree(t, dir), []string{"f"})
	}

	// It takes the file away.
	rewrite("read")
	sys := &faulty{before: func(step string) {
		if step == "exchange" {
			assert.NilError(t, os.Remove(path))
		}
	}}
	assert.ErrorIs(t, writeFile(sys, path, []byte("ours"), WriteOptions{Expect: []byte("read")}), ErrChanged)
	assert.DeepEqual(t, tree(t, dir), []string(nil))

	// Where two files cannot be exchanged, the new one is renamed.
	rewrite("read")
	sys = &faulty{at: 6}
	assert.NilError(t, writeFile(sys, path, []byte("ours"), WriteOptions{Expect: []byte("read")}))
	assert.Equal(t, sys.failed, "exchange")
	assert.Equal(t, content(t, path), "ours")
}

func TestWriteBesideAnAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	// Fault 19 under stress: an agent rewrites by rename what it likes, we add to what we have read. Its last word always stands.
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	needExchange(t)
	assert.NilError(t, os.WriteFile(path, []byte("0"), 0o600))
	for i := range 300 {
		var wg sync.WaitGroup
		wg.Go(func() {
			for j := range 3 {
				assert.Check(t, os.WriteFile(filepath.Join(dir, "agent"), fmt.Appendf(nil, "%d.%d", i, j), 0o600))
				assert.Check(t, os.Rename(filepath.Join(dir, "agent"), path))
			}
		})
		for range 3 {
			read, err := os.ReadFile(path)
			assert.NilError(t, err)
			if err = WriteFile(path, append(read, '+'), WriteOptions{Expect: read}); !errors.Is(err, ErrChanged) {
				assert.NilError(t, err)
			}
		}
		wg.Wait()
		assert.Equal(t, strings.TrimRight(content(t, path), "+"), fmt.Sprintf("%d.2", i))
	}
}

func TestTakenTemporaryNames(t *testing.T) {
	// Somebody puts links under the names we will use: they are not followed.
	dir := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim")
	assert.NilError(t, os.WriteFile(victim, []byte("safe"), 0o600))
	for i := range uint64(10) {
		name := fmt.Sprintf(".f.%d-%d.tmp", os.Getpid(), counter.Load()+1+i)
		assert.NilError(t, os.Symlink(victim, filepath.Join(dir, name)))
	}
	assert.NilError(t, WriteFile(filepath.Join(dir, "f"), []byte("x"), WriteOptions{State: true}))
	assert.Equal(t, content(t, victim), "safe")
	assert.Equal(t, content(t, filepath.Join(dir, "f")), "x")
}

func TestStraysOfKilledProcessesGo(t *testing.T) {
	// Fault 18: SIGKILL at every system call: no stray new file stays for good.
	dir := t.TempDir()
	gone := process(t, dir, "none")
	assert.NilError(t, gone.Run())
	dead, alive, old := strconv.Itoa(gone.Process.Pid), strconv.Itoa(os.Getpid()), time.Now().Add(-time.Hour)
	write := func() {
		for name, mtime := range map[string]time.Time{
			".f." + dead + "-1.tmp":   time.Now(), // goes
			".f." + alive + "-y.tmp":  old,        // goes: nobody writes for a minute
			".f." + alive + "-xx.tmp": time.Now(), // is being written
			".g." + dead + "-1.tmp":   old,        // of another file
			".f.notes.tmp":            old,        // not ours
		} {
			assert.NilError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
			assert.NilError(t, os.Chtimes(filepath.Join(dir, name), mtime, mtime))
		}
	}
	stay := []string{".f." + alive + "-xx.tmp", ".f.notes.tmp", ".g." + dead + "-1.tmp"}
	write()
	RemoveStrays(filepath.Join(dir, "f")) // which need not be there
	assert.DeepEqual(t, tree(t, dir), stay)

	write()
	assert.NilError(t, WriteFile(filepath.Join(dir, "f"), nil, WriteOptions{Sync: true}))
	assert.DeepEqual(t, tree(t, dir), append(slices.Clone(stay), "f"))

	write() // found through a symbolic link too
	link := filepath.Join(t.TempDir(), "link")
	assert.NilError(t, os.Symlink(filepath.Join(dir, "f"), link))
	RemoveStrays(link)
	assert.DeepEqual(t, tree(t, dir), append(slices.Clone(stay), "f"))
	RemoveStrays("/no/such/folder/f")
}

func TestLongNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("n", 255))
	assert.NilError(t, WriteFile(path, []byte("x"), WriteOptions{Sync: true}))
	assert.Equal(t, content(t, path), "x")
}

func TestSafeNameFitsAFileName(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{strings.Repeat("x", 100), strings.Repeat("\n", 4096)} {
		path, err := open(t, dir, id).StatePath()
		assert.NilError(t, err)
		assert.NilError(t, WriteFile(path, nil, WriteOptions{State: true}))
	}
}
