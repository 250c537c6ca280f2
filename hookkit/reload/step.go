package reload

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/failure"
	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/nrepl"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/project/namespaces"
)

// stepCode is a function that tells what the server knows of the files, and removes namespaces.
//
//go:embed step.clj
var stepCode string

// maxSource bounds the files that are read, in bytes.
const maxSource = 4 << 20

// Options are what Step is told besides the project's root.
type Options struct {
	Env      []string                     // the environment for git
	Paths    nrepl.PathMap                // what the server calls the files
	Excluded func(path string) bool       // files that are never loaded; nil: none
	Plain    bool                         // what left a file stays
	ReadFile func(string) ([]byte, error) // for the lines of errors; nil: os.ReadFile
}

// In are the options for the project of a configuration, in a process with this environment.
func In(config *hooksedn.Config, env []string, getenv func(string) string) Options {
	paths, _ := nrepl.ParsePathMap(filepath.SplitList(getenv("BREPL_PATH_MAP"))) // `hook eval` tells what is wrong with it
	return Options{Env: env, Paths: paths.In(config.Dir), Plain: config.Eval.KeepGone, Excluded: func(path string) bool {
		rel, err := filepath.Rel(project.Physical(config.Dir), path)
		return err == nil && slices.ContainsFunc(config.Eval.Exclude, func(glob string) bool { return hooksedn.Matches(glob, filepath.ToSlash(rel)) })
	}}
}

// Report is what Step has done.
type Report struct {
	Loaded   []string // paths of the files that were loaded, in order
	Removed  []string // namespaces whose file is gone
	Problems []Problem
	// Unsupported says that the server cannot be kept in step: it is no Clojure on the JVM.
	Unsupported bool
}

// Err is an [*Error] with the problems; nil where there are none.
func (r Report) Err() error {
	if len(r.Problems) == 0 {
		return nil
	}
	return &Error{r.Problems}
}

// Error says that a process that starts on the files would fail.
type Error struct{ Problems []Problem }

// Error is one line.
func (e *Error) Error() string {
	first, _, _ := strings.Cut(e.Problems[0].Text, "\n")
	if more := len(e.Problems) - 1; more > 0 {
		first += fmt.Sprintf(" (and %d more)", more)
	}
	return "the project does not load: " + first
}

// Text has all problems.
func (e *Error) Text() string {
	var texts []string
	for _, p := range e.Problems {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n\n")
}

// Problem is why a process that starts on the files would fail.
type Problem struct {
	Path string // below the root; "" for a circle of namespaces
	Text string // for an agent: what is wrong, where, what to do
}

// Step brings a server in step with the files on the source paths of a project: namespaces whose file is gone are removed; what was loaded
// and has changed since, however it was changed, and what depends on it, is loaded in the order of the ns forms. What nobody has loaded
// is left alone, and so is what tools.namespace is told to leave alone.
//
// The first Step in a server counts a file as changed that is younger than the server's process. A file that fails is a problem; those that
// depend on it are not tried, and follow with the next Step. The errors are those of nrepl.Session.Eval and of looking through the folder.
func Step(ctx context.Context, s *nrepl.Session, root string, o Options) (Report, error) {
	st := &step{ctx: ctx, session: s, root: project.Physical(root), Options: o}
	if err := st.look(); err != nil || len(st.sources) == 0 {
		return st.report, err
	}
	if err := st.ask(); err != nil || st.report.Unsupported {
		return st.report, err
	}
	if cycle := namespaces.Cycle(st.needed()); cycle != nil {
		st.report.Problems = append(st.report.Problems, Problem{Text: "The namespaces load each other in a circle, which Clojure refuses when it starts: " +
			strings.Join(cycle, " → ") + ". Move what they share into a namespace of its own."})
		return st.report, nil
	}
	removed, err := st.remove()
	if err != nil {
		return st.report, err
	}
	return st.report, st.load(st.due(removed))
}

// source is a file on the source paths.
type source struct {
	path, remote string
	also         []string
	text         string
	hash         string
	changed      int64 // milliseconds since 1970
	ns           namespaces.Namespace
	spaces       []string // namespaces that it defines or enters
	owner        bool     // require of its namespace loads it
}

// memory is what the server remembers of a file.
type memory struct {
	hash            string
	loaded, changed int64 // on the server's own clock, which counts loads
	spaces          []string
}

// step is one call of Step.
type step struct {
	Options
	ctx     context.Context
	session *nrepl.Session
	root    string
	report  Report
	paths   []string // the source paths
	sources []*source

	start, looked    int64 // the process, and the end of its last Step, in milliseconds since 1970
	clock, then      int64 // the server's clock now and at that end
	loaded           map[string]bool
	seen             map[string]bool // loaded when the last Step ended
	noLoad, noUnload map[string]bool
	known            map[string]memory // by the server's path
	others           []other
}

// other is a namespace in the server that no file defines, and where the files of its vars are; "" for one that is gone.
type other struct {
	name   string
	places []string
}

// look reads the files on the source paths.
func (st *step) look() error {
	st.paths = namespaces.SourcePaths(st.root)
	want := func(name string) bool {
		ext := filepath.Ext(name)
		return (ext == ".clj" || ext == ".cljc") && !strings.HasPrefix(name, ".") && !strings.Contains(name, "/.")
	}
	err := project.Files(st.ctx, st.root, st.Env, want, func(name string, info fs.FileInfo) {
		path := filepath.Join(st.root, name)
		if !info.Mode().IsRegular() || info.Size() > maxSource || !project.Contains(st.paths, path) || strings.HasPrefix(filepath.Base(name), "data_readers.") {
			return
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return
		}
		src := &source{path: path, remote: st.Paths.Remote(path), text: string(data), hash: hashOf(string(data)), changed: changedAt(info).UnixMilli()}
		src.also = Below(st.paths, path)
		src.ns, _ = namespaces.Read(data)
		if src.ns.Name == "" || bytes.Contains(data, []byte("in-ns")) {
			src.spaces = namesOf(data).spaces
		} else {
			src.spaces = []string{src.ns.Name}
		}
		if len(src.spaces) > 0 {
			st.sources = append(st.sources, src)
		}
	})
	st.choose()
	return err
}

// Below are the names of a file below the folders that it is in, with slashes.
func Below(folders []string, path string) (names []string) {
	for _, folder := range folders {
		if rel, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(rel) {
			names = append(names, filepath.ToSlash(rel))
		}
	}
	return names
}

// choose finds the file that require loads for each namespace: by the order of the source paths, .clj before .cljc.
func (st *step) choose() {
	rank := func(src *source) int {
		at := slices.IndexFunc(st.paths, func(folder string) bool { return project.Contains([]string{folder}, src.path) })
		return 2*at + len(filepath.Ext(src.path)) - len(".clj")
	}
	slices.SortStableFunc(st.sources, func(a, b *source) int { return cmp.Compare(rank(a), rank(b)) })
	taken := map[string]bool{}
	for _, src := range st.sources {
		src.owner = src.ns.Name != "" && !taken[src.ns.Name]
		taken[src.ns.Name] = true
	}
	slices.SortFunc(st.sources, func(a, b *source) int { return strings.Compare(a.path, b.path) })
}

// files are the sources as a graph.
func (st *step) files(which func(*source) bool) (list []namespaces.File) {
	for _, src := range st.sources {
		if which(src) {
			list = append(list, namespaces.File{Path: src.path, Namespace: src.ns})
		}
	}
	return list
}

// needed are the files of what is loaded, and of what that would load in a fresh process.
func (st *step) needed() []namespaces.File {
	owners := map[string]*source{}
	for _, src := range st.sources {
		if src.owner {
			owners[src.ns.Name] = src
		}
	}
	needed := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if src := owners[name]; src != nil && !needed[name] {
			needed[name] = true
			for _, other := range src.ns.Loads {
				visit(other)
			}
		}
	}
	for name := range st.loaded {
		visit(name)
	}
	return st.files(func(src *source) bool { return src.owner && needed[src.ns.Name] })
}

// spaces are all namespaces that the files define or enter, as symbols.
func (st *step) spaces() string {
	all := map[string]bool{}
	for _, src := range st.sources {
		for _, name := range src.spaces {
			all[name] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), " ")
}

// ask asks the server what it knows.
func (st *step) ask() error {
	answer, err := call(st.ctx, st.session, stepCode, fmt.Sprintf("{:spaces [%s] :root %s}", st.spaces(), clj.QuoteString(st.remoteRoot())))
	if err != nil {
		return err
	}
	if answer == nil {
		st.report.Unsupported = true
		return nil
	}
	st.start, _ = answer.Get("start").Int()
	if looked := list(answer, "looked"); len(looked) == 2 {
		st.looked, _ = looked[0].Int()
		st.then, _ = looked[1].Int()
	}
	st.clock, _ = answer.Get("clock").Int()
	st.loaded, st.seen = set(list(answer, "loaded")), set(list(answer, "seen"))
	st.noLoad, st.noUnload, st.known = map[string]bool{}, map[string]bool{}, map[string]memory{}
	for _, row := range list(answer, "held") {
		if len(row.Children) == 3 {
			st.noLoad[row.Children[0].Text], _ = row.Children[1].Bool()
			st.noUnload[row.Children[0].Text], _ = row.Children[2].Bool()
		}
	}
	for _, row := range list(answer, "files") {
		if len(row.Children) == 5 {
			m := memory{hash: row.Children[1].Text}
			for _, name := range row.Children[4].Children {
				m.spaces = append(m.spaces, name.Text)
			}
			m.loaded, _ = row.Children[2].Int()
			m.changed, _ = row.Children[3].Int()
			st.known[row.Children[0].Text] = m
		}
	}
	for _, row := range list(answer, "others") {
		if len(row.Children) == 2 {
			o := other{name: row.Children[0].Text}
			for _, place := range row.Children[1].Children {
				o.places = append(o.places, place.Text)
			}
			st.others = append(st.others, o)
		}
	}
	return nil
}

// remoteRoot is what the server calls the project's folder, with a slash at the end.
func (st *step) remoteRoot() string { return strings.TrimSuffix(st.Paths.Remote(st.root), "/") + "/" }

func set(nodes []*clj.Node) map[string]bool {
	all := map[string]bool{}
	for _, n := range nodes {
		all[n.Text] = true
	}
	return all
}

// remove removes the namespaces that no file defines any more.
func (st *step) remove() (map[string]bool, error) {
	removed := map[string]bool{}
	if st.Plain {
		return removed, nil
	}
	for _, o := range st.others {
		stays := slices.ContainsFunc(o.places, func(place string) bool {
			at := slices.IndexFunc(st.sources, func(src *source) bool { return src.remote == place })
			// Code in a file that is still there may make a namespace in other ways than by ns.
			return at >= 0 && strings.Contains(st.sources[at].text, o.name) || at < 0 && place != "" && exists(st.Paths.Local(place))
		})
		if !stays {
			removed[o.name] = true
		}
	}
	defined := map[string]bool{}
	ours := map[string]bool{}
	for _, src := range st.sources {
		ours[src.remote] = true
		for _, name := range src.spaces {
			defined[name] = true
		}
	}
	for path, m := range st.known {
		if strings.HasPrefix(path, st.remoteRoot()) && (ours[path] || !exists(st.Paths.Local(path))) {
			for _, name := range m.spaces {
				removed[name] = removed[name] || !defined[name]
			}
		}
	}
	maps.DeleteFunc(removed, func(_ string, gone bool) bool { return !gone })
	if len(removed) == 0 {
		return removed, nil
	}
	st.report.Removed = slices.Sorted(maps.Keys(removed))
	_, err := call(st.ctx, st.session, stepCode, "{:remove ["+strings.Join(st.report.Removed, " ")+"]}")
	return removed, err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// due are the files to load: what has changed since it was loaded, and what depends on it or on a namespace that was removed.
func (st *step) due(changed map[string]bool) []*source {
	mine := func(src *source) bool { return src.ns.Name == "" || src.owner }
	var list []*source
	lastChange := map[string]int64{}
	for _, src := range st.sources {
		if m, known := st.known[src.remote]; known {
			for _, name := range src.spaces {
				lastChange[name] = max(lastChange[name], m.changed)
			}
		}
	}
	for _, src := range st.sources {
		if !mine(src) || !slices.ContainsFunc(src.spaces, func(name string) bool { return st.loaded[name] }) {
			continue
		}
		m, known := st.known[src.remote]
		if !known && st.looked > 0 && !st.seen[src.ns.Name] && src.changed < st.looked {
			// Somebody has loaded it since the last Step, and it is as it was then.
			m, known = memory{hash: src.hash, loaded: st.then}, true
		}
		stale := m.hash != src.hash
		if !known {
			stale = src.changed >= st.start
		}
		for _, needed := range src.ns.Requires {
			stale = stale || lastChange[needed] > m.loaded
		}
		if stale {
			for _, name := range src.spaces {
				changed[name] = true
			}
		}
	}
	all := namespaces.Dependents(st.files(func(src *source) bool { return src.owner }), changed)
	for _, src := range st.sources {
		// A file that enters a namespace is loaded by the one that has its ns form.
		if name := src.ns.Name; src.owner && st.loaded[name] && (all[name] || changed[name]) && !st.noLoad[name] && (st.Excluded == nil || !st.Excluded(src.path)) {
			list = append(list, src)
		}
	}
	return list
}

// load loads files in the order of their ns forms.
func (st *step) load(due []*source) error {
	byPath := map[string]*source{}
	var files []namespaces.File
	for _, src := range due {
		byPath[src.path] = src
		files = append(files, namespaces.File{Path: src.path, Namespace: src.ns})
	}
	if len(due) > 0 {
		var paths []string
		for _, src := range due {
			paths = append(paths, src.remote)
		}
		if _, err := call(st.ctx, st.session, stepCode, "{:forget ["+quoted(paths)+"]}"); err != nil {
			return err
		}
	}
	failed := map[string]bool{}
	for _, f := range namespaces.LoadOrder(files) {
		src := byPath[f.Path]
		if slices.ContainsFunc(f.Namespace.Requires, func(name string) bool { return failed[name] }) {
			failed[f.Namespace.Name] = true
			continue
		}
		file := File{Path: src.remote, Also: slices.Concat(src.also, st.parts(src)), Text: src.text, Name: filepath.Base(src.path)}
		outcome, err := Load(st.ctx, st.session, file, st.Plain || st.noUnload[src.ns.Name], func(result nrepl.Result) { st.problem(src, result) })
		if err != nil {
			return err
		}
		if outcome.Result.Failed {
			failed[f.Namespace.Name] = true
			continue
		}
		st.report.Loaded = append(st.report.Loaded, src.path)
	}
	// What these files have loaded besides is as it is on disk.
	var noted strings.Builder
	for _, src := range st.sources {
		if part := src.ns.Name == ""; (part || src.owner) && !slices.ContainsFunc(src.spaces, func(name string) bool { return failed[name] }) {
			fmt.Fprintf(&noted, "[%s %s %s %v] ", clj.QuoteString(src.remote), clj.QuoteString(src.hash), src.spaces[0], part)
		}
	}
	_, err := call(st.ctx, st.session, stepCode, fmt.Sprintf("{:root %s :note {:files [%s] :clock %d :seen [%s]}}", clj.QuoteString(st.remoteRoot()), noted.String(), st.clock, st.spaces()))
	return err
}

// parts are the files that a file loads into its namespace, as :file of their vars says.
func (st *step) parts(owner *source) (names []string) {
	for _, src := range st.sources {
		base := strings.TrimSuffix(filepath.Base(src.path), filepath.Ext(src.path))
		if src.ns.Name == "" && slices.Contains(src.spaces, owner.ns.Name) && strings.Contains(owner.text, base) {
			names = append(append(names, src.remote), src.also...)
		}
	}
	return names
}

// problem tells why a file does not load.
func (st *step) problem(src *source, result nrepl.Result) {
	read := st.ReadFile
	if read == nil {
		read = os.ReadFile
	}
	f := failure.Explain(st.ctx, st.session, result, failure.Source{
		Dir: st.root, File: src.path, Text: src.text, PathMap: st.Paths.Local, ReadFile: read, SourcePaths: st.paths,
	})
	rel, err := filepath.Rel(st.root, src.path)
	if err != nil {
		rel = src.path
	}
	st.report.Problems = append(st.report.Problems, Problem{Path: filepath.ToSlash(rel), Text: strings.TrimSpace(f.Short())})
}
