package condense

import (
	"slices"
	"strings"
)

// goVerbose gives the output of `go test -v` the order that it has without the flag: what a test has logged stands behind the line that
// says how it ended, and what belongs to tests that passed is left out. Other output stays as it is.
func goVerbose(lines []string) []string {
	if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "=== RUN ") }) {
		return lines
	}
	var v verbose
	for _, line := range lines {
		v.line(line)
	}
	v.flush()
	return v.out
}

type verbose struct {
	out     []string
	current string              // the test that logs
	logs    map[string][]string // of tests that have not ended
	order   []string            // of logs
}

func (v *verbose) line(line string) {
	if event, name, ok := strings.Cut(strings.TrimPrefix(line, "=== "), " "); ok && strings.HasPrefix(line, "=== ") {
		switch event {
		case "RUN", "PAUSE", "CONT", "NAME":
			v.current = strings.TrimSpace(name)
			return
		}
	}
	text := strings.TrimLeft(line, " ")
	if end, ok := strings.CutPrefix(text, "--- "); ok {
		status, rest, _ := strings.Cut(end, ": ")
		name, _, isEnd := strings.Cut(rest, " (")
		if isEnd && slices.Contains([]string{"FAIL", "PASS", "SKIP"}, status) {
			v.end(line[:len(line)-len(text)], line, name, status == "FAIL")
			return
		}
	}
	switch {
	case v.current != "" && strings.HasPrefix(line, "    "):
		if v.logs == nil {
			v.logs = map[string][]string{}
		}
		if v.logs[v.current] == nil {
			v.order = append(v.order, v.current)
		}
		v.logs[v.current] = append(v.logs[v.current], line)
	case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "FAIL"), strings.HasPrefix(line, "ok "):
		v.flush()
		fallthrough
	default:
		v.out = append(v.out, line)
	}
}

// end writes how a test ended, and what it logged.
func (v *verbose) end(indent, line, name string, failed bool) {
	if failed {
		v.out = append(v.out, line)
		for _, log := range v.logs[name] {
			v.out = append(v.out, indent+log)
		}
	}
	delete(v.logs, name)
}

// flush writes what tests have logged that did not end.
func (v *verbose) flush() {
	for _, name := range v.order {
		v.out = append(v.out, v.logs[name]...)
	}
	v.current, v.logs, v.order = "", nil, nil
}
