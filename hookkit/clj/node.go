package clj

import (
	"iter"
	"math"
	"strconv"
	"strings"
)

// Kind says what a node is.
type Kind uint8

// The kinds of nodes. Forms that take another one, from Tagged on, have it in Children.
const (
	Nil Kind = iota
	Bool
	Integer // any size; 42, 0x2A, 052, 2r101010, 42N
	Float   // 1.5, 1e3, 1.5M, ##Inf, ##-Inf, ##NaN
	Ratio
	Char
	String
	Regex
	Symbol
	Keyword
	List
	Vector
	Map // Children: key, value, key, value, …
	Set
	NamespacedMap // as Map; Text is the prefix, such as ":a" of #:a{…}, and with such a prefix the names of keys are complete
	FnLiteral     // #(…); Children as in a List
	Tagged        // Text is the tag, Children[0] the form
	Meta          // ^a b; Children: metadata, form
	Quote
	SyntaxQuote
	Unquote
	UnquoteSplicing
	Deref
	Var
	ReadEval                  // #=; the form was not evaluated
	ReaderConditional         // #?(…); Children[0] is the list
	ReaderConditionalSplicing // #?@(…)
)

var kindNames = [...]string{
	"nil", "boolean", "integer", "float", "ratio", "character", "string", "regex", "symbol", "keyword", "list", "vector", "map", "set",
	"namespaced map", "function literal", "tagged literal", "form with metadata", "quote", "syntax-quote", "unquote", "unquote-splicing",
	"deref", "var", "read-eval", "reader conditional", "splicing reader conditional",
}

// String gives the name for messages, such as "vector".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Node is one form.
type Node struct {
	Kind       Kind
	Start, End Pos // End is exclusive

	// Text is what a form without children says. String: the text with its escapes replaced. Keyword: the name with its namespace and
	// without the first colon; an auto-resolved ::a is ":a". Symbol: the name. Regex: what stands between the quotes. ##Inf and its
	// like: with the ##. Other atoms: as written. Tagged: the tag. NamespacedMap: the prefix. Otherwise empty.
	Text string

	// Children has what the form holds, in order, without comments and what #_ discards.
	Children []*Node
}

// Source gives the text of a node as written, from src as it was given to ReadAll.
func Source(src []byte, n *Node) string { return string(src[n.Start.Offset:n.End.Offset]) }

// Get gives the value of a keyword in a map: Get("name") for :name. It is nil when the node is nil or no map, and when the keyword is
// not there. Of two equal keys, which ReadAll reports, the first counts.
func (n *Node) Get(keyword string) *Node {
	for k, v := range n.Pairs() {
		if k.Kind == Keyword && k.Text == keyword {
			return v
		}
	}
	return nil
}

// Pairs gives the keys and values of a map in the order of the text; nothing for a nil node and for other kinds. A key without a value,
// which ReadAll reports, is left out.
func (n *Node) Pairs() iter.Seq2[*Node, *Node] {
	return func(yield func(key, value *Node) bool) {
		if n == nil || n.Kind != Map && n.Kind != NamespacedMap {
			return
		}
		for i := 0; i+1 < len(n.Children); i += 2 {
			if !yield(n.Children[i], n.Children[i+1]) {
				return
			}
		}
	}
}

// Int gives the value of an Integer that fits in 64 bits.
func (n *Node) Int() (int64, bool) {
	if n == nil || n.Kind != Integer {
		return 0, false
	}
	num, ok := parseNumber(n.Text)
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseInt(num.digits, num.base, 64)
	return v, err == nil
}

// Float gives the value of a Float, or the nearest one to an Integer or Ratio. Decimals with M lose what does not fit, and what is too
// large becomes infinite.
func (n *Node) Float() (float64, bool) {
	if n == nil {
		return 0, false
	}
	switch n.Kind {
	case Integer:
		if v, ok := n.Int(); ok {
			return float64(v), true
		}
		num, ok := parseNumber(n.Text)
		if !ok || num.base != 10 {
			return 0, false
		}
		v, _ := strconv.ParseFloat(num.digits, 64) // an error here is ErrRange, and v is infinite then
		return v, true
	case Ratio:
		over, under, _ := strings.Cut(n.Text, "/")
		a, _ := strconv.ParseFloat(over, 64) // as above
		b, _ := strconv.ParseFloat(under, 64)
		return a / b, b != 0
	case Float:
		switch n.Text {
		case "##Inf":
			return math.Inf(1), true
		case "##-Inf":
			return math.Inf(-1), true
		case "##NaN":
			return math.NaN(), true
		}
		v, _ := strconv.ParseFloat(strings.TrimSuffix(n.Text, "M"), 64) // as above
		return v, true
	}
	return 0, false
}

// Bool gives the value of a Bool.
func (n *Node) Bool() (value, ok bool) {
	if n == nil || n.Kind != Bool {
		return false, false
	}
	return n.Text == "true", true
}

// Str gives the value of a String.
func (n *Node) Str() (string, bool) {
	if n == nil || n.Kind != String {
		return "", false
	}
	return n.Text, true
}

// Rune gives the value of a Char.
func (n *Node) Rune() (rune, bool) {
	if n == nil || n.Kind != Char {
		return 0, false
	}
	r, problem := decodeChar(n.Text)
	return r, problem == ""
}

// Symbol is the name of a Symbol, with or without metadata or a quote before it; "" for nil and other nodes.
func (n *Node) Symbol() string {
	for n != nil && len(n.Children) > 0 && (n.Kind == Meta || n.Kind == Quote) {
		n = n.Children[len(n.Children)-1]
	}
	if n == nil || n.Kind != Symbol {
		return ""
	}
	return n.Text
}

// Head is the symbol that a List begins with, without its namespace; "" if there is none.
func (n *Node) Head() string {
	if n.Kind != List || len(n.Children) == 0 {
		return ""
	}
	name := n.Children[0].Symbol()
	return name[strings.LastIndexByte(name, '/')+1:]
}
