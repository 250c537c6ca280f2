package reload

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// markCode is a function that gives the vars that came from a file, and keeps in the server what [Load] needs after the load.
//
//go:embed mark.clj
var markCode string

// answerMark begins the line of an answer.
const answerMark = "#brepl/reload "

// File is a file to load.
type File struct {
	Path string   // where it is for the server, absolute
	Also []string // what :file of its vars says besides: its name below each source path that it is on
	Text string
	// Was is an earlier text of the file; "": none is known. With it an edited defonce is noticed at the first load.
	Was string
	// Name is the last element of Path, for positions in errors.
	Name string
}

// Name is a var by its namespace and name.
type Name struct{ Space, Bare string }

// Outcome is what became of a file.
type Outcome struct {
	Result nrepl.Result // of the load; the last one
	// Gone are the vars that came from the file and are not defined by it any more. After a load that failed they are still there.
	Gone []Name
	// Kept are the names of defonce forms whose text has changed: the value is that of the old text.
	Kept []string
}

// Load loads a file so that its namespaces hold afterwards what the file makes, and what was made by other files and by hand. failed is
// called after a load that has failed, before what was taken out of the namespace is put back: what the server knows then is what the
// file makes. It may be nil.
//
// Namespaces are brought in step on Clojure on the JVM; elsewhere the file is only loaded, as with plain. The errors are those of
// nrepl.Session.LoadFile; nothing is known of the namespace then.
func Load(ctx context.Context, s *nrepl.Session, f File, plain bool, failed func(nrepl.Result)) (Outcome, error) {
	l := loading{ctx: ctx, session: s, file: f, text: namesOf([]byte(f.Text))}
	if !plain && len(l.text.spaces) > 0 {
		if err := l.mark(); err != nil {
			return Outcome{}, err
		}
	}
	o, err := l.run()
	if err != nil {
		return o, err
	}
	if o.Result.Failed && failed != nil {
		failed(o.Result)
	}
	if l.marked {
		err = l.finish(&o)
	}
	return o, err
}

// loading is one call of Load.
type loading struct {
	ctx     context.Context
	session *nrepl.Session
	file    File
	text    *names
	marked  bool   // the server knows how it was before
	hidden  []Name // vars of the file that a fresh start would not know where the text uses them
}

// mark asks for the vars of the file and hides what a fresh start would not know.
func (l *loading) mark() error {
	var was map[string]string
	if l.file.Was != "" {
		was = namesOf([]byte(l.file.Was)).kept()
	}
	files := slices.Compact(slices.Sorted(slices.Values(append([]string{l.file.Path}, l.file.Also...))))
	answer, err := call(l.ctx, l.session, markCode, fmt.Sprintf("{:path %s :hash %s :files #{%s} :forms %s :was %s :spaces [%s] :whole [%s]}",
		clj.QuoteString(l.file.Path), clj.QuoteString(hashOf(l.file.Text)), quoted(files), hashes(l.text.kept()), hashes(was),
		strings.Join(l.text.spaces, " "), l.text.whole))
	if err != nil || answer == nil {
		return err
	}
	l.marked = true
	for _, one := range list(answer, "vars") {
		if len(one.Children) != 3 {
			continue
		}
		name := Name{one.Children[0].Text, one.Children[1].Text}
		core, _ := one.Children[2].Bool()
		_, defined := l.text.defined[name.Bare]
		_, once := l.text.once[name.Bare]
		if !once && (l.text.early(name.Bare) || core && !defined) {
			l.hidden = append(l.hidden, name)
		}
	}
	if len(l.hidden) > 0 {
		_, err = l.ask(l.step(":hide", pairsOf(l.hidden)))
	}
	return err
}

// run loads the file, once more where a name came back that was hidden.
func (l *loading) run() (o Outcome, err error) {
	for first := true; ; first = false {
		o.Result, err = l.session.LoadFile(l.ctx, nrepl.LoadRequest{Content: l.file.Text, Path: l.file.Path, Name: l.file.Name}, nil)
		if err != nil || o.Result.Failed || len(l.hidden) == 0 || !first {
			return o, err
		}
		answer, askErr := l.ask(l.step(":again?", "nil"))
		if again, _ := answer.Get("again").Bool(); askErr != nil || !again {
			return o, askErr
		}
	}
}

// finish takes out of the namespace what the load has left, or puts back what was taken out before a load that failed.
func (l *loading) finish(o *Outcome) error {
	if o.Result.Failed {
		for _, name := range l.hidden {
			if _, defined := l.text.defined[name.Bare]; !defined {
				o.Gone = append(o.Gone, name)
			}
		}
		_, err := l.ask(l.step(":undo", "nil"))
		return err
	}
	keep := slices.Sorted(maps.Keys(l.text.once))
	answer, err := l.ask(l.step(":sweep", "'#{"+strings.Join(keep, " ")+"}"))
	if answer == nil {
		return err
	}
	for _, one := range list(answer, "gone") {
		if len(one.Children) == 2 {
			o.Gone = append(o.Gone, Name{one.Children[0].Text, one.Children[1].Text})
		}
	}
	for _, one := range list(answer, "kept") {
		o.Kept = append(o.Kept, one.Text)
	}
	return nil
}

// step is the code that calls what mark has kept.
func (l *loading) step(name, argument string) string {
	return ";; brepl reload\n((get-in (meta (find-ns 'brepl.reload)) [:open " + clj.QuoteString(l.file.Path) + "]) " + name + " " + argument + ")"
}

// ask evaluates a question and reads what it prints; nil where there is no answer that can be read.
func (l *loading) ask(code string) (*clj.Node, error) { return ask(l.ctx, l.session, code) }

// call calls a function of ours in the server, which is compiled there once.
func call(ctx context.Context, s *nrepl.Session, function, argument string) (*clj.Node, error) {
	key := clj.QuoteString(hashOf(function))
	code := ";; brepl reload\n(if-let [f (get-in (meta (create-ns 'brepl.reload)) [:code " + key + "])] (do (f '" + argument + ") nil) (print \"\\n" + answerMark + "{:new true}\\n\"))"
	answer, err := ask(ctx, s, code)
	if isNew, _ := answer.Get("new").Bool(); !isNew || err != nil {
		return answer, err
	}
	if _, err = ask(ctx, s, "(do (alter-meta! (create-ns 'brepl.reload) assoc-in [:code "+key+"]\n"+function+") nil)"); err != nil {
		return nil, err
	}
	return ask(ctx, s, code)
}

func ask(ctx context.Context, s *nrepl.Session, code string) (*clj.Node, error) {
	result, err := s.Eval(ctx, nrepl.Request{Code: code, Ns: "clojure.core"}, nil)
	if err != nil {
		return nil, err
	}
	at := strings.LastIndex(result.Out.Text, answerMark)
	if at < 0 || result.Failed {
		return nil, nil
	}
	line, _, _ := strings.Cut(result.Out.Text[at+len(answerMark):], "\n")
	nodes, errs := clj.ReadAll("", []byte(line), clj.Options{Dialect: clj.EDN})
	if len(nodes) != 1 || len(errs) > 0 {
		return nil, nil
	}
	return nodes[0], nil
}

// list are the elements under a key.
func list(n *clj.Node, key string) []*clj.Node {
	if n = n.Get(key); n == nil {
		return nil
	}
	return n.Children
}

// kept are the forms whose value a load keeps, by name.
func (n *names) kept() map[string]string {
	all := maps.Clone(n.once)
	maps.Copy(all, n.multi)
	return all
}

// hashes writes them as a map for the server.
func hashes(forms map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		b.WriteString(name + " " + clj.QuoteString(forms[name]) + " ")
	}
	return "{" + b.String() + "}"
}

func quoted(list []string) string {
	var b strings.Builder
	for _, one := range list {
		b.WriteString(clj.QuoteString(one) + " ")
	}
	return b.String()
}

func pairsOf(list []Name) string {
	var b strings.Builder
	for _, one := range list {
		b.WriteString("[" + one.Space + " " + one.Bare + "] ")
	}
	return "'[" + b.String() + "]"
}
