package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/hookkit/brepl/hookkit/text"
)

// MaxBytes is how large a file of settings may be: 1 MiB.
const MaxBytes = 1 << 20

// Fault is one thing that is wrong in a file.
type Fault struct {
	Line int // from 1; 0 when the place is not known
	Text string
}

// Error is everything that is wrong in one file.
type Error struct {
	Path   string
	Faults []Fault
}

// Error writes a line for each fault, file:line: what. What does not stand on a line is written as Go writes it.
func (e *Error) Error() string {
	var lines []string
	for _, f := range e.Faults {
		place := e.Path
		if f.Line > 0 {
			place += ":" + strconv.Itoa(f.Line)
		}
		lines = append(lines, text.Escaped(place+": "+f.Text, ""))
	}
	return strings.Join(lines, "\n")
}

// Decode reads YAML into the struct that into points to. A key that the struct does not have, a key given twice, a value of another
// type and a second document are errors, all of them at once as an *[Error]. An empty file changes nothing. Fields are found by their
// yaml tags.
func Decode(path string, data []byte, into any) error {
	if len(data) > MaxBytes {
		return &Error{path, []Fault{{0, fmt.Sprintf("the file has %d bytes, more than the %d that settings may have", len(data), MaxBytes)}}}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	err := decoder.Decode(into)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		var second yaml.Node
		if err = decoder.Decode(&second); errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			return &Error{path, []Fault{{second.Line, "a second document; settings are one"}}}
		}
	}
	return &Error{path, faults(err, into)}
}

// place is file:line of a key, the path alone where it stands in no line of its own (an alias).
func place(file File, key string) string {
	var doc yaml.Node
	if yaml.Unmarshal(file.Data, &doc) != nil || len(doc.Content) == 0 {
		return file.Path
	}
	node, line := doc.Content[0], 0
	for name := range strings.SplitSeq(key, ".") {
		found := false
		for i := 0; i+1 < len(node.Content) && node.Kind == yaml.MappingNode; i += 2 {
			if node.Content[i].Value == name {
				line, node, found = node.Content[i].Line, node.Content[i+1], true
				break
			}
		}
		if !found {
			return file.Path
		}
	}
	return file.Path + ":" + strconv.Itoa(line)
}

// faults makes lines and texts of the errors of package yaml.
func faults(err error, into any) []Fault {
	var list []Fault
	if all, ok := errors.AsType[*yaml.TypeError](err); ok {
		types := map[string][]string{}
		collectKeys(reflect.TypeOf(into), types)
		for _, fault := range all.Errors {
			line, rest := cutLine(fault)
			list = append(list, Fault{line, explain(rest, types)})
		}
		return list
	}
	line, rest := cutLine(strings.TrimPrefix(err.Error(), "yaml: "))
	return []Fault{{line, "not YAML: " + rest}}
}

// cutLine takes "line 12: " from the front of a message.
func cutLine(text string) (line int, rest string) {
	after, ok := strings.CutPrefix(text, "line ")
	number, message, found := strings.Cut(after, ": ")
	if n, err := strconv.Atoi(number); ok && found && err == nil {
		return n, message
	}
	return 0, text
}

// explain says a message of package yaml in the words of somebody who writes settings.
func explain(message string, types map[string][]string) string {
	if key, of, ok := strings.Cut(strings.TrimPrefix(message, "field "), " not found in type "); ok {
		known := types[of]
		if meant := text.Near(key, known); meant != "" {
			return fmt.Sprintf("unknown key %q; did you mean %q?", key, meant)
		}
		return fmt.Sprintf("unknown key %q; known here: %s", key, strings.Join(known, ", "))
	}
	if value, kind, ok := strings.Cut(strings.TrimPrefix(message, "cannot unmarshal "), " into "); ok {
		return fmt.Sprintf("expected %s, found %s", kindName(kind), valueName(value))
	}
	if key, line, ok := strings.Cut(strings.TrimPrefix(message, "mapping key "), " already defined at "); ok {
		return fmt.Sprintf("key %s stands here a second time; the first is in %s", key, line)
	}
	return message
}

// kindName is a Go type for people.
func kindName(kind string) string {
	switch strings.TrimLeft(kind, "*") {
	case "bool":
		return "true or false"
	case "int":
		return "a whole number"
	case "float64":
		return "a number"
	case "string":
		return "a text"
	case "[]string":
		return "a list of texts"
	}
	if strings.HasPrefix(kind, "[]") {
		return "a list"
	}
	return "keys with values"
}

// valueName is what package yaml says of a value, "!!str `maybe`", for people.
func valueName(value string) string {
	tag, text, quoted := strings.Cut(value, " ")
	if quoted {
		return strings.ReplaceAll(text, "`", `"`)
	}
	switch tag {
	case "!!seq":
		return "a list"
	case "!!map":
		return "keys with values"
	}
	return tag
}

// collectKeys notes the keys of all structs that a type holds, by the type's name.
func collectKeys(t reflect.Type, into map[string][]string) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		collectKeys(t.Elem(), into)
	case reflect.Struct:
		if _, seen := into[t.String()]; seen {
			return
		}
		var keys []string
		into[t.String()] = nil
		for field := range t.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			if name != "" && name != "-" {
				keys = append(keys, name)
			}
			collectKeys(field.Type, into)
		}
		slices.Sort(keys)
		into[t.String()] = keys
	default:
	}
}
