package reload

import (
	"slices"

	"github.com/hookkit/brepl/hookkit/project/namespaces"
)

// Use is a place where a name is used.
type Use struct {
	Path string
	Line int
}

// Uses are the places in a file where it uses one of the names of a namespace: through an alias, a refer, by the whole name, or within the
// namespace itself. At most one a line, in their order.
func Uses(path string, src []byte, space string, bare []string) []Use {
	ns, _ := namespaces.Read(src)
	n := namesOf(src)
	own := slices.Contains(n.spaces, space)
	var prefixes []string
	for alias, target := range ns.Aliases {
		if target == space {
			prefixes = append(prefixes, alias+"/")
		}
	}
	prefixes = append(prefixes, space+"/")
	var lines []int
	for _, name := range bare {
		for _, prefix := range prefixes {
			lines = append(lines, n.lines[prefix+name]...)
		}
		_, defined := n.defined[name]
		if own && !defined || ns.Refers[name] == space || slices.Contains(ns.All, space) && !defined {
			lines = append(lines, n.lines[name]...)
		}
	}
	slices.Sort(lines)
	var uses []Use
	for _, line := range slices.Compact(lines) {
		uses = append(uses, Use{path, line})
	}
	return uses
}
