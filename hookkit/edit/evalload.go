package edit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/nrepl"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/project/namespaces"
	"github.com/hookkit/brepl/hookkit/reload"
	"github.com/hookkit/brepl/hookkit/text"
)

const (
	// maxLoads is how many files one tool may have changed for us to load them: a branch that was switched is not an edit.
	maxLoads = 64
	// connectLimit bounds the wait for a server to answer; a hook is run after every edit.
	connectLimit = 5 * time.Second
	// retryAfter is how long a search for servers that found none, or a server that was silent, is not tried again.
	retryAfter = 10 * time.Second
	keptOutput = 64 << 10
)

// loaded are the extensions of files that a server can load.
var loaded = [...]string{".clj", ".cljc", ".cljs", ".bb"}

// takes are the extensions that each kind of server loads. A server on the JVM gives a new session Clojure: ClojureScript builds there
// reload what they watch by themselves.
var takes = [...]struct {
	version    string // a name among the versions of describe
	extensions []string
}{
	{"babashka", []string{".bb", ".clj", ".cljc"}},
	{"babashka.nrepl", []string{".bb", ".clj", ".cljc"}},
	{"nbb-nrepl", []string{".cljs", ".cljc"}},
	{"let-go", []string{".clj"}}, // it dies of reader conditionals
	{"clojure", []string{".clj", ".cljc"}},
}

// unloadable are files in source folders that are data or belong to a build.
var unloadable = [...]string{"project.clj", "profiles.clj", "build.clj", "data_readers.clj", "data_readers.cljc", "data_readers.cljs"}

// folders keeps what was found out about the folders of changed files, since thousands may lie in a few of them.
type folders struct {
	roots   map[string]string   // of projects, by folder
	sources map[string][]string // source paths, by root
}

// rootOf is the root of the project that a file belongs to. Where nothing marks one, it is where the agent was started, or works.
func (v *evaluator) rootOf(path string) string {
	dir := filepath.Dir(path)
	root, known := v.folders.roots[dir]
	if !known {
		root = v.findRoot(path)
		if v.folders.roots == nil {
			v.folders.roots = map[string]string{}
		}
		v.folders.roots[dir] = root
	}
	return root
}

func (v *evaluator) findRoot(path string) string {
	if root, ok := project.Root(filepath.Dir(path)); ok {
		return root
	}
	for _, dir := range []string{v.program.Getenv("CLAUDE_PROJECT_DIR"), v.program.Dir} {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) && dir != "" {
			return dir
		}
	}
	return filepath.Dir(path)
}

// sourcePaths are those of the project at root.
func (v *evaluator) sourcePaths(root string) []string {
	paths, known := v.folders.sources[root]
	if !known {
		paths = namespaces.SourcePaths(root)
		if v.folders.sources == nil {
			v.folders.sources = map[string][]string{}
		}
		v.folders.sources[root] = paths
	}
	return paths
}

// onSourcePath reports whether a file is the source of a namespace of its project.
func (v *evaluator) onSourcePath(path string) bool {
	root := v.rootOf(path)
	name := filepath.Base(path)
	dataOrBuild := slices.Contains(unloadable[:], name) && (filepath.Dir(path) == root || strings.HasPrefix(name, "data_readers."))
	if !isSource(path) || dataOrBuild || !project.Contains(v.sourcePaths(root), path) {
		return false
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return true // elsewhere, by a link
	}
	return !slices.ContainsFunc(strings.Split(filepath.ToSlash(rel), "/"), func(part string) bool {
		return part == "clj-kondo.exports" || strings.HasPrefix(part, ".") && part != ".."
	})
}

// inLoadOrder sorts sources so that each comes after those it requires.
func inLoadOrder(sources []source) (ordered []source, files []namespaces.File) {
	byPath := map[string]source{}
	for _, src := range sources {
		ns, _ := namespaces.Read([]byte(src.text))
		files = append(files, namespaces.File{Path: src.path, Namespace: ns})
		byPath[src.path] = src
	}
	files = namespaces.LoadOrder(files)
	for _, f := range files {
		ordered = append(ordered, byPath[f.Path])
	}
	return ordered, files
}

// loading is what became of the sources.
type loading struct {
	troubles []trouble
	fine     []string // paths of files that were loaded without an error
	owed     []owed   // files that were not tried
	noServer error    // there is none to load into
}

// server is a session of ours in the REPL of a project.
type server struct {
	conn    *nrepl.Conn
	about   nrepl.Description
	session *nrepl.Session
	gone    bool // it answers no more, or never did
	none    bool // nowhere was one found
	told    int  // how many troubles there were when its loss had been told; 0: it was not lost while loading
	left    int  // files that were not tried because it was gone
}

// load brings the servers of the sources' projects up to date, in one order for all. The context bounds all of it.
func (v *evaluator) load(ctx context.Context, sources []source) (l loading) {
	sources, files := inLoadOrder(sources)
	servers := map[string]*server{} // by the project's root
	defer func() {
		for _, s := range servers {
			s.close()
		}
	}()
	failed := map[string]string{} // namespaces, and the file that is to blame
	for i, src := range sources {
		ns, root := files[i].Namespace, v.rootOf(src.path)
		s, known := servers[root]
		if !known {
			s = v.open(ctx, src, &l)
			servers[root] = s
		}
		at := slices.IndexFunc(ns.Requires, func(name string) bool { return failed[name] != "" })
		switch {
		case s.none: // a server that is started later reads the file by itself
		case s.gone:
			l.owed = append(l.owed, owed{src.path, ""})
			s.left++
		case !serves(s.about, src.path):
			v.passedOver(src, "is nothing that this server loads")
		case at >= 0:
			blame := failed[ns.Requires[at]]
			failed[ns.Name] = blame
			l.owed = append(l.owed, owed{src.path, blame})
			v.note("%s was not loaded: it requires what failed", src.path)
		case v.loadOne(ctx, s, src, &l):
			v.misplaced(src, ns.Name, &l)
		case ns.Name != "":
			failed[ns.Name] = src.path
		}
	}
	for _, s := range servers {
		if s.told > 0 && s.left > 0 {
			l.troubles[s.told-1].text += fmt.Sprintf(" Other changed files were not loaded either (%d); that follows with the next edit.", s.left)
		}
	}
	return l
}

// misplaced tells of a file that has loaded whose ns form does not match its path: the next process finds no such namespace.
func (v *evaluator) misplaced(src source, ns string, l *loading) {
	key := src.path + "#ns" // it is told once, however often the file loads
	var byPath []string
	for _, name := range v.sourceNames(src.path) {
		name = strings.TrimSuffix(name, filepath.Ext(name))
		if ns == "" || name == strings.NewReplacer("-", "_", ".", "/").Replace(ns) {
			l.fine = append(l.fine, key)
			return
		}
		byPath = append(byPath, strings.NewReplacer("_", "-", "/", ".").Replace(name))
	}
	if len(byPath) > 0 {
		l.troubles = append(l.troubles, trouble{path: key, summary: "Misplaced namespace", warning: true, text: fmt.Sprintf(
			"%s is loaded, but its ns form says %s, and by its path it is %s: `require` in another process will not find it. Rename the one or the other.",
			src.name, text.Escaped(ns, ""), text.Escaped(byPath[0], ""))})
	}
}

// loadOne loads a file and reports whether that succeeded.
func (v *evaluator) loadOne(ctx context.Context, s *server, src source, l *loading) bool {
	f := reload.File{Path: v.paths.Remote(src.path), Name: filepath.Base(src.path), Also: v.sourceNames(src.path), Text: src.text, Was: src.was}
	o, err := reload.Load(ctx, s.session, f, !v.unmaps(s.about), func(result nrepl.Result) {
		l.troubles = append(l.troubles, v.explain(ctx, s.session, result, src))
	})
	if err != nil {
		s.gone = true
		l.troubles = append(l.troubles, v.lost(src, err))
		s.told = len(l.troubles)
		return false
	}
	l.troubles = append(l.troubles, v.left(ctx, src, o)...)
	if !o.Result.Failed {
		l.fine = append(l.fine, src.path)
	}
	return !o.Result.Failed
}

// unmaps reports whether what left a file is taken out of the REPL too: on the JVM, unless hooks.edn says otherwise.
func (v *evaluator) unmaps(about nrepl.Description) bool {
	_, jvm := about.Versions["clojure"]
	return jvm && !v.rules().Eval.KeepGone
}

// sourceNames are the names of a file below the source paths that it is on: what `require` calls it.
func (v *evaluator) sourceNames(path string) (list []string) {
	for _, folder := range v.sourcePaths(v.rootOf(path)) {
		if rel, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(rel) {
			list = append(list, filepath.ToSlash(rel))
		}
	}
	return list
}

// open finds the server of a file's project; where there is none it is gone, and l says so.
func (v *evaluator) open(ctx context.Context, src source, l *loading) *server {
	s := &server{}
	var err error
	if s.conn, s.about, err = v.connect(ctx, src.path); err == nil {
		s.conn.Limits.Output, s.conn.Limits.Linger = keptOutput, nrepl.FarewellTime
		s.session, err = s.conn.Clone(ctx)
	}
	s.gone, s.none = err != nil, errors.Is(err, nrepl.ErrNoServer)
	switch {
	case err == nil, errors.Is(err, errSilent):
	case s.none:
		l.noServer = err
	default:
		l.troubles = append(l.troubles, v.lost(src, err))
	}
	return s
}

func (s *server) close() {
	if s.conn != nil {
		_ = s.conn.Close() // what there was to tell was told
	}
}

// serves reports whether a server loads such a file.
func serves(about nrepl.Description, path string) bool {
	for _, kind := range takes {
		if _, ok := about.Versions[kind.version]; ok {
			return slices.Contains(kind.extensions, filepath.Ext(path)) && about.Has("load-file")
		}
	}
	return false
}

// errSilent says that nothing was asked of a server that was silent a moment ago, which the agent was told of.
var errSilent = errors.New("the server was silent a moment ago")

// worksOn reports whether a file belongs to what the current directory belongs to: it is below it, in the same project, or in the same work
// tree. If not, the server here is not the file's.
func (v *evaluator) worksOn(path string) bool {
	here, path := project.Physical(v.program.Dir), project.Physical(path)
	if project.Contains([]string{here}, path) {
		return true
	}
	for _, rootOf := range []func(dir string) (string, bool){project.Root, project.GitRoot} {
		root, ok := rootOf(here)
		if other, found := rootOf(filepath.Dir(path)); ok && found && other == root {
			return true
		}
	}
	return false
}

// connect finds the server of the project that a file is in, and asks it what it is. A search that found nothing is not repeated for a
// while, and a server that was silent is left alone.
func (v *evaluator) connect(ctx context.Context, path string) (conn *nrepl.Conn, about nrepl.Description, err error) {
	m := v.memory.read()
	waiting := !v.byHand && pausing(m.retry, retryAfter)
	if waiting && m.silent {
		return nil, about, errSilent
	}
	lookup := v.lookup
	lookup.File, lookup.Discover = path, !waiting
	if !v.worksOn(path) {
		lookup.Dir = v.rootOf(path)
	}
	limited, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	if conn, err = nrepl.Connect(limited, lookup); err == nil {
		if about, err = conn.Describe(limited); err != nil {
			_ = conn.Close() // err is the one to tell
		}
	}
	silent := errors.Is(err, nrepl.ErrTimeout)
	if !v.byHand && (silent || !waiting) && (silent || errors.Is(err, nrepl.ErrNoServer)) {
		v.memory.change(ctx, func(m *evalMemory) { m.retry, m.silent = time.Now().Add(retryAfter), silent })
	}
	return conn, about, err
}

// lost tells of a server that did not answer, or went away. The text has no times and no counts in it: the same again is the same text.
func (v *evaluator) lost(src source, err error) trouble {
	v.note("%s: %v", src.path, err)
	t := trouble{path: src.path, place: src.name, summary: "Not evaluated", warning: true}
	var timeout *nrepl.TimeoutError
	var protocol *nrepl.ProtocolError
	evaluating := errors.As(err, &timeout) && (timeout.Op == "load-file" || timeout.Op == "eval")
	switch {
	case evaluating && timeout.Stopped:
		t.text = fmt.Sprintf("%s: the evaluation timed out after %v and was interrupted. If it needs longer: `brepl hook install --timeout SECONDS`.", src.name, v.timeout)
	case evaluating:
		t.text = fmt.Sprintf("%s: the evaluation timed out after %v; the server did not confirm the interrupt, so the code may still be running.", src.name, v.timeout)
	case errors.Is(err, nrepl.ErrTimeout):
		t.path, t.place = "", ""
		t.text = "The nREPL server accepts connections but does not answer; it may be busy. Files are not evaluated after edits until it does."
	case errors.As(err, &protocol):
		t.path, t.place = "", ""
		t.text = "Files are not evaluated after edits: " + protocol.Error() + "."
	case errors.Is(err, nrepl.ErrClosed):
		t.text = fmt.Sprintf("%s: the nREPL server went away while it was being loaded.", src.name)
	default:
		t.path, t.place = "", ""
		t.text = "Files are not evaluated after edits: " + err.Error() + "."
	}
	return t
}
