package gauntlet

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/settings"
)

const program = "agent-gauntlet"

// sourcePath is how the program is run from source, in a checkout of this module.
const sourcePath = "./cmd/agent-gauntlet"

// Hooks are agent-gauntlet's: the seed's entry for the stop.
func Hooks() settings.Hooks {
	return settings.Hooks{
		Program: program, Events: []string{string(hookkit.EventStop)},
		Own: ownEntry, Mentions: settings.Mentions(program, "stop-hook"),
		RunBy: func(root string) string {
			if isOwnSource(root) {
				return "go run " + sourcePath
			}
			return ""
		},
		Entries: func(s *settings.Site) ([]settings.Entry, error) {
			if _, err := gitRoot(s.Root); err != nil {
				return nil, err
			}
			if _, ok := findRoot(s.Dir); !ok {
				s.Notes = append(s.Notes, "there is no "+configName+" yet, and without one every stop passes; `agent-gauntlet init` writes it")
			}
			return []settings.Entry{{
				Event: string(hookkit.EventStop), NoMatcher: true, Command: s.Word + " stop-hook", Timeout: 300 * time.Second,
			}}, nil
		},
	}
}

// gitRoot is the root of the work tree that holds dir.
func gitRoot(dir string) (string, error) {
	root, ok := project.GitRoot(dir)
	if !ok {
		return "", fmt.Errorf("%s is in no git repository, and what has changed is found with git; run `git init` first", dir)
	}
	return root, nil
}

func isOwnSource(root string) bool {
	for line := range strings.Lines(folder(root).read("go.mod")) {
		if strings.TrimSpace(line) == "module github.com/hookkit/brepl" {
			return folder(root).hasDir(filepath.FromSlash(sourcePath))
		}
	}
	return false
}

// ownEntry recognises our handlers in an agent's settings: the program by any path, and `go run` of its source.
func ownEntry(h settings.Handler) bool {
	return settings.OwnCommand(program, "stop-hook")(h) || runsSource(h)
}

// callsUs also recognises what somebody wrote around our command: its timeout ends us all the same.
func callsUs(h settings.Handler) bool {
	return ownEntry(h) || settings.Mentions(program, "stop-hook")(h)
}

func runsSource(h settings.Handler) bool {
	words, simple := h.Words()
	if !simple || len(words) < 3 || filepath.Base(words[0]) != "go" || words[len(words)-1] != "stop-hook" {
		return false
	}
	for _, word := range words {
		if strings.HasSuffix(strings.TrimSuffix(word, "/"), "cmd/agent-gauntlet") {
			return true
		}
	}
	return false
}
