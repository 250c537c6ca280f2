//go:build unix

package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// hookAnswer is what a hook of a row does when it is called.
type hookAnswer struct {
	Exit   int
	Stdout string
	Stderr string
	Unread bool     // leaves its input alone
	Hang   bool     // says all this and then does not end
	Child  string   // leaves a child behind for five seconds, which "holds" its streams or is "free" of them
	Write  []string // path and content of a file that it changes
	Wait   string   // a file that it waits for first, for ten seconds at most, and a second more
}

// hookCall is what a hook of a row found when it was called.
type hookCall struct {
	Stdin    string
	CWD      string
	Env      map[string]string // what the client sets, and what it is said to set and does not
	Args     []string          // after the folder's name
	Sockets  bool              // all three streams are sockets
	ByPath   bool              // standard input can be opened by its path
	Terminal bool              // there is a terminal to open
	Group    bool              // it, or the shell that started it, leads a process group of its own
}

// clientHookCommand makes this test binary a hook: it answers as the files in a folder say, and leaves there what it found.
const clientHookCommand = "client-hook"

// claimedVariables are set by no client, whatever some documents say.
var claimedVariables = []string{"FILE_PATH", "NEW_STRING", "SESSION_ID"}

// clientHookMain is called with the folder. answers.json there holds what to answer at each call, the last one for all that follow.
func clientHookMain(args []string) int {
	code, err := answerCall(args[0], args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "client-hook:", err)
		return 99
	}
	return code
}

func answerCall(dir string, args []string) (int, error) {
	data, err := os.ReadFile(filepath.Join(dir, "answers.json"))
	if err != nil {
		return 0, err
	}
	var answers []hookAnswer
	if err = json.Unmarshal(data, &answers); err != nil {
		return 0, err
	}
	// The call's number is the first that nobody took.
	var file *os.File
	n := 0
	for ; ; n++ {
		file, err = os.OpenFile(filepath.Join(dir, fmt.Sprintf("%03d.call", n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			break
		}
		if !os.IsExist(err) {
			return 0, err
		}
	}
	answer := hookAnswer{}
	if len(answers) > 0 {
		answer = answers[min(n, len(answers)-1)]
	}
	call := look(args)
	if !answer.Unread {
		stdin, err := io.ReadAll(os.Stdin)
		if err != nil {
			return 0, err
		}
		call.Stdin = string(stdin)
	}
	if err := json.NewEncoder(file).Encode(call); err != nil {
		return 0, err
	}
	if err := file.Close(); err != nil {
		return 0, err
	}
	return answer.give()
}

func (a hookAnswer) give() (int, error) {
	if a.Wait != "" {
		for range 1000 {
			if _, err := os.Stat(a.Wait); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second) // who wrote it must have ended, on a busy machine too
	}
	if len(a.Write) == 2 {
		if err := os.WriteFile(a.Write[0], []byte(a.Write[1]), 0o600); err != nil {
			return 0, err
		}
	}
	if a.Child != "" {
		child := exec.Command("sleep", "5") // it outlives this process
		if a.Child == "holds" {
			child.Stdout, child.Stderr = os.Stdout, os.Stderr
		}
		if err := child.Start(); err != nil {
			return 0, err
		}
	}
	_, _ = os.Stderr.WriteString(a.Stderr) // a client that does not read is the client's business
	_, _ = os.Stdout.WriteString(a.Stdout)
	if a.Hang {
		time.Sleep(time.Minute)
	}
	return a.Exit, nil
}

// look is what a call finds around it.
func look(args []string) hookCall {
	call := hookCall{Args: args, Env: map[string]string{}, Sockets: true}
	call.CWD, _ = os.Getwd() // "" if it is gone
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		info, err := f.Stat()
		call.Sockets = call.Sockets && err == nil && info.Mode()&os.ModeSocket != 0
	}
	if f, err := os.Open("/dev/stdin"); err == nil {
		call.ByPath = true
		_ = f.Close()
	}
	if f, err := os.Open("/dev/tty"); err == nil {
		call.Terminal = true
		_ = f.Close()
	}
	group := syscall.Getpgrp()
	call.Group = group == os.Getpid() || group == os.Getppid()
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "CLAUDE") || slices.Contains(claimedVariables, name) {
			call.Env[name] = value
		}
	}
	return call
}

// readCalls are the calls of a hook so far.
func readCalls(dir string) ([]hookCall, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.call"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	calls := make([]hookCall, len(files))
	for i, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		// A hook that was killed before it had written this leaves an empty call.
		if len(data) > 0 {
			if err := json.Unmarshal(data, &calls[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", f, err)
			}
		}
	}
	return calls, nil
}
