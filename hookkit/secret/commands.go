package secret

import (
	"strings"
	"unicode"
)

// commands finds what shells are given: variables that are exported, and passwords after options of one letter.
func (s *scanner) commands() {
	text := s.text
	option := ""   // of the tool whose options are read
	before := ""   // the word before, bare
	skipped := 0   // up to here a value was hidden
	given := false // names are given values: export A=1 B=2
	for from, to := wordAt(text, 0); from < to; from, to = wordAt(text, to) {
		if from < skipped {
			continue
		}
		word := text[from:to]
		bare := withoutSigns(word)
		if given {
			equals := strings.IndexByte(word, '=')
			switch {
			case equals > 0:
				v := s.shellValueAt(from + equals + 1)
				s.hideValue(Exported, v)
				skipped = v.end
			case before == "setx": // NAME VALUE
				if v := s.valueAt(to); !prosaic(text[v.from:v.to]) {
					s.hideValue(Exported, v)
					skipped = v.end
				}
				given = false
			case word[0] != '-' && word != `\` && (bare == "" || strings.ContainsFunc(word, unicode.IsLower)):
				given = false
			}
		}
		name := bare[max(strings.LastIndexByte(bare, '/'), strings.LastIndexByte(bare, '\\'))+1:]
		its := passwordOption(name)
		switch {
		case isOneOf(name, "export", "setx"):
			given = true
		case its != "":
			option = its
		case word[0] == '-':
			s.option(option, from, to)
		case strings.ContainsAny(word, "|;&"):
			option = ""
		}
		before = bare
	}
}

// withoutSigns is a word without what prose and code put around it.
func withoutSigns(word string) string {
	const signs = "`'\"*_(),.;:=$"
	for word != "" && strings.IndexByte(signs, word[0]) >= 0 {
		word = word[1:]
	}
	for word != "" && strings.IndexByte(signs, word[len(word)-1]) >= 0 {
		word = word[:len(word)-1]
	}
	return word
}

// passwordOption is the option of a tool that takes a password. "=" behind it: the password may also be the next word.
func passwordOption(tool string) string {
	switch tool {
	case "mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlsh", "mycli", "mariadb", "mariadb-dump", "mariadb-admin", "7z", "7za":
		return "-p"
	case "sshpass", "mongo", "mongosh", "mongodump", "mongorestore", "login": // docker login
		return "-p="
	case "redis-cli":
		return "-a="
	case "ldapsearch", "ldapmodify", "ldapadd":
		return "-w="
	case "sqlcmd", "bcp", "unzip", "zip":
		return "-P="
	}
	return ""
}

// option hides the password that an option has. password is the option of the tool that has one.
func (s *scanner) option(password string, from, to int) {
	text := s.text
	word := text[from:to]
	if long, ok := strings.CutPrefix(word, "--"); ok {
		name, _, assigned := strings.Cut(long, "=")
		if name == "user" || name == "proxy-user" {
			at := to
			if assigned {
				at = from + len("--=") + len(name)
			}
			s.userAndPassword(at)
		}
		return
	}
	if strings.HasPrefix(word, "-u") || strings.HasPrefix(word, "-U") {
		s.userAndPassword(from + len("-u"))
		return
	}
	password, next := strings.CutSuffix(password, "=")
	rest, ok := strings.CutPrefix(word, password)
	switch {
	case !ok || password == "" || strings.HasPrefix(rest, "-"):
	case strings.Trim(rest, "`'\".,;") != "":
		s.hideValue(Password, s.valueAt(to-len(rest)))
	case next && rest == "":
		if v := s.valueAt(to); !prosaic(text[v.from:v.to]) && !strings.HasPrefix(text[v.from:], "-") {
			s.hideValue(Password, v)
		}
	}
}

// userAndPassword hides a value such as NAME:PASSWORD; 1000:1000 is what containers are told of users.
func (s *scanner) userAndPassword(at int) {
	v := s.valueAt(at)
	value := s.text[v.from:v.to]
	name, password, ok := strings.Cut(value, ":")
	if !ok {
		name, password, ok = strings.Cut(value, "%")
	}
	if ok && name != "" && password != "" && !strings.HasPrefix(password, "//") && strings.Trim(value, "0123456789:") != "" {
		s.hideValue(Credentials, v)
	}
}
