// Package namespaces reads a Clojure project: which folders hold its sources, what a file's ns form says, and in which order files can
// be loaded. Nothing is evaluated: build files and sources are read as data.
//
// It serves the programs of this repository and carries no promise of stability.
package namespaces

import (
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
)

// Namespace is what a file's ns form says.
type Namespace struct {
	Name string
	// Requires are the namespaces that must be loaded before: those of :require, :use, :require-macros, :use-macros, and of :import the
	// packages, as namespaces are spelled. Of reader conditionals all branches count.
	Requires []string
	// Loads are those of them that the ns form loads on the JVM: without the others' branches, and without :import.
	Loads []string
	// Aliases are the namespaces that short names stand for, Refers those that names without one come from (:refer, :rename, :use with :only),
	// and All those all of whose names are taken over.
	Aliases, Refers map[string]string
	All             []string

	jvm bool // only what is loaded on the JVM is read
}

// Read reads the first ns form at the top level of a text; false where there is none. What stands behind it is not read.
func Read(src []byte) (Namespace, bool) {
	form := nsForm(src)
	if form == nil {
		return Namespace{}, false
	}
	nodes, _ := clj.ReadAll("", form, clj.Options{Dialect: clj.Clojure})
	if len(nodes) == 0 || len(nodes[0].Children) < 2 {
		return Namespace{}, false
	}
	ns := Namespace{Name: symbol(nodes[0].Children[1])}
	for _, clause := range branches(nodes[0].Children[2:]) {
		if clause.Kind == clj.List {
			ns.clause(clause.Children)
		}
	}
	jvm := Namespace{Name: ns.Name, jvm: true}
	for _, clause := range ForJVM(nodes[0].Children[2:]) {
		if clause.Kind == clj.List {
			jvm.clause(clause.Children)
		}
	}
	ns.Loads = jvm.Requires
	return ns, ns.Name != ""
}

// nsForm finds the bytes of the form.
func nsForm(src []byte) []byte {
	scanner := clj.NewScanner(src)
	depth, start := 0, -1
	first := false // the next atom is the first one of a form at the top level
	for {
		t := scanner.Next()
		switch t.Kind {
		case clj.TokenEOF:
			if start >= 0 {
				return src[start:]
			}
			return nil
		case clj.TokenOpen:
			depth++
			first = depth == 1 && src[t.Start] == '('
			if first {
				start = t.Start
			}
			continue
		case clj.TokenClose:
			depth = max(depth-1, 0)
			if depth == 0 && start >= 0 {
				return src[start:t.End]
			}
		case clj.TokenSpace, clj.TokenComment:
			continue
		case clj.TokenAtom:
			if name := string(src[t.Start:t.End]); first && name != "ns" && name != "clojure.core/ns" {
				start = -1
			}
		default:
			if first {
				start = -1
			}
		}
		first = false
	}
}

// branches are nodes with the forms of reader conditionals in their place.
func branches(nodes []*clj.Node) []*clj.Node {
	var list []*clj.Node
	for _, n := range nodes {
		switch n.Kind {
		case clj.ReaderConditional, clj.ReaderConditionalSplicing:
			if len(n.Children) == 0 {
				continue
			}
			forms := n.Children[0].Children
			for i := 1; i < len(forms); i += 2 {
				if n.Kind == clj.ReaderConditionalSplicing {
					list = append(list, branches(forms[i].Children)...)
				} else {
					list = append(list, branches(forms[i:i+1])...)
				}
			}
		case clj.Meta:
			if len(n.Children) == 2 {
				list = append(list, branches(n.Children[1:])...)
			}
		default:
			list = append(list, n)
		}
	}
	return list
}

// clause reads one reference of an ns form, such as (:require [a.b :as b]).
func (ns *Namespace) clause(forms []*clj.Node) {
	if len(forms) == 0 || forms[0].Kind != clj.Keyword {
		return
	}
	each := branches
	if ns.jvm {
		each = ForJVM
	}
	switch forms[0].Text {
	case "require-macros", "use-macros", "import":
		if ns.jvm {
			return
		}
	}
	switch forms[0].Text {
	case "require", "use", "require-macros", "use-macros":
		for _, spec := range each(forms[1:]) {
			ns.libspec(spec, strings.HasPrefix(forms[0].Text, "use"))
		}
	case "import":
		for _, spec := range branches(forms[1:]) {
			ns.imported(spec)
		}
	}
}

// libspec reads name, [name & options] and the prefix list (prefix name [name & options]).
func (ns *Namespace) libspec(spec *clj.Node, use bool) {
	if spec.Kind == clj.Quote && len(spec.Children) == 1 {
		spec = spec.Children[0]
	}
	if spec.Kind == clj.Symbol {
		ns.lib(spec.Text, nil, use)
		return
	}
	if spec.Kind != clj.Vector && spec.Kind != clj.List || len(spec.Children) == 0 {
		return
	}
	head := symbol(spec.Children[0])
	rest := branches(spec.Children[1:])
	prefix := len(rest) > 0 && (rest[0].Kind != clj.Keyword)
	if !prefix {
		ns.lib(head, rest, use)
		return
	}
	for _, one := range rest {
		var options []*clj.Node
		if one.Kind == clj.Vector && len(one.Children) > 0 {
			one, options = one.Children[0], branches(one.Children[1:])
		}
		if name := symbol(one); name != "" && head != "" {
			ns.lib(head+"."+name, options, use)
		}
	}
}

// lib notes one namespace with the options after its name.
func (ns *Namespace) lib(name string, options []*clj.Node, use bool) {
	loads, some := true, false
	for i := 0; i+1 < len(options); i += 2 {
		switch value := options[i+1]; options[i].Text {
		case "as-alias":
			loads = false
			set(&ns.Aliases, symbol(value), name)
		case "as":
			set(&ns.Aliases, symbol(value), name)
		case "refer", "only", "refer-macros":
			some = true
			if value.Kind == clj.Keyword && value.Text == "all" {
				ns.All = append(ns.All, name)
			}
			for _, one := range value.Children {
				set(&ns.Refers, symbol(one), name)
			}
		case "rename":
			for _, renamed := range value.Pairs() {
				set(&ns.Refers, symbol(renamed), name)
			}
		}
	}
	if use && !some {
		ns.All = append(ns.All, name)
	}
	if loads {
		ns.needs(name)
	}
}

func set(table *map[string]string, key, value string) {
	if *table == nil {
		*table = map[string]string{}
	}
	if key != "" {
		(*table)[key] = value
	}
}

// imported reads my.package.Class and (my.package Class …): a record's class is in the package of its namespace.
func (ns *Namespace) imported(spec *clj.Node) {
	name := ""
	switch {
	case spec.Kind == clj.Symbol:
		name = spec.Text[:max(strings.LastIndexByte(spec.Text, '.'), 0)]
	case len(spec.Children) > 0:
		name = symbol(spec.Children[0])
	}
	ns.needs(strings.ReplaceAll(name, "_", "-"))
}

func (ns *Namespace) needs(name string) {
	if name != "" && name != ns.Name && !slices.Contains(ns.Requires, name) {
		ns.Requires = append(ns.Requires, name)
	}
}

// symbol is the name of a symbol, with or without metadata; "" for anything else.
func symbol(n *clj.Node) string {
	for n.Kind == clj.Meta && len(n.Children) == 2 {
		n = n.Children[1]
	}
	if n.Kind != clj.Symbol {
		return ""
	}
	return n.Text
}

// File is a source file to load.
type File struct {
	Path      string
	Namespace Namespace // zero for a file without an ns form
}

// LoadOrder sorts files so that each comes after those whose namespaces it requires. Where nothing demands another order they stand by
// path, and so do files that require each other. A path that is given twice is one file, the last.
func LoadOrder(files []File) []File {
	byPath := make(map[string]File, len(files))
	paths := make([]string, 0, len(files))
	for _, f := range files {
		byPath[f.Path] = f
		paths = append(paths, f.Path)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	byName := map[string][]string{}
	for _, path := range paths {
		if name := byPath[path].Namespace.Name; name != "" {
			byName[name] = append(byName[name], path)
		}
	}
	ordered := make([]File, 0, len(paths))
	seen := map[string]bool{}
	var visit func(path string)
	visit = func(path string) {
		if seen[path] {
			return
		}
		seen[path] = true
		for _, name := range byPath[path].Namespace.Requires {
			for _, needed := range byName[name] {
				visit(needed)
			}
		}
		ordered = append(ordered, byPath[path])
	}
	for _, path := range paths {
		visit(path)
	}
	return ordered
}
