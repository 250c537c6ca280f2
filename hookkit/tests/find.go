// Package tests runs a project's clojure.test tests in a running REPL: it finds the test namespaces on disk, has one small runner
// (runner.clj) run them on the server, and tells what came of it, as data and in words.
//
// The flow is find.go → order.go → run.go, which reads the runner's events (event.go) → text.go. The command `brepl test` is command.go.
//
// It serves the programs of this repository and carries no promise of stability.
package tests

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/project/namespaces"
)

// Namespace is one of the project, by a file on its source or test paths.
type Namespace struct {
	namespaces.Namespace

	File   string // relative to the project, with slashes
	Folder string // the source or test path that it lies in, relative to the project, with slashes
	// Test says that it holds tests: its name ends with "-test", or it requires clojure.test and defines tests.
	Test     bool
	Modified time.Time // of the file

	stamp string // tells two states of the file apart
}

// resource is the file as the class path knows it.
func (n *Namespace) resource() string {
	return strings.TrimPrefix(strings.TrimPrefix(n.File, n.Folder), "/")
}

// Suite is what is on disk: all namespaces of a project, by name.
type Suite struct {
	Root       string
	Namespaces []Namespace
	Scripts    int // test namespaces of ClojureScript
}

// maxSource bounds the files that are read; a larger one counts as absent.
const maxSource = 4 << 20

// Find reads the namespaces of the project at root: in the folders that its build files name, see [namespaces.SourcePaths]. The errors
// are those of [project.Files].
func Find(ctx context.Context, root string, env []string) (*Suite, error) {
	s := &Suite{Root: project.Physical(root)}
	var folders []string
	for _, dir := range namespaces.SourcePaths(s.Root) {
		if rel, err := filepath.Rel(s.Root, project.Physical(dir)); err == nil && filepath.IsLocal(rel) {
			folders = append(folders, filepath.ToSlash(rel))
		}
	}
	err := project.Files(ctx, s.Root, env, func(name string) bool {
		return slices.Contains([]string{".clj", ".cljc", ".cljs", ".bb"}, filepath.Ext(name)) && folderOf(folders, name) != ""
	}, func(name string, info fs.FileInfo) {
		s.add(folderOf(folders, name), name, info)
	})
	slices.SortFunc(s.Namespaces, func(a, b Namespace) int { return strings.Compare(a.Name+"\x00"+a.File, b.Name+"\x00"+b.File) })
	return s, err
}

func (s *Suite) add(folder, name string, info fs.FileInfo) {
	if info.Size() > maxSource {
		return
	}
	text, err := os.ReadFile(filepath.Join(s.Root, filepath.FromSlash(name)))
	if err != nil {
		return
	}
	ns, ok := namespaces.Read(text)
	if !ok {
		return
	}
	n := Namespace{Namespace: ns, File: name, Folder: folder, Modified: info.ModTime(), Test: isTest(ns, text)}
	n.stamp = fmt.Sprintf("%d-%x", info.Size(), info.ModTime().UnixNano())
	if filepath.Ext(name) != ".cljs" {
		s.Namespaces = append(s.Namespaces, n)
	} else if n.Test {
		s.Scripts++
	}
}

// folderOf is the longest of the folders that holds a file, "" for none.
func folderOf(folders []string, name string) (longest string) {
	for _, folder := range folders {
		if (folder == "." || strings.HasPrefix(name, folder+"/")) && len(folder) > len(longest) {
			longest = folder
		}
	}
	return longest
}

func isTest(ns namespaces.Namespace, text []byte) bool {
	if strings.HasSuffix(ns.Name, "-test") {
		return true
	}
	return slices.ContainsFunc(ns.Requires, func(name string) bool { return name == "clojure.test" || name == "cljs.test" }) &&
		slices.ContainsFunc([]string{"deftest", "defspec", "with-test"}, func(word string) bool { return bytes.Contains(text, []byte(word)) })
}

// Tests are the namespaces with tests that the options leave. The regular expression is the server's to match; where there is one, every
// namespace is a candidate.
func (s *Suite) Tests(o hooksedn.TestOptions) []Namespace {
	return slices.DeleteFunc(slices.Clone(s.Namespaces), func(n Namespace) bool {
		within := func(pattern string) bool { return hooksedn.Matches(pattern, n.File) }
		return !n.Test && o.Namespaces == "" || len(o.Paths) > 0 && !slices.ContainsFunc(o.Paths, within) || slices.ContainsFunc(o.Exclude, within)
	})
}
