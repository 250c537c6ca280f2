package nrepl

import (
	"fmt"
	"path/filepath"
	"strings"
)

// PathMap says how the folders of this machine are called where the server
// runs: in a container, or on another machine. The zero value changes nothing.
type PathMap []pathPair

type pathPair struct{ local, remote string } // without a separator at the end, except for "/"

// ParsePathMap reads entries of the form LOCAL=REMOTE, as in --path-map. LOCAL
// may be relative; see In. Use filepath.SplitList for BREPL_PATH_MAP, which
// holds entries with the separator of PATH between them. Empty entries are left out.
func ParsePathMap(entries []string) (PathMap, error) {
	var m PathMap
	for _, entry := range entries {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		local, remote, ok := strings.Cut(entry, "=")
		local, remote = strings.TrimSpace(local), strings.TrimSpace(remote)
		if !ok || local == "" || remote == "" {
			return nil, fmt.Errorf("%q is no path map: write LOCAL=REMOTE, for example %s=/app", entry, filepath.FromSlash("/home/me/app"))
		}
		if trimmed := strings.TrimRight(remote, "/"); trimmed != "" {
			remote = trimmed
		} else {
			remote = "/"
		}
		m = append(m, pathPair{filepath.Clean(local), remote})
	}
	return m, nil
}

// In returns the map with its relative local folders taken as folders in dir.
func (m PathMap) In(dir string) PathMap {
	out := make(PathMap, 0, len(m))
	for _, p := range m {
		out = append(out, pathPair{filepath.Clean(absolute(dir, p.local)), p.remote})
	}
	return out
}

// Remote returns what the server calls a local path: that of the entry with the
// longest LOCAL around it, or the path itself.
func (m PathMap) Remote(local string) string {
	clean := filepath.ToSlash(filepath.Clean(local))
	best, out := -1, local
	for _, p := range m {
		from := filepath.ToSlash(p.local)
		if rest, ok := below(clean, from); ok && len(from) > best {
			best, out = len(from), join(p.remote, rest)
		}
	}
	return out
}

// Local returns the local path of what the server calls remote: that of the
// entry with the longest REMOTE around it, or remote itself.
func (m PathMap) Local(remote string) string {
	best, out := -1, remote
	for _, p := range m {
		if rest, ok := below(remote, p.remote); ok && len(p.remote) > best {
			best, out = len(p.remote), filepath.FromSlash(join(filepath.ToSlash(p.local), rest))
		}
	}
	return out
}

// below returns what follows the folder in the path, without a leading slash,
// and whether the path is the folder or lies in it.
func below(path, folder string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, folder)
	if !ok || rest == "" || folder == "/" {
		return rest, ok
	}
	return strings.CutPrefix(rest, "/")
}

func join(folder, rest string) string {
	if rest == "" {
		return folder
	}
	return strings.TrimSuffix(folder, "/") + "/" + rest
}
