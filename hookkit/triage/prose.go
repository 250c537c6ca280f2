package triage

import "strings"

// block is a run of lines that belong together: a paragraph, a list item, a heading, a cell of a table.
type block struct {
	text    string
	heading bool
	item    bool // of a list
}

// prose gives the blocks of a message in which somebody says something. Code fences, indented code, block quotes, pasted logs, diffs
// and stack traces are left out.
// Failed says whether an error of a program is among what was left out.
func prose(text string) (blocks []block, failed bool) {
	s := proseScanner{blank: true}
	for line := range strings.Lines(text) {
		kept := len(s.blocks) + len(s.lines)
		s.line(strings.TrimRight(line, "\r\n"))
		failed = failed || kept == len(s.blocks)+len(s.lines) && tellsError(line)
	}
	s.end()
	return s.blocks, failed
}

func tellsError(line string) bool {
	lower := strings.ToLower(line)
	for _, word := range []string{"error", "exception", "failed", "failure", "panic", "traceback", "fatal", "refused", "timeout", "timed out", "not found", "no module", "no such", "cannot", "could not", "not yet valid", "denied", "does not exist", "already in use", "too many", "unable", "undefined", "invalid", "closed", "not a function", "null", "exceeded", "does not match"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

type proseScanner struct {
	blocks []block
	lines  []string // of the block that is open
	item   bool
	fence  string // what closes the open fence
	key    bool   // inside of a private key
	diff   bool   // inside of a diff
	trace  bool   // inside of a stack trace
	blank  bool   // the line before was empty
	listed bool   // a list is open: indented lines belong to it
}

func (s *proseScanner) end() {
	if len(s.lines) > 0 {
		s.blocks = append(s.blocks, block{text: strings.Join(s.lines, "\n"), item: s.item})
	}
	s.lines, s.item = nil, false
}

func (s *proseScanner) line(line string) {
	bare := strings.TrimSpace(line)
	switch {
	case s.fence != "":
		if strings.HasPrefix(bare, s.fence) && strings.Trim(bare, s.fence[:1]) == "" {
			s.fence = ""
		}
		return
	case fenceOf(bare) != "":
		s.end()
		s.fence = fenceOf(bare)
		return
	case strings.HasPrefix(bare, "-----BEGIN "):
		s.end()
		s.key = true
		return
	case s.key:
		s.key = !strings.HasPrefix(bare, "-----END ")
		return
	case bare == "":
		s.end()
		s.blank, s.diff, s.trace = true, false, false
		return
	}
	blank := s.blank
	s.blank = false
	if s.pasted(line, bare) || strings.HasPrefix(bare, ">") {
		s.end()
		return
	}
	marker, isItem := listItem(bare)
	indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
	if indented && blank && !isItem && !s.listed {
		s.end()
		s.blank = true // what follows is indented code too
		return
	}
	switch {
	case strings.HasPrefix(bare, "#") && strings.HasPrefix(strings.TrimLeft(bare, "#"), " "):
		s.end()
		s.blocks = append(s.blocks, block{text: strings.TrimLeft(bare, "# "), heading: true})
		s.listed = false
	case strings.HasPrefix(bare, "|") && strings.Count(bare, "|") > 1:
		s.end()
		for cell := range strings.SplitSeq(strings.Trim(bare, "|"), "|") {
			if cell = strings.TrimSpace(cell); strings.Trim(cell, "-: ") != "" {
				s.blocks = append(s.blocks, block{text: cell, item: true})
			}
		}
	case isItem:
		s.end()
		s.item, s.listed = true, true
		s.lines = append(s.lines, marker)
	default:
		if blank && !indented {
			s.listed = false
		}
		s.lines = append(s.lines, bare)
	}
}

func fenceOf(bare string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(bare, mark) {
			if rest := strings.TrimLeft(bare, mark[:1]); mark[0] != '`' || !strings.Contains(rest, "`") {
				return bare[:len(bare)-len(rest)]
			}
		}
	}
	return ""
}

// listItem gives the text of a line that begins a list item.
func listItem(bare string) (text string, ok bool) {
	for _, mark := range []string{"- ", "* ", "+ ", "• ", "– "} {
		if rest, found := strings.CutPrefix(bare, mark); found {
			rest = strings.TrimSpace(rest)
			for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
				rest = strings.TrimPrefix(rest, box)
			}
			return rest, true
		}
	}
	digits := len(bare) - len(strings.TrimLeft(bare, "0123456789"))
	if digits > 0 && digits <= 2 && len(bare) > digits+1 && (bare[digits] == '.' || bare[digits] == ')') && bare[digits+1] == ' ' {
		return strings.TrimSpace(bare[digits+2:]), true
	}
	return "", false
}

// pasted says whether a line looks like a program's output, a diff or code, and not like speech.
func (s *proseScanner) pasted(line, bare string) bool {
	switch {
	case strings.HasPrefix(line, "diff --git ") || strings.HasPrefix(line, "@@ ") || strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "--- a/"):
		s.diff = true
	case s.diff && len(line) > 0 && strings.ContainsRune("+- \t\\", rune(line[0])):
		return true
	case isTraceHead(bare):
		s.trace = true
	case s.trace && (line != bare || isTraceLine(bare)):
		return true
	default:
		s.trace = false
		return isLog(bare) || isTraceLine(bare) || isCode(bare)
	}
	return true
}

func isTraceHead(bare string) bool {
	return strings.HasPrefix(bare, "Traceback (most recent call last)") || strings.HasPrefix(bare, "goroutine ") && strings.HasSuffix(bare, "]:") ||
		strings.HasPrefix(bare, "panic: ") || strings.HasPrefix(bare, "Exception in thread ") || strings.HasPrefix(bare, "Caused by: ")
}

func isTraceLine(bare string) bool {
	return strings.HasPrefix(bare, "at ") && (strings.Contains(bare, "(") && strings.HasSuffix(bare, ")") || strings.Contains(bare, ".js:")) ||
		strings.HasPrefix(bare, `File "`) && strings.Contains(bare, ", line ")
}

var logLevels = []string{"ERROR", "WARN", "WARNING", "INFO", "DEBUG", "TRACE", "FATAL", "NOTICE", "CRITICAL"}

// isLog recognises lines with a date, a time or a level in front, compilers' file:line:column, and shell prompts.
func isLog(bare string) bool {
	word, rest, _ := strings.Cut(bare, " ")
	inner := strings.Trim(word, "[]()<>:,")
	switch {
	case looksLikeDate(inner) && (looksLikeTime(firstWord(rest)) || strings.Contains(inner, "T") || levelIn(rest)):
		return true
	case looksLikeTime(inner) && rest != "" && (strings.HasPrefix(word, "[") || levelIn(rest) || strings.Count(inner, ":") == 2):
		return true
	case strings.HasPrefix(bare, "$ ") || strings.HasPrefix(bare, "❯ ") || strings.HasPrefix(bare, "% "):
		return true
	case strings.HasPrefix(bare, "npm ERR!") || strings.HasPrefix(bare, "npm WARN") || strings.HasPrefix(bare, "error[E") || strings.HasPrefix(bare, "make: ***"):
		return true
	}
	for _, level := range logLevels {
		if word == level || word == "["+level+"]" || word == level+":" && strings.ToUpper(bare) != bare && level != "WARNING" && level != "NOTICE" {
			return true
		}
	}
	return isPosition(word) && rest != ""
}

func levelIn(rest string) bool {
	for range 3 {
		word, after, _ := strings.Cut(rest, " ")
		for _, level := range logLevels {
			if strings.Trim(word, "[]|:-") == level {
				return true
			}
		}
		rest = after
	}
	return false
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return strings.Trim(word, "[],")
}

func looksLikeDate(s string) bool {
	return len(s) >= 10 && digit(s[0]) && digit(s[3]) && (s[4] == '-' || s[4] == '/') && digit(s[5]) && s[7] == s[4] && digit(s[9])
}

func looksLikeTime(s string) bool {
	return len(s) >= 8 && digit(s[0]) && digit(s[1]) && s[2] == ':' && digit(s[3]) && s[5] == ':' && digit(s[7])
}

// isPosition recognises main.go:12:3:
func isPosition(word string) bool {
	name, rest, ok := strings.Cut(word, ":")
	return ok && strings.Contains(name, ".") && len(rest) > 1 && digit(rest[0]) && strings.HasSuffix(rest, ":")
}

func digit(b byte) bool { return b >= '0' && b <= '9' }

// isCode recognises lines of code and their comments that stand in a message without a fence.
func isCode(bare string) bool {
	switch {
	case strings.HasPrefix(bare, "//"), strings.HasPrefix(bare, "/*"), strings.HasPrefix(bare, "#!"), strings.HasPrefix(bare, "<!--"), strings.HasPrefix(bare, ";;"):
		return true
	case strings.HasPrefix(bare, "# TODO"), strings.HasPrefix(bare, "# FIXME"), strings.HasPrefix(bare, "#TODO"):
		return true
	case strings.HasSuffix(bare, ";") && strings.ContainsAny(bare, "=(){}<>"), strings.HasSuffix(bare, "{") && strings.ContainsAny(bare, "()=:"):
		return true
	case strings.HasPrefix(bare, "def ") && strings.HasSuffix(bare, ":"), strings.HasPrefix(bare, "(defn "), strings.HasPrefix(bare, "import ") && strings.HasSuffix(bare, ";"):
		return true
	}
	return bare == "}" || bare == "{" || bare == "})" || bare == "});"
}
