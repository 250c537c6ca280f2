package project

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/hookkit/brepl/hookkit/clj"
)

// maxBuildFile bounds the build files that are read; one that is larger counts as absent.
const maxBuildFile = 1 << 20

// buildFiles name a project's root, and where its sources are.
var buildFiles = [...]struct {
	name  string
	paths func(root *clj.Node) []string
}{
	{"deps.edn", depsPaths},
	{"project.clj", leinPaths},
	{"shadow-cljs.edn", func(n *clj.Node) []string { return texts(n.Get("source-paths")) }},
	{"bb.edn", func(n *clj.Node) []string { return texts(n.Get("paths")) }},
}

// usualPaths are where the sources are when nothing says so.
var usualPaths = [...]string{"src", "test"}

// Find returns the root of the project that dir belongs to: see Root. Where nothing marks one it is dir itself.
func Find(dir string) string {
	if root, ok := Root(dir); ok {
		return root
	}
	return filepath.Clean(dir)
}

// Root returns the nearest folder upwards from dir with a build file (deps.edn, project.clj, shadow-cljs.edn, bb.edn); without one, the
// root of the git work tree. Nothing above the root of a work tree is looked at. It is false where nothing marks a project. dir need not
// exist.
func Root(dir string) (root string, ok bool) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		for _, b := range buildFiles {
			if regular(filepath.Join(at, b.name)) {
				return at, true
			}
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, true
		}
		if filepath.Dir(at) == at {
			return "", false
		}
	}
}

// SourcePaths returns the folders of a project's sources as absolute paths, whether they exist or not: what deps.edn (:paths, and
// :extra-paths of all aliases), project.clj (:source-paths and :test-paths, of profiles too), shadow-cljs.edn (:source-paths) and bb.edn
// (:paths) name. A deps.edn or project.clj that does not name its own, and a project that names none, has src and test. A build file that
// cannot be read counts as one that names none.
func SourcePaths(root string) []string {
	var paths []string
	for _, b := range buildFiles {
		if n := readBuildFile(filepath.Join(root, b.name)); n != nil {
			paths = append(paths, b.paths(n)...)
		}
	}
	if len(paths) == 0 {
		paths = usualPaths[:]
	}
	var found []string
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(root, filepath.FromSlash(p))
		}
		if p = filepath.Clean(p); !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found
}

// Contains reports whether a file lies in one of the folders, by its name or with symbolic links followed.
func Contains(folders []string, file string) bool {
	if slices.ContainsFunc(folders, func(dir string) bool { return within(dir, file) }) {
		return true
	}
	file = Physical(file)
	return slices.ContainsFunc(folders, func(dir string) bool { return within(Physical(dir), file) })
}

// Physical is a path with symbolic links followed, or the path itself where it cannot be followed.
func Physical(path string) string {
	if followed, err := filepath.EvalSymlinks(path); err == nil {
		return followed
	}
	return path
}

func within(dir, file string) bool {
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rel)
}

func regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// readBuildFile returns the first form, or for project.clj the (defproject …) form; nil where there is none.
func readBuildFile(path string) *clj.Node {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxBuildFile {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	// project.clj is code, and shadow-cljs.edn and bb.edn may hold tags: all are read as code, which evaluates nothing either.
	nodes, errs := clj.ReadAll(path, data, clj.Options{Dialect: clj.Clojure})
	if len(errs) > 0 {
		return nil
	}
	for _, n := range nodes {
		if n.Kind == clj.Map || n.Kind == clj.List && len(n.Children) > 2 && n.Children[0].Text == "defproject" {
			return n
		}
	}
	return nil
}

// depsPaths reads a deps.edn. A keyword among :paths stands for the value of the alias of that name. An alias that replaces the paths is
// a tool beside the project, such as a build: what lies there is not for the project's REPL.
func depsPaths(n *clj.Node) []string {
	var paths []string
	main := n.Get("paths")
	if main == nil {
		paths = usualPaths[:]
	}
	aliases := n.Get("aliases")
	for _, one := range children(main) {
		if one.Kind == clj.Keyword {
			paths = append(paths, texts(aliases.Get(one.Text))...)
		}
	}
	paths = append(paths, texts(main)...)
	for _, alias := range aliases.Pairs() {
		paths = append(paths, texts(alias.Get("extra-paths"))...)
	}
	return paths
}

// leinPaths reads the keys of (defproject NAME VERSION & KEYS).
func leinPaths(n *clj.Node) []string {
	keys := clj.Node{Kind: clj.Map, Children: n.Children[3:]}
	var paths []string
	for i, key := range [...]string{"source-paths", "test-paths"} {
		if own := keys.Get(key); own != nil {
			paths = append(paths, texts(own)...)
		} else {
			paths = append(paths, usualPaths[i])
		}
		for _, profile := range keys.Get("profiles").Pairs() {
			paths = append(paths, texts(profile.Get(key))...)
		}
	}
	return paths
}

// children are the elements of a vector, with or without metadata such as ^:replace.
func children(n *clj.Node) []*clj.Node {
	if n != nil && n.Kind == clj.Meta && len(n.Children) == 2 {
		n = n.Children[1]
	}
	if n == nil || n.Kind != clj.Vector {
		return nil
	}
	return n.Children
}

// texts are the strings in a vector.
func texts(n *clj.Node) []string {
	var list []string
	for _, one := range children(n) {
		if text, ok := one.Str(); ok && text != "" {
			list = append(list, text)
		}
	}
	return list
}
