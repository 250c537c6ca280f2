package failure

import (
	"path"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
)

// rawFrame is a call as the server names it.
type rawFrame struct {
	symbol string // demunged
	ns     string // "" for a Java method
	file   string // a base name on the JVM, else a path
	line   int
	// here says that it is the code that was sent, outside of any function it defines.
	here bool
}

// jvmFrames reads [class method file line] of each call.
func jvmFrames(n *clj.Node) []rawFrame {
	if n == nil {
		return nil
	}
	var frames []rawFrame
	static := "" // the symbol of the frame before, if it is an invokeStatic
	for _, child := range n.Children {
		if child.Kind != clj.Vector || len(child.Children) != 4 {
			continue
		}
		class, _ := child.Children[0].Str()
		method, _ := child.Children[1].Str()
		f := jvmFrame(class, method)
		f.file, _ = child.Children[2].Str()
		if dot := strings.LastIndexByte(class, '.'); f.ns == "" && dot > 0 && strings.Contains(f.file, ".clj") { // a method of a record or type
			f.ns, f.symbol = demunge(class[:dot]), demunge(class+"/"+method)
		}
		if line, _ := child.Children[3].Int(); line > 0 {
			f.line = int(line)
		}
		// invoke calls invokeStatic, and a protocol's function the method: one call in two frames.
		if f.ns == "" || f.symbol != static && !strings.Contains(class, "$G__") {
			frames = append(frames, f)
		}
		static = ""
		if method == "invokeStatic" {
			static = f.symbol
		}
	}
	return frames
}

func jvmFrame(class, method string) rawFrame {
	ns, fn, isFn := strings.Cut(class, "$")
	if !isFn || !isFunctionMethod(method) && !strings.HasPrefix(fn, "reify__") {
		return rawFrame{symbol: class + "." + method}
	}
	f := rawFrame{ns: demunge(ns)}
	parts := strings.Split(fn, "$")
	kept := parts[:0]
	for i, part := range parts {
		switch name := withoutNumber(part); {
		case i == 0 && name != part && name == "eval":
			f.here = true // what the compiler calls a form at the top level
		case name == "eval" && name != part, strings.HasPrefix(name, "loading__"): // and what ns expands to
		default:
			kept = append(kept, demunge(name))
		}
	}
	f.symbol = strings.Join(append([]string{f.ns}, kept...), "/")
	return f
}

// isFunctionMethod knows the methods that Clojure compiles a function into.
func isFunctionMethod(method string) bool {
	return strings.HasPrefix(method, "invoke") || method == "doInvoke" || method == "load" || method == "_"
}

// withoutNumber drops the number that the compiler adds, as in fn__123, eval123 and G__123.
func withoutNumber(name string) string {
	base := strings.TrimRight(name, "0123456789")
	if base == name {
		return name
	}
	if trimmed, ok := strings.CutSuffix(base, "__"); ok {
		return trimmed
	}
	if base == "eval" {
		return base
	}
	return name
}

// munged are the names that clojure.lang.Compiler gives to characters that Java does not allow, each before its character.
const munged = "_COLON_ : _PLUS_ + _GT_ > _LT_ < _EQ_ = _TILDE_ ~ _BANG_ ! _CIRCA_ @ _SHARP_ # _SINGLEQUOTE_ ' _DOUBLEQUOTE_ \" " +
	"_PERCENT_ % _CARET_ ^ _AMPERSAND_ & _STAR_ * _BAR_ | _LBRACE_ { _RBRACE_ } _LBRACK_ [ _RBRACK_ ] _SLASH_ / _BSLASH_ \\ _QMARK_ ?"

func demunge(name string) string {
	if strings.IndexByte(name, '_') < 0 {
		return name
	}
	codes := strings.Fields(munged)
	for i := 0; i < len(codes); i += 2 {
		name = strings.ReplaceAll(name, codes[i], codes[i+1])
	}
	return strings.ReplaceAll(name, "_", "-")
}

// sciCall is an entry of sci's call stack: where a function was called, and which one. sci tells some twice.
type sciCall struct {
	ns, file         string
	line             int
	calleeNs, callee string // "" for a special form
}

// sciFrames gives the calls, outermost first as sci tells them, as frames. A place belongs to the function that was called before it,
// unless that is one of another namespace, which called back: then its function is not known.
func sciFrames(calls []sciCall) []rawFrame {
	var frames []rawFrame
	here, calleeNs, callee := true, "", ""
	for _, c := range calls {
		f := rawFrame{symbol: c.ns, ns: c.ns, file: c.file, line: c.line}
		if callee != "" && calleeNs == c.ns {
			f.symbol += "/" + callee
			here = false
		}
		f.here = here
		frames = append(frames, f)
		if c.callee != "" {
			calleeNs, callee = c.calleeNs, c.callee
		}
	}
	slices.Reverse(frames)
	return frames
}

// askedCalls reads [ns callee-ns callee file line] of each call.
func askedCalls(n *clj.Node) []sciCall {
	if n == nil {
		return nil
	}
	var calls []sciCall
	for _, call := range n.Children {
		if call.Kind != clj.Vector || len(call.Children) != 5 {
			continue
		}
		var c sciCall
		for i, field := range []*string{&c.ns, &c.calleeNs, &c.callee, &c.file} {
			*field, _ = call.Children[i].Str()
		}
		line, _ := call.Children[4].Int()
		c.line = int(line)
		calls = append(calls, c)
	}
	return slices.Compact(calls)
}

// printedCalls reads a call stack as nbb prints it: #object[cljs.core.Volatile {:val (#sci.impl.utils.StackFrame{…} …)}].
func printedCalls(n *clj.Node) []sciCall {
	var calls []sciCall
	val := child(child(n, 0), 1).Get("val")
	if val == nil {
		return nil
	}
	for _, entry := range val.Children {
		m := child(entry, 0)
		calls = append(calls, sciCall{
			ns: printedNs(m), file: printedFile(m), line: number(m, "line"),
			calleeNs: printedNs(m.Get("f-meta")), callee: m.Get("f-meta").Get("name").Symbol(),
		})
	}
	return slices.Compact(calls)
}

// printedNs is the namespace under :ns, printed as #object[Ls name].
func printedNs(n *clj.Node) string { return child(child(n.Get("ns"), 0), 1).Symbol() }

// child gives the i-th child of a node, nil if there is none.
func child(n *clj.Node, i int) *clj.Node {
	if n == nil || i >= len(n.Children) {
		return nil
	}
	return n.Children[i]
}

// letGoFrames reads lines as "  at select-keys (<default>:1:37)".
func letGoFrames(s string) []rawFrame {
	var frames []rawFrame
	for line := range strings.SplitSeq(s, "\n") {
		call, ok := strings.CutPrefix(line, "  at ")
		if !ok {
			continue
		}
		symbol, place, ok := cutParens(call)
		if !ok {
			continue
		}
		f := rawFrame{symbol: strings.TrimSpace(symbol)}
		f.file, f.line, _ = splitPlace(place)
		frames = append(frames, f)
	}
	return frames
}

// foreign are namespaces that are never the project's: not worth looking for their files.
var foreign = [...]string{"clojure.", "nrepl.", "cider.", "java.", "jdk.", "sun.", "sci.", "babashka.", "edamame.", "refactor-nrepl.", "shadow.", "cljs."}

// frame tells a call for a person. It is the project's if its file is on the source paths or is the one that was sent.
func (x *explainer) frame(raw rawFrame) Frame {
	f := Frame{Symbol: raw.symbol, File: raw.file, Line: raw.line}
	if raw.ns == "" || raw.file == "" || raw.line == 0 {
		return f
	}
	for _, prefix := range foreign {
		if strings.HasPrefix(raw.ns, prefix) {
			return f
		}
	}
	if file, ok := x.frameFile(raw); ok {
		f.File, f.Project = file, true
	}
	return f
}

// frameFile is the local file of a call, as Failure.File.
func (x *explainer) frameFile(raw rawFrame) (string, bool) {
	base := path.Base(raw.file)
	if x.src.File != "" && base == path.Base(slashed(x.src.File)) && raw.ns == x.ownNs() {
		return x.shown(x.src.File), true
	}
	if raw.file != base { // a path, as sci tells it
		return x.find(raw.file)
	}
	return x.find(path.Join(path.Dir(nsPath(raw.ns)), base))
}

// nsPath is where the file of a namespace lies on a source path, without its extension.
func nsPath(ns string) string {
	return strings.ReplaceAll(strings.ReplaceAll(ns, "-", "_"), ".", "/")
}
