package tests

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/project/namespaces"
)

// closure calls visit for a namespace and for all of the suite that it needs.
func (s *Suite) closure(name string, seen map[string]bool, visit func(*Namespace)) {
	if seen[name] {
		return
	}
	seen[name] = true
	at, ok := slices.BinarySearchFunc(s.Namespaces, name, func(n Namespace, name string) int { return cmp.Compare(n.Name, name) })
	for ; ok && at < len(s.Namespaces) && s.Namespaces[at].Name == name; at++ {
		n := &s.Namespaces[at]
		visit(n)
		for _, needed := range n.Requires {
			s.closure(needed, seen, visit)
		}
	}
}

// hasFailed reports whether a namespace, or a test in it, is among the failed ones of a [Memory].
func hasFailed(ns string, failed []string) bool {
	return slices.ContainsFunc(failed, func(name string) bool { return name == ns || strings.HasPrefix(name, ns+"/") })
}

// sort puts those first that failed last time, then those whose own files, or files that they need, were changed last.
func (s *Suite) sort(chosen []Namespace, failed []string) {
	newest := make(map[string]time.Time, len(chosen))
	for i := range chosen {
		s.closure(chosen[i].Name, map[string]bool{}, func(n *Namespace) {
			if n.Modified.After(newest[chosen[i].Name]) {
				newest[chosen[i].Name] = n.Modified
			}
		})
	}
	rank := func(n Namespace) int {
		if hasFailed(n.Name, failed) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(chosen, func(a, b Namespace) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), newest[b.Name].Compare(newest[a.Name]), cmp.Compare(a.Name, b.Name))
	})
}

// Reached are those of the chosen namespaces that one of the files is in, or in a namespace that they need. Files are named relative to
// the project, with slashes.
func (s *Suite) Reached(chosen []Namespace, files []string) []Namespace {
	all, changed := make([]namespaces.File, len(s.Namespaces)), map[string]bool{}
	for i := range s.Namespaces {
		n := &s.Namespaces[i]
		all[i] = namespaces.File{Path: n.File, Namespace: n.Namespace}
		if slices.Contains(files, n.File) {
			changed[n.Name] = true
		}
	}
	reached := namespaces.Dependents(all, changed)
	return slices.DeleteFunc(slices.Clone(chosen), func(n Namespace) bool { return !reached[n.Name] })
}
