// Package failure tells an evaluation's error for a person: what went wrong in which phase, where, which line of the project led there,
// and for the common errors what to do.
//
// What the server knows about the error comes from *e: one small evaluation in the same session, which ends by throwing *e again, so
// that *1, *2, *3 and *e stay as they were. nREPL on the JVM and babashka can be asked so. nbb puts the whole error into "ex", let-go
// prints all it knows: there, and where asking fails, the answer itself is read.
//
// The package is public only because the folder is. It carries no promise of stability.
package failure

import (
	"context"
	"strings"

	"github.com/hookkit/brepl/hookkit/nrepl"
)

// Failure is an evaluation's error. A string is "" and a number 0 where it is not known. No text has control characters but newlines.
type Failure struct {
	// Phase is when it happened, in clojure.main/ex-triage's terms: "read-source", "macro-syntax-check", "macroexpansion",
	// "compile-syntax-check", "compilation", "execution", "read-eval-result" or "print-eval-result". It is empty where the server
	// refused to evaluate, or the evaluation was interrupted.
	Phase string `json:"phase,omitempty"`
	// Class and Message are those of the root cause. The message may have several lines; it is at most maxMessage bytes.
	Class   string `json:"class,omitempty"`
	Message string `json:"message"`
	// Data is the ex-data of the root cause, or else of the nearest exception around it, shortened.
	Data string `json:"data,omitempty"`
	// Wrapped has the exceptions around the root cause that say more than it, outermost first, as "Class: message".
	Wrapped []string `json:"wrapped,omitempty"`

	// File is where the error is: relative to Source.Dir where it is inside, with slashes; "" for an expression.
	// Line and Column count from 1; Column in UTF-16 units, as Clojure does.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Excerpt is that line, and below it a caret where the column is known; it ends with a newline.
	Excerpt string `json:"excerpt,omitempty"`

	// Frame is the first call on the stack that belongs to the project.
	Frame *Frame `json:"frame,omitempty"`
	// Hint says in a sentence or two what to do.
	Hint string `json:"hint,omitempty"`
	// Trace is the root cause's whole stack, innermost call first; only with Source.Trace, and only where the server tells it.
	Trace []Frame `json:"trace,omitempty"`
}

// Frame is one call on the stack.
type Frame struct {
	Symbol  string `json:"symbol"` // "shop.core/total", a Java method as "java.lang.Long.parseLong", or a namespace: its top level
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Project bool   `json:"project,omitempty"` // File is then as in Failure
}

// Source is what was evaluated, and where the project is. The zero value is an expression without a project.
type Source struct {
	Dir  string // the project's root
	File string // "" for an expression; absolute or relative to Dir
	Text string // what was sent
	Ns   string // the namespace that it was asked to be evaluated in; "": the one of Text's ns form, else the session's
	// Line and Column say where Text begins in File; 0 is 1.
	Line, Column int
	// PathMap gives the local path for one on the server; nil: they are the same.
	PathMap func(remote string) string
	// ReadFile reads a file of the project; nil: none can be read. It is asked for files that may not exist.
	ReadFile func(path string) ([]byte, error)
	// SourcePaths are the folders with source, relative to Dir or absolute; none: src and test.
	SourcePaths []string
	// Trace asks for the whole stack.
	Trace bool
}

// Explain tells the failure of an evaluation; nil if it did not fail. The session is the one that evaluated, with nothing evaluated
// in it since; nil: the server cannot be asked.
//
// Asking takes two short evaluations at most, together at most askLimit, and less if ctx ends before. If one does not end in time,
// the session and its connection are closed (see nrepl.Session.Eval), and what is known without it is told.
func Explain(ctx context.Context, s *nrepl.Session, res nrepl.Result, src Source) *Failure {
	if !res.Failed {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	x := &explainer{src: src, session: s, files: map[string][]byte{}}
	r, known := x.report(ctx, res)
	if !known {
		f := &Failure{}
		f.Message, f.Hint = refusal(res, src.Ns)
		f.clean()
		return f
	}
	return x.tell(ctx, r)
}

// tell makes a failure of what the server said.
func (x *explainer) tell(ctx context.Context, r report) *Failure {
	f := &Failure{}
	r.tidy()
	f.Phase, f.Class, f.Message, f.Data, f.Wrapped = r.phase, r.class, r.message, r.data, r.wrapped
	x.locate(f, r)
	x.hint(ctx, f, r)
	f.clean()
	return f
}

// explainer holds what the steps of one Explain share.
type explainer struct {
	src     Source
	session *nrepl.Session    // nil: not to be asked
	files   map[string][]byte // files of the project that were looked for; nil: not there
	outline *outline          // of the text that was sent; nil: not read yet
}

// report is what a server says about an exception, whatever its kind.
type report struct {
	phase, class, message, data string
	wrapped                     []string
	symbol                      string // the macro that was expanded
	file                        string // as the server names it; "" for the text that was sent
	line, column                int
	// inText says that line counts from the start of the text that was sent, whatever Source.Line says.
	inText bool
	trace  []rawFrame
	// asks says that the server answers evaluations about it.
	asks bool
}

// report asks the server, or reads its answer.
func (x *explainer) report(ctx context.Context, res nrepl.Result) (r report, known bool) {
	switch {
	case res.Interrupted, res.Ex == "" && res.RootEx == "":
		return report{}, false
	case strings.HasPrefix(res.Ex, "#error"):
		return printedError(res.Ex, res.Err.Text)
	case strings.HasPrefix(res.Ex, "let-go."):
		return letGoError(res.Err.Text), true
	}
	written := writtenError(res.Err.Text, res.Ex, res.RootEx)
	written.asks = x.session != nil
	// babashka's reader says all it knows, and would wrap *e once more.
	if x.session == nil || written.inText && written.phase == phaseRead {
		return written, true
	}
	if asked, ok := x.askError(ctx, res); ok {
		return asked, true
	}
	return written, true
}

// tidy drops from the message what only the compiler and the class loader know.
func (r *report) tidy() {
	switch {
	case strings.HasSuffix(r.class, "ClassCastException"):
		r.message, _, _ = strings.Cut(r.message, " (") // the modules of the two classes
	case strings.HasSuffix(r.class, "NullPointerException"):
		r.message = plainNil(r.message)
	case strings.HasPrefix(r.message, "Wrong number of args"):
		r.message = plainArity(r.message)
	}
	// The advice about dashes is given where it helps; see missingHint.
	r.message, _, _ = strings.Cut(r.message, " Please check that namespaces with dashes use underscores")
	if len(r.trace) > 0 && r.trace[0].symbol == "clojure.lang.Compiler.macroexpand1" {
		r.phase = phaseMacro
	}
}

// refusal tells why nothing was evaluated, or not to its end.
func refusal(res nrepl.Result, ns string) (message, hint string) {
	switch {
	case res.Interrupted:
		return "The evaluation was interrupted.", ""
	case res.Status["namespace-not-found"]:
		if ns == "" {
			ns = "of this name"
		}
		return "The server has no namespace " + ns + ".", "Load the file with its ns form first, or name another one with --ns."
	case res.Status["unknown-session"]:
		return "The server does not know the session any more.", "Was it started again? Evaluate once more."
	case res.Status["unknown-op"]:
		return "The server does not know this operation.", ""
	}
	return "The server could not evaluate it (status " + res.Status.String() + ").", ""
}
