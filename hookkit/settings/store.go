package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookkit/brepl/hookkit/session"
)

// A store is the private folder in the user's state folder that belongs to one
// settings file. A nil store remembers nothing.
type store struct {
	session *session.Session
	root    string
}

// known is the file filled.json.
type known struct {
	Path       string `json:"path"` // for people who look
	Filled     Memory `json:"filled"`
	MadeFolder bool   `json:"made_folder"` // the .claude folder is ours
	MadeTarget bool   `json:"made_target"` // the file is a symbolic link of the user's, what it leads to is ours
}

const (
	storeName = "filled.json"
	maxStore  = 1 << 20
)

func openStore(stateDir, path string) (*store, error) {
	if stateDir == "" {
		return nil, errors.New("there is no state folder; set HOME or XDG_STATE_HOME")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("cannot tell where %s is: %w", path, err)
	}
	// Sessions already have private folders and locks that survive hostile
	// neighbours and killed holders; this is one more, elsewhere.
	s, err := session.OpenIn(stateDir, session.ProjectID("settings", resolve(path)))
	if err != nil {
		return nil, err
	}
	return &store{session: s, root: stateDir}, nil
}

// resolve follows symbolic links as far as the path exists, so that one file
// has one store whatever it is called.
func resolve(path string) string {
	for range 40 { // as many links as Linux follows
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return target
		}
		link, err := os.Readlink(path) // it leads to nothing yet, but it will
		if err != nil {
			break
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(resolve(filepath.Dir(path)), link)
		}
		path = link
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolve(parent), filepath.Base(path))
	}
	return path
}

// exists says whether there is a store already, without making one.
func (s *store) exists() bool {
	if s == nil {
		return false
	}
	dirs, err := os.ReadDir(s.root)
	return err == nil && slices.ContainsFunc(dirs, func(d fs.DirEntry) bool {
		_, err := os.Lstat(filepath.Join(s.root, d.Name(), session.SafeName(s.session.ID())))
		return err == nil
	})
}

// inherit adds what was found before us by those whose memory may be gone when our handlers are taken out: the install in the other scope,
// which has made the folder of both, and programs of ours whose handlers stand in the file too. Their folders of state are beside ours.
func (k *known) inherit(job Job, foreign []Handler) {
	for _, scope := range []Scope{Local, Project} {
		sibling := filepath.Join(filepath.Dir(job.Path), filepath.Base(scope.PathIn("")))
		if store, err := openStore(job.StateDir, sibling); sibling != job.Path && err == nil && store.exists() {
			k.MadeFolder = k.MadeFolder || store.load().MadeFolder
		}
	}
	for _, h := range foreign {
		words, simple := h.Words()
		if !simple || len(words) == 0 {
			continue
		}
		name := baseName(words[0])
		if name != session.SafeName(name) || name == filepath.Base(job.StateDir) {
			continue
		}
		store, err := openStore(filepath.Join(filepath.Dir(job.StateDir), name), job.Path)
		if err != nil || !store.exists() {
			continue
		}
		theirs := store.load()
		k.MadeFolder, k.MadeTarget = k.MadeFolder || theirs.MadeFolder, k.MadeTarget || theirs.MadeTarget
		for path, interior := range theirs.Filled {
			if _, ours := k.Filled[path]; !ours {
				k.Filled[path] = interior
			}
		}
	}
}

// load returns what is remembered; a file that is missing, broken or not ours
// is no memory.
func (s *store) load() known {
	var k known
	if path, err := s.path(); err == nil {
		if data, err := session.ReadOwned(path, maxStore); err == nil && json.Unmarshal(data, &k) != nil {
			k = known{}
		}
	}
	return k
}

func (s *store) save(path string, k known) error {
	if s == nil {
		return nil // Apply has warned
	}
	where, err := s.path()
	if err != nil {
		return err
	}
	k.Path = path
	if len(k.Filled) == 0 && !k.MadeFolder && !k.MadeTarget {
		return session.RemoveOwned(where)
	}
	data, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	return session.WriteFile(where, append(data, '\n'), session.WriteOptions{State: true, Sync: true})
}

// forget removes the memory. The folder stays for the lock in it.
func (s *store) forget() {
	if path, err := s.path(); err == nil {
		_ = session.RemoveOwned(path) // at worst an empty array is left at the next uninstall
	}
}

func (s *store) path() (string, error) {
	if s == nil {
		return "", fs.ErrNotExist
	}
	dir, err := s.session.Dir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, storeName), nil
}
