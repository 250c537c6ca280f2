package failure

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Fold is what a program printed, with the stack traces in it cut to the calls of the project: two or more others in a row become one line
// that counts them. sourcePaths is asked only where there is a trace. A trace is what clojure.test, clojure.stacktrace and printStackTrace print, one call a line.
func Fold(printed string, sourcePaths func() []string) string {
	if !strings.Contains(printed, ":") || !strings.Contains(printed, ")\n") {
		return printed
	}
	var out, held []string
	flush := func() {
		if len(held) > 1 {
			indent := held[0][:len(held[0])-len(strings.TrimLeft(held[0], " \t"))]
			held = []string{fmt.Sprintf("%s… %d calls outside of the project", indent, len(held))}
		}
		out, held = append(out, held...), nil
	}
	p := printedProject{sourcePaths: sourcePaths, known: map[string]bool{}}
	for line := range strings.SplitSeq(printed, "\n") {
		if class, ok := printedCall(line); ok && !p.has(class) {
			held = append(held, line)
			continue
		}
		flush()
		out = append(out, line)
	}
	flush()
	return strings.Join(out, "\n")
}

// printedCall reads a line such as " at shop.cart$total.invokeStatic (cart.clj:12)" and returns what was called.
func printedCall(line string) (class string, ok bool) {
	line = strings.TrimPrefix(strings.TrimLeft(line, " \t"), "at ")
	open := strings.LastIndexByte(line, '(')
	if open <= 0 || !strings.HasSuffix(line, ")") {
		return "", false
	}
	class = strings.TrimSuffix(line[:open], " ")
	place := line[open+1 : len(line)-1]
	colon := strings.LastIndexByte(place, ':')
	isPlace := colon > 0 && strings.Trim(place[colon+1:], "-0123456789") == "" || place == "Native Method" || place == "Unknown Source"
	return class, isPlace && strings.Contains(class, ".") && !strings.ContainsAny(class, " \"'()[]{}")
}

// printedProject knows whose calls are the project's: those of namespaces with a file on its source paths.
type printedProject struct {
	sourcePaths func() []string
	sources     []string
	known       map[string]bool
}

func (p *printedProject) has(class string) bool {
	class = class[strings.LastIndexByte(class, '/')+1:] // of a module: java.base/java.lang…
	ns, _, isFn := strings.Cut(class, "$")
	if !isFn { // a method of a record or type: its class stands in a namespace
		ns = class[:max(strings.LastIndexByte(class, '.'), 0)]
		ns = ns[:max(strings.LastIndexByte(ns, '.'), 0)]
	}
	if slices.ContainsFunc(foreign[:], func(prefix string) bool { return strings.HasPrefix(ns+".", prefix) }) {
		return false
	}
	own, asked := p.known[ns]
	if !asked {
		if p.sources == nil {
			p.sources = p.sourcePaths()
		}
		own = ns != "" && p.isFile(strings.ReplaceAll(ns, ".", string(filepath.Separator)))
		p.known[ns] = own
	}
	return own
}

func (p *printedProject) isFile(name string) bool {
	for _, dir := range p.sources {
		for _, extension := range [...]string{".clj", ".cljc", ".bb", ".cljs"} {
			if _, err := os.Stat(filepath.Join(dir, name+extension)); err == nil {
				return true
			}
		}
	}
	return false
}
