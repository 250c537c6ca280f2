package edit

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

	"github.com/hookkit/brepl/hookkit/text"
)

// maxFile bounds the files that are read, as the event is bounded.
const maxFile = 64 << 20

// extensions are those of Clojure and EDN files.
var extensions = [...]string{".clj", ".cljs", ".cljc", ".cljd", ".cljx", ".bb", ".edn", ".lpy"}

// kind says from a file's name whether it is ours to judge.
type kind uint8

const (
	foreign kind = iota
	clojure
	script // a name without an extension: its first line decides
)

func kindOf(path string) kind {
	ext := filepath.Ext(path)
	switch {
	case slices.Contains(extensions[:], ext):
		return clojure
	case ext == "" && filepath.Base(path) != "":
		return script
	}
	return foreign
}

// isScript reports whether a text starts with a line that hands it to babashka or Clojure, such as "#!/usr/bin/env -S bb -cp src".
func isScript(text string) bool {
	line, _, _ := strings.Cut(text[:min(len(text), 256)], "\n")
	command, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return false
	}
	for word := range strings.FieldsSeq(command) {
		name := filepath.Base(word)
		if name == "env" || strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		return name == "bb" || name == "clojure" || name == "clj"
	}
	return false
}

// onDisk is a file as it was found.
type onDisk struct {
	text   string
	mode   fs.FileMode
	exists bool // a regular file that was read; the others cannot be judged
}

var errNotRegular = errors.New("not a regular file")

// load reads a regular file of at most maxFile bytes. A missing file is no error.
func load(path string) (onDisk, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return onDisk{}, nil
	case err != nil:
		return onDisk{}, err
	case !info.Mode().IsRegular():
		return onDisk{}, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	case info.Size() > maxFile:
		return onDisk{}, &fs.PathError{Op: "read", Path: path, Err: errors.New("more than " + strconv.Itoa(maxFile>>20) + " MiB")}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return onDisk{}, err
	}
	return onDisk{string(data), info.Mode(), true}, nil
}

// readText reads a text from stdin.
func readText(r io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errors.New("more than " + strconv.Itoa(maxFile>>20) + " MiB")
	}
	if err != nil {
		return "", fmt.Errorf("cannot read stdin: %w", err)
	}
	return string(data), nil
}

// absolute gives a path as the agent named it, from the directory it is in.
func absolute(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// shown gives a path for a message: relative where the file is below dir, quoted where it could be taken for something else.
func shown(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return text.Name(path)
}
