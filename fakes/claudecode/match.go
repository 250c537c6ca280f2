package claudecode

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Match reports whether a handler with this matcher runs for a value: the
// tool's name, SessionStart's source, SessionEnd's reason. "" and "*" match
// all; a matcher of names only is split at | and ","; anything else is an
// unanchored regular expression. Case counts. (host-protocol, Settings:
// "Matcher".) A regular expression that Go cannot compile, such as one with a
// look-ahead, which the client knows, matches nothing; [LoadHooks] reports it.
func Match(matcher, value string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	if onlyNames(matcher) {
		names := strings.FieldsFunc(matcher, func(r rune) bool { return r == '|' || r == ',' })
		return slices.ContainsFunc(names, func(name string) bool { return strings.TrimSpace(name) == value })
	}
	re, err := regexp.Compile(matcher)
	return err == nil && re.MatchString(value)
}

// matcherFault says why a matcher matches nothing, nil if it can match.
func matcherFault(matcher string) error {
	if matcher == "*" || onlyNames(matcher) {
		return nil
	}
	_, err := regexp.Compile(matcher)
	return err
}

func onlyNames(matcher string) bool {
	return strings.IndexFunc(matcher, func(r rune) bool {
		return !isNameRune(r) && r != '|' && r != ',' && r != ' '
	}) < 0
}

func isNameRune(r rune) bool {
	return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// MatchIf reports whether a handler whose "if" is this permission rule runs
// for a tool call: "Edit", "Edit(**/*.clj)", "Bash(git *)", "Bash(git:*)".
// The name must be the tool's. Of a file tool the pattern is matched against
// file_path, of Bash against the command. (host-protocol, Output: "A handler's
// if".) A pattern without a slash in front matches the end of a path from any
// folder on, as the rule's own folder is not known here.
func MatchIf(rule, tool string, input json.RawMessage) bool {
	name, pattern, has := strings.Cut(strings.TrimSpace(rule), "(")
	if strings.TrimSpace(name) != tool {
		return false
	}
	pattern, closed := strings.CutSuffix(pattern, ")")
	if !has {
		return true
	}
	if !closed {
		return false
	}
	var fields struct {
		FilePath string `json:"file_path"`
		Command  string `json:"command"`
	}
	if ReadFields(input, &fields) != nil {
		return false
	}
	if tool == "Bash" {
		return matchCommand(pattern, fields.Command)
	}
	return fields.FilePath != "" && matchPath(pattern, fields.FilePath)
}

func matchCommand(pattern, command string) bool {
	if prefix, ok := strings.CutSuffix(pattern, ":*"); ok {
		return command == prefix || strings.HasPrefix(command, prefix+" ")
	}
	if prefix, ok := strings.CutSuffix(pattern, " *"); ok && command == prefix {
		return true
	}
	return globText(pattern, command, false)
}

func matchPath(pattern, file string) bool {
	pattern = strings.TrimPrefix(pattern, "./")
	if abs, ok := strings.CutPrefix(pattern, "//"); ok {
		return globText(abs, strings.TrimPrefix(file, "/"), true)
	}
	pattern = strings.TrimPrefix(strings.TrimPrefix(pattern, "~"), "/")
	rest := strings.TrimPrefix(file, "/")
	for {
		if globText(pattern, rest, true) {
			return true
		}
		_, tail, more := strings.Cut(rest, "/")
		if !more {
			return false
		}
		rest = tail
	}
}

// globText matches * and ?; with paths, * stays inside of a folder and ** does
// not.
func globText(pattern, text string, paths bool) bool {
	var re strings.Builder
	re.WriteString(`(?s)\A`)
	for pattern != "" {
		switch {
		case paths && strings.HasPrefix(pattern, "**/"):
			re.WriteString(`(?:.*/)?`)
			pattern = pattern[3:]
		case strings.HasPrefix(pattern, "**"):
			re.WriteString(`.*`)
			pattern = pattern[2:]
		case pattern[0] == '*' && paths:
			re.WriteString(`[^/]*`)
			pattern = pattern[1:]
		case pattern[0] == '*':
			re.WriteString(`.*`)
			pattern = pattern[1:]
		case pattern[0] == '?' && paths:
			re.WriteString(`[^/]`)
			pattern = pattern[1:]
		default:
			re.WriteString(regexp.QuoteMeta(pattern[:1]))
			pattern = pattern[1:]
		}
	}
	re.WriteString(`\z`)
	compiled, err := regexp.Compile(re.String())
	return err == nil && compiled.MatchString(text)
}
