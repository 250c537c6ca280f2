package nrepl

import (
	"context"
	"fmt"
	"slices"
)

// Servers returns the nREPL servers that this user runs on this machine and
// those that are named for this project, by port, with what the search makes of
// each. The notes say what is wrong with named places, for example a stale port
// file. It takes about 0.5 s at most, and that long only where something accepts
// connections and is silent.
func Servers(ctx context.Context, l Lookup) (servers []*Server, notes []string) {
	ctx, cancel := context.WithTimeout(ctx, surveyLimit)
	defer cancel()
	l.Discover = true
	here := l.territory()
	list := listening(ctx)
	attribute(ctx, list, nil)
	list = slices.DeleteFunc(list, func(s *listener) bool {
		return s.Socket != "" && (!here.has(s.dir) || !l.mayAsk(s))
	})
	found, quiet := askAll(ctx, list, nil)
	order(found)
	s := survey{here: here, servers: found}
	s.take(ctx, l.named())
	if l.discovers() {
		for _, at := range l.nearby(found) {
			s.take(ctx, at)
		}
	}
	for _, server := range s.servers {
		s.elsewhere(server)
	}
	quiet = slices.DeleteFunc(quiet, func(q *listener) bool { return !here.has(q.dir) })
	s.notes = append(s.notes, tellQuiet(quiet, surveyLimit)...)
	order(s.servers)
	return s.servers, s.notes
}

// survey follows the steps of the search and writes down where it ends, instead
// of ending.
type survey struct {
	here    territory
	servers []*Server
	notes   []string
	end     string // why the search has ended, "" while it goes on
}

func (s *survey) take(ctx context.Context, at step) {
	for _, problem := range at.problems {
		s.notes = append(s.notes, problem.Error())
	}
	for _, t := range at.targets {
		if server := s.find(ctx, t); server != nil && server.Why == "" {
			server.Source = t.Source
			s.judge(server, t.Source+" names it")
		}
	}
	if len(at.servers) > 1 && s.end == "" {
		s.end = "which one is not clear"
	}
	for _, known := range at.servers {
		if server := s.find(ctx, known.Target); server != nil && server.Why == "" {
			why := "it runs in this project"
			if len(at.servers) > 1 {
				why = fmt.Sprintf("%d servers run in %s", len(at.servers), at.dir)
			}
			s.judge(server, why)
		}
	}
}

// judge says of a server that would do whether it is chosen.
func (s *survey) judge(server *Server, why string) {
	if s.end == "" {
		server.Chosen = true
		s.end = why
		if server.Source != discovered {
			s.end = server.Source + " comes first"
		}
	} else {
		why += ", but " + s.end
	}
	if server.Dir != "" && !s.here.has(server.Dir) {
		why += "; it runs in another directory"
	}
	server.Why = why
}

// elsewhere says why a server that no step of the search has met would not do.
func (s *survey) elsewhere(server *Server) {
	switch {
	case server.Why != "":
	case s.here.has(server.Dir):
		server.Why = "it runs in this project, but BREPL_HOST is another machine"
	case server.Dir == "":
		server.Why = "its directory is not known"
	default:
		server.Why = "it runs in another directory"
	}
}

// find returns the server at a target; it is asked now if it was not found among
// the listening sockets. nil: there is none, and the notes say so.
func (s *survey) find(ctx context.Context, t Target) *Server {
	for _, known := range s.servers {
		if known.Socket == t.Socket && known.Port == t.Port && (known.Host == t.Host || isLocal(t.Host) && isLocal(known.Host)) {
			return known
		}
	}
	for _, addr := range t.addresses() {
		if err := t.stranger(addr); err != nil {
			s.notes = append(s.notes, fmt.Sprintf("%s from %s: %s", addr, t.Source, err))
			return nil
		}
	}
	server, v, err := (&listener{Target: t}).ask(ctx)
	why := "no answer: no nREPL server, or a busy one"
	switch {
	case v == isServer:
		s.servers = append(s.servers, server)
		return server
	case t.isStale(err):
		why = staleFile
	case v == noServer:
		why = short(err)
	}
	s.notes = append(s.notes, fmt.Sprintf("%s from %s: %s", t.Address(), t.Source, why))
	return nil
}
