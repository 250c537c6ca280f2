package settings

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// putIn returns the edits that write the missing entries. All of them are
// insertions: nothing that is there is replaced.
func (d *document) putIn(order []string, missing []Entry) []edit {
	st := d.style()
	var fresh []member // events that are not there yet
	var edits []edit
	for _, name := range eventsOf(order, missing) {
		var items []member
		for _, e := range missing {
			if e.Event == name {
				items = append(items, member{value: e.node(st.handlersInline)})
			}
		}
		i := slices.IndexFunc(d.events, func(ev event) bool { return ev.name == name })
		if i < 0 {
			list := make([]node, len(items))
			for k, m := range items {
				list[k] = m.value
			}
			fresh = append(fresh, member{name: name, value: node{items: list}})
			continue
		}
		c := d.events[i].entries
		outer, _ := d.lineIndent(c.open - 1)
		edits = append(edits, d.add(&st, c, items, outer)...)
	}
	hooks := []member{{name: "hooks", value: node{members: fresh}}}
	switch {
	case d.blank:
		var b strings.Builder
		st.write(&b, node{members: hooks}, "", false)
		return []edit{{start: len(d.data), end: len(d.data), text: b.String() + st.eol}}
	case d.hooks == nil:
		outer, _ := d.lineIndent(d.root.open - 1)
		edits = append(edits, d.add(&st, d.root, hooks, outer)...)
	default:
		edits = append(edits, d.addEvents(&st, order, fresh)...)
	}
	return edits
}

// eventsOf returns the events of missing in the given order, unknown ones last.
func eventsOf(order []string, missing []Entry) []string {
	var names []string
	for _, e := range missing {
		if !slices.Contains(names, e.Event) {
			names = append(names, e.Event)
		}
	}
	rank := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return names
}

// addEvents writes new events into "hooks": before the first event that comes
// later in our order if one is there, else at the end.
func (d *document) addEvents(st *style, order []string, fresh []member) []edit {
	var edits []edit
	var atEnd []member
	for _, m := range fresh {
		if e, ok := d.before(st, order, m); ok {
			edits = append(edits, e)
			continue
		}
		atEnd = append(atEnd, m)
	}
	if len(atEnd) > 0 {
		outer, _ := d.lineIndent(d.hooks.open - 1)
		edits = append(edits, d.add(st, *d.hooks, atEnd, outer)...)
	}
	return edits
}

func (d *document) before(st *style, order []string, m member) (edit, bool) {
	rank := slices.Index(order, m.name)
	i := slices.IndexFunc(d.events, func(ev event) bool { return rank >= 0 && slices.Index(order, ev.name) > rank })
	if i < 0 {
		return edit{}, false
	}
	at := d.events[i].member
	from, to := d.hooks.gapBefore(at)
	gap := string(d.data[from:to])
	indent, begins := d.lineIndent(to)
	flat := d.inline(*d.hooks)
	if strings.Trim(gap, space) != "" || !flat && !begins {
		return edit{}, false // a comment belongs to what follows it
	}
	use := *st
	if flat {
		use.flat = d.spaces(*d.hooks, st.flat)
		if at == 0 {
			gap = strings.TrimPrefix(strings.TrimLeft(use.flat.comma, " \t"), ",")
		}
	}
	var b strings.Builder
	use.writeMember(&b, m, indent, flat)
	return edit{start: to, end: to, text: b.String() + "," + gap}, true
}

func (e Entry) node(handlersInline bool) node {
	h := []member{{"type", str("command")}, {"command", str(e.Command)}}
	if e.Args != nil {
		args := make([]node, len(e.Args))
		for i, a := range e.Args {
			args[i] = str(a)
		}
		h = append(h, member{"args", node{items: args, oneLine: true}})
	}
	if e.Timeout > 0 {
		h = append(h, member{"timeout", node{literal: strconv.FormatInt(int64(e.Timeout/time.Second), 10)}})
	}
	if e.StatusMessage != "" {
		h = append(h, member{statusMessage, str(e.StatusMessage)})
	}
	entry := []member{{"matcher", str(e.Matcher)}, {"hooks", node{items: []node{{members: h}}, oneLine: handlersInline}}}
	if e.NoMatcher && e.Matcher == "" {
		entry = entry[1:]
	}
	return node{members: entry}
}
