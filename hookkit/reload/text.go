package reload

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/project/namespaces"
)

// names are what a text says about the names of its own namespaces. Places count the forms at the top level.
type names struct {
	whole   string            // the namespace of its ns form; "" if there is none
	spaces  []string          // that, and those which it enters with in-ns
	defined map[string]int    // where a name is first defined or declared
	used    map[string]int    // where it first stands in another role, unless it is bound there
	lines   map[string][]int  // on which lines it stands so
	once    map[string]string // defonce forms: a hash of their text
	multi   map[string]string // the same of defmulti
}

// namesOf reads a text as the JVM would.
func namesOf(src []byte) *names {
	n := &names{defined: map[string]int{}, used: map[string]int{}, lines: map[string][]int{}, once: map[string]string{}, multi: map[string]string{}}
	nodes, _ := clj.ReadAll("", src, clj.Options{Dialect: clj.Clojure})
	for i, node := range namespaces.ForJVM(nodes) {
		f := form{names: n, src: src, at: i, bound: map[string]bool{}}
		f.bindings(node, false)
		f.walk(node)
	}
	return n
}

// form is one form at the top level.
type form struct {
	*names
	src   []byte
	at    int
	bound map[string]bool // by let, fn and their like, anywhere in it
}

// pairs are the forms whose first vector binds the names at its even places.
const pairs = " let let* loop loop* for doseq dotimes when-let if-let when-some if-some when-first with-open with-redefs binding "

// holders are the forms whose lists are functions without a word before them: (name [x] …).
const holders = " reify proxy letfn letfn* defrecord deftype extend-type extend-protocol definterface defprotocol "

// bindings collects the names that are bound in a form. With a name too many a use of it is overlooked, with one too few a file is loaded
// twice.
func (f *form) bindings(n *clj.Node, functions bool) {
	head := n.Head()
	if head == "ns" {
		return // (:require [a :refer [b]]) uses b
	}
	paired := head != "" && strings.Contains(pairs, " "+head+" ")
	binds := paired || functions || head == "fn" || head == "fn*" || strings.HasPrefix(head, "def")
	within := head != "" && strings.Contains(holders, " "+head+" ")
	for at, child := range namespaces.ForJVM(n.Children) {
		if n.Kind == clj.List && child.Kind == clj.Vector && (binds || at == 0) {
			for i, one := range namespaces.ForJVM(child.Children) {
				if !paired || i%2 == 0 {
					f.bind(one)
				}
			}
			paired, binds = false, binds && !paired
		}
		f.bindings(child, within && child.Kind == clj.List)
		if within && child.Kind == clj.Vector { // letfn
			for _, one := range child.Children {
				f.bindings(one, true)
			}
		}
	}
}

func (f *form) bind(n *clj.Node) {
	if n.Kind == clj.Symbol {
		f.bound[n.Text] = true
	}
	if n.Kind == clj.Vector || n.Kind == clj.Map || n.Kind == clj.Meta {
		for _, child := range n.Children {
			f.bind(child)
		}
	}
}

// walk notes definitions and uses.
func (f *form) walk(n *clj.Node) {
	children := namespaces.ForJVM(n.Children)
	switch head := n.Head(); {
	case n.Kind == clj.Symbol:
		f.use(n)
	case head == "comment":
		return
	case head == "ns" && len(children) > 1 && f.whole == "":
		f.whole = children[1].Symbol()
		f.space(f.whole)
	case head == "in-ns" && len(children) > 1:
		f.space(children[1].Symbol())
	case head == "declare":
		for _, child := range children[1:] {
			f.define(child.Symbol())
		}
		return
	case strings.HasPrefix(head, "def") && len(children) > 1:
		if f.definition(n, head, children[1].Symbol(), children[2:]) {
			children = slices.Concat(children[:1], children[2:])
		}
	}
	for _, child := range children {
		f.walk(child)
	}
}

func (f *form) space(name string) {
	if name != "" && !slices.Contains(f.spaces, name) {
		f.spaces = append(f.spaces, name)
	}
}

func (f *form) define(name string) {
	if _, known := f.defined[name]; !known && name != "" {
		f.defined[name] = f.at
	}
}

// definition notes (HEAD NAME …) and reports whether the name is a definition and no use.
func (f *form) definition(n *clj.Node, head, name string, rest []*clj.Node) bool {
	switch head {
	case "defmethod":
		return false
	case "defonce":
		f.once[name] = hashOf(clj.Source(f.src, n))
	case "defmulti":
		f.multi[name] = hashOf(clj.Source(f.src, n))
	case "defrecord", "deftype":
		f.define("->" + name)
		if head == "defrecord" {
			f.define("map->" + name)
		}
	case "defprotocol":
		for _, method := range rest {
			f.define(method.Head())
		}
	}
	f.define(name)
	return name != ""
}

func (f *form) use(n *clj.Node) {
	name := n.Text
	if space, bare, qualified := strings.Cut(name, "/"); qualified && space != "" && slices.Contains(f.spaces, space) {
		name = bare
	} else if f.bound[name] {
		return
	}
	if _, known := f.used[name]; !known {
		f.used[name] = f.at
	}
	f.lines[name] = append(f.lines[name], n.Start.Line)
}

// early reports whether a fresh start would not know the name where the text first uses it.
func (n *names) early(name string) bool {
	use, used := n.used[name]
	at, defined := n.defined[name]
	return used && (!defined || use < at)
}

func hashOf(text string) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(text)) // a hash takes everything
	return strconv.FormatUint(sum.Sum64(), 16)
}
