package project

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxLook bounds the file of a Look, in bytes.
const maxLook = 32 << 20

// Stamp tells whether a file has changed.
type Stamp struct{ ModTime, Size int64 } // nanoseconds since 1970, bytes

// Look is what a Scan saw: a stamp for each file, by absolute path.
type Look map[string]Stamp

// Scan goes once through the [Files] of root and looks at the regular ones whose names want takes.
func Scan(ctx context.Context, root string, env []string, want func(name string) bool) (Look, error) {
	root = Physical(root)
	look := Look{}
	err := Files(ctx, root, env, want, func(name string, info fs.FileInfo) {
		if info.Mode().IsRegular() {
			look[filepath.Join(root, name)] = stampOf(info)
		}
	})
	return look, err
}

func stampOf(info fs.FileInfo) Stamp { return Stamp{info.ModTime().UnixNano(), info.Size()} }

// Changed returns what is new or different in a later look, sorted. A file that is gone is not in it.
func (l Look) Changed(later Look) []string {
	var paths []string
	for path, stamp := range later {
		if was, ok := l[path]; !ok || was != stamp {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// Equal reports whether nothing has changed, and nothing is gone.
func (l Look) Equal(later Look) bool { return len(l) == len(later) && len(l.Changed(later)) == 0 }

// StampOf looks at one file, with symbolic links followed; path is its name in a Look. It is false for what is no regular file.
func StampOf(file string) (path string, stamp Stamp, ok bool) {
	path = Physical(file)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return path, Stamp{}, false
	}
	return path, stampOf(info), true
}

// lookHead begins the file of a Look and names its format.
const lookHead = "brepl-look 1 "

// Encode gives a look at root as a text for ReadLook: a line for each file.
func (l Look) Encode(root string) []byte {
	var b bytes.Buffer
	b.WriteString(lookHead + strconv.Quote(root) + "\n")
	paths := make([]string, 0, len(l))
	for path := range l {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		fmt.Fprintf(&b, "%d %d %s\n", l[path].ModTime, l[path].Size, strconv.Quote(path))
	}
	return b.Bytes()
}

// ReadLook reads the text of Encode from a file of our own. An error means that there is no earlier look at root: it is missing
// (fs.ErrNotExist), too large, not whole, or at another folder.
func ReadLook(file, root string) (Look, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxLook {
		return nil, fmt.Errorf("%s: not a file of at most %d bytes", file, maxLook)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	rest, ok := strings.CutPrefix(string(data), lookHead+strconv.Quote(root)+"\n")
	look := Look{}
	for line := range strings.Lines(rest) {
		mod, more, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		size, quoted, _ := strings.Cut(more, " ")
		modTime, err1 := strconv.ParseInt(mod, 10, 64)
		bytes, err2 := strconv.ParseInt(size, 10, 64)
		path, err3 := strconv.Unquote(quoted)
		ok = ok && errors.Join(err1, err2, err3) == nil
		look[path] = Stamp{modTime, bytes}
	}
	if !ok {
		return nil, fmt.Errorf("%s: not a look at %s of this version", file, root)
	}
	return look, nil
}
