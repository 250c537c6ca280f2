package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/session"
)

const (
	backupFolder = "backups"              // in the session's private folder
	manifestName = session.BackupManifest // a map to a line, oldest first
	keptLast     = 20                     // backups of a file that stay beside its first one
)

// store holds the backups of one session: files, and a manifest that says what each of them was. A file's first backup stays as long as
// the session, and with it the last [keptLast]. All go when the session ends, those in BREPL_HOOK_BACKUP_DIR too.
type store struct {
	dir func(create bool) (string, error)
}

// backup is the content of a file at one moment.
type backup struct {
	id   int
	path string // of the file, absolute
	mode fs.FileMode
	size int
	dir  string // of the backup
}

// openStore says where the backups of the session with that id of [session.IDOf] are. Nothing is looked at yet.
func openStore(p *cli.Program, sessionID string) (*store, error) {
	if own, err := session.BackupDir(p.Getenv, sessionID); err != nil {
		return nil, err
	} else if own != "" {
		return storeIn(own), nil
	}
	s, err := session.Open(p.Getenv, sessionID)
	if err != nil {
		return nil, err
	}
	return &store{func(create bool) (string, error) {
		find := s.Find
		if create {
			find = s.Dir
		}
		dir, err := find()
		if err != nil {
			return "", err
		}
		return makeFolder(filepath.Join(dir, backupFolder), create)
	}}, nil
}

func storeIn(dir string) *store {
	return &store{func(create bool) (string, error) { return makeFolder(dir, create) }}
}

func makeFolder(dir string, create bool) (string, error) {
	if create {
		return dir, os.MkdirAll(dir, 0o700)
	}
	return dir, nil
}

// save keeps a content of a file, unless it is the one that was kept last. Several processes may save at the same moment.
func (s *store) save(path string, content []byte, mode fs.FileMode) (backup, error) {
	dir, err := s.dir(true)
	if err != nil {
		return backup{}, err
	}
	kept, given, err := s.read()
	if err != nil {
		return backup{}, err
	}
	if last, ok := newest(kept, path); ok && last.size == len(content) {
		if same, readErr := last.content(); readErr == nil && bytes.Equal(same, content) {
			return last, nil
		}
	}
	b := backup{id: given + 1, path: path, mode: mode.Perm(), size: len(content), dir: dir}
	if err = b.create(content); err != nil {
		return backup{}, err
	}
	// One short write at the end of the file: lines of several processes do not mix. The line end comes first, so that half a line that a
	// full disk left stays alone.
	manifest, err := os.OpenFile(filepath.Join(dir, manifestName), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return backup{}, err
	}
	_, err = fmt.Fprintf(manifest, "\n{:id %d :mode 0%o :size %d :path %s}", b.id, b.mode, b.size, clj.QuoteString(path))
	if err = errors.Join(err, manifest.Close()); err != nil {
		return b, err
	}
	thin(append(kept, b), path)
	return b, nil
}

// thin removes backups of a file between its first and the last [keptLast] of them. Their lines in the manifest stay, so that no number
// is given twice.
func thin(list []backup, path string) {
	list = slices.DeleteFunc(list, func(one backup) bool { return one.path != path })
	for i := 1; i < len(list)-keptLast; i++ {
		_ = os.Remove(list[i].file()) // the next save tries again
	}
}

// create writes the content under the first number that is free from b.id on.
func (b *backup) create(content []byte) error {
	for {
		f, err := os.OpenFile(b.file(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			b.id++
			continue
		}
		if err != nil {
			return err
		}
		_, err = f.Write(content)
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(b.file()) // half a backup is none
		}
		return err
	}
}

func (b *backup) file() string { return filepath.Join(b.dir, strconv.Itoa(b.id)+session.BackupSuffix) }

func (b *backup) content() ([]byte, error) { return os.ReadFile(b.file()) }

// session is the name of the session's folder.
func (b *backup) session() string {
	dir := b.dir
	if filepath.Base(dir) == backupFolder {
		dir = filepath.Dir(dir)
	}
	return filepath.Base(dir)
}

// taken is when the backup was made.
func (b *backup) taken() time.Time {
	info, err := os.Stat(b.file())
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// list gives the backups, oldest first; none where nothing was backed up. A line of the manifest that cannot be read is passed over, and
// so is one whose file is gone.
func (s *store) list() ([]backup, error) {
	list, _, err := s.read()
	return list, err
}

// read also gives the highest number that any backup had, removed ones included.
func (s *store) read() (list []backup, given int, err error) {
	dir, err := s.dir(false)
	var data []byte
	if err == nil {
		data, err = os.ReadFile(filepath.Join(dir, manifestName))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, 0, err
	}
	there := make(map[string]bool, len(entries))
	for _, one := range entries {
		there[one.Name()] = true
	}
	for line := range bytes.Lines(data) {
		nodes, errs := clj.ReadAll(manifestName, line, clj.Options{})
		if len(nodes) != 1 || len(errs) > 0 {
			continue
		}
		n := nodes[0]
		id, idOK := n.Get("id").Int()
		mode, modeOK := n.Get("mode").Int()
		size, sizeOK := n.Get("size").Int()
		path, pathOK := n.Get("path").Str()
		if !idOK || !modeOK || !sizeOK || !pathOK {
			continue
		}
		given = max(given, int(id))
		b := backup{id: int(id), path: path, mode: fs.FileMode(mode).Perm(), size: int(size), dir: dir} //nolint:gosec // Perm keeps 9 bits
		if there[filepath.Base(b.file())] {
			list = append(list, b)
		}
	}
	return list, given, nil
}

// newest is the last backup of a file.
func newest(list []backup, path string) (backup, bool) {
	for _, b := range slices.Backward(list) {
		if b.path == path {
			return b, true
		}
	}
	return backup{}, false
}
