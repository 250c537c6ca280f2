package nrepl

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// AmbiguousError says that several servers would do.
type AmbiguousError struct {
	Dir     string // where they run
	Servers []*Server
}

func (e *AmbiguousError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d nREPL servers run in %s: ", len(e.Servers), e.Dir)
	for i, s := range e.Servers {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(s.String())
	}
	fmt.Fprintf(&b, ". Choose one with --port, or write its port into %s", filepath.Join(e.Dir, portFileNames[0]))
	return b.String()
}

// discovers says whether servers that nobody named are looked for.
func (l Lookup) discovers() bool {
	return l.Discover && l.Dir != "" && l.Port == 0 && l.Socket == "" && isLocal(l.host())
}

func isLocal(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

// folders returns the folders whose servers are this project's, nearest first.
func (l Lookup) folders() []string {
	var folders []string
	if l.File != "" {
		folders = l.portFolders()
	}
	for _, dir := range around(l.Dir, "") {
		if !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	return folders
}

// physical returns the path without symbolic links, as the system tells the
// directory of a process.
func physical(dir string) string {
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		return path
	}
	return dir
}

// territory is the folders of a project, as the system calls them.
type territory struct {
	folders []string
	paths   PathMap
}

func (l Lookup) territory() territory {
	t := territory{paths: l.PathMap.In(l.Dir)}
	for _, dir := range l.folders() {
		t.folders = append(t.folders, physical(dir))
	}
	return t
}

// depth returns how many folders lie between the file or folder in question and
// the server's directory, -1 if that is not around it.
func (t territory) depth(dir string) int {
	i := slices.Index(t.folders, dir)
	if i < 0 && dir != "" && len(t.paths) > 0 {
		i = slices.Index(t.folders, physical(t.paths.Local(dir)))
	}
	return i
}

func (t territory) has(dir string) bool { return t.depth(dir) >= 0 }

// discover returns the servers of this project, and a line about processes in it
// that listen but do not answer. It takes at most discoverLimit.
//
// Processes that run elsewhere are not asked at all: where a process runs is
// known without asking it. Only if none runs here, those of which it is not
// known are asked, which are in another container, or on a system that does not
// tell; and all, if there is a path map.
func (l Lookup) discover(ctx context.Context) (servers []*Server, tell []string) {
	ctx, cancel := context.WithTimeout(ctx, discoverLimit)
	defer cancel()
	return l.among(ctx, listening(ctx), attribute)
}

func (l Lookup) among(ctx context.Context, list []*listener, attribute attribution) (servers []*Server, tell []string) {
	here := l.territory()
	mine := func(s *Server) bool { return here.has(s.Dir) }
	attribute(ctx, list, here.has)
	near := slices.DeleteFunc(slices.Clone(list), func(s *listener) bool { return !here.has(s.dir) || !l.mayAsk(s) })
	servers, quiet := askAll(ctx, near, mine)
	if len(servers) == 0 {
		attribute(ctx, list, nil)
		rest := slices.DeleteFunc(list, func(s *listener) bool {
			return s.Socket != "" || here.has(s.dir) || s.dir != "" && len(l.PathMap) == 0
		})
		for i := range rest {
			rest[i].dir = ""
		}
		servers, _ = askAll(ctx, rest, mine)
		servers = slices.DeleteFunc(servers, func(s *Server) bool { return !mine(s) })
	}
	order(servers)
	return servers, tellQuiet(quiet, discoverLimit)
}

// attribution is the system's way to find the processes behind listeners.
type attribution func(ctx context.Context, list []*listener, wanted func(dir string) bool)

// tellQuiet says which sockets of this project's processes did not answer.
func tellQuiet(quiet []*listener, limit time.Duration) []string {
	const named = 3
	var b strings.Builder
	for i, s := range quiet[:min(len(quiet), named)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(s.String())
	}
	if more := len(quiet) - named; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	if len(quiet) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s in this project accepted a connection and did not answer within %s: no nREPL server, or a busy one", &b, limit)}
}

// mayAsk says whether a listener that nobody named may be asked what it is. A
// unix-domain socket may be one that takes messages for an agent or a daemon:
// it is asked only where its process is known as a REPL's, and not in the user's
// home or the root folder.
func (l Lookup) mayAsk(s *listener) bool {
	home := l.getenv("HOME")
	return s.Socket == "" || s.repl && s.dir != string(filepath.Separator) && (home == "" || s.dir != physical(home)) && l.messageSocket(s.Socket) == ""
}

// messageSocket returns the variable that names this socket as one into which
// messages for a coding agent are written, "" if none does.
func (l Lookup) messageSocket(path string) string {
	for _, name := range [...]string{"CLAUDE_CODE_MESSAGING_SOCKET", "QWEN_CODE_MESSAGING_SOCKET"} {
		if own := l.getenv(name); own != "" && path != "" && physical(own) == physical(path) {
			return name
		}
	}
	return ""
}

func order(servers []*Server) {
	slices.SortStableFunc(servers, func(a, b *Server) int {
		return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.Address(), b.Address()))
	})
}

// nearby returns the steps of the search after the named places: folder by
// folder the port files that were not looked at, then the servers that run there.
func (l Lookup) nearby(found []*Server) []step {
	here, seen := l.territory(), l.portFolders()
	var steps []step
	for i, dir := range l.folders() {
		if !slices.Contains(seen, dir) {
			steps = append(steps, l.places(l.portFiles(l.host(), dir)))
		}
		at := step{dir: dir}
		for _, s := range found {
			if here.depth(s.Dir) == i && !hasProcess(at.servers, s.PID) {
				at.servers = append(at.servers, s)
			}
		}
		steps = append(steps, at)
	}
	return steps
}

// hasProcess says whether one of the servers is this process: two ports of one
// process lead to the same runtime.
func hasProcess(servers []*Server, pid int) bool {
	return pid != 0 && slices.ContainsFunc(servers, func(s *Server) bool { return s.PID == pid })
}
