package client

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/failure"
	"github.com/hookkit/brepl/hookkit/nrepl"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/project/namespaces"
	"github.com/hookkit/brepl/hookkit/text"
)

// report is an exception, told for a person.
type report struct {
	failure *failure.Failure
}

// explain asks the server about the exception that ended an evaluation. With --verbose nothing is asked: what is shown are the
// messages of the evaluation.
func (r *run) explain(ctx context.Context, session *nrepl.Session, result nrepl.Result) *report {
	if r.verbose || r.hook {
		return nil
	}
	root := r.root()
	f := failure.Explain(ctx, session, result, failure.Source{
		Dir: root, File: r.code.file, Text: r.code.text, Ns: r.ns, PathMap: r.paths.Local, ReadFile: readFile,
		SourcePaths: namespaces.SourcePaths(root), Trace: r.trace,
	})
	if f == nil {
		return nil
	}
	r.fromHere(root, &f.File)
	if f.Frame != nil {
		r.fromHere(root, &f.Frame.File)
	}
	for i := range f.Trace {
		if f.Trace[i].Project {
			r.fromHere(root, &f.Trace[i].File)
		}
	}
	return &report{f}
}

// root is the folder of the project: that of the file, or else of where we stand. Where nothing marks one, it is where we stand if the file
// is below.
func (r *run) root() string {
	folder := r.program.Dir
	if r.code.file != "" {
		folder = filepath.Dir(r.code.file)
	}
	if root, ok := project.Root(folder); ok {
		return root
	}
	if rel, err := filepath.Rel(r.program.Dir, folder); err == nil && filepath.IsLocal(rel) {
		return r.program.Dir
	}
	return folder
}

// fromHere turns a path relative to the root into one relative to where we stand, which a person can use.
func (r *run) fromHere(root string, path *string) {
	if *path == "" || filepath.IsAbs(*path) || root == r.program.Dir {
		return
	}
	if rel, err := filepath.Rel(r.program.Dir, filepath.Join(root, *path)); err == nil {
		*path = filepath.ToSlash(rel)
	}
}

// begins returns where in the held texts the server's report begins: those from there on say what we say better. A nil report is an
// interrupted evaluation.
func (r *report) begins(held []string) int {
	for i, text := range slices.Backward(held) {
		if reads(text) || r != nil && r.failure.Class != "" && strings.HasPrefix(text, r.failure.Class) { // babashka
			return i
		}
	}
	last := len(held) - 1
	if last >= 0 && r != nil && r.failure.Message != "" && strings.Contains(text.Value(held[last]), r.failure.Message) {
		return last
	}
	return len(held)
}

// reads says whether text reads like the beginning of a JVM's report (clojure.main/err->msg).
func reads(text string) bool {
	for _, head := range []string{"Execution error", "Syntax error", "Unexpected error", "Error reading eval result", "Error printing return value"} {
		if strings.HasPrefix(text, head) {
			return true
		}
	}
	return false
}

func (r *report) text(style cli.Style) string { return r.failure.Text(style) }

// maxSource bounds the files of the project that are read for a report, in bytes.
const maxSource = 4 << 20

// readFile is a failure.Source.ReadFile. Only regular files are read, which cannot hang.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSource {
		return nil, os.ErrInvalid
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return io.ReadAll(io.LimitReader(f, maxSource))
}
