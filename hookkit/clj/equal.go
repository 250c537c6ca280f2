package clj

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
)

// equality gives equal forms the same number, so that equal keys are found in linear time and without recursion. Forms are equal as
// Clojure's = compares what it reads: lists equal vectors, maps and sets have no order, 1 equals 1N and 0x1 but not 1.0. Where it
// cannot know (regexes, functions, forms that depend on evaluation) every form is different from all others.
type equality struct {
	taggedToo bool // tagged literals with equal tags and forms are equal; else what a tag makes is not known
	ids       map[string]uint32
	known     map[*Node]uint32 // of forms with children
	next      uint32
}

// id gives the number of a form. Each form with children is looked at once.
func (e *equality) id(n *Node) uint32 {
	if e.ids == nil {
		e.ids = map[string]uint32{}
		e.known = map[*Node]uint32{}
	}
	type step struct {
		node *Node
		next int // the child to look at
	}
	stack := []step{{node: n}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next < len(top.node.Children) {
			child := top.node.Children[top.next]
			top.next++
			if _, done := e.known[child]; !done && len(child.Children) > 0 {
				stack = append(stack, step{node: child})
			}
			continue
		}
		if len(top.node.Children) > 0 {
			if _, done := e.known[top.node]; !done {
				e.known[top.node] = e.compute(top.node)
			}
		}
		stack = stack[:len(stack)-1]
	}
	return e.of(n)
}

// of gives the number of an atom, or of a form whose number is known.
func (e *equality) of(n *Node) uint32 {
	if id, done := e.known[n]; done {
		return id
	}
	return e.compute(n)
}

func (e *equality) unique() uint32 {
	e.next++
	return e.next
}

func (e *equality) intern(key string) uint32 {
	id, ok := e.ids[key]
	if !ok {
		id = e.unique()
		e.ids[key] = id
	}
	return id
}

// compute gives the number of a form from the numbers of its children.
func (e *equality) compute(n *Node) uint32 {
	kind := n.Kind
	switch kind {
	case Integer, Float, Char, Nil, Bool, Ratio, String, Symbol, Keyword:
		return e.atom(n)
	case Meta:
		return e.of(n.Children[1])
	case Tagged:
		if !e.taggedToo {
			return e.unique()
		}
	case Vector:
		kind = List
	case NamespacedMap:
		kind = Map
	case List, Map, Set, Quote, Deref, Var, Unquote, UnquoteSplicing:
	default:
		return e.unique()
	}
	parts := make([]uint64, 0, len(n.Children)+1)
	for i := 0; i < len(n.Children); i++ {
		part := uint64(e.of(n.Children[i]))
		if kind == Map && i+1 < len(n.Children) {
			i++
			part = part<<32 | uint64(e.of(n.Children[i]))
		}
		parts = append(parts, part)
	}
	if kind == Map || kind == Set {
		slices.Sort(parts)
	}
	key := make([]byte, 0, 8*len(parts)+1+len(n.Text))
	key = append(key, byte(kind))
	for _, p := range parts {
		key = binary.BigEndian.AppendUint64(key, p)
	}
	if kind == Tagged {
		key = append(key, n.Text...)
	}
	return e.intern(string(key))
}

func (e *equality) atom(n *Node) uint32 {
	text := n.Text
	switch n.Kind {
	case Integer:
		if v, ok := n.Int(); ok {
			text = strconv.FormatInt(v, 10)
		} else if num, ok := parseNumber(n.Text); ok {
			text = strconv.Itoa(num.base) + "r" + strings.ToLower(num.digits)
		}
	case Float:
		if text == "##NaN" {
			return e.unique()
		}
		if v, ok := n.Float(); ok && !strings.HasSuffix(text, "M") {
			if v == 0 {
				v = 0 // -0.0 equals 0.0
			}
			text = strconv.FormatFloat(v, 'g', -1, 64)
		}
	case Char:
		if v, ok := n.Rune(); ok {
			text = string(v)
		}
	}
	return e.intern(string([]byte{byte(n.Kind)}) + text)
}
