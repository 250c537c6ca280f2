package settings

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/hookkit/brepl/hookkit/rawjson"
)

// A style is how a file is written, as far as new text has to look like it.
type style struct {
	eol            string // "\n" or "\r\n"
	unit           string // one level of indentation
	multi          bool   // the file has one member a line; false: all on one line
	flat           spaces // inside objects on one line
	handlersInline bool   // an entry's handlers stand on one line in a file of many lines
}

// spaces is the white space of an object or array on one line.
type spaces struct {
	pad   string // after { and before }
	colon string // with the colon
	comma string // with the comma
}

// style looks at the file's first line end, its first indented member and its
// first handlers. What it cannot see is as JSON.stringify(…, 2) writes it,
// which is what the host does when it saves the file.
func (d *document) style() style {
	st := style{eol: "\n", unit: "  ", multi: true, flat: spaces{" ", ": ", ", "}}
	if i := bytes.IndexByte(d.data, '\n'); i > 0 && d.data[i-1] == '\r' {
		st.eol = "\r\n"
	}
	if d.blank || len(d.root.elems) == 0 {
		return st
	}
	if d.inline(d.root) {
		st.multi = false
		st.flat = d.spaces(d.root, spaces{"", ":", ","})
		return st
	}
	first := d.root.elems[0].start
	outer, _ := d.lineIndent(d.root.open - 1)
	if indent, ok := d.lineIndent(first); ok && strings.HasPrefix(indent, outer) && len(indent) > len(outer) {
		st.unit = indent[len(outer):]
	}
	d.sampleHandlers(&st)
	return st
}

// sampleHandlers takes the form of the first entry that has handlers.
func (d *document) sampleHandlers(st *style) {
	for _, ev := range d.events {
		for i, en := range ev.list {
			if len(en.list) == 0 {
				continue
			}
			st.handlersInline = d.inline(en.handlers) && !bytes.ContainsRune(d.text(en.handlers.elems[0]), '\n') &&
				bytes.ContainsRune(d.text(ev.entries.elems[i]), '\n')
			if sample, err := fragment(d.text(en.handlers.elems[0])); err == nil && st.handlersInline {
				st.flat = sample.spaces(sample.root, st.flat)
			}
			return
		}
	}
}

// fragment reads a piece of a file that has been parsed before.
func fragment(data []byte) (*document, error) {
	v, err := hujson.Parse(data)
	return &document{data: data, root: contain(v)}, err
}

func (d *document) text(s span) []byte { return d.data[s.start:s.end] }

// inline says whether the elements of c all stand on one line with its brackets
// (they themselves may have line breaks inside).
func (d *document) inline(c container) bool {
	from := c.open
	for _, s := range c.elems {
		if bytes.IndexByte(d.data[from:s.start], '\n') >= 0 {
			return false
		}
		from = s.end
	}
	return bytes.IndexByte(d.data[from:c.end], '\n') < 0
}

// spaces reads the spacing of an object on one line; base where it has none
// to show or a comment stands in between.
func (d *document) spaces(c container, base spaces) spaces {
	if len(c.elems) == 0 {
		return base
	}
	blank := func(b []byte, with string) (string, bool) {
		s := string(b)
		return s, strings.Trim(strings.Replace(s, with, "", 1), " \t") == ""
	}
	first := c.elems[0]
	if s, ok := blank(d.data[c.open:first.start], ""); ok {
		base.pad = s
	}
	if len(d.data) > first.start && d.data[first.start] == '"' {
		cur := &rawjson.Cursor{Data: d.data, At: first.start}
		_, _ = cur.Text() // it has been parsed before
		from := cur.At
		if cur.Peek() == ':' {
			cur.At++
			cur.Space()
			if s, ok := blank(d.data[from:cur.At], ":"); ok {
				base.colon = s
			}
		}
	}
	switch {
	case len(c.elems) > 1:
		if s, ok := blank(d.data[first.end:c.elems[1].start], ","); ok {
			base.comma = s
		}
	case strings.HasSuffix(base.colon, " "):
		base.comma = ", "
	default:
		base.comma = ","
	}
	return base
}

// lineIndent returns the white space before offset on its line; ok is false
// when something else stands before it.
func (d *document) lineIndent(offset int) (indent string, ok bool) {
	start := bytes.LastIndexByte(d.data[:offset], '\n') + 1
	line := d.data[start:offset]
	trimmed := bytes.TrimLeft(line, " \t")
	return string(line[:len(line)-len(trimmed)]), len(trimmed) == 0
}

// A node is JSON to be written.
type node struct {
	literal string   // already JSON; used when members and elements are nil
	members []member // an object
	items   []node   // an array
	oneLine bool     // on one line wherever it stands
}

type member struct {
	name  string
	value node
}

func str(s string) node { return node{literal: string(hujson.String(s))} }

// write renders n; indent is that of the line it begins on.
func (st *style) write(b *strings.Builder, n node, indent string, flat bool) {
	flat = flat || n.oneLine
	switch {
	case n.members != nil:
		st.bracket(b, "{", "}", len(n.members), st.flat.pad, indent, flat, func(i int, inner string) {
			st.writeMember(b, n.members[i], inner, flat)
		})
	case n.items != nil:
		st.bracket(b, "[", "]", len(n.items), "", indent, flat, func(i int, inner string) {
			st.write(b, n.items[i], inner, flat)
		})
	default:
		b.WriteString(n.literal)
	}
}

func (st *style) writeMember(b *strings.Builder, m member, indent string, flat bool) {
	b.WriteString(string(hujson.String(m.name)))
	if flat {
		b.WriteString(st.flat.colon)
	} else {
		b.WriteString(": ")
	}
	st.write(b, m.value, indent, flat)
}

func (st *style) bracket(b *strings.Builder, opener, closer string, n int, pad, indent string, flat bool, item func(i int, inner string)) {
	b.WriteString(opener)
	inner := indent + st.unit
	for i := range n {
		switch {
		case flat && i == 0:
			b.WriteString(pad)
		case flat:
			b.WriteString(st.flat.comma)
		default:
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(st.eol + inner)
		}
		item(i, inner)
	}
	switch {
	case flat:
		b.WriteString(pad)
	case n > 0:
		b.WriteString(st.eol + indent)
	}
	b.WriteString(closer)
}
