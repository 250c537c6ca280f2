package hooksedn

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Matches reports whether a pattern means a file: by itself, or as a folder that holds it.
func Matches(pattern, name string) bool {
	pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/")
	for _, p := range []string{pattern, pattern + "/**"} {
		// Patterns were checked when the file was read.
		if ok, err := doublestar.Match(p, name); err == nil && ok {
			return true
		}
	}
	return false
}

// checkPattern reports what is wrong with a pattern, "" when nothing is.
func checkPattern(pattern string) string {
	switch {
	case pattern == "":
		return "an empty pattern"
	case strings.HasPrefix(pattern, "/") || slices.Contains(strings.Split(pattern, "/"), ".."):
		return "a pattern outside the project"
	case !doublestar.ValidatePattern(pattern):
		return "a malformed pattern"
	}
	return ""
}
