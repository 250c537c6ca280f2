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

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/session"
)

const (
	backupFolder = "backups"      // in the session's private folder
	manifestName = "manifest.edn" // a map to a line, oldest first
)

// store holds the backups of one session: files that are only ever added, and a manifest that says what each of them was. It goes with
// the session's folder. A folder of BREPL_HOOK_BACKUP_DIR is the user's own and stays.
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

// openStore says where a session's backups are. Nothing is looked at yet.
func openStore(p *cli.Program, sessionID string) (*store, error) {
	switch sessionID {
	case "", hookkit.SessionManual:
		sessionID = session.ProjectID(hookkit.SessionManual, p.Dir)
	case hookkit.SessionUnknown:
		sessionID = session.ProjectID(hookkit.SessionUnknown, p.Dir)
	}
	if own := p.Getenv("BREPL_HOOK_BACKUP_DIR"); own != "" {
		if !filepath.IsAbs(own) {
			return nil, fmt.Errorf("BREPL_HOOK_BACKUP_DIR=%q: give an absolute path, or unset it", own)
		}
		return storeIn(filepath.Join(own, session.SafeName(sessionID))), nil
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
	kept, err := s.list()
	if err != nil {
		return backup{}, err
	}
	if last, ok := newest(kept, path); ok && last.size == len(content) {
		if same, readErr := last.content(); readErr == nil && bytes.Equal(same, content) {
			return last, nil
		}
	}
	b := backup{id: 1, path: path, mode: mode.Perm(), size: len(content), dir: dir}
	if len(kept) > 0 {
		b.id = kept[len(kept)-1].id + 1
	}
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
	return b, errors.Join(err, manifest.Close())
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

func (b *backup) file() string { return filepath.Join(b.dir, strconv.Itoa(b.id)+".bak") }

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

// list gives the backups, oldest first; none where nothing was backed up. A line of the manifest that cannot be read is passed over.
func (s *store) list() ([]backup, error) {
	dir, err := s.dir(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []backup
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
		if idOK && modeOK && sizeOK && pathOK {
			list = append(list, backup{id: int(id), path: path, mode: fs.FileMode(mode).Perm(), size: int(size), dir: dir}) //nolint:gosec // Perm keeps 9 bits
		}
	}
	return list, nil
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
