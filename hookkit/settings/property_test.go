package settings

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// writer writes random settings files in random styles.
type writer struct {
	t        *rapid.T
	b        strings.Builder
	comments bool // comments and trailing commas
	spread   bool
	eol      string
	unit     string
	commands []string // of handlers
}

func (w *writer) pick(options ...string) string { return rapid.SampledFrom(options).Draw(w.t, "pick") }

func (w *writer) gap(indent int, flat bool) {
	switch {
	case w.comments && rapid.IntRange(0, 7).Draw(w.t, "comment") == 0:
		w.b.WriteString(w.pick(" /* c */ ", " // c"+w.eol, "/*\n*/"))
	case flat:
		w.b.WriteString(w.pick("", "", " ", "\t"))
		return
	}
	if !flat {
		w.b.WriteString(w.eol + strings.Repeat(w.unit, indent))
	}
}

func (w *writer) list(brackets string, n, indent int, item func(i, indent int, flat bool)) {
	flat := !w.spread || rapid.IntRange(0, 3).Draw(w.t, "flat") == 0
	w.b.WriteByte(brackets[0])
	for i := range n {
		w.gap(indent+1, flat)
		item(i, indent+1, flat)
		if i < n-1 || w.comments && rapid.Bool().Draw(w.t, "trailing") {
			if w.comments {
				w.b.WriteString(w.pick("", "", " ", "/**/"))
			}
			w.b.WriteByte(',')
		}
	}
	if n > 0 || rapid.Bool().Draw(w.t, "inside") {
		w.gap(indent, flat)
	}
	w.b.WriteByte(brackets[1])
}

func (w *writer) object(indent int, keys []string, value func(key string, indent int)) {
	w.list("{}", len(keys), indent, func(i, indent int, _ bool) {
		w.b.WriteString(`"` + keys[i] + `"` + w.pick(":", ": ", " : "))
		value(keys[i], indent)
	})
}

func (w *writer) subset(options ...string) []string {
	perm := rapid.Permutation(options).Draw(w.t, "keys")
	return perm[:rapid.IntRange(0, len(perm)).Draw(w.t, "n")]
}

func (w *writer) scalar() {
	w.b.WriteString(w.pick("1", "1.50e+03", `"a\/b"`, "null", `"//"`, "[ 1,2 ]", "{}"))
}

func (w *writer) file() string {
	w.b.WriteString(w.pick("", "", bom, " ", "\n"))
	w.object(0, w.subset("permissions", "hooks", "env"), func(key string, indent int) {
		if key != "hooks" {
			w.scalar()
			return
		}
		w.object(indent, w.subset("PreToolUse", "PostToolUse", "Stop", "SessionEnd", "Notification", "Dream"), func(_ string, indent int) {
			w.list("[]", rapid.IntRange(0, 3).Draw(w.t, "entries"), indent, func(_, indent int, _ bool) {
				w.object(indent, w.subset("matcher", "hooks", "x"), func(key string, indent int) {
					switch key {
					case "matcher":
						w.b.WriteString(w.pick(`""`, `"*"`, `"Edit|Write"`))
					case "hooks":
						w.list("[]", rapid.IntRange(0, 3).Draw(w.t, "handlers"), indent, func(_, indent int, _ bool) { w.handler(indent) })
					default:
						w.scalar()
					}
				})
			})
		})
	})
	w.b.WriteString(w.pick("", "\n", "\r\n"))
	return w.b.String()
}

func (w *writer) handler(indent int) {
	w.object(indent, []string{"type", "command"}, func(key string, _ int) {
		if key == "type" {
			w.b.WriteString(`"command"`)
			return
		}
		w.b.WriteString(`"` + w.pick(w.commands...) + `"`)
	})
}

// RandomFile is a settings file whose handlers have some of these commands.
func RandomFile(t *rapid.T, commands ...string) string {
	w := &writer{
		t: t, commands: commands, comments: rapid.IntRange(0, 2).Draw(t, "comments") == 0, spread: rapid.Bool().Draw(t, "spread"),
		eol:  rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol"),
		unit: rapid.SampledFrom([]string{"  ", "    ", "\t"}).Draw(t, "unit"),
	}
	return w.file()
}

func randomFile(t *rapid.T, own bool) string {
	commands := []string{"prettier", "sh -c 'brepl hook stop'", "brepl hook stop; x"}
	if own {
		commands = append(commands, "brepl hook stop", "brepl hook eval", "/a/brepl hooks stop --debug", "brepl hook validate")
	}
	return RandomFile(t, commands...)
}

// CheckSurgery holds for every file that Plan accepts and for what any program wants of it.
func CheckSurgery(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, in []byte, spec Spec,
) {
	t.Helper()
	src, err := parse("s", in, spec.Events)
	if err != nil {
		if _, planErr := Plan("s", in, spec); planErr == nil {
			t.Fatalf("planned what does not parse: %q", in)
		}
		return
	}
	on, err := Plan("s", in, spec)
	if err != nil {
		t.Fatalf("install: %v\n%s", err, in)
	}
	if json.Valid(bytes.TrimPrefix(in, []byte(bom))) && !json.Valid(bytes.TrimPrefix(on.Data, []byte(bom))) {
		t.Fatalf("no longer JSON:\n%s\n%s", in, on.Data)
	}
	twice, err := Plan("s", on.Data, spec)
	if err != nil || !bytes.Equal(twice.Data, on.Data) {
		t.Fatalf("install twice: %v\n%s\n%s", err, on.Data, twice.Data)
	}
	off := spec
	off.Want, off.Everywhere, off.Memory = nil, true, on.Memory
	gone, err := Plan("s", on.Data, off)
	if err != nil {
		t.Fatalf("uninstall: %v\n%s", err, on.Data)
	}
	var found Result
	if _, missing := src.takeOut(spec, &found); len(found.Removed)+len(found.Kept) == 0 {
		for _, e := range src.putIn(spec.Events, missing) {
			if e.start != e.end {
				t.Fatalf("not an insertion: %+v", e)
			}
		}
		if !bytes.Equal(gone.Data, in) {
			t.Fatalf("uninstall gives\n%q for\n%q by\n%q", gone.Data, in, on.Data)
		}
	}
	if a, b := foreignText(t, in, spec.Own), foreignText(t, gone.Data, spec.Own); a != b {
		t.Fatalf("foreign handlers changed from\n%s to\n%s", a, b)
	}
}

// foreignText is the text of all foreign handlers and of all comments.
func foreignText(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, data []byte, own func(Handler) bool,
) string {
	t.Helper()
	d, err := parse("s", data, nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var b strings.Builder
	for _, ev := range d.events {
		for _, en := range ev.list {
			for k, h := range en.list {
				if !own(h) {
					b.WriteString(ev.name + en.matcher + string(d.text(en.handlers.elems[k])) + "\n")
				}
			}
		}
	}
	return b.String()
}

// stripped is what is left of a file, as data, without our handlers. It is
// worked out on decoded JSON, so that it shares nothing with the code under test.
func stripped(t *rapid.T, data []byte) (root map[string]any) {
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte(bom)), &root); err != nil {
		t.Fatalf("%v", err)
	}
	hooks, _ := root["hooks"].(map[string]any)
	for name, v := range hooks {
		entries, _ := v.([]any)
		var left []any
		for _, e := range entries {
			entry, _ := e.(map[string]any)
			handlers, ok := entry["hooks"].([]any)
			var foreign []any
			for _, h := range handlers {
				fields, _ := h.(map[string]any)
				command, _ := fields["command"].(string)
				if !strings.HasPrefix(command, "brepl hook ") && !strings.HasPrefix(command, "/a/brepl") || strings.Contains(command, ";") {
					foreign = append(foreign, h)
				}
			}
			if len(handlers) > 0 && len(foreign) == 0 {
				continue
			}
			if ok && len(foreign) > 0 {
				entry["hooks"] = foreign
			}
			left = append(left, e)
		}
		if hooks[name] = left; len(left) == 0 {
			delete(hooks, name) // whether an empty one stays is a matter of memory
		}
	}
	if len(hooks) == 0 {
		delete(root, "hooks")
	}
	return root
}

// What is not ours is the same data before and after install and uninstall.
func TestSurgeryKeepsForeignData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := []byte(randomFile(t, true))
		if !json.Valid(bytes.TrimPrefix(in, []byte(bom))) {
			return // comments: the other properties cover them
		}
		off := brepl()
		off.Everywhere = true
		for _, spec := range []Spec{allFour(), stopOnly(), off} {
			out, err := Plan("s", in, spec)
			if err != nil {
				t.Fatalf("%v", err)
			}
			if a, b := stripped(t, in), stripped(t, out.Data); !reflect.DeepEqual(a, b) {
				t.Fatalf("from\n%s\nto\n%s", in, out.Data)
			}
			if text := string(out.Data); spec.Everywhere && (strings.Contains(text, `"brepl hook stop"`) || strings.Contains(text, "/a/brepl")) {
				t.Fatalf("ours are left in\n%s", text)
			}
		}
	})
}

func TestSurgeryProperties(t *testing.T) {
	for name, own := range map[string]bool{"foreign only": false, "with ours": true} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { CheckSurgery(t, []byte(randomFile(t, own)), allFour()) })
		})
	}
}

func FuzzSurgery(f *testing.F) {
	f.Add([]byte(`{"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`))
	f.Add([]byte("{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [], // c\r\n\t}\r\n}"))
	f.Add([]byte(bom + `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"brepl hook stop --debug"},{}]},{}],"X":[]}} // c`))
	f.Add([]byte("{\"hooks\":{/*a*/\"SessionEnd\":[\n]}}"))
	f.Fuzz(func(t *testing.T, in []byte) { CheckSurgery(t, in, allFour()) })
}
