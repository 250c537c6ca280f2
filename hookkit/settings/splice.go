package settings

import (
	"bytes"
	"slices"
	"strings"
)

// An edit replaces data[start:end] by text. Edits of one list do not overlap.
type edit struct {
	start, end int
	text       string
}

// splice applies edits. Those at one offset are applied in the order given.
func splice(data []byte, edits []edit) []byte {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	var out bytes.Buffer
	from := 0
	for _, e := range edits {
		out.Write(data[from:e.start])
		out.WriteString(e.text)
		from = e.end
	}
	out.Write(data[from:])
	return out.Bytes()
}

const space = " \t\r\n"

// commentEnd returns where the last comment of a stretch of white space and
// comments ends, 0 when there is none, and whether it runs to the line's end.
func commentEnd(extra []byte) (end int, line bool) {
	for i := 0; i < len(extra); {
		if extra[i] != '/' {
			i++
			continue
		}
		line = bytes.HasPrefix(extra[i:], []byte("//"))
		i = skipComment(extra, i)
		end = i
	}
	if line && extra[end-1] == '\r' {
		end-- // the CR belongs to the line end
	}
	return end, line
}

// gapBefore returns the extent of what stands before element i: from the
// bracket or the comma to the element.
func (c container) gapBefore(i int) (from, to int) {
	if i == 0 {
		return c.open, c.elems[0].start
	}
	return c.elems[i-1].comma + 1, c.elems[i].start
}

// remove returns the edits that take the elements with drop[i] out. Comments
// stay. When nothing is left, what remains between the brackets becomes
// interior, provided that it differs in white space only.
func (d *document) remove(c container, drop []bool, interior string) []edit {
	last := lastKept(drop)
	if last < 0 {
		return d.removeAll(c, interior)
	}
	var edits []edit
	from := 0
	if first := slices.Index(drop, false); first > 0 && d.onlySpace(c, 0, first) {
		edits = append(edits, edit{start: c.elems[0].start, end: c.elems[first].start})
		from = first
	}
	for i := from; i < len(c.elems); i++ {
		if drop[i] {
			edits = append(edits, d.removeOne(c, i)...)
		}
	}
	if last < len(c.elems)-1 && !c.trailing {
		edits = append(edits, edit{start: c.elems[last].comma, end: c.elems[last].comma + 1})
	}
	return edits
}

func lastKept(drop []bool) int {
	for i, dropped := range slices.Backward(drop) {
		if !dropped {
			return i
		}
	}
	return -1
}

// onlySpace says whether no comment stands between the elements from and to.
func (d *document) onlySpace(c container, from, to int) bool {
	for i := from; i < to; i++ {
		s := c.elems[i]
		if len(bytes.Trim(d.data[s.end:s.comma], space)) > 0 || len(bytes.Trim(d.data[s.comma+1:c.elems[i+1].start], space)) > 0 {
			return false
		}
	}
	return true
}

// removeOne takes out an element with the white space before it and the comma
// after it.
func (d *document) removeOne(c container, i int) []edit {
	s := c.elems[i]
	from, to := c.gapBefore(i)
	comment, line := commentEnd(d.data[from:to])
	start, end := from+comment, s.end
	var edits []edit
	if s.comma >= 0 {
		if len(bytes.Trim(d.data[s.end:s.comma], space)) == 0 {
			end = s.comma + 1
		} else {
			edits = append(edits, edit{start: s.comma, end: s.comma + 1})
		}
	}
	if line && !bytes.HasPrefix(bytes.TrimLeft(d.data[end:], " \t\r"), []byte("\n")) {
		// the line comment before must not swallow what follows
		start += bytes.IndexByte(d.data[start:], '\n') + 1
	}
	return append(edits, edit{start: start, end: end})
}

func (d *document) removeAll(c container, interior string) []edit {
	rest := slices.Clone(d.data[c.open:c.end])
	for _, s := range slices.Backward(c.elems) {
		if s.comma >= 0 {
			rest = slices.Delete(rest, s.comma-c.open, s.comma-c.open+1)
		}
		rest = slices.Delete(rest, s.start-c.open, s.end-c.open)
	}
	if squeeze(rest) == squeeze([]byte(interior)) {
		return []edit{{start: c.open, end: c.end, text: interior}}
	}
	var edits []edit
	for _, s := range c.elems {
		edits = append(edits, edit{start: s.start, end: s.end})
		if s.comma >= 0 {
			edits = append(edits, edit{start: s.comma, end: s.comma + 1})
		}
	}
	return edits
}

func squeeze(b []byte) string { return strings.Join(strings.Fields(string(b)), "") }

// add returns the edits that put items at the end of c. Nothing that is there
// moves to another line than its own comments. outer is the indentation of
// the line that c begins on when c is empty.
func (d *document) add(st *style, c container, items []member, outer string) []edit {
	if len(c.elems) == 0 {
		return d.fill(st, c, items, outer)
	}
	last := c.elems[len(c.elems)-1]
	from := last.end
	if c.trailing {
		from = last.comma + 1
	}
	at, _ := commentEnd(d.data[from:c.end])
	at += from
	flat := d.inline(c)
	use, indent := *st, ""
	var sep string
	if flat {
		use.flat = d.nearSpaces(st, c)
		sep = strings.TrimPrefix(strings.TrimLeft(use.flat.comma, " \t"), ",")
	} else {
		indent = d.elementIndent(st, c)
		sep = st.eol + indent
	}
	var b strings.Builder
	for i, m := range items {
		if i > 0 && !c.trailing {
			b.WriteString(",")
		}
		b.WriteString(sep)
		use.writeItem(&b, m, indent, flat)
		if c.trailing {
			b.WriteString(",")
		}
	}
	edits := []edit{{start: at, end: at, text: b.String()}}
	if !c.trailing {
		edits = append([]edit{{start: last.end, end: last.end, text: ","}}, edits...)
	}
	return edits
}

// writeItem writes a member, or an element when it has no name.
func (st *style) writeItem(b *strings.Builder, m member, indent string, flat bool) {
	if m.name == "" {
		st.write(b, m.value, indent, flat)
		return
	}
	st.writeMember(b, m, indent, flat)
}

// nearSpaces is the spacing of c's own last element if that shows any.
func (d *document) nearSpaces(st *style, c container) spaces {
	last := d.text(c.elems[len(c.elems)-1])
	if d.data[c.open-1] == '{' {
		return d.spaces(c, st.flat)
	}
	d2, err := fragment(last)
	if err != nil || !d2.inline(d2.root) {
		return st.flat
	}
	return d2.spaces(d2.root, st.flat)
}

// elementIndent is the indentation of the last element that begins its line.
func (d *document) elementIndent(st *style, c container) string {
	for _, s := range slices.Backward(c.elems) {
		if indent, ok := d.lineIndent(s.start); ok {
			return indent
		}
	}
	indent, _ := d.lineIndent(c.end)
	return indent + st.unit
}

// fill puts items into an empty container; its comments stay in front.
func (d *document) fill(st *style, c container, items []member, outer string) []edit {
	inside := d.data[c.open:c.end]
	n, _ := commentEnd(inside)
	at, rest := c.open+n, string(inside[n:])
	flat := !st.multi && d.inline(c)
	indent := outer + st.unit
	var b strings.Builder
	for i, m := range items {
		switch {
		case flat && i == 0:
			b.WriteString(st.flat.padFor(d.data[c.open-1]))
		case flat:
			b.WriteString(st.flat.comma)
		default:
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(st.eol + indent)
		}
		st.writeItem(&b, m, indent, flat)
	}
	switch {
	case flat:
		b.WriteString(st.flat.padFor(d.data[c.open-1]))
	case !strings.Contains(rest, "\n"):
		b.WriteString(st.eol + outer)
	}
	return []edit{{start: at, end: at, text: b.String()}}
}

func (s spaces) padFor(opener byte) string {
	if opener == '{' {
		return s.pad
	}
	return ""
}
