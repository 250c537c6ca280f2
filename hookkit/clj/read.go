package clj

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookkit/brepl/hookkit/text"
)

// Dialect says which language a text is in.
type Dialect uint8

const (
	// EDN is data only. Reader macros of Clojure are errors that name them; unknown tagged literals are data.
	EDN Dialect = iota
	// Clojure is source code.
	Clojure
)

// The bounds where Options has none.
const (
	DefaultMaxDepth        = 512
	DefaultMaxBytes        = 1 << 20  // EDN: a configuration or state file
	DefaultMaxBytesClojure = 64 << 20 // Clojure: no source file comes near
)

// Options are the language and the bounds of ReadAll.
type Options struct {
	Dialect  Dialect
	MaxDepth int // delimiters and prefixes open at once; 0: DefaultMaxDepth
	MaxBytes int // 0: DefaultMaxBytes, or DefaultMaxBytesClojure for Clojure
}

// ReadAll reads all forms of a text. It goes on after an error, so that the list has all of them in the order of their places: the
// delimiters as CheckDelimiters reports them, and tokens and forms that cannot be read. The nodes are then what could be made of the
// text, for messages only. A text that is too long gives one error and no nodes; where it is nested too deep, reading stops.
//
// What Clojure checks beyond the spelling is not checked: whether a regex compiles, an alias resolves, a tag has a reader, or an
// #inst or #uuid is one. Comments with #! are read in EDN too.
func ReadAll(file string, src []byte, opts Options) ([]*Node, ErrorList) {
	maxDepth, maxBytes := opts.MaxDepth, opts.MaxBytes
	if maxDepth == 0 {
		maxDepth = DefaultMaxDepth
	}
	if maxBytes == 0 {
		maxBytes = DefaultMaxBytes
		if opts.Dialect == Clojure {
			maxBytes = DefaultMaxBytesClojure
		}
	}
	if len(src) > maxBytes {
		return nil, ErrorList{{File: file, Pos: Pos{Line: 1, Column: 1}, Message: "Too long: " +
			strconv.Itoa(len(src)) + " bytes, the limit is " + strconv.Itoa(maxBytes)}}
	}
	r := reader{
		src: src, text: string(src), at: newLocator(src), edn: opts.Dialect == EDN, faultAt: -1,
		errors: collector{file: file, locator: newLocator(src)},
		equal:  equality{taggedToo: opts.Dialect == EDN},
	}
	if r.edn && !utf8.Valid(src) {
		r.errors.add(invalidUTF8(src), "Not UTF-8: EDN is UTF-8 text")
	}
	n := nesting{src: src, max: maxDepth, form: r.atom, opened: r.open, done: r.close}
	n.report = func(f fault) {
		r.faultAt = f.at
		r.errors.addFault(f, maxDepth)
	}
	n.run()
	nodes := r.forms
	if len(r.openForms) > 0 {
		nodes = nodes[:r.openForms[0].first] // nested too deep: what is open has no end
	}
	return nodes, r.errors.list()
}

func invalidUTF8(src []byte) int {
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(src)
}

// reader makes nodes of what nesting finds.
type reader struct {
	src       []byte
	text      string   // the same, for the texts of nodes: they share it
	at        *locator // of tokens, which come in order; errors have their own
	edn       bool
	errors    collector
	forms     []*Node    // complete forms that belong to no complete form yet
	openForms []openForm // one for each frame of nesting
	fnDepth   int        // how many #( are open
	faultAt   int        // the last fault of the delimiters; -1: none
	equal     equality
	nodes     []Node // room for nodes, and for lists of them: single ones would cost more than reading does
	lists     []*Node
}

// room gives how many nodes to make at once: about as many as the rest of the text has, so that the collector of garbage is not called
// again and again, and no more than a bound, as the text may turn out to be nested too deep.
func (r *reader) room() int {
	const bytesPerNode, most = 6, 1 << 20
	return min((len(r.src)-r.at.cursor.Offset)/bytesPerNode+1, most)
}

func (r *reader) newNode() *Node {
	if len(r.nodes) == 0 {
		r.nodes = make([]Node, r.room())
	}
	n := &r.nodes[0]
	r.nodes = r.nodes[1:]
	return n
}

// list gives a copy of nodes that nobody else appends to.
func (r *reader) list(nodes []*Node) []*Node {
	if len(nodes) == 0 {
		return nil
	}
	if len(nodes) > len(r.lists) {
		r.lists = make([]*Node, len(nodes)+r.room())
	}
	copied := r.lists[:len(nodes):len(nodes)]
	r.lists = r.lists[len(nodes):]
	copy(copied, nodes)
	return copied
}

// openForm is a form whose end is not read yet.
type openForm struct {
	kind  TokenKind
	start Pos
	first int // index in forms of its first child
}

func (r *reader) open(t Token) {
	r.openForms = append(r.openForms, openForm{kind: t.Kind, start: r.at.at(t.Start), first: len(r.forms)})
	text := r.text[t.Start:t.End]
	if r.edn {
		if name := notEDN(t.Kind, text); name != "" {
			r.errors.add(t.Start, text+" ("+name+")"+onlyClojure)
		}
	}
	if text == "#(" {
		if r.fnDepth > 0 && !r.edn {
			r.errors.add(t.Start, "Nested #()s are not allowed")
		}
		r.fnDepth++
	}
}

const onlyClojure = " is Clojure, not EDN: this file is data, and nothing in it is evaluated"

// notEDN names what a prefix or opener is, where it is not part of EDN.
func notEDN(kind TokenKind, text string) string {
	switch kind {
	case TokenOpen:
		if text == "#(" {
			return FnLiteral.String()
		}
	case TokenNamespace:
		if strings.HasPrefix(text, "#::") {
			return "auto-resolved namespaced map"
		}
	case TokenMeta:
		return "metadata"
	case TokenTag, TokenSymbolic, TokenDiscard:
	default:
		return prefixKind(kind).String()
	}
	return ""
}

// close makes the node of a frame that ends before offset end.
func (r *reader) close(f frame, end int) {
	o := r.openForms[len(r.openForms)-1]
	r.openForms = r.openForms[:len(r.openForms)-1]
	children := r.list(r.forms[o.first:])
	r.forms = r.forms[:o.first]
	n := r.newNode()
	n.Start, n.End, n.Children = o.start, r.at.at(end), children
	text := r.text[f.start:f.end]
	switch f.kind {
	case TokenOpen:
		r.closeCollection(n, text)
	case TokenDiscard:
		return
	case TokenMeta, TokenTag:
		if len(children) < 2 {
			return // reported as a prefix without its form
		}
		r.closePrefix(n, f.kind, text)
	default:
		if len(children) < 1 {
			return // as above
		}
		r.closePrefix(n, f.kind, text)
	}
	r.forms = append(r.forms, n)
}

func (r *reader) closeCollection(n *Node, opener string) {
	switch opener {
	case "(":
		n.Kind = List
	case "[":
		n.Kind = Vector
	case "#(":
		n.Kind = FnLiteral
		r.fnDepth--
	case "#{":
		n.Kind = Set
		r.checkKeys(n, 1)
	default:
		n.Kind = Map
		if len(r.openForms) > 0 && r.openForms[len(r.openForms)-1].kind == TokenNamespace {
			return // checked when its keys have their namespace
		}
		r.checkMap(n)
	}
}

// prefixKind gives the kind of node for prefixes that have one of their own.
func prefixKind(kind TokenKind) Kind {
	switch kind {
	case TokenQuote:
		return Quote
	case TokenSyntaxQuote:
		return SyntaxQuote
	case TokenUnquote:
		return Unquote
	case TokenUnquoteSplicing:
		return UnquoteSplicing
	case TokenDeref:
		return Deref
	case TokenVar:
		return Var
	case TokenReadEval:
		return ReadEval
	case TokenReaderConditional:
		return ReaderConditional
	case TokenReaderConditionalSplicing:
		return ReaderConditionalSplicing
	case TokenMeta:
		return Meta
	}
	return Tagged
}

// closePrefix completes the node of a prefix that has the forms it needs.
func (r *reader) closePrefix(n *Node, kind TokenKind, text string) {
	n.Kind = prefixKind(kind)
	first := n.Children[0]
	switch kind {
	case TokenReaderConditional, TokenReaderConditionalSplicing:
		if first.Kind != List {
			r.errors.add(first.Start.Offset, "The body of "+text+" must be a list, found "+r.brief(first))
		}
	case TokenTag:
		if first.Kind != Symbol {
			r.errors.add(first.Start.Offset, "Reader tag must be a symbol, found "+r.brief(first))
		}
		n.Text = first.Text
		n.Children = n.Children[1:]
	case TokenSymbolic:
		n.Kind, n.Text, n.Children = Float, "##"+first.Text, nil
		if first.Kind != Symbol || first.Text != "Inf" && first.Text != "-Inf" && first.Text != "NaN" {
			n.Kind = Symbol
			r.errors.add(n.Start.Offset, "Unknown symbolic value: ##"+r.brief(first)+", expected ##Inf, ##-Inf or ##NaN")
		}
	case TokenMeta:
		if !r.edn {
			r.checkMeta(first, n.Children[1])
		}
	case TokenNamespace:
		r.closeNamespacedMap(n, text[1:])
	}
}

// checkMeta follows Clojure 1.12, which takes a vector as metadata too.
func (r *reader) checkMeta(meta, form *Node) {
	switch meta.Kind {
	case Nil, Bool, Integer, Float, Ratio, Char, Regex, List, Set, Quote, Deref, Var, FnLiteral:
		r.errors.add(meta.Start.Offset, "Metadata must be a symbol, keyword, string, map or vector, found "+r.brief(meta))
	}
	switch form.Kind {
	case Nil, Bool, Integer, Float, Ratio, Char, String, Regex, Keyword:
		r.errors.add(form.Start.Offset, "Metadata cannot be on a "+form.Kind.String()+": "+r.brief(form))
	}
}

// closeNamespacedMap makes the keys of #:a{…} complete. What #:: stands for only a running Clojure knows.
func (r *reader) closeNamespacedMap(n *Node, prefix string) {
	n.Kind, n.Text = NamespacedMap, prefix
	body := n.Children[0]
	if body.Kind != Map {
		r.errors.add(body.Start.Offset, "Namespaced map must specify a map, found "+r.brief(body))
		return
	}
	n.Children = body.Children
	auto := strings.HasPrefix(prefix, "::")
	namespace := strings.TrimLeft(prefix, ":")
	if prefix != "::" && (!validName(namespace) || strings.Contains(namespace, "/") || len(prefix)-len(namespace) > 2) {
		r.errors.add(n.Start.Offset, "Namespaced map must specify a valid namespace, found #"+prefix)
	} else if !auto {
		for i := 0; i < len(n.Children); i += 2 {
			key := n.Children[i]
			if key.Kind != Keyword && key.Kind != Symbol || strings.HasPrefix(key.Text, ":") {
				continue
			}
			if name, none := strings.CutPrefix(key.Text, "_/"); none {
				key.Text = name
			} else if key.Text == "/" || !strings.Contains(key.Text, "/") {
				key.Text = namespace + "/" + key.Text
			}
		}
	}
	r.checkMap(n)
}

func (r *reader) checkMap(n *Node) {
	if r.faultAt >= n.Start.Offset {
		return // a delimiter is wrong within: the count would blame the wrong form
	}
	for _, c := range n.Children {
		if c.Kind == ReaderConditional || c.Kind == ReaderConditionalSplicing {
			return // how many forms it stands for depends on the platform
		}
	}
	if len(n.Children)%2 != 0 {
		last := n.Children[len(n.Children)-1]
		if e := r.errors.addError(last.Start.Offset, "Map literal must contain an even number of forms: "+r.brief(last)+
			" has no value in the map at "+placeWords(n.Start)); e != nil {
			e.Related = n.Start
		}
	}
	r.checkKeys(n, 2)
}

// checkKeys reports equal forms among every step-th child.
func (r *reader) checkKeys(n *Node, step int) {
	if r.faultAt >= n.Start.Offset || len(n.Children) <= step {
		return
	}
	seen := make(map[uint32]*Node, len(n.Children)/step)
	for i := 0; i < len(n.Children); i += step {
		key := n.Children[i]
		id := r.equal.id(key)
		before, twice := seen[id]
		if !twice {
			seen[id] = key
			continue
		}
		if e := r.errors.addError(key.Start.Offset, "Duplicate key: "+r.brief(key)+", the first is at "+placeWords(before.Start)); e != nil {
			e.Related = before.Start
		}
	}
}

// brief gives the first line of a node as written, cut to a length that fits in a message.
func (r *reader) brief(n *Node) string {
	s := Source(r.src, n)
	if end := strings.IndexAny(s, "\r\n"); end >= 0 {
		s = s[:end] + text.Mark
	}
	return text.CutRunes(s, 41)
}
