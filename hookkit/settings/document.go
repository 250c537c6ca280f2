package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/hookkit/brepl/hookkit/rawjson"
	"github.com/hookkit/brepl/hookkit/text"
)

// MaxBytes is how large a settings file may be to be edited: 32 MiB.
const MaxBytes = 32 << 20

// bom is the UTF-8 byte order mark. The host accepts it, so it stays.
const bom = "\ufeff"

// An Error says why a settings file is left as it is, and where.
type Error struct {
	File    string // as given to Plan
	Line    int    // from 1
	Column  int    // from 1, in UTF-16 units as editors count; a BOM counts as nothing
	Message string
}

// Error returns file:line:column: message.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// A document is the part of a settings file that surgery looks at: our path
// /hooks/EVENT/entry/hooks/handler. Offsets count from after the BOM.
type document struct {
	name     string
	data     []byte // without BOM
	blank    bool   // nothing but white space
	root     container
	hooks    *container // nil when there is no "hooks"
	events   []event
	comments bool // comments or trailing commas, which the host does not read
	noList   bool // PreToolUse is no array: the host drops every hook of the file
	disabled bool // the file says "disableAllHooks": true
}

type event struct {
	name    string
	member  int // index in document.hooks
	entries container
	list    []entry
}

type entry struct {
	matcher  string
	handlers container
	list     []Handler // one for each of handlers.elems
}

// A container is an object or array as offsets into the text.
type container struct {
	open, end int    // after the opening and at the closing bracket
	elems     []span // members or elements
	trailing  bool   // a comma after the last one
}

// A span is a member or an element, and the comma after it.
type span struct {
	start, end int
	comma      int // -1: none
}

// parse reads the text of a settings file. Events named in strict must be well
// formed down to the handlers; what is not well formed in others is passed over,
// because nothing of ours can be in it.
func parse(name string, data []byte, strict []string) (*document, error) {
	d := &document{name: name, data: bytes.TrimPrefix(data, []byte(bom))}
	if len(data) > MaxBytes {
		return nil, d.errorf(0, "the file is larger than %d MiB", MaxBytes>>20)
	}
	if len(bytes.Trim(d.data, " \t\r\n")) == 0 {
		d.blank = true
		return d, nil
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, d.errorf(0, "the file is UTF-16; the host reads UTF-8")
	}
	if at := tooDeep(d.data); at >= 0 {
		return nil, d.errorf(at, "nested deeper than %d", MaxDepth)
	}
	root, err := hujson.Parse(d.data)
	if err != nil {
		// hujson wants a newline after a line comment, also at the end of the file
		var again error
		if root, again = hujson.Parse(append(slices.Clone(d.data), '\n')); again != nil {
			return nil, d.syntax(err)
		}
	}
	d.comments = !json.Valid(d.data)
	obj, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, d.errorf(root.StartOffset, "settings must be an object, found %s", kindName(root))
	}
	d.root = contain(root)
	d.disabled = disablesHooks(obj)
	hooks, err := d.member(obj, "hooks")
	if err != nil || hooks == nil {
		return d, err
	}
	events, ok := hooks.Value.(*hujson.Object)
	if !ok {
		return nil, d.errorf(hooks.StartOffset, `"hooks" must be an object, found %s`, kindName(*hooks))
	}
	c := contain(*hooks)
	d.hooks = &c
	return d, d.readEvents(events, strict)
}

func (d *document) readEvents(events *hujson.Object, strict []string) error {
	seen := map[string]bool{}
	for i := range events.Members {
		m := &events.Members[i]
		name := literalString(m.Name)
		ev := event{name: name, member: i}
		err := d.readEntries(&ev, m.Value)
		if name == "PreToolUse" { // observed of this event alone; of a key given twice the last one counts
			_, isArray := m.Value.Value.(*hujson.Array)
			d.noList = !isArray
		}
		for _, s := range strict {
			if s != name {
				continue
			}
			if seen[name] {
				return d.errorf(m.Name.StartOffset, "%q is given twice; the host reads only the last one", name)
			}
			if err != nil {
				return err
			}
		}
		seen[name] = true
		if err == nil {
			d.events = append(d.events, ev)
		}
	}
	return nil
}

func (d *document) readEntries(ev *event, v hujson.Value) error {
	arr, ok := v.Value.(*hujson.Array)
	if !ok {
		return d.errorf(v.StartOffset, "%q must be an array, found %s", ev.name, kindName(v))
	}
	ev.entries = contain(v)
	for i := range arr.Elements {
		en, err := d.readEntry(ev.name, arr.Elements[i])
		if err != nil {
			return err
		}
		ev.list = append(ev.list, en)
	}
	return nil
}

func (d *document) readEntry(event string, v hujson.Value) (entry, error) {
	var en entry
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return en, d.errorf(v.StartOffset, "an entry of %q must be an object, found %s", event, kindName(v))
	}
	matcher, err := d.member(obj, "matcher")
	if err != nil {
		return en, err
	}
	if matcher != nil {
		en.matcher = literalString(*matcher)
	}
	hooks, err := d.member(obj, "hooks")
	if err != nil || hooks == nil {
		return en, err // the host drops an entry without handlers; it stays
	}
	arr, ok := hooks.Value.(*hujson.Array)
	if !ok {
		return en, d.errorf(hooks.StartOffset, `"hooks" in an entry of %q must be an array, found %s`, event, kindName(*hooks))
	}
	en.handlers = contain(*hooks)
	for i := range arr.Elements {
		el := arr.Elements[i]
		obj, ok := el.Value.(*hujson.Object)
		if !ok {
			return en, d.errorf(el.StartOffset, "a handler of %q must be an object, found %s", event, kindName(el))
		}
		for _, key := range []string{"type", "command", "args", "timeout"} {
			if _, err := d.member(obj, key); err != nil {
				return en, err
			}
		}
		strictText := el.Clone()
		strictText.Minimize()
		h := decodeHandler(&rawjson.Cursor{Data: strictText.Pack()})
		h.Event, h.Matcher = event, en.matcher
		en.list = append(en.list, h)
	}
	return en, nil
}

// member returns the value of a key; nil when it is absent. A
// key given twice is an error: the host takes the last, other readers the first.
func (d *document) member(obj *hujson.Object, key string) (value *hujson.Value, err error) {
	for i := range obj.Members {
		name := obj.Members[i].Name
		if literalString(name) != key {
			continue
		}
		if value != nil {
			return nil, d.errorf(name.StartOffset, "%q is given twice; the host reads only the last one", key)
		}
		value = &obj.Members[i].Value
	}
	return value, nil
}

// disablesHooks says whether "disableAllHooks" is true; of a key given twice the last one counts.
func disablesHooks(root *hujson.Object) (yes bool) {
	for i := range root.Members {
		if m := &root.Members[i]; literalString(m.Name) == "disableAllHooks" {
			lit, ok := m.Value.Value.(hujson.Literal)
			yes = ok && lit.Kind() == 't'
		}
	}
	return yes
}

func literalString(v hujson.Value) string {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || lit.Kind() != '"' {
		return ""
	}
	return lit.String()
}

func contain(v hujson.Value) container {
	c := container{open: v.StartOffset + 1, end: v.EndOffset - 1}
	add := func(first, last *hujson.Value, more bool) {
		s := span{start: first.StartOffset, end: last.EndOffset, comma: -1}
		if more || last.AfterExtra != nil { // hujson's mark of a trailing comma
			s.comma = last.EndOffset + len(last.AfterExtra)
		}
		c.trailing = !more && s.comma >= 0
		c.elems = append(c.elems, s)
	}
	switch t := v.Value.(type) {
	case *hujson.Object:
		for i := range t.Members {
			add(&t.Members[i].Name, &t.Members[i].Value, i+1 < len(t.Members))
		}
	case *hujson.Array:
		for i := range t.Elements {
			add(&t.Elements[i], &t.Elements[i], i+1 < len(t.Elements))
		}
	}
	return c
}

// tooDeep returns the offset of the first bracket below MaxDepth, or -1. It
// runs before hujson, whose recursion has no bound and would end the process.
func tooDeep(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			if depth++; depth > MaxDepth {
				return i
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '/':
			i = skipComment(data, i) - 1
		}
	}
	return -1
}

// skipComment returns the offset after the comment at i (the newline that ends
// a line comment is not part of it), or i+1 when there is none.
func skipComment(data []byte, i int) int {
	rest := data[i:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if n := bytes.IndexByte(rest, '\n'); n >= 0 {
			return i + n
		}
		return len(data)
	case bytes.HasPrefix(rest, []byte("/*")):
		if n := bytes.Index(rest[2:], []byte("*/")); n >= 0 {
			return i + 2 + n + 2
		}
		return len(data)
	default:
		return i + 1
	}
}

func (d *document) errorf(offset int, format string, args ...any) *Error {
	line, column := position(d.data, offset)
	return &Error{File: d.name, Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
}

// syntax turns hujson's error, whose position is text only, into an Error.
func (d *document) syntax(err error) *Error {
	line, column := placeIn(err.Error())
	offset := 0
	for range line - 1 {
		offset += bytes.IndexByte(d.data[offset:], '\n') + 1
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return d.errorf(min(offset+column-1, len(d.data)), "not valid JSON: %s", text.Escaped(err.Error(), "")) // hujson quotes what it found as it is
}

// placeIn reads "hujson: line 3, column 7: …"; the start of the file where the message has another form. fmt.Sscanf would do it too, for 49 KB
// in every program.
func placeIn(message string) (line, column int) {
	rest, _ := strings.CutPrefix(message, "hujson: line ")
	first, rest, _ := strings.Cut(rest, ", column ")
	second, _, _ := strings.Cut(rest, ":")
	line, lineErr := strconv.Atoi(first)
	column, columnErr := strconv.Atoi(second)
	if lineErr != nil || columnErr != nil || line < 1 || column < 1 {
		return 1, 1
	}
	return line, column
}

// position returns line and column of an offset, both from 1, the column in
// UTF-16 units.
func position(data []byte, offset int) (line, column int) {
	before := data[:offset]
	line = 1 + bytes.Count(before, []byte("\n"))
	column = 1
	for rest := before[bytes.LastIndexByte(before, '\n')+1:]; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		column += utf16.RuneLen(r)
		rest = rest[n:]
	}
	return line, column
}

func kindName(v hujson.Value) string {
	switch v.Value.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	default:
		return "an array"
	}
}
