package nrepl

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/hookkit/brepl/hookkit/project"
)

// maxPortFile bounds a port file, which holds five digits or the path of a
// socket, and a socket's path has at most 108 bytes.
const maxPortFile = 128

// unixScheme is how nREPL writes the address of a server on a unix-domain
// socket: nrepl+unix:/path/with%20escapes.
const unixScheme = "nrepl+unix:"

// The port files, in order: nREPL, babashka, nbb and let-go write the first
// one, shadow-cljs the second.
var portFileNames = [...]string{".nrepl-port", filepath.Join(".shadow-cljs", "nrepl.port")}

// portFolders returns the folders whose port files come before BREPL_PORT.
func (l Lookup) portFolders() []string {
	if l.File == "" {
		return []string{l.Dir}
	}
	folders := around(filepath.Dir(absolute(l.Dir, l.File)), l.Dir)
	if !slices.Contains(folders, filepath.Clean(l.Dir)) {
		folders = append(folders, l.Dir)
	}
	return folders
}

// portFiles returns what the port files in a folder name.
func (l Lookup) portFiles(host, dir string) (targets []Target, problems []error) {
	names := portFileNames[:1]
	if l.Discover || l.File != "" {
		names = portFileNames[:]
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		port, socket, err := readPortFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		case err != nil:
			problems = append(problems, fmt.Errorf("%s: %w", path, err))
		default:
			source := name
			if dir != l.Dir {
				source = path
			}
			targets = append(targets, target(host, port, socket, source))
		}
	}
	return targets, problems
}

// around returns dir and the folders around it up to the project's root,
// nearest first. The root is that of the git work tree, so that a part of a
// repository finds the server of the whole. Outside of a repository it is top
// where dir is inside of top, else the nearest folder with a project file, else
// dir alone.
func around(dir, top string) []string {
	dir = filepath.Clean(dir)
	if top != "" {
		top = filepath.Clean(top)
	}
	var folders []string
	repository, _ := project.GitRoot(dir)
	end := 0 // how many of the folders belong to the project, if there is no repository
	for at := dir; ; {
		folders = append(folders, at)
		if at == repository {
			return folders
		}
		if at == top || end == 0 && !inside(dir, top) && hasProjectFile(at) {
			end = len(folders)
		}
		parent := filepath.Dir(at)
		if parent == at {
			return folders[:max(end, 1)]
		}
		at = parent
	}
}

func hasProjectFile(dir string) bool {
	// The last two have servers, but say nothing of source paths.
	return slices.ContainsFunc(append(project.BuildFiles[:], "nbb.edn", "build.boot"), func(name string) bool { return exists(filepath.Join(dir, name)) })
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// inside says whether dir is top or a folder in it. Both are clean.
func inside(dir, top string) bool {
	rest, ok := strings.CutPrefix(dir, top)
	return ok && top != "" && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(top[len(top)-1]))
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// readPortFile reads a port, or the path of a socket, from a regular file.
// Something else under the name (a FIFO, a device) is not opened for long enough
// to hang.
func readPortFile(path string) (port int, socket string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, "", plain(err)
	}
	if !info.Mode().IsRegular() {
		return 0, "", errors.New("is not a regular file")
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, "", plain(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPortFile+1))
	if err != nil {
		return 0, "", plain(err)
	}
	if len(text) > maxPortFile {
		return 0, "", fmt.Errorf("is larger than %d bytes, so it is no port file", maxPortFile)
	}
	return parseAddress(string(text), filepath.Dir(path))
}

// plain takes the path out of a file error: the caller says it.
func plain(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

// parseAddress reads a port or nrepl+unix:PATH. A relative path is one in dir.
func parseAddress(text, dir string) (port int, socket string, err error) {
	socket, ok, err := parseSocket(text, dir)
	if ok {
		return 0, socket, err
	}
	port, err = parsePort(text)
	return port, "", err
}

// parseSocket reads nrepl+unix:PATH, and says whether text is meant as one.
// nREPL prints it as a URL, so %20 is a blank, unless a file has that name.
func parseSocket(text, dir string) (path string, ok bool, err error) {
	path, ok = strings.CutPrefix(strings.TrimSpace(text), unixScheme)
	if !ok {
		return "", false, nil
	}
	if path == "" {
		return "", true, fmt.Errorf("%s has no path of a socket after it", unixScheme)
	}
	if slashes, found := strings.CutPrefix(path, "///"); found {
		path = "/" + slashes
	}
	path = absolute(dir, path)
	if !exists(path) {
		path = unescape(path)
	}
	return path, true, nil
}

// unescape replaces each %XX that is one.
func unescape(s string) string {
	before, after, found := strings.Cut(s, "%")
	if !found {
		return s
	}
	if len(after) >= 2 {
		if b, err := strconv.ParseUint(after[:2], 16, 8); err == nil {
			return before + string([]byte{byte(b)}) + unescape(after[2:])
		}
	}
	return before + "%" + unescape(after)
}

func parsePort(text string) (int, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, errors.New("is empty, expected a port number")
	}
	for i := range len(text) { // no sign, which Atoi takes
		if !isDigit(text[i]) {
			return 0, fmt.Errorf("%q is not a port number", text)
		}
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s is not a port, expected 1 to 65535", text)
	}
	return port, checkPort(port)
}

func checkPort(port int) error {
	if port < 1 || port > 65535 {
		return fmt.Errorf("%d is not a port, expected 1 to 65535", port)
	}
	return nil
}
