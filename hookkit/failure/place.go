package failure

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hookkit/brepl/hookkit/clj"
)

// unnamed are the files that servers name for code that came without one.
var unnamed = []string{"", "REPL", "NO_SOURCE_FILE", "NO_SOURCE_PATH", "<default>", "<unknown>", "<eval>"}

// maxFile bounds the files that are read for an excerpt or a name.
const maxFile = 4 << 20

// locate fills in where the failure is. The compiler's place is exact. At run time it is the first call that belongs to the project,
// else the line of the expression, else the top-level form that was loaded.
func (x *explainer) locate(f *Failure, r report) {
	if r.inText && r.phase == phaseExecution && x.fromEarlier(r) {
		r.line = 0
	}
	var here int
	var inside definition // of the text, around the call
	called := 0           // its line
	for _, raw := range r.trace {
		if here == 0 && raw.here && slices.Contains(unnamed, raw.file) == (x.src.File == "") && x.isText(raw.file) {
			here = raw.line
		}
		if here == 0 && called == 0 {
			inside, called = x.sent(raw)
		}
		if f.Frame == nil {
			if frame := x.frame(raw); frame.Project {
				f.Frame = &frame
			}
		}
		if x.src.Trace {
			f.Trace = append(f.Trace, x.frame(raw))
		}
	}
	switch running := r.phase == phaseExecution || r.phase == phasePrint || r.phase == phaseReadResult; {
	case running && f.Frame != nil && !r.inText:
		f.File, f.Line = f.Frame.File, f.Frame.Line
	case running && here > 0 && r.line == 0:
		f.File, f.Line = x.shown(x.src.File), here
		if called > 0 && inside.line <= here { // not a function of that name which was there before
			f.Line = called
		}
	case r.line > 0 && x.isText(r.file):
		f.File, f.Line, f.Column = x.shown(x.src.File), r.line, r.column
		if r.inText {
			f.Line, f.Column = x.inFile(r.line, r.column)
		}
	case r.line > 0:
		f.Line, f.Column = r.line, r.column
		if file, ok := x.find(r.file); ok {
			f.File = file
		} else {
			f.File = x.shown(x.local(r.file))
		}
	}
	x.sharpen(f, r)
	x.excerpt(f)
}

// fromEarlier says whether the place is in a function that was evaluated before, without a file: nobody knows its text.
func (x *explainer) fromEarlier(r report) bool {
	if len(r.trace) == 0 || r.trace[0].here || r.trace[0].ns == "" || !slices.Contains(unnamed, r.trace[0].file) {
		return false
	}
	_, name, _ := strings.Cut(r.trace[0].symbol, "/")
	return !slices.ContainsFunc(outlineOf([]byte(x.src.Text), 0).definitions, func(d definition) bool { return d.name == name })
}

// sent finds the definition of an expression's text in which a call on the stack is, and the line of the call; 0 if it is in none.
func (x *explainer) sent(raw rawFrame) (definition, int) {
	_, name, _ := strings.Cut(raw.symbol, "/")
	name, _, _ = strings.Cut(name, "/") // functions in it
	if x.src.File != "" || raw.here || raw.ns == "" || name == "" || !slices.Contains(unnamed, raw.file) {
		return definition{}, 0
	}
	for _, d := range outlineOf([]byte(x.src.Text), 0).definitions {
		if d.name == name && d.line <= raw.line && raw.line <= d.last {
			return d, raw.line
		}
	}
	return definition{}, 0
}

// isText says whether the server means the text that was sent.
func (x *explainer) isText(file string) bool {
	if slices.Contains(unnamed, file) {
		return true
	}
	if x.src.File == "" {
		return false
	}
	own, named := slashed(x.src.File), slashed(x.local(file))
	return own == named || strings.HasSuffix(own, "/"+named) || strings.HasSuffix(named, "/"+own)
}

// inFile gives the place in the file for one in the text.
func (x *explainer) inFile(line, column int) (int, int) {
	if line == 1 && x.src.Column > 1 {
		column += x.src.Column - 1
	}
	return line + x.firstLine() - 1, column
}

func (x *explainer) firstLine() int { return max(x.src.Line, 1) }

// local is the path here for one on the server.
func (x *explainer) local(file string) string {
	if x.src.PathMap != nil {
		return x.src.PathMap(file)
	}
	return file
}

// shown is a file as Failure.File: relative to the project where it is inside.
func (x *explainer) shown(file string) string {
	if file == "" {
		return ""
	}
	if x.src.Dir != "" && filepath.IsAbs(file) {
		if inside, err := filepath.Rel(x.src.Dir, file); err == nil && filepath.IsLocal(inside) {
			file = inside
		}
	}
	return path.Clean(slashed(file))
}

func slashed(file string) string { return strings.ReplaceAll(file, "\\", "/") }

// find looks for a file as the server names it: by its path, in the project, or on the source paths.
func (x *explainer) find(file string) (string, bool) {
	file = x.local(file)
	if filepath.IsAbs(file) {
		shown := x.shown(file)
		return shown, !filepath.IsAbs(shown) && x.read(shown) != nil
	}
	if shown := x.shown(file); x.read(shown) != nil {
		return shown, true
	}
	for _, folder := range x.sourcePaths() {
		if shown := path.Join(x.shown(folder), slashed(file)); x.read(shown) != nil {
			return shown, true
		}
	}
	return "", false
}

func (x *explainer) sourcePaths() []string {
	if len(x.src.SourcePaths) > 0 {
		return x.src.SourcePaths
	}
	return []string{"src", "test"}
}

// read gives a file's text by its name as Failure.File, nil if it cannot be read. Each file is read once.
func (x *explainer) read(shown string) []byte {
	if x.src.ReadFile == nil || shown == "" {
		return nil
	}
	content, known := x.files[shown]
	if known {
		return content
	}
	name := filepath.FromSlash(shown)
	if !filepath.IsAbs(name) {
		name = filepath.Join(x.src.Dir, name)
	}
	content, err := x.src.ReadFile(name)
	if err != nil || len(content) > maxFile {
		content = nil
	}
	x.files[shown] = content
	return content
}

// textOf gives what stands in a file, and the line of the file at which it begins.
func (x *explainer) textOf(file string) ([]byte, int) {
	if file == x.shown(x.src.File) && x.src.Text != "" {
		return []byte(x.src.Text), x.firstLine()
	}
	return x.read(file), 1
}

// sharpen moves the place from the form, which is what compilers name, to the symbol or delimiter that is at fault.
func (x *explainer) sharpen(f *Failure, r report) {
	src, first := x.textOf(f.File)
	if src == nil || f.Line == 0 {
		return
	}
	switch {
	case misread(r.message) != "":
		if at := strings.Index(string(src), misread(r.message)); at >= 0 {
			pos := clj.PosAt(src, at)
			f.Line, f.Column = pos.Line+first-1, pos.Column
		}
	case r.phase == phaseRead:
		// The reader stops at the first fault; one behind its place is another one.
		if fault := readFault(src, r.message); fault != nil && fault.Line+first-1 <= f.Line {
			f.Line, f.Column = fault.Line+first-1, fault.Column
			if fault.Line == 1 && f.File != "" {
				_, f.Column = x.inFile(1, fault.Column)
			}
		}
	default:
		name := x.culprit(r)
		if name == "" {
			return
		}
		if at, ok := findAtom(src, offsetOf(src, f.Line-first+1, x.textColumn(f, first)), name); ok {
			f.Line, f.Column = at.Line+first-1, at.Column
			if at.Line == 1 {
				_, f.Column = x.inFile(1, at.Column)
			}
		}
	}
}

// textColumn is a failure's column in the text that holds it.
func (x *explainer) textColumn(f *Failure, first int) int {
	if f.Line == first && f.File == x.shown(x.src.File) && x.src.Column > 1 {
		return f.Column - x.src.Column + 1
	}
	return f.Column
}

// misread is the text that the reader could read but not understand, "" if the message names none.
func misread(message string) string {
	if tag := between(message, "No reader function for tag ", ""); tag != "" {
		return "#" + tag
	}
	return between(message, "Invalid token: ", "")
}

// readFault finds what the reader complained about: the first fault of the text, and for an end of input the innermost opener.
func readFault(src []byte, message string) *clj.Pos {
	_, errs := clj.ReadAll("", src, clj.Options{Dialect: clj.Clojure})
	if len(errs) == 0 {
		return nil
	}
	if errs[0].Incomplete && errs[0].Opener != "" && strings.Contains(message, "EOF") {
		return &errs[0].OpenerPos
	}
	return &errs[0].Pos
}

// findAtom finds a symbol in the form that starts at offset.
func findAtom(src []byte, offset int, name string) (clj.Pos, bool) {
	if offset < 0 {
		return clj.Pos{}, false
	}
	scanner := clj.NewScanner(src[offset:])
	depth := 0
	for {
		t := scanner.Next()
		if t.Kind == clj.TokenAtom && string(src[offset+t.Start:offset+t.End]) == name {
			return clj.PosAt(src, offset+t.Start), true
		}
		if t.Kind == clj.TokenOpen {
			depth++
		}
		if t.Kind == clj.TokenClose {
			depth--
		}
		if t.Kind == clj.TokenEOF || t.Kind == clj.TokenClose && depth <= 0 {
			return clj.Pos{}, false
		}
	}
}

// culprit is the name in the source that is at fault, "" if the message names none.
func (x *explainer) culprit(r report) string {
	if r.phase == phaseSyntax || r.phase == phaseCompile {
		return unresolved(r.message)
	}
	if r.class == "java.lang.ClassNotFoundException" {
		return shortClass(r.message)
	}
	return missingNamespace(r.message)
}

// excerpt shows the line of the failure.
func (x *explainer) excerpt(f *Failure) {
	src, first := x.textOf(f.File)
	if f.Line == 0 || src == nil {
		return
	}
	column := x.textColumn(f, first)
	offset := offsetOf(src, f.Line-first+1, max(column, 1))
	if offset < 0 {
		return
	}
	pos := clj.PosAt(src, offset)
	pos.Line = f.Line
	shown := clj.Excerpt(src, pos)
	if column < 1 {
		if f.File == "" && nextLine(src, 0) < 0 {
			return // all that was typed
		}
		shown, _, _ = strings.Cut(shown, "\n")
		shown += "\n"
	}
	f.Excerpt = shown
}

// offsetOf is the byte offset of a place, -1 where there is no such line. A column after the end of the line is its end.
func offsetOf(src []byte, line, column int) int {
	i := 0
	for ; line > 1; line-- {
		next := nextLine(src, i)
		if next < 0 {
			return -1
		}
		i = next
	}
	for column > 1 && i < len(src) && src[i] != '\n' && src[i] != '\r' {
		r, size := utf8.DecodeRune(src[i:])
		column -= utf16.RuneLen(r)
		i += size
	}
	return i
}

// nextLine is where the line after the one at i begins, -1 if there is none.
func nextLine(src []byte, i int) int {
	for ; i < len(src); i++ {
		if src[i] == '\n' || src[i] == '\r' && (i+1 == len(src) || src[i+1] != '\n') {
			return i + 1
		}
	}
	return -1
}
