package failure

import (
	"strings"

	"github.com/hookkit/brepl/hookkit/text"
)

// kinds are what people call the classes of values.
var kinds = [...]string{
	"java.lang.Long", "a number", "java.lang.Integer", "a number", "java.lang.Double", "a number", "java.lang.Number", "a number",
	"clojure.lang.BigInt", "a number", "clojure.lang.Ratio", "a number", "java.lang.String", "a string", "java.lang.CharSequence", "a string",
	"java.lang.Character", "a character", "java.lang.Boolean", "a boolean", "clojure.lang.Keyword", "a keyword", "clojure.lang.Symbol", "a symbol",
	"clojure.lang.PersistentVector", "a vector", "clojure.lang.PersistentArrayMap", "a map", "clojure.lang.PersistentHashMap", "a map",
	"clojure.lang.PersistentHashSet", "a set", "clojure.lang.PersistentList", "a list", "clojure.lang.LazySeq", "a lazy sequence",
	"clojure.lang.IFn", "a function", "clojure.lang.ISeq", "a sequence", "clojure.lang.Seqable", "a collection",
	"clojure.lang.Associative", "a map or vector", "clojure.lang.IPersistentCollection", "a collection", "clojure.lang.IPersistentMap", "a map",
	"clojure.lang.IDeref", "an atom, ref, var or delay", "clojure.lang.Atom", "an atom", "java.util.concurrent.Future", "a future",
	"clojure.lang.Named", "a keyword or symbol", "java.util.Map$Entry", "a map entry", "clojure.lang.IPersistentStack", "a vector or list",
	"clojure.lang.Var", "a var", "clojure.lang.IAtom", "an atom", "clojure.lang.Fn", "a function",
}

// kindOf is what people call a class; "" where it has no name of its own.
func kindOf(class string) string {
	for i := 0; i < len(kinds); i += 2 {
		if kinds[i] == class {
			return kinds[i+1]
		}
	}
	return ""
}

// castHint reads "class java.lang.Long cannot be cast to class clojure.lang.IFn (java.lang.Long is in …)".
func castHint(message string) string {
	from, to, ok := strings.Cut(message, " cannot be cast to ")
	if !ok {
		return ""
	}
	to, _, _ = strings.Cut(to, " (")
	from, to = strings.TrimPrefix(from, "class "), strings.TrimPrefix(to, "class ")
	return wrongKind(from, to)
}

// wrongKind is for a value of a class that is given where another one is needed.
func wrongKind(from, to string) string {
	have, want := kindOf(from), kindOf(to)
	switch {
	case to == "clojure.lang.IFn" && have != "":
		return have + " is called as a function: is there a pair of parentheses too many, or is a name shadowed?"
	case to == "clojure.lang.IFn":
		return "something that is no function is called as one."
	case have != "" && want != "":
		return have + " is given where " + want + " is needed."
	case strings.Contains(from, "$"): // a function's class
		fn := jvmFrame(from, "invoke").symbol
		if want != "" {
			return "the function " + fn + " is given where " + want + " is needed: should it be called?"
		}
	}
	return ""
}

// nilHint reads the JVM's 'Cannot invoke "…" because "…" is null'; older ones say nothing.
func (x *explainer) nilHint(message string, trace []rawFrame) string {
	if strings.HasPrefix(message, `Cannot invoke "clojure.lang.IFn.invoke(`) {
		return "nil is called as a function."
	}
	for _, call := range trace[:min(len(trace), 3)] {
		if strings.HasPrefix(call.symbol, "clojure.lang.Numbers.") {
			return "nil is used as a number."
		}
		if strings.HasPrefix(call.symbol, "clojure.lang.Reflector.") {
			return "a method is called on nil."
		}
	}
	// The last call before the project's own got the nil, or something with a nil in it.
	met := ""
	for _, call := range trace {
		if call.here || x.frame(call).Project {
			break
		}
		if call.ns != "" {
			met = call.symbol
		}
	}
	if met != "" {
		return met + " was given nil, or something that holds one."
	}
	return "something is nil that should not be."
}

// recursionHint names the function that calls itself.
func recursionHint(trace []rawFrame) string {
	const start = 3 // the stack may have ended in the middle of something else
	if len(trace) > start+1 && trace[start] == trace[start+1] {
		return trace[start].symbol + " calls itself without end, or too often: recur and loop need no stack."
	}
	return "a recursion has no end, or is too deep: recur and loop need no stack."
}

// clauseHint is for a clause of ns that there is not.
func clauseHint(message string) string {
	_, clause, _ := strings.Cut(message, "((:")
	clause, _, _ = strings.Cut(clause, " ")
	if word := text.Near(clause, []string{"require", "use", "import", "refer-clojure", "require-macros", "gen-class", "load"}); word != "" {
		return "did you mean :" + word + "?"
	}
	return ""
}

// plainNil gives the arguments of #(…) the names that they have in the source: p1__12_SHARP_ is %1.
func plainNil(message string) string {
	before, rest, ok := strings.Cut(message, `because "p`)
	if !ok {
		return message
	}
	number, rest, ok := strings.Cut(rest, "__")
	_, after, closed := strings.Cut(rest, `_SHARP_"`)
	if !ok || !closed {
		return message
	}
	return before + `because "%` + number + `"` + after
}
