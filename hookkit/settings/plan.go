package settings

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// An Entry is a handler as we want it: one matcher with one handler.
type Entry struct {
	Event   string
	Matcher string // "" and "*" match everything
	// NoMatcher leaves the key matcher out of a new entry, where Matcher is "": some events use none.
	NoMatcher bool
	Command   string
	Args      []string      // nil: Command is a shell line
	Timeout   time.Duration // whole seconds up to MaxTimeout; 0: leave it to the host
	// StatusMessage is what the host shows while the handler runs; "" for its own words.
	StatusMessage string
}

// A Spec says what Plan shall make of a settings file.
type Spec struct {
	// Own recognises our handlers. All of them in Events are replaced.
	Own func(Handler) bool
	// Events are the events that are ours to arrange, in the order in which new
	// ones are written. Their values must be well formed or nothing is changed.
	Events []string
	// Everywhere takes our handlers out of all other events too.
	Everywhere bool
	// Want is what shall be there. Empty: uninstall.
	Want []Entry
	// Memory is what an earlier Plan found empty and filled.
	Memory Memory
}

// Memory remembers what stood between the brackets of containers that were
// empty before we put something in, by path: "" for the root, "/hooks",
// "/hooks/Stop"; and under "file" the text of a file that held no value at
// all. With it, uninstall can tell a "Stop": [] of the user's from one that
// install made.
type Memory map[string]string

const (
	blankFile = "file"
	hooksPath = "/hooks"
)

// A Result is what Plan has found and made.
type Result struct {
	// Data is the new text; the very input when there is nothing to change.
	Data []byte
	// Bare says that nothing is left in the file and that nothing says that it
	// was there before us.
	Bare bool
	// Kept, Added and Removed are our handlers; Foreign all others.
	Kept, Added, Removed, Foreign []Handler
	// Memory is to be kept for the next Plan.
	Memory Memory
	// Comments says that the file has comments or trailing commas. The host
	// does not read such a file, and says nothing.
	Comments bool
	// NoList says that the value of PreToolUse is not an array. The host then
	// drops every hook of the file, and says nothing.
	NoList bool
	// Disabled says that the file has "disableAllHooks": true.
	Disabled bool
}

// Plan works out the new text of a settings file; it is a pure function. name
// is for error messages, which are of type *Error when the file is at fault.
// Every byte that is not ours stays: order, indentation, line ends, comments,
// spelling of numbers, BOM. Text without any value counts as {}.
//
// A handler of ours that is already as wanted stays where it is (its timeout
// may be longer than wanted, and one matcher that matches everything is as
// good as another). Others of ours are taken out, also out of entries that they
// share with foreign handlers, and what is missing is put after the foreign
// entries. An array or object goes when our handler was all that it held,
// unless Memory knows that it was there before.
func Plan(name string, data []byte, spec Spec) (Result, error) {
	src, err := parse(name, data, spec.Events)
	if err != nil {
		return Result{}, err
	}
	res := Result{Data: data, Comments: src.comments, NoList: src.noList, Disabled: src.disabled, Memory: maps.Clone(spec.Memory)}
	if res.Memory == nil {
		res.Memory = Memory{}
	}
	text, missing := src.takeOut(spec, &res)
	if len(missing) > 0 {
		mid, err := parse(name, text, spec.Events)
		if err != nil {
			return Result{}, errors.Join(errBroken, err)
		}
		if len(res.Kept)+len(res.Removed) == 0 {
			delete(res.Memory, blankFile) // somebody has written the file anew since
		}
		remember(src, missing, res.Memory)
		text = splice(mid.data, mid.putIn(spec.Events, missing))
		for _, e := range missing {
			res.Added = append(res.Added, e.handler())
		}
	}
	if bytes.Equal(text, src.data) {
		return res, nil
	}
	if err := verify(name, text, spec); err != nil {
		return Result{}, err
	}
	res.Data = text
	if bytes.HasPrefix(data, []byte(bom)) {
		res.Data = append([]byte(bom), text...)
	}
	return res, nil
}

var errBroken = errors.New("the edit would have broken the file; nothing was changed (please report this)")

// verify is the last guard before a user's file is replaced: the text must
// parse, and planning again must find nothing more to do.
func verify(name string, text []byte, spec Spec) error {
	d, err := parse(name, text, spec.Events)
	if err != nil {
		return errors.Join(errBroken, err)
	}
	var again Result
	if left, missing := d.takeOut(spec, &again); len(missing) > 0 || len(again.Removed) > 0 || !bytes.Equal(left, text) {
		return errBroken
	}
	return nil
}

// takeOut removes our handlers that are not wanted as they are, and returns
// the text that is left and the entries still missing.
func (d *document) takeOut(spec Spec, res *Result) (text []byte, missing []Entry) {
	missing = slices.Clone(spec.Want)
	if d.hooks == nil {
		return d.data, missing
	}
	drops := make([][][]bool, len(d.events)) // event, entry, handler
	for i, ev := range d.events {
		drops[i] = make([][]bool, len(ev.list))
		managed := spec.Everywhere || slices.Contains(spec.Events, ev.name)
		for j, en := range ev.list {
			drops[i][j] = make([]bool, len(en.list))
			for k, h := range en.list {
				if !spec.Own(h) {
					res.Foreign = append(res.Foreign, h)
					continue
				}
				n := slices.IndexFunc(missing, func(e Entry) bool { return e.metBy(h) })
				switch {
				case n >= 0:
					missing = slices.Delete(missing, n, n+1)
					res.Kept = append(res.Kept, h)
				case managed:
					drops[i][j][k] = true
					res.Removed = append(res.Removed, h)
				default:
					res.Kept = append(res.Kept, h)
				}
			}
		}
	}
	if len(res.Removed) == 0 {
		return d.data, missing
	}
	return d.drop(drops, missing, spec, res), missing
}

// drop removes handlers; then entries, events, "hooks" and the root's content
// as far as that leaves them empty.
func (d *document) drop(drops [][][]bool, missing []Entry, spec Spec, res *Result) []byte {
	var edits []edit
	goes := make([]bool, len(d.hooks.elems))
	for i, ev := range d.events {
		entries := make([]bool, len(ev.list))
		var inner []edit
		for j, en := range ev.list {
			switch {
			case !slices.Contains(drops[i][j], true):
			case !slices.Contains(drops[i][j], false):
				entries[j] = true
			default:
				inner = append(inner, d.remove(en.handlers, drops[i][j], "")...)
			}
		}
		interior, was := spec.Memory[hooksPath+"/"+ev.name]
		refilled := slices.ContainsFunc(missing, func(e Entry) bool { return e.Event == ev.name })
		if len(entries) > 0 && !slices.Contains(entries, false) && !was && !refilled && !d.hasComments(ev.entries) {
			goes[ev.member] = true
			continue
		}
		edits = append(edits, inner...)
		if slices.Contains(entries, true) {
			edits = append(edits, d.remove(ev.entries, entries, interior)...)
		}
	}
	interior, was := spec.Memory[hooksPath]
	if slices.Contains(goes, false) || was || len(missing) > 0 || d.hasComments(*d.hooks) {
		if slices.Contains(goes, true) {
			edits = append(edits, d.remove(*d.hooks, goes, interior)...)
		}
		return splice(d.data, edits)
	}
	return d.dropHooks(spec.Memory, res)
}

// dropHooks removes the member "hooks" from the root.
func (d *document) dropHooks(memory Memory, res *Result) []byte {
	goes := make([]bool, len(d.root.elems))
	for i, s := range d.root.elems {
		goes[i] = s.end == d.hooks.end+1
	}
	interior, was := memory[""]
	text := splice(d.data, d.remove(d.root, goes, interior))
	if squeeze(text) != "{}" {
		return text
	}
	if blank, wasBlank := memory[blankFile]; wasBlank {
		return []byte(blank)
	}
	res.Bare = !was
	return text
}

// hasComments says whether a comment stands between the elements of c. Such a
// container is not removed with our handlers.
func (d *document) hasComments(c container) bool {
	from := c.open
	for _, s := range c.elems {
		if len(bytes.Trim(d.data[from:s.start], space+",")) > 0 {
			return true
		}
		from = s.end
	}
	return len(bytes.Trim(d.data[from:c.end], space+",")) > 0
}

// remember notes which containers are empty now and will be filled, and
// forgets what is about to be made anew.
func remember(d *document, missing []Entry, memory Memory) {
	switch {
	case d.blank:
		clear(memory)
		memory[blankFile] = string(d.data)
		return
	case d.hooks == nil:
		delete(memory, hooksPath)
		maps.DeleteFunc(memory, func(path, _ string) bool { return strings.HasPrefix(path, hooksPath+"/") })
		if len(d.root.elems) == 0 {
			memory[""] = d.inside(d.root)
		}
		return
	case len(d.hooks.elems) == 0:
		memory[hooksPath] = d.inside(*d.hooks)
	}
	for _, e := range missing {
		path := hooksPath + "/" + e.Event
		i := slices.IndexFunc(d.events, func(ev event) bool { return ev.name == e.Event })
		switch {
		case i < 0:
			delete(memory, path)
		case len(d.events[i].entries.elems) == 0:
			memory[path] = d.inside(d.events[i].entries)
		}
	}
}

func (d *document) inside(c container) string { return string(d.data[c.open:c.end]) }

// metBy says whether h is e already.
func (e Entry) metBy(h Handler) bool {
	all := func(matcher string) bool { return matcher == "" || matcher == "*" }
	orDefault := func(t time.Duration) time.Duration {
		if t == 0 {
			return DefaultTimeout
		}
		return t
	}
	return h.Event == e.Event && (h.Matcher == e.Matcher || all(h.Matcher) && all(e.Matcher)) &&
		h.Type == "command" && h.Command == e.Command && (h.Args == nil) == (e.Args == nil) && slices.Equal(h.Args, e.Args) &&
		!h.Dropped && h.Timeout <= MaxTimeout && orDefault(h.Timeout) >= orDefault(e.Timeout) && e.saysAs(h)
}

// saysAs reports whether h has the status message that e wants, and no other key of somebody's.
func (e Entry) saysAs(h Handler) bool {
	if e.StatusMessage == "" {
		return len(h.More) == 0
	}
	return slices.Equal(h.More, []string{statusMessage}) && h.StatusMessage == e.StatusMessage
}

func (e Entry) handler() Handler {
	h := Handler{
		Event: e.Event, Matcher: e.Matcher, Type: "command", Command: e.Command, Args: e.Args, Timeout: e.Timeout, StatusMessage: e.StatusMessage,
	}
	if e.StatusMessage != "" {
		h.More = []string{statusMessage}
	}
	return h
}
