package lab

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/hookkit/brepl/fakes/claudecode"
)

// compare returns the difference between two answers for people, "" where there is none. The decision stands first, because it is what counts.
func compare(c *Call, command string, want, got Answer, wantFiles, gotFiles []string) string {
	var b strings.Builder
	line := func(what, want, got string) {
		if want != got {
			fmt.Fprintf(&b, "  %s: %s -> %s\n", what, want, got)
		}
	}
	line("decision", decisionWords(c, claudecode.Judge(judged(c, command, want))), decisionWords(c, claudecode.Judge(judged(c, command, got))))
	line("exit", ending(want), ending(got))
	for _, s := range []struct{ name, want, got string }{{"stdout", want.Stdout, got.Stdout}, {"stderr", want.Stderr, got.Stderr}} {
		if s.want == s.got {
			continue
		}
		text := diff.Diff("expected "+s.name, []byte(s.want), "got "+s.name, []byte(s.got))
		for l := range strings.Lines(string(text)) {
			if !strings.HasPrefix(l, "diff ") {
				b.WriteString("  " + strings.TrimSuffix(l, "\n") + "\n")
			}
		}
	}
	if !slices.Equal(wantFiles, gotFiles) {
		line("files", fileList(wantFiles), fileList(gotFiles))
	}
	return b.String()
}

func fileList(files []string) string {
	if len(files) == 0 {
		return "unchanged"
	}
	return strings.Join(files, ", ")
}

// ending says how a hook ended.
func ending(a Answer) string {
	switch {
	case a.TimedOut:
		return "cut off by the timeout"
	case a.Signal != "":
		return "signal " + a.Signal
	case a.Exit == nil:
		return "unknown"
	default:
		return strconv.Itoa(*a.Exit)
	}
}

// decisionWords names what the client does, in a few words.
func decisionWords(c *Call, r claudecode.Reaction) string {
	var words []string
	switch {
	case r.Ended:
		words = append(words, "ends the agent's work")
	case r.Blocked && claudecode.IsStop(c.Event):
		words = append(words, "blocks the stop")
	case r.Blocked:
		words = append(words, "blocks")
	case r.GoesOn:
		words = append(words, "gives the agent another turn")
	default:
		words = append(words, "lets it go on")
	}
	if r.Permission != "" {
		words = append(words, "permission "+r.Permission)
	}
	if r.UpdatedInput != nil {
		words = append(words, "rewrites the tool's input")
	}
	if len(r.Told) > 0 {
		words = append(words, "tells the agent")
	}
	if len(r.Shown) > 0 {
		words = append(words, "shows the user")
	}
	if r.Fault != "" {
		words = append(words, "fault "+r.Fault)
	}
	return strings.Join(words, ", ")
}
