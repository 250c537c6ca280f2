package failure

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/text"
)

// hint says what to do about the common errors.
func (x *explainer) hint(ctx context.Context, f *Failure, r report) {
	message := r.message
	switch {
	case r.phase == phaseRead:
		f.Hint = x.readHint(f, message)
	case unresolved(message) != "":
		f.Hint = x.unresolvedHint(ctx, f, r, unresolved(message))
	case between(message, "No such namespace: ", "") != "":
		f.Hint = x.noNamespaceHint(ctx, f, r, between(message, "No such namespace: ", ""))
	case strings.HasSuffix(message, " is not public"):
		f.Hint = "it is private to its namespace: make it public, or reach it as a var with #', as tests do."
	case strings.HasPrefix(message, "Can't take value of a macro: "):
		f.Hint = "a macro is no value: put a function around its call."
	case missingNamespace(message) != "":
		f.Hint = x.missingHint(ctx, f, r, missingNamespace(message))
	case strings.HasPrefix(message, "namespace '") && strings.Contains(message, "' not found"):
		f.Hint = x.unloadedHint(between(message, "namespace '", "'"))
	case strings.HasPrefix(message, "Wrong number of args ("):
		f.Hint = x.arityHint(ctx, r)
	case r.class == "java.lang.ClassNotFoundException" || strings.HasPrefix(message, "Unable to resolve classname: "):
		f.Hint = classHint(message[strings.LastIndexByte(message, ' ')+1:])
	case between(message, "Don't know how to create ISeq from: ", "") != "":
		f.Hint = wrongKind(between(message, "Don't know how to create ISeq from: ", ""), "clojure.lang.Seqable")
	case strings.HasSuffix(r.class, "ClassCastException"):
		f.Hint = castHint(message)
	case strings.HasSuffix(r.class, "NullPointerException"):
		f.Hint = x.nilHint(message, r.trace)
	case strings.HasSuffix(r.class, "StackOverflowError"):
		f.Hint = recursionHint(r.trace)
	case r.symbol == "clojure.core/ns" && strings.Contains(message, "((:"):
		f.Hint = clauseHint(message)
	}
}

// unresolved is the symbol that the compiler does not know, "" if the message says something else.
func unresolved(message string) string {
	for _, words := range []string{"Unable to resolve symbol: ", "Could not resolve symbol: ", "No such var: ", "Can't resolve "} {
		if name := between(message, words, " "); name != "" {
			return name
		}
	}
	return ""
}

// between is what follows start up to end; all of it where end is empty or not there. It is "" where the message does not begin so.
func between(message, start, end string) string {
	rest, ok := strings.CutPrefix(message, start)
	if !ok {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "\n")
	if end != "" {
		rest, _, _ = strings.Cut(rest, end)
	}
	return strings.TrimSpace(rest)
}

// readHint leads to the repair where delimiters are wrong.
func (x *explainer) readHint(f *Failure, message string) string {
	if name, ok := strings.CutPrefix(misread(message), "::"); ok && strings.Contains(name, "/") {
		alias, _, _ := strings.Cut(name, "/")
		return alias + " is no alias of this namespace."
	}
	src, first := x.textOf(f.File)
	errs := clj.CheckDelimiters("", src)
	if len(errs) == 0 {
		return ""
	}
	var told string
	if e := errs[0]; e.Incomplete && e.Opener != "" {
		told = "the " + e.Opener + " in line " + strconv.Itoa(e.OpenerPos.Line+first-1) + " is never closed"
	} else {
		told = cmp.Or(e.Why, e.Message)
	}
	if f.File != "" && clj.Repair(src, clj.RepairOptions{}).Refused == "" {
		told += "; `brepl balance " + f.File + "` can repair it"
	}
	return told + "."
}

// maxNames is how many names a hint gives.
const maxNames = 3

// unresolvedHint names what was probably meant.
func (x *explainer) unresolvedHint(ctx context.Context, f *Failure, r report, name string) string {
	src, first := x.textOf(f.File)
	o := outlineOf(src, f.Line-first+1)
	ns := x.nsOf(o)
	alias, bare, qualified := strings.Cut(name, "/")
	if !qualified || bare == "" {
		alias, bare = "", name
	}
	known := x.askNames(ctx, r, ns, alias, bare)
	var all []string
	if alias == "" {
		all = append(all, o.locals...)
		for _, d := range o.definitions {
			if d.name == name && d.line+first-1 > f.Line {
				return name + " is defined later, in line " + strconv.Itoa(d.line+first-1) + ": move it up, or (declare " + name + ")."
			}
			all = append(all, d.name)
		}
		for _, name := range known.names {
			if !slices.Contains(known.own, name) || x.stands(ns, name) {
				all = append(all, name)
			}
		}
	} else {
		for _, public := range known.publics {
			if x.stands(known.target, public) {
				all = append(all, alias+"/"+public)
			}
		}
	}
	var told []string
	for _, candidate := range nearest(name, all) {
		for _, d := range o.definitions {
			if d.name == candidate {
				candidate += " (line " + strconv.Itoa(d.line+first-1) + ")"
				break
			}
		}
		told = append(told, candidate)
	}
	for _, ns := range known.in {
		if !x.stands(ns, bare) {
			continue
		}
		if written := known.written(ns); written != "" {
			told = append(told, written+"/"+bare)
		} else {
			told = append(told, ns+"/"+bare+" (not required here)")
		}
	}
	switch {
	case len(told) > 0:
		return "did you mean " + alternatives(told) + "?"
	case alias != "" && known.target != "":
		return known.target + " has no public " + bare + "."
	case importable(name) != "":
		return classHint(name)
	case alias != "" && r.asks:
		return alias + " is neither an alias of this namespace nor a namespace that is loaded: require it first."
	}
	return ""
}

// stands reports whether a name of a namespace stands in the namespace's file. It does for one whose file is not the project's: what the REPL
// has from a file of the project may have left it since.
func (x *explainer) stands(ns, name string) bool {
	if ns == "" {
		return true
	}
	for _, ext := range []string{".clj", ".cljc", ".cljs", ".bb"} {
		if file, ok := x.find(nsPath(ns) + ext); ok {
			src, _ := x.textOf(file)
			made := strings.TrimPrefix(strings.TrimPrefix(name, "map"), "->") // by defrecord
			return mentions(string(src), name) || made != name && mentions(string(src), made)
		}
	}
	return true
}

// mentions reports whether a symbol stands in a text.
func mentions(src, symbol string) bool {
	const delimiters = " \t\r\n,()[]{}\"';`~^@#/"
	for rest := src; ; {
		before, after, found := strings.Cut(rest, symbol)
		if !found {
			return false
		}
		start := before == "" || strings.ContainsRune(delimiters, rune(before[len(before)-1]))
		end := after == "" || strings.ContainsRune(delimiters, rune(after[0]))
		if start && end {
			return true
		}
		rest = rest[len(before)+1:]
	}
}

// nearest gives the names most like the typed one; several where they are equally near.
func nearest(typed string, names []string) []string {
	if len(typed) < 2 {
		return nil // every short name would do
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return name == typed || strings.HasPrefix(name, "*") && !strings.HasPrefix(typed, "*")
	})
	best := text.Within(typed, names, min(max(1, len(typed)/3), 2))
	if best == "" {
		return nil
	}
	found := []string{best}
	for _, name := range names {
		if len(found) < maxNames && !slices.Contains(found, name) && text.Distance(typed, name) == text.Distance(typed, best) {
			found = append(found, name)
		}
	}
	return found
}

// nsOf is the namespace of a text, "" where it does not say and nobody asked for one.
func (x *explainer) nsOf(o *outline) string {
	if o.ns == "" {
		return x.src.Ns
	}
	return o.ns
}

func alternatives(names []string) string {
	names = slices.Compact(names)
	names = names[:min(len(names), maxNames)]
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// commonAliases are the namespaces that people know by these aliases.
const commonAliases = "str clojure.string string clojure.string set clojure.set io clojure.java.io edn clojure.edn walk clojure.walk " +
	"pprint clojure.pprint pp clojure.pprint s clojure.spec.alpha spec clojure.spec.alpha t clojure.test test clojure.test " +
	"sh clojure.java.shell shell clojure.java.shell json cheshire.core a clojure.core.async async clojure.core.async zip clojure.zip"

// commonClasses are the classes that people forget to import.
const commonClasses = "java.util.Date java.util.UUID java.util.ArrayList java.util.HashMap java.util.Base64 java.util.Arrays " +
	"java.util.Collections java.util.Locale java.util.concurrent.TimeUnit java.util.concurrent.Executors java.util.concurrent.CountDownLatch " +
	"java.io.File java.io.StringReader java.io.StringWriter java.io.PushbackReader java.io.ByteArrayInputStream java.io.ByteArrayOutputStream " +
	"java.nio.file.Files java.nio.file.Path java.nio.file.Paths java.net.URL java.net.URI java.time.Instant java.time.LocalDate " +
	"java.time.LocalDateTime java.time.Duration java.time.ZoneId java.time.ZonedDateTime java.text.SimpleDateFormat"

// importable is the full name of a common class, "" for any other.
func importable(name string) string {
	for class := range strings.FieldsSeq(commonClasses) {
		if strings.HasSuffix(class, "."+strings.TrimSuffix(name, ".")) {
			return class
		}
	}
	return ""
}

// classHint tells how a class is imported.
func classHint(name string) string {
	if class := importable(name); class != "" {
		i := strings.LastIndexByte(class, '.')
		return "import the class: (:import (" + class[:i] + " " + class[i+1:] + ")) in the ns form."
	}
	if strings.Contains(name, ".") {
		if class := text.Within(name, strings.Fields(commonClasses), 2); class != "" {
			return "did you mean " + class + "?"
		}
		return "is the name right, and is its library on the server's classpath?"
	}
	return "import it in the ns form, or write its name with the package."
}

// noNamespaceHint is for a/b where a is no alias.
func (x *explainer) noNamespaceHint(ctx context.Context, f *Failure, r report, name string) string {
	if importable(name) != "" {
		return classHint(name)
	}
	src, _ := x.textOf(f.File)
	known := x.askNames(ctx, r, x.nsOf(outlineOf(src, 0)), name, name)
	var all []string
	for i := 0; i < len(known.aliases); i += 2 {
		all = append(all, known.aliases[i])
	}
	if found := nearest(name, append(all, known.namespaces...)); len(found) > 0 {
		return "did you mean " + alternatives(found) + "?"
	}
	common := strings.Fields(commonAliases)
	for i := 0; i < len(common); i += 2 {
		if common[i] == name {
			return "require it: [" + common[i+1] + " :as " + name + "] in the ns form."
		}
	}
	return name + " is neither an alias of this namespace nor a namespace that is loaded: require it first."
}

// missingNamespace is the namespace for which no file was found, "" if the message says something else.
func missingNamespace(message string) string {
	if file := between(message, "Could not locate ", "__init.class"); file != "" {
		return strings.ReplaceAll(demunge(file), "/", ".")
	}
	for _, words := range []string{"Could not find namespace: ", "Could not find namespace ", "Could not locate namespace "} {
		if name := between(message, words, " "); name != "" {
			return strings.TrimSuffix(name, ".")
		}
	}
	return ""
}

// missingHint says where the file of a namespace would lie.
func (x *explainer) missingHint(ctx context.Context, f *Failure, r report, ns string) string {
	file := nsPath(ns)
	extensions := []string{".clj", ".cljc", ".cljs", ".bb"}
	for _, folder := range x.sourcePaths() {
		for _, ext := range extensions {
			there := path.Join(x.shown(folder), file) + ext
			if x.read(there) != nil {
				return there + " is there: is " + x.shown(folder) + " on the server's classpath? Start the server in this project."
			}
			if dashed := path.Join(x.shown(folder), strings.ReplaceAll(ns, ".", "/")) + ext; dashed != there && x.read(dashed) != nil {
				return "rename " + dashed + " to " + path.Base(there) + ": a file has underscores where its namespace has dashes."
			}
		}
	}
	src, _ := x.textOf(f.File)
	known := x.askNames(ctx, r, x.nsOf(outlineOf(src, 0)), ns, ns)
	would := path.Join(x.shown(x.sourcePaths()[0]), file) + ".clj."
	if found := nearest(ns, known.namespaces); len(found) > 0 {
		return "did you mean " + alternatives(found) + "? Otherwise its file would be " + would
	}
	return "its file would be " + would + " For a library: is it in the project's dependencies, and was the server started since?"
}

// unloadedHint is for a namespace that is not there after its file was loaded, which is there.
func (x *explainer) unloadedHint(ns string) string {
	for _, ext := range []string{".clj", ".cljc"} {
		file, ok := x.find(nsPath(ns) + ext)
		if !ok {
			continue
		}
		if says := outlineOf(x.read(file), 0).ns; says != ns {
			return "the ns form of " + file + " says " + cmp.Or(says, "nothing") + "."
		}
		return "loading " + file + " has failed before: `brepl -f " + file + "` says why."
	}
	return ""
}

// plainArity drops the compiler's numbers from the name of an anonymous function: user/eval12/fn--13.
func plainArity(message string) string {
	before, name, ok := strings.Cut(message, "passed to: ")
	if !ok {
		return message
	}
	parts := strings.Split(name, "/")
	kept := parts[:0]
	for _, part := range parts {
		plain := strings.TrimSuffix(withoutNumber(strings.ReplaceAll(part, "--", "__")), "__inliner")
		if plain == "eval" && plain != part {
			continue
		}
		kept = append(kept, plain)
	}
	return before + "passed to: " + strings.Join(kept, "/")
}

// arityHint gives the parameters of the function.
func (x *explainer) arityHint(ctx context.Context, r report) string {
	_, name, ok := strings.Cut(r.message, "passed to: ")
	if !ok {
		return ""
	}
	name, _, _ = strings.Cut(name, "\n")
	ns, bare, qualified := strings.Cut(name, "/")
	if !qualified {
		bare = name
	}
	for _, source := range x.textsOf(ns) {
		for _, d := range outlineOf(source, 0).definitions {
			if d.name == bare && d.arglists != "" {
				return bare + " takes " + d.arglists + "."
			}
		}
	}
	if lists := x.askArglists(ctx, r, name); lists != "" {
		return bare + " takes " + lists + "."
	}
	return ""
}

// textsOf gives the texts that may define something of a namespace: the one that was sent, and the namespace's file.
func (x *explainer) textsOf(ns string) [][]byte {
	var texts [][]byte
	if x.ownNs() == ns || x.src.File == "" {
		texts = append(texts, []byte(x.src.Text))
	}
	for _, ext := range []string{".clj", ".cljc"} {
		if file, ok := x.find(nsPath(ns) + ext); ok {
			texts = append(texts, x.read(file))
		}
	}
	return texts
}
