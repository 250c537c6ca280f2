package fakes

import "strings"

// patchContext is how many equal lines a hunk shows on each side.
const patchContext = 3

// structuredPatch is the difference of two texts as the client's
// tool_response has it, as one hunk from the first to the last line that
// differs. (The client splits changes that lie far apart; a hook that relies
// on that is rare.)
func structuredPatch(before, after string) []object {
	if before == after {
		return []object{}
	}
	a, b := splitLines(before), splitLines(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	start := max(0, head-patchContext)
	ending := min(tail, patchContext)
	lines := []string{}
	for _, l := range a[start:head] {
		lines = append(lines, " "+l)
	}
	for _, l := range a[head : len(a)-tail] {
		lines = append(lines, "-"+l)
	}
	for _, l := range b[head : len(b)-tail] {
		lines = append(lines, "+"+l)
	}
	for _, l := range a[len(a)-tail : len(a)-tail+ending] {
		lines = append(lines, " "+l)
	}
	return []object{{
		{"oldStart", start + 1},
		{"oldLines", len(a) - tail + ending - start},
		{"newStart", start + 1},
		{"newLines", len(b) - tail + ending - start},
		{"lines", lines},
	}}
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}
