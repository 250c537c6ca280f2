package lab

import (
	"fmt"
	"slices"
	"strings"
)

// script is a text for `hookkit simulate`: commands, one to a line, and files after them in the txtar format ("-- name --").
type script struct {
	name     string
	commands []scriptLine
	files    []scriptFile
}

// scriptLine is one command with its words. Of a word in double quotes the escapes \n, \t, \" and \\ are resolved.
type scriptLine struct {
	number int
	verb   string
	text   string   // all after the verb
	words  []string // the text, split
}

// scriptFile is a file section. Those that a command takes with <<NAME are not part of the project.
type scriptFile struct {
	number  int
	name    string
	content string
	taken   bool
}

// parseScript reads a script. Errors name file and line.
func parseScript(name, text string) (*script, error) {
	s := &script{name: name}
	inFile, number := false, 0
	for line := range strings.Lines(text) {
		number++
		if section, ok := sectionName(line); ok {
			if slices.ContainsFunc(s.files, func(f scriptFile) bool { return f.name == section }) {
				return nil, s.errorf(number, "there are two files named %q", section)
			}
			s.files = append(s.files, scriptFile{number: number, name: section})
			inFile = true
			continue
		}
		if inFile {
			last := &s.files[len(s.files)-1]
			last.content += line
			if !strings.HasSuffix(line, "\n") {
				last.content += "\n" // a section ends with a line, as in every txtar
			}
			continue
		}
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		verb, rest := line, ""
		if i := strings.IndexAny(line, " \t"); i >= 0 {
			verb, rest = line[:i], line[i:]
		}
		command := scriptLine{number: number, verb: verb, text: strings.TrimSpace(rest)}
		var err error
		if command.words, err = splitWords(command.text); err != nil && wantsWords(verb) {
			return nil, s.errorf(number, "%v", err)
		}
		s.commands = append(s.commands, command)
	}
	if len(s.commands) == 0 {
		return nil, fmt.Errorf("%s: the script has no command", name)
	}
	return s, nil
}

// wantsWords reports whether a command splits its text. The others take it as it is, with quotes and all.
func wantsWords(verb string) bool {
	return !slices.Contains([]string{"prompt", "bash", "background", "stop"}, verb)
}

// sectionName recognises the line that begins a file.
func sectionName(line string) (name string, ok bool) {
	line = strings.TrimRight(line, " \t\r\n")
	middle, ok := strings.CutPrefix(line, "-- ")
	if ok {
		middle, ok = strings.CutSuffix(middle, " --")
	}
	name = strings.TrimSpace(middle)
	return name, ok && name != ""
}

func (s *script) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", s.name, line, fmt.Sprintf(format, args...))
}

// resolve replaces a word <<NAME by the content of that file.
func (s *script) resolve(word string) (string, error) {
	name, ok := strings.CutPrefix(word, "<<")
	if !ok {
		return word, nil
	}
	for i := range s.files {
		if s.files[i].name == name {
			s.files[i].taken = true
			return s.files[i].content, nil
		}
	}
	return "", fmt.Errorf("there is no file section -- %s --", name)
}

// splitWords splits a line at white space. '…' is taken as it stands, in "…" the escapes \n, \t, \" and \\ are resolved.
func splitWords(line string) ([]string, error) {
	var words []string
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" {
			return words, nil
		}
		var word string
		var err error
		switch line[0] {
		case '\'':
			text, rest, ok := strings.Cut(line[1:], "'")
			if !ok {
				return nil, fmt.Errorf("a ' is not closed: %s", line)
			}
			word, line = text, rest
		case '"':
			if word, line, err = quotedWord(line); err != nil {
				return nil, err
			}
		default:
			end := strings.IndexAny(line, " \t")
			if end < 0 {
				end = len(line)
			}
			word, line = line[:end], line[end:]
		}
		if line != "" && line[0] != ' ' && line[0] != '\t' {
			return nil, fmt.Errorf("white space is missing before %s", line)
		}
		words = append(words, word)
	}
}

func quotedWord(line string) (word, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(line); i++ {
		switch c := line[i]; c {
		case '"':
			return b.String(), line[i+1:], nil
		case '\\':
			i++
			if i == len(line) {
				break
			}
			switch line[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case '"', '\\':
				b.WriteByte(line[i])
			default:
				return "", "", fmt.Errorf(`there is no escape \%c; there are \n, \t, \" and \\`, line[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", fmt.Errorf("a \" is not closed: %s", line)
}
