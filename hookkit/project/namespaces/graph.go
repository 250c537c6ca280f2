package namespaces

import (
	"slices"

	"github.com/hookkit/brepl/hookkit/clj"
)

// ForJVM are nodes with what reader conditionals give on the JVM in their place.
func ForJVM(nodes []*clj.Node) []*clj.Node {
	conditional := func(n *clj.Node) bool {
		return n.Kind == clj.ReaderConditional || n.Kind == clj.ReaderConditionalSplicing
	}
	if !slices.ContainsFunc(nodes, conditional) {
		return nodes
	}
	var list []*clj.Node
	for _, n := range nodes {
		if !conditional(n) {
			list = append(list, n)
			continue
		}
		if len(n.Children) == 0 {
			continue
		}
		forms := n.Children[0].Children
		for i := 0; i+1 < len(forms); i += 2 {
			if name := forms[i].Text; forms[i].Kind != clj.Keyword || name != "clj" && name != "default" {
				continue
			}
			if n.Kind == clj.ReaderConditionalSplicing {
				list = append(list, ForJVM(forms[i+1].Children)...)
			} else {
				list = append(list, ForJVM(forms[i+1:i+2])...)
			}
			break
		}
	}
	return list
}

// Dependents are the namespaces among files that require one of these, directly or through others, with those that are among files
// themselves.
func Dependents(files []File, changed map[string]bool) map[string]bool {
	users := map[string][]string{}
	for _, f := range files {
		for _, needed := range f.Namespace.Requires {
			users[needed] = append(users[needed], f.Namespace.Name)
		}
	}
	found := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		for _, user := range users[name] {
			if !found[user] {
				found[user] = true
				visit(user)
			}
		}
	}
	for name := range changed {
		visit(name)
	}
	for _, f := range files {
		if changed[f.Namespace.Name] {
			found[f.Namespace.Name] = true
		}
	}
	return found
}

// Cycle gives namespaces that load each other in a circle, in that order and with the first one again at the end; nil where there is none.
// Only what is loaded on the JVM counts. A process that starts on the files refuses it.
func Cycle(files []File) []string {
	loads := map[string][]string{}
	var names []string
	for _, f := range files {
		loads[f.Namespace.Name] = f.Namespace.Loads
		names = append(names, f.Namespace.Name)
	}
	slices.Sort(names)
	const inside, done = 1, 2
	state := map[string]int{}
	var way []string
	var visit func(name string) []string
	visit = func(name string) []string {
		switch state[name] {
		case inside:
			return append(slices.Clone(way[slices.Index(way, name):]), name)
		case done:
			return nil
		}
		state[name] = inside
		way = append(way, name)
		for _, needed := range loads[name] {
			if _, ours := loads[needed]; ours {
				if cycle := visit(needed); cycle != nil {
					return cycle
				}
			}
		}
		way = way[:len(way)-1]
		state[name] = done
		return nil
	}
	for _, name := range names {
		if cycle := visit(name); cycle != nil {
			return cycle
		}
	}
	return nil
}
