package settings

import (
	"slices"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/rawjson"
)

// A Handler is one handler as it stands in a settings file.
type Handler struct {
	Event   string   // for example "Stop"
	Matcher string   // of the entry that holds it; "" when absent
	Type    string   // "command" for all that run a program
	Command string   // a shell line, or the program alone when Args is not nil
	Args    []string // not nil: run without a shell
	// Timeout is what the handler's own timeout says, 0 when it says nothing
	// (the host then takes DefaultTimeout).
	Timeout time.Duration
	// Dropped says that the host drops the handler without a word because its
	// timeout is 0, negative or not a number.
	Dropped bool
	// StatusMessage is what the host shows while it runs, "" for the host's own words.
	StatusMessage string
	// More names the keys beside type, command, args and timeout.
	More []string
}

const statusMessage = "statusMessage"

// decodeHandler decodes the handler at the cursor. A value that is not an object
// gives the zero Handler. Of a key given twice the last one counts, as in the host.
func decodeHandler(c *rawjson.Cursor) Handler {
	var h Handler
	members(c, func(name string) {
		switch name {
		case "type":
			h.Type = decoded(c)
		case "command":
			h.Command = decoded(c)
		case "args":
			h.Args = []string{}
			if !elements(c, func() { h.Args = append(h.Args, decoded(c)) }) {
				h.Args = nil
				h.More = append(h.More, name)
			}
		case "timeout":
			seconds, ok := number(c)
			h.Dropped = !ok || seconds <= 0
			h.Timeout = 0
			if !h.Dropped {
				h.Timeout = time.Duration(min(seconds, maxTimeout.Seconds()) * float64(time.Second))
			}
		case statusMessage:
			h.StatusMessage = decoded(c)
			h.More = append(h.More, name)
		default:
			_ = c.Skip()
			h.More = append(h.More, name)
		}
	})
	return h
}

// OwnCommand returns a recogniser for handlers that run program with one of
// first as its first argument (none given: any arguments). The program may
// stand bare, quoted, or with any path before it; its arguments may be
// anything. The handler may be a shell line or have the command + args form.
//
// A shell line that does more than run the program is foreign: operators,
// redirections, substitutions, comments, and also assignments in front
// (FOO=1 brepl hook stop). Somebody wrote these by hand, install could not
// write them again, and so it must not take them away. See Mentions.
func OwnCommand(program string, first ...string) func(Handler) bool {
	return func(h Handler) bool {
		if h.Type != "" && h.Type != "command" {
			return false
		}
		words, simple := h.Words()
		if !simple || len(words) == 0 || baseName(words[0]) != program {
			return false
		}
		return len(first) == 0 || len(words) > 1 && slices.Contains(first, words[1])
	}
}

// Mentions returns a recogniser for shell lines that seem to run program with
// one of first somewhere inside. It is for warnings: such a line runs beside ours.
func Mentions(program string, first ...string) func(Handler) bool {
	return func(h Handler) bool {
		line := strings.Join(append([]string{h.Command}, h.Args...), " ")
		fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()<>'\"`", r) })
		for i, f := range fields {
			if baseName(f) != program {
				continue
			}
			if len(first) == 0 || i+1 < len(fields) && slices.Contains(first, fields[i+1]) {
				return true
			}
		}
		return false
	}
}

func baseName(path string) string {
	return strings.TrimSuffix(path[strings.LastIndexAny(path, `/\`)+1:], ".exe")
}

// Words are the program and its arguments as the host runs them. simple is false where the handler is a shell line of more than one
// plain command; see OwnCommand.
func (h Handler) Words() (words []string, simple bool) {
	if h.Args == nil {
		return shellWords(h.Command)
	}
	return slices.Concat([]string{h.Command}, h.Args), true
}

// Flag is what the handler's command line gives to a flag of the program, the last one if it is there twice: the value behind = or in the
// next word, "" where that is a flag too.
func (h Handler) Flag(name string) (value string, given bool) {
	words, _ := h.Words()
	for i, word := range words {
		flag, after, joined := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
		if i == 0 || flag != name || !strings.HasPrefix(word, "-") {
			continue
		}
		value, given = after, true
		if !joined && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			value = words[i+1]
		}
	}
	return value, given
}

// shellWords splits a shell line into its words. simple is false when the line is
// more than one plain command: an operator, a redirection, a command
// substitution, a comment, an assignment in front, or an open quote. Variables
// are left as they are written ("$FILE_PATH" gives $FILE_PATH).
func shellWords(line string) (words []string, simple bool) {
	var word strings.Builder
	inWord := false
	end := func() {
		if inWord {
			words = append(words, word.String())
			word.Reset()
			inWord = false
		}
	}
	line = strings.Trim(line, " \t\r\n")
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch c {
		case ' ', '\t':
			end()
			continue
		case ';', '&', '|', '<', '>', '(', ')', '\n', '\r', '`', 0:
			return nil, false
		case '#':
			if !inWord {
				return nil, false
			}
			word.WriteByte(c)
		case '=':
			if len(words) == 0 && isName(word.String()) {
				return nil, false
			}
			word.WriteByte(c)
		case '$':
			if strings.HasPrefix(line[i:], "$(") {
				return nil, false
			}
			word.WriteByte(c)
		case '\\':
			if i++; i == len(line) {
				return nil, false
			}
			word.WriteByte(line[i])
		case '\'':
			n := strings.IndexByte(line[i+1:], '\'')
			if n < 0 {
				return nil, false
			}
			word.WriteString(line[i+1 : i+1+n])
			i += n + 1
		case '"':
			text, n := doubleQuoted(line[i+1:])
			if n < 0 {
				return nil, false
			}
			word.WriteString(text)
			i += n
		default:
			word.WriteByte(c)
		}
		inWord = true
	}
	end()
	return words, true
}

// doubleQuoted reads up to the closing quote and returns the text and the
// bytes consumed with the quote; -1 when it is open or holds a substitution.
func doubleQuoted(s string) (text string, n int) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), i + 1
		case s[i] == '`', strings.HasPrefix(s[i:], "$("):
			return "", -1
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\", s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return "", -1
}

func isName(s string) bool {
	for i, c := range s {
		switch {
		case c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case i > 0 && '0' <= c && c <= '9':
		default:
			return false
		}
	}
	return s != ""
}

// ShellQuote returns s as one word for sh: as it is when no character in it
// needs quoting, else in single quotes.
func ShellQuote(s string) string {
	safe := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-./+:@%,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
