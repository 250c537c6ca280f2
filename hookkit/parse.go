package hookkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// A field is one member of a JSON object: its decoded name, and its value as received.
type field struct {
	name  string
	value []byte
}

// ParseEvent gives the event in data its type. Data holds one JSON object, as returned by [ReadEvent]; what follows the object is
// ignored. The error is [ErrNoEvent] for nothing but white space and [ErrNotJSON] for everything that is no object, at most 10,000
// levels deep.
//
// Field names are compared exactly. Unknown fields are kept for [Common.Raw], unknown events become an [Other]. A known field with a
// value of another type is left empty and named in [Common.Warnings]. The event refers to data, which must not be changed afterwards.
func ParseEvent(data []byte) (Event, error) { return parseAs(data, "", nil) }

// parseAs is ParseEvent with the name that an event without one gets, and with the hook's environment.
func parseAs(data []byte, nameless EventName, env []string) (Event, error) {
	object, fields, err := parseObject(data)
	if err != nil {
		return nil, err
	}
	return typed(object, fields, nameless, env), nil
}

// typed gives the event with these members its type.
func typed(object []byte, fields []field, nameless EventName, env []string) Event {
	r := fieldReader{fields: fields}
	host, name := recognise(&r, getenv(env, "CLAUDECODE") == "1")
	if name == "" {
		name = nameless
	}
	e := build(&r, host, name, Common{Host: host, env: env, data: object, fields: fields})
	e.Base().warnings = r.warnings
	return e
}

// spans are the keys and values of an object as the scanner finds them.
type spans []struct {
	part     topPart
	from, to int
}

func (s *spans) add(part topPart, from, to int) {
	*s = append(*s, struct {
		part     topPart
		from, to int
	}{part, from, to})
}

// fields gives the members in data, in which the spans were found.
func (s spans) fields(data []byte) []field {
	fields := make([]field, 0, len(s)/2)
	var name string
	for _, one := range s {
		if one.part == topKey {
			name = unquote(data[one.from:one.to])
			continue
		}
		fields = append(fields, field{name, data[one.from:one.to:one.to]})
	}
	return fields
}

// parseObject checks the object at the start of data and finds its members.
func parseObject(data []byte) (object []byte, fields []field, err error) {
	var members spans
	scan := scanner{onTop: members.add}
	done, err := scan.feed(data)
	switch {
	case err != nil:
		return nil, nil, err
	case done:
		return data[scan.start:scan.offset:scan.offset], members.fields(data), nil
	case scan.state == scanStart:
		return nil, nil, ErrNoEvent
	}
	return nil, nil, fmt.Errorf("%w: the input ended too early: %s", ErrNotJSON, arrived(data, false))
}

func lookup(fields []field, name string) (json.RawMessage, bool) {
	for _, f := range slices.Backward(fields) {
		if f.name == name {
			return f.value, true
		}
	}
	return nil, false
}

// member returns a member of the object in raw.
func member(raw json.RawMessage, name string) (json.RawMessage, bool) {
	_, fields, err := parseObject(raw)
	if err != nil {
		return nil, false
	}
	return lookup(fields, name)
}

// withString returns the object in raw with this text for its member, every other byte as it was. Of a name given twice the last one,
// which counts, is replaced.
func withString(raw json.RawMessage, name, text string) (json.RawMessage, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("field %q: the new text is not valid UTF-8", name)
	}
	var key string
	from, to, last := -1, -1, -1 // the member's value; the end of the last member
	scan := scanner{}
	scan.onTop = func(part topPart, start, end int) {
		if part == topKey {
			key = unquote(raw[start:end])
			return
		}
		if last = end; key == name {
			from, to = start, end
		}
	}
	if done, err := scan.feed(raw); err != nil || !done {
		return nil, errors.New("the tool's input is not a JSON object")
	}
	var value []byte
	switch {
	case from >= 0 && raw[from] != '"':
		return nil, fmt.Errorf("field %q: expected a string, found %s", name, kindOf(raw[from:to]))
	case from >= 0:
		if _, lossless := decode(raw[from:to]); !lossless {
			return nil, fmt.Errorf("field %q holds lone surrogates or bytes that are no UTF-8, which a new text would lose", name)
		}
	case last >= 0:
		from, to = last, last
		value = append(appendQuoted([]byte{','}, name), ':')
	default:
		from, to = scan.start+1, scan.start+1
		value = append(appendQuoted(nil, name), ':')
	}
	return slices.Concat(raw[:from], appendQuoted(value, text), raw[to:]), nil
}

func stringMember(raw json.RawMessage, name string) (string, bool) {
	value, ok := member(raw, name)
	return stringValue(value, ok)
}

func stringValue(value json.RawMessage, ok bool) (string, bool) {
	if !ok || value[0] != '"' {
		return "", false
	}
	return unquote(value), true
}

// filePath finds the path in a tool's input: file_path in Claude Code and Gemini CLI, path in others.
func filePath(input json.RawMessage) string {
	_, fields, err := parseObject(input)
	if err != nil {
		return ""
	}
	return pathIn(fields)
}

func pathIn(fields []field) string {
	for _, name := range [...]string{"file_path", "notebook_path", "filePath", "path"} {
		if value, ok := lookup(fields, name); ok && value[0] == '"' {
			return unquote(value)
		}
	}
	return ""
}

// parsedInput is a tool's input with its members: a whole file can be in it, which is looked through only once.
type parsedInput struct {
	raw    json.RawMessage
	fields []field
}

func parseInput(raw json.RawMessage) parsedInput {
	_, fields, err := parseObject(raw)
	if err != nil {
		fields = nil
	}
	return parsedInput{raw, fields}
}

// of returns the members of raw, which may have been replaced since.
func (p *parsedInput) of(raw json.RawMessage) []field {
	if len(raw) == len(p.raw) && (len(raw) == 0 || &raw[0] == &p.raw[0]) {
		return p.fields
	}
	return parseInput(raw).fields
}

// A fieldReader takes typed values out of an object and notes which had another type. Of several names the first that is present, and
// not null, counts.
type fieldReader struct {
	fields   []field
	warnings []string
}

func (r *fieldReader) raw(names ...string) (string, []byte) {
	for _, name := range names {
		if value, ok := lookup(r.fields, name); ok && value[0] != 'n' {
			return name, value
		}
	}
	return "", nil
}

func (r *fieldReader) has(names ...string) bool {
	_, value := r.raw(names...)
	return value != nil
}

func (r *fieldReader) warn(name, want string, value []byte) {
	r.warnings = append(r.warnings, fmt.Sprintf("field %q: expected %s, found %s", name, want, kindOf(value)))
}

func (r *fieldReader) str(names ...string) string {
	name, value := r.raw(names...)
	switch {
	case value == nil:
		return ""
	case value[0] != '"':
		r.warn(name, "a string", value)
		return ""
	}
	return unquote(value)
}

func (r *fieldReader) boolean(names ...string) bool {
	name, value := r.raw(names...)
	if value != nil && value[0] != 't' && value[0] != 'f' {
		r.warn(name, "true or false", value)
	}
	return value != nil && value[0] == 't'
}

func (r *fieldReader) number(names ...string) float64 {
	name, value := r.raw(names...)
	if value == nil {
		return 0
	}
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		r.warn(name, "a number", value)
		return 0
	}
	return n
}

func (r *fieldReader) milliseconds(name string) time.Duration {
	n := r.number(name)
	if n < 0 || n > float64(math.MaxInt64/time.Millisecond) {
		_, value := r.raw(name)
		r.warn(name, "milliseconds", value)
		return 0
	}
	return time.Duration(n * float64(time.Millisecond))
}

func (r *fieldReader) message(names ...string) json.RawMessage {
	_, value := r.raw(names...)
	return value
}

// elements returns the elements of an array.
func (r *fieldReader) elements(names ...string) [][]byte {
	name, value := r.raw(names...)
	if value == nil {
		return nil
	}
	if value[0] != '[' {
		r.warn(name, "an array", value)
		return nil
	}
	return elements(value)
}

// elements splits an array that the scanner has found valid.
func elements(array []byte) [][]byte {
	var list [][]byte
	depth, start, inString := 0, -1, false
	for i := 1; i < len(array); i++ {
		c := array[i]
		switch {
		case inString && c == '\\':
			i++
			continue
		case inString:
			inString = c != '"'
			continue
		case depth == 0 && (c == ',' || c == ']'):
			if start >= 0 {
				list = append(list, trimSpace(array[start:i]))
			}
			start = -1
			continue
		case isSpace(c):
			continue
		}
		if start < 0 {
			start = i
		}
		switch c {
		case '"':
			inString = true
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
	}
	return list
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func (r *fieldReader) tasks(names ...string) []BackgroundTask {
	var tasks []BackgroundTask
	for _, raw := range r.elements(names...) {
		_, fields, err := parseObject(raw)
		if err != nil {
			r.warn(names[0], "objects in the array", raw)
			continue
		}
		t := fieldReader{fields: fields}
		tasks = append(tasks, BackgroundTask{
			ID: t.str("id"), Type: t.str("type"), Status: t.str("status"),
			Description: t.str("description"), Command: t.str("command"), AgentType: t.str("agent_type"),
		})
		r.warnings = append(r.warnings, t.warnings...)
	}
	return tasks
}

func kindOf(value []byte) string {
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return string(value)
	case 'n':
		return "null"
	}
	return "a number"
}

// unquote decodes a valid JSON string with its quotes. Lone surrogates and bytes that are no UTF-8 become U+FFFD; the raw value keeps them.
func unquote(quoted []byte) string {
	s, _ := decode(quoted)
	return s
}

// decode is unquote that also says whether the decoded text is the whole content: nothing became U+FFFD that was something else.
func decode(quoted []byte) (text string, lossless bool) {
	s := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(s, '\\') < 0 && utf8.Valid(s) {
		return string(s), true
	}
	out := make([]byte, 0, len(s))
	lossless = true
	for len(s) > 0 {
		if s[0] == '\\' {
			r, n := unescape(s)
			out = utf8.AppendRune(out, r)
			lossless = lossless && !utf16.IsSurrogate(r)
			s = s[n:]
			continue
		}
		run := s
		if i := bytes.IndexByte(s, '\\'); i >= 0 {
			run = s[:i]
		}
		s = s[len(run):]
		if utf8.Valid(run) {
			out = append(out, run...)
			continue
		}
		lossless = false
		for len(run) > 0 {
			r, n := utf8.DecodeRune(run)
			out = utf8.AppendRune(out, r)
			run = run[n:]
		}
	}
	return string(out), lossless
}

// unescape decodes the escape at the start of s and says how long it is. A lone surrogate is returned as it is.
func unescape(s []byte) (rune, int) {
	switch s[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r := hexRune(s[2:6])
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
			if pair := utf16.DecodeRune(r, hexRune(s[8:12])); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return r, 6
	}
	return rune(s[1]), 2
}

func hexRune(digits []byte) rune {
	var r rune
	for _, c := range digits {
		r <<= 4
		if c <= '9' {
			r |= rune(c - '0')
		} else {
			r |= rune(c|0x20) - 'a' + 10
		}
	}
	return r
}
