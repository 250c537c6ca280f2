package tests

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/session"
)

// Memory is what is remembered of a project's tests from run to run, under one name: what failed last, and how the files were when all
// that ran passed. It belongs to the project, not to a session.
type Memory struct {
	// Failed are the tests that failed last, as "ns/test", or "ns" where a whole namespace did.
	Failed []string

	state *session.Session
	name  string
	files map[string]string // stamps, by name; nil: not known
}

const maxMemory = 8 << 20

// Recall reads what is remembered. What cannot be read is not remembered.
func Recall(getenv func(string) string, root, name string) *Memory {
	m := &Memory{name: session.SafeName("tests-" + name)}
	state, err := session.Open(getenv, session.ProjectID("tests", root))
	if err != nil {
		return m
	}
	m.state = state
	dir, err := state.Find()
	if err != nil {
		return m
	}
	data, err := session.ReadOwned(filepath.Join(dir, m.name), maxMemory)
	if err != nil {
		return m
	}
	for line := range strings.Lines(string(data)) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		stamp, file, _ := strings.Cut(rest, " ")
		switch {
		case kind == "failed":
			m.Failed = append(m.Failed, rest)
		case kind == "all": // the head of the files
			m.files = map[string]string{}
		case kind == "file" && m.files != nil:
			m.files[file] = stamp
		}
	}
	return m
}

// Changed names the files that differ from when the tests last passed. ok is false where that is not known, or a file is gone that
// others may need: then everything counts as changed.
func (m *Memory) Changed(s *Suite) (files []string, ok bool) {
	if m.files == nil {
		return nil, false
	}
	here := 0
	for i := range s.Namespaces {
		n := &s.Namespaces[i]
		stamp, known := m.files[n.File]
		if known {
			here++
		}
		if stamp != n.stamp {
			files = append(files, n.File)
		}
	}
	return files, here == len(m.files)
}

// Keep remembers a run of the chosen namespaces. all says that they were all that there are to run, or all that changes reach: when these
// passed, the files are fine as they are.
func (m *Memory) Keep(s *Suite, chosen []Namespace, only map[string][]string, result *Result, all bool) error {
	if m.state == nil {
		return nil
	}
	failed := slices.DeleteFunc(m.Failed, func(name string) bool {
		ns, test, _ := strings.Cut(name, "/")
		ran := slices.ContainsFunc(chosen, func(n Namespace) bool { return n.Name == ns })
		return ran && (len(only[ns]) == 0 || slices.Contains(only[ns], test))
	})
	for i := range result.Failing {
		if name := result.Failing[i].Name(); !slices.Contains(failed, name) {
			failed = append(failed, name)
		}
	}
	m.Failed = failed
	if all && !result.Failed() && result.Empty == "" && result.Partial == "" {
		m.files = map[string]string{}
		for i := range s.Namespaces {
			m.files[s.Namespaces[i].File] = s.Namespaces[i].stamp
		}
	}
	var b strings.Builder
	for _, name := range failed {
		if !strings.ContainsAny(name, "\n") {
			b.WriteString("failed " + name + "\n")
		}
	}
	if m.files != nil {
		b.WriteString("all\n")
		for file, stamp := range m.files {
			fmt.Fprintf(&b, "file %s %s\n", stamp, file)
		}
	}
	dir, err := m.state.Dir()
	if err != nil {
		return err
	}
	return session.WriteFile(filepath.Join(dir, m.name), []byte(b.String()), session.WriteOptions{State: true})
}
