package namespaces

import (
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/project"
)

// maxBuildFile bounds the build files that are read; one that is larger counts as absent.
const maxBuildFile = 1 << 20

// usualPaths are where the sources are when nothing says so.
var usualPaths = [...]string{"src", "test"}

// SourcePaths returns the folders of a project's sources as absolute paths, whether they exist or not: what deps.edn (:paths, and
// :extra-paths of all aliases), project.clj (:source-paths and :test-paths, of profiles too), shadow-cljs.edn (:source-paths) and bb.edn
// (:paths) name. A deps.edn or project.clj that does not name its own, and a project that names none, has src and test. A build file that
// cannot be read counts as one that names none.
func SourcePaths(root string) []string {
	var paths []string
	for _, name := range project.BuildFiles {
		if n := readBuildFile(filepath.Join(root, name)); n != nil {
			paths = append(paths, named(name, n)...)
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

// named are the paths that a build file names.
func named(file string, n *clj.Node) []string {
	switch file {
	case "deps.edn":
		return depsPaths(n)
	case "project.clj":
		return leinPaths(n)
	case "shadow-cljs.edn":
		return texts(n.Get("source-paths"))
	default: // bb.edn
		return texts(n.Get("paths"))
	}
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

// AliasOf is the first alias of the project's deps.edn whose :extra-paths name a folder, without the colon; "" for none. The folder is
// relative to root, with slashes.
func AliasOf(root, folder string) string {
	for key, alias := range readBuildFile(filepath.Join(root, "deps.edn")).Get("aliases").Pairs() {
		if slices.ContainsFunc(texts(alias.Get("extra-paths")), func(named string) bool { return path.Clean(named) == folder }) {
			return key.Text
		}
	}
	return ""
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
