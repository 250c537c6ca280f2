package text

import "strings"

// Bar sets each line of a foreign text off with "| ", so that none can look like a line of ours. Line feeds at the end go; the empty
// text stays empty. The text should be clean: see [Clean] and [Screen].
func Bar(s string) string {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return ""
	}
	return "| " + strings.ReplaceAll(s, "\n", "\n| ")
}
