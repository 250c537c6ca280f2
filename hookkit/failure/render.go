package failure

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hookkit/brepl/hookkit/text"
)

// The bounds of what is told. An agent reads every byte; a person looks at one screen.
const (
	maxMessage    = 4000 // bytes
	maxData       = 400
	maxLines      = 20 // of a message, for a person
	maxAgentLines = 3
	maxAgentLine  = 300 // bytes
)

// Style colours text. A nil Style leaves it as it is.
type Style interface {
	Bold(s string) string
	Dim(s string) string
	Red(s string) string
}

type uncoloured struct{}

func (uncoloured) Bold(s string) string { return s }
func (uncoloured) Dim(s string) string  { return s }
func (uncoloured) Red(s string) string  { return s }

// phaseName is a phase in the words of Clojure's REPL.
func phaseName(phase string) string {
	switch phase {
	case phaseRead:
		return "Syntax error reading source"
	case phaseMacroSyntax:
		return "Syntax error macroexpanding"
	case phaseMacro:
		return "Unexpected error macroexpanding"
	case phaseSyntax:
		return "Syntax error compiling"
	case phaseCompile:
		return "Unexpected error compiling"
	case phaseExecution:
		return "Execution error"
	case phaseReadResult:
		return "Error reading eval result"
	case phasePrint:
		return "Error printing return value"
	}
	return ""
}

// Text tells the failure for a person: at most a screen, and the whole stack below it where it was asked for. It ends with a newline.
func (f *Failure) Text(style Style) string {
	if style == nil {
		style = uncoloured{}
	}
	var b strings.Builder
	message := lines(f.Message, maxLines, maxMessage)
	b.WriteString(style.Bold(f.head()) + style.Red(message[0]) + "\n")
	for _, line := range message[1:] {
		b.WriteString("  " + line + "\n")
	}
	b.WriteString(f.Excerpt)
	for _, line := range f.details(maxData) {
		b.WriteString(style.Dim(line) + "\n")
	}
	if f.Hint != "" {
		b.WriteString(style.Bold("Hint: ") + f.Hint + "\n")
	}
	if len(f.Trace) > 0 {
		b.WriteString(style.Dim(traceText(f.Trace)))
	}
	return b.String()
}

// Short tells the failure for an agent, in at most 12 lines without colour. It ends with a newline.
func (f *Failure) Short() string {
	var b strings.Builder
	message := lines(f.Message, maxAgentLines, maxAgentLine)
	b.WriteString(f.head() + strings.Join(message, "\n  ") + "\n")
	b.WriteString(f.Excerpt)
	details := f.details(maxAgentLine)
	for _, line := range details[:min(len(details), 4)] {
		b.WriteString(line + "\n")
	}
	if f.Hint != "" {
		b.WriteString("Hint: " + f.Hint + "\n")
	}
	return b.String()
}

// head is "file:line:column: phase (class): ".
func (f *Failure) head() string {
	var b strings.Builder
	if place := f.Place(); place != "" {
		b.WriteString(place + ": ")
	}
	if name := phaseName(f.Phase); name != "" {
		b.WriteString(name)
		if class := shortClass(f.Class); class != "" && f.Phase != phaseRead && f.Phase != phaseSyntax && f.Phase != phaseMacroSyntax {
			b.WriteString(" (" + class + ")")
		}
		b.WriteString(": ")
	}
	return b.String()
}

// Place is file:line:column, as far as it is known; an expression is called REPL, as Clojure does.
func (f *Failure) Place() string {
	if f.Line == 0 {
		return f.File
	}
	place := f.File
	if place == "" {
		place = "REPL"
	}
	place += ":" + strconv.Itoa(f.Line)
	if f.Column > 0 {
		place += ":" + strconv.Itoa(f.Column)
	}
	return place
}

// details are the lines below the excerpt, each at most limit bytes.
func (f *Failure) details(limit int) []string {
	var told []string
	if f.Data != "" {
		told = append(told, "data: "+text.CutBytes(text.Line(f.Data), limit))
	}
	for _, wrapped := range f.Wrapped {
		told = append(told, "wrapped in "+text.CutBytes(text.Line(wrapped), limit))
	}
	if f.Frame != nil {
		switch frame := *f.Frame; {
		case frame.File == f.File && !strings.Contains(frame.Symbol, "/"): // its top level
		case frame.File == f.File && frame.Line == f.Line:
			told = append(told, "in "+frame.Symbol)
		default:
			told = append(told, "in "+frame.text())
		}
	}
	return told
}

func (f *Frame) text() string {
	if f.File == "" {
		return f.Symbol
	}
	place := f.File
	if f.Line > 0 {
		place += ":" + strconv.Itoa(f.Line)
	}
	return f.Symbol + " (" + place + ")"
}

// traceText tells the stack, a line a call. Calls that repeat, as those of an endless recursion do, are told once.
func traceText(trace []Frame) string {
	var b strings.Builder
	for i := 0; i < len(trace); {
		length, times := repeats(trace[i:])
		for _, frame := range trace[i : i+length] {
			mark := "    "
			if frame.Project {
				mark = "  > "
			}
			b.WriteString(mark + "at " + frame.text() + "\n")
		}
		if times > 1 {
			b.WriteString("    … the last " + calls(length) + " again, " + strconv.Itoa(times-1) + " times\n")
		}
		i += length * times
	}
	return b.String()
}

func calls(n int) string {
	if n == 1 {
		return "call"
	}
	return strconv.Itoa(n) + " calls"
}

// maxCycle is the longest cycle of calls that is looked for.
const maxCycle = 8

// repeats tells how many calls at the start of the trace form a cycle, and how often it comes; 1, 1 where there is none.
func repeats(trace []Frame) (length, times int) {
	for n := 1; n <= maxCycle; n++ {
		k := 1
		for (k+1)*n <= len(trace) && slices.Equal(trace[:n], trace[k*n:(k+1)*n]) {
			k++
		}
		if k > 2 {
			return n, k
		}
	}
	return 1, 1
}

// lines cuts a text into at most n lines of at most limit bytes each; at least one.
func lines(s string, n, limit int) []string {
	all := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if more := len(all) - n; more > 0 {
		all = append(all[:n-1:n-1], "… "+strconv.Itoa(more+1)+" more lines")
	}
	for i := range all {
		all[i] = text.CutBytes(strings.TrimRight(all[i], " \t"), limit)
	}
	return all
}

// clean takes everything out of the texts that a terminal or an agent could take for an order, and bounds them.
func (f *Failure) clean() {
	f.Message = text.CutBytes(text.Value(f.Message), maxMessage)
	if f.Message == "" {
		f.Message = "no message"
	}
	for _, s := range []*string{&f.Class, &f.Data, &f.File, &f.Hint, &f.Excerpt} {
		*s = text.Value(*s)
	}
	f.Data = text.CutBytes(f.Data, maxData)
	for i := range f.Wrapped {
		f.Wrapped[i] = text.CutBytes(text.Value(f.Wrapped[i]), maxData)
	}
	if f.Frame != nil {
		f.Frame.Symbol = text.Value(f.Frame.Symbol)
	}
	for i := range f.Trace {
		f.Trace[i].Symbol, f.Trace[i].File = text.Value(f.Trace[i].Symbol), text.Value(f.Trace[i].File)
	}
}
