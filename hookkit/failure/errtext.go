package failure

import (
	"strconv"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/text"
)

// reportHeads begin the first line of what Clojure's REPL prints about an exception. Some name a class or a macro before " at ".
var reportHeads = []struct{ text, phase string }{
	{"Syntax error reading source at ", phaseRead},
	{"Syntax error macroexpanding ", phaseMacroSyntax},
	{"Syntax error compiling ", phaseSyntax},
	{"Unexpected error ", phaseCompile},
	{"Error reading eval result ", phaseReadResult},
	{"Error printing return value ", phasePrint},
	{"Execution error ", phaseExecution},
}

// writtenError reads what nREPL on the JVM and babashka.nrepl print about an exception, the last one of the text. ex and root are the
// classes that the server names, as "class java.lang.Exception".
func writtenError(err, ex, root string) report {
	at, phase := -1, ""
	for _, head := range reportHeads {
		if i := lastLine(err, head.text); i > at {
			at, phase = i, head.phase
		}
	}
	if at >= 0 {
		return jvmText(err[at:], phase, strings.TrimPrefix(root, "class "))
	}
	return sciText(err, strings.TrimPrefix(ex, "class "))
}

// lastLine is where the last line that begins with head starts, -1 if there is none.
func lastLine(s, head string) int {
	i := strings.LastIndex(s, "\n"+head)
	if i < 0 && !strings.HasPrefix(s, head) {
		return -1
	}
	return i + 1
}

// jvmText reads "Execution error (ArithmeticException) at user/f (REPL:1).\nDivide by zero\n".
func jvmText(s, phase, class string) report {
	head, message, _ := strings.Cut(s, "\n")
	r := report{phase: phase, class: class, message: strings.TrimSpace(message)}
	if r.message == "null" { // what Clojure prints for no message
		r.message = ""
	}
	before, where, _ := strings.Cut(head, " at ")
	if open, short, ok := cutParens(before); ok {
		if !strings.HasSuffix(class, short) { // the exception around it
			r.class = short
		}
		before = open
	}
	if _, macro, ok := strings.Cut(before, "macroexpanding "); ok {
		r.symbol = macro
		if phase == phaseCompile {
			r.phase = phaseMacro
		}
	}
	if function, place, ok := cutParens(strings.TrimSuffix(where, ".")); ok {
		r.file, r.line, r.column = splitPlace(place)
		if ns, name, named := strings.Cut(strings.TrimSpace(function), "/"); named {
			call := jvmFrame(ns+"$"+name, "invoke")
			call.file, call.line = r.file, r.line
			r.trace = []rawFrame{call}
		}
	}
	return r
}

// cutParens takes the last (…) off the end of s.
func cutParens(s string) (before, inside string, ok bool) {
	s = strings.TrimSpace(s)
	i := strings.LastIndexByte(s, '(')
	if i < 0 || !strings.HasSuffix(s, ")") {
		return s, "", false
	}
	return s[:i], s[i+1 : len(s)-1], true
}

// splitPlace takes file:line:column or file:line apart.
func splitPlace(place string) (file string, line, column int) {
	rest, last, ok := cutNumber(place)
	if !ok {
		return place, 0, 0
	}
	if file, line, ok = cutNumber(rest); ok {
		return file, line, last
	}
	return rest, max(last, 0), 0
}

func cutNumber(s string) (rest string, n int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, 0, false
	}
	n, err := strconv.Atoi(s[i+1:])
	return s[:i], n, err == nil
}

// sciText reads "java.lang.ArithmeticException: Divide by zero user src/a.clj:1:21\n", babashka's way. The message may have lines.
func sciText(err, class string) report {
	r := report{phase: phaseExecution, class: class, inText: true}
	s := strings.TrimRight(err, "\n")
	if rest, ok := strings.CutSuffix(s, " "); ok { // a namespace without a place
		s = rest[:max(strings.LastIndexByte(rest, ' '), 0)]
	}
	if class != "" {
		if i := lastLine(s, class); i >= 0 {
			s = strings.TrimPrefix(s[i+len(class):], ": ")
		}
	}
	s = strings.TrimPrefix(s, ": ")
	if i := strings.LastIndexByte(s, ' '); i >= 0 {
		if file, line, column := splitPlace(s[i+1:]); line > 0 {
			r.file, r.line, r.column = file, line, column
			s = s[:i]
			s = s[:max(strings.LastIndexByte(s, ' '), 0)] // the namespace
		}
	}
	r.message = strings.TrimSpace(s)
	r.phase = phaseOfMessage(r.message)
	return r
}

// phaseOfMessage tells the phase by sci's and let-go's messages, where nothing else does.
func phaseOfMessage(message string) string {
	for _, reading := range []string{"EOF while reading", "Unmatched delimiter", "unmatched delimiter", "Invalid symbol", "Invalid keyword", "Invalid token"} {
		if strings.HasPrefix(message, reading) {
			return phaseRead
		}
	}
	for _, compiling := range []string{"Unable to resolve symbol", "Can't resolve ", "Unable to resolve classname", "Could not resolve symbol"} {
		if strings.HasPrefix(message, compiling) {
			return phaseSyntax
		}
	}
	return phaseExecution
}

// printedError reads the error that nbb prints into ex, which may be cut off at its end.
func printedError(ex, err string) (report, bool) {
	nodes, _ := clj.ReadAll("", []byte(ex), clj.Options{Dialect: clj.EDN})
	if len(nodes) == 0 || nodes[0].Kind != clj.Tagged || len(nodes[0].Children) == 0 {
		return report{message: strings.TrimSpace(err), phase: phaseOfMessage(strings.TrimSpace(err))}, true
	}
	outer := nodes[0].Children[0]
	data := outer.Get("data")
	r := report{message: textAt(outer, "message"), file: printedFile(data), line: number(data, "line"), column: number(data, "column"), inText: true}
	phase := textAt(data, "phase")
	if t := data.Get("type"); t != nil && t.Text == "sci.error/parse" {
		phase = "parse"
	}
	r.phase = sciPhase(phase)
	r.trace = sciFrames(printedCalls(data.Get("sci.impl/callstack")))
	if cause := outer.Get("cause"); cause != nil && len(cause.Children) > 0 {
		inner := cause.Children[0]
		if message := textAt(inner, "message"); message != "" {
			r.message = message
		}
		r.data = plainData(ex, inner.Get("data"))
	}
	return r, true
}

// printedFile is the file under :file; "" for one that nbb's load-file names by its content.
func printedFile(n *clj.Node) string {
	file := textAt(n, "file")
	if strings.ContainsAny(file, "\n(") {
		return ""
	}
	return file
}

// plainData is a user's ex-data as written, "" for sci's own.
func plainData(ex string, data *clj.Node) string {
	if data == nil || len(data.Children) == 0 {
		return ""
	}
	for k := range data.Pairs() {
		if strings.HasPrefix(k.Text, "sci.") || strings.HasPrefix(k.Text, "edamame/") || k.Text == "phase" || k.Text == "row" {
			return ""
		}
	}
	if t := data.Get("type"); t != nil && strings.HasPrefix(t.Text, "sci") {
		return ""
	}
	return clj.Source([]byte(ex), data)
}

// letGoError reads what let-go prints: "error: message", "--> file:line:column", the source, a stack.
func letGoError(err string) report {
	s := text.Clean(err)
	if i := lastLine(s, "error: "); i >= 0 {
		s = s[i+len("error: "):]
	}
	r := report{inText: true}
	message, rest, _ := strings.Cut(s, "\n  --> ")
	if place, after, ok := strings.Cut(rest, "\n"); ok {
		r.file, r.line, r.column = splitPlace(strings.TrimSpace(place))
		r.trace = letGoFrames(after)
	}
	r.message = strings.TrimSpace(message)
	r.phase = phaseOfMessage(r.message)
	if strings.HasPrefix(r.message, "Syntax error reading source at ") {
		read := jvmText(r.message, phaseRead, "")
		r.phase, r.message, r.file, r.line, r.column = phaseRead, read.message, read.file, read.line, read.column
	}
	return r
}
