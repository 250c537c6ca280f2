package nrepl

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// kindOf names the server that has these versions: "clojure", "babashka", "nbb",
// "let-go", "basilisp", the first name that is no part of another one's
// versions, or "nREPL" where there is none. shadow-cljs says nothing about
// itself: see Server.Kind.
func kindOf(versions map[string]string) string {
	for _, k := range [...]struct{ version, kind string }{
		{"babashka", "babashka"},
		{"babashka.nrepl", "babashka"},
		{"nbb-nrepl", "nbb"},
		{"let-go", "let-go"},
		{"basilisp", "basilisp"},
		{"clojure", "clojure"},
	} {
		if _, ok := versions[k.version]; ok {
			return k.kind
		}
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		switch name {
		case "java", "node", "nrepl", "python":
		default:
			return name
		}
	}
	return "nREPL"
}

// versionText returns a version as describe has it: a string, or a dict with
// version-string, or (let-go) with its parts alone. nbb, and nREPL built from
// source, do not know theirs: "".
func versionText(v any) string {
	dict, _ := v.(map[string]any)
	if whole, ok := dict["version-string"]; ok {
		v = whole
	}
	switch v := v.(type) {
	case string:
		return strings.TrimPrefix(v, "TODO")
	case map[string]any:
		var parts []string
		for _, key := range [...]string{"major", "minor", "incremental"} {
			switch part := v[key].(type) {
			case string:
				parts = append(parts, part)
			case int64:
				parts = append(parts, strconv.FormatInt(part, 10))
			}
		}
		return strings.Join(parts, ".")
	}
	return ""
}

// whereAmI is code that gives the server's working directory as a string, ""
// where none is known. Sessions and definitions are not touched by it.
func whereAmI(kind string) string {
	switch kind {
	case "nbb":
		return `(js/process.cwd)`
	case "let-go", "basilisp":
		return ""
	}
	return `(System/getProperty "user.dir")`
}
