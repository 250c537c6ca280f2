package failure

import (
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
)

// link is one exception of the chain from the outermost to the root cause.
type link struct {
	class, message string
	phase          string // of Clojure, or of sci
	file, symbol   string
	line, column   int
	sci            bool
	spec           string // what a spec found wrong
	data           string
}

// The phases by clojure.main/ex-triage's names.
const (
	phaseRead        = "read-source"
	phaseMacroSyntax = "macro-syntax-check"
	phaseMacro       = "macroexpansion"
	phaseSyntax      = "compile-syntax-check"
	phaseCompile     = "compilation"
	phaseExecution   = "execution"
	phaseReadResult  = "read-eval-result"
	phasePrint       = "print-eval-result"
)

// sciPhase is sci's phase in Clojure's terms.
func sciPhase(phase string) string {
	switch phase {
	case "parse":
		return phaseRead
	case "analysis":
		return phaseSyntax
	case "macroexpand":
		return phaseMacro
	}
	return phaseExecution
}

// triage makes a report of the chain. Where exceptions wrap each other, the innermost one that has a place has the true one: the others
// stand where the broken file was required.
func triage(via []*clj.Node) report {
	links := make([]link, 0, len(via))
	for _, n := range via {
		links = append(links, newLink(n))
	}
	var r report
	for _, l := range links {
		if l.phase != "" {
			r.phase = l.phase
		}
		if l.symbol != "" {
			r.symbol = l.symbol
		}
		if l.file != "" {
			r.file = l.file
		}
		if l.line > 0 {
			r.line, r.column, r.inText = l.line, l.column, l.sci
		}
	}
	if r.phase == "" {
		r.phase = phaseExecution
	}
	root := links[len(links)-1]
	r.class, r.message = root.class, root.message
	for _, l := range slices.Backward(links) {
		if l.data != "" {
			r.data = l.data
			break
		}
	}
	if root.spec != "" {
		r.message = strings.TrimSpace(strings.TrimSuffix(r.message, ".")+": ") + " " + root.spec
	}
	r.wrapped = wrappers(links)
	return r
}

func newLink(n *clj.Node) link {
	l := link{
		class:   strings.TrimPrefix(strings.TrimPrefix(textAt(n, "class"), "class "), "interface "),
		message: textAt(n, "message"),
		phase:   textAt(n, "phase"),
		file:    textAt(n, "file"),
		symbol:  textAt(n, "symbol"),
		line:    number(n, "line"),
		column:  number(n, "column"),
		data:    textAt(n, "data"),
	}
	l.phase = strings.TrimPrefix(l.phase, ":")
	if l.sci, _ = n.Get("sci").Bool(); l.sci {
		l.phase = sciPhase(l.phase)
	}
	if spec := n.Get("spec"); spec != nil && spec.Kind == clj.Map {
		l.spec = specProblem(spec)
	}
	return l
}

// specProblem tells the first problem that clojure.spec found, as Clojure's REPL does.
func specProblem(n *clj.Node) string {
	why := textAt(n, "reason")
	if why == "" {
		why = shortNames(textAt(n, "pred"))
	}
	told := textAt(n, "val") + " - failed: " + why
	if at := textAt(n, "path"); at != "" && at != "[]" {
		told += " at " + at
	}
	return told
}

// shortNames drops clojure.core's name from a form.
func shortNames(form string) string {
	for _, ns := range []string{"clojure.core.specs.alpha/", "clojure.core/", "clojure.spec.alpha/"} {
		form = strings.ReplaceAll(form, ns, "")
	}
	return form
}

// wrappers names the exceptions around the root that say something of their own: a message that is not what is inside, or data.
func wrappers(links []link) []string {
	root := links[len(links)-1]
	var told []string
	for _, l := range links[:len(links)-1] {
		if l.message == "" || l.sci || l.phase != "" || l.line > 0 || root.message != "" && strings.HasSuffix(l.message, root.message) ||
			strings.HasPrefix(l.message, root.class) {
			continue
		}
		told = append(told, shortClass(l.class)+": "+l.message)
	}
	return told
}

// shortClass is a class without its package.
func shortClass(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }
