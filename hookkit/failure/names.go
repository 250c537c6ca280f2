package failure

import (
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
)

// definition is a name that a text defines.
type definition struct {
	name     string
	line     int
	last     int    // its last line
	arglists string // as written, of a function
}

// outline is what a text says about names.
type outline struct {
	ns          string
	definitions []definition
	// locals are the names bound in the top-level form around the failure.
	locals []string
}

// ownNs is the namespace that the text that was sent is in, "user" where it does not say.
func (x *explainer) ownNs() string {
	if x.outline == nil {
		x.outline = outlineOf([]byte(x.src.Text), 0)
	}
	if x.outline.ns == "" {
		return "user"
	}
	return x.outline.ns
}

// outlineOf reads a text. line is that of the failure, for the locals.
func outlineOf(src []byte, line int) *outline {
	o := &outline{}
	nodes, _ := clj.ReadAll("", src, clj.Options{Dialect: clj.Clojure})
	for _, n := range nodes {
		o.topLevel(src, n)
		if n.Start.Line <= line && line <= n.End.Line {
			o.bound(n)
		}
	}
	return o
}

func (o *outline) topLevel(src []byte, n *clj.Node) {
	head := n.Head()
	switch {
	case head == "ns" || head == "in-ns":
		if len(n.Children) > 1 {
			o.ns = n.Children[1].Symbol()
		}
	case head == "do" || head == "comment":
		for _, child := range n.Children[1:] {
			o.topLevel(src, child)
		}
	case strings.HasPrefix(head, "def") && len(n.Children) > 1:
		if name := n.Children[1].Symbol(); name != "" {
			o.definitions = append(o.definitions, definition{name: name, line: n.Start.Line, last: n.End.Line, arglists: arglists(src, n)})
		}
		if head == "defprotocol" {
			for _, method := range n.Children[2:] {
				if name := method.Head(); name != "" {
					o.definitions = append(o.definitions, definition{name: name, line: method.Start.Line, last: method.End.Line})
				}
			}
		}
	}
}

// bound collects the symbols of all vectors in a list: parameters and what let and its like bind. Some are not bindings but values of
// bindings, which does no harm: they are names too.
func (o *outline) bound(n *clj.Node) {
	for _, child := range n.Children {
		if child.Kind == clj.Vector && n.Kind == clj.List {
			o.symbols(child)
		}
		o.bound(child)
	}
}

func (o *outline) symbols(n *clj.Node) {
	for _, child := range n.Children {
		switch {
		case child.Kind == clj.Symbol && child.Text != "&" && child.Text != "_" && !slices.Contains(o.locals, child.Text):
			o.locals = append(o.locals, child.Text)
		case child.Kind == clj.Vector, child.Kind == clj.Map:
			o.symbols(child) // destructuring
		}
	}
}

// arglists gives the parameter vectors of a function as written: "[x] or [x y]".
func arglists(src []byte, n *clj.Node) string {
	var lists []string
	for _, child := range n.Children[1:] {
		switch {
		case child.Kind == clj.Vector:
			return clj.Source(src, child)
		case child.Kind == clj.List && len(child.Children) > 0 && child.Children[0].Kind == clj.Vector:
			lists = append(lists, clj.Source(src, child.Children[0]))
		}
	}
	return strings.Join(lists, " or ")
}
