//go:build !unix

package lab

import (
	"os"
	"os/exec"
)

// Without process groups there is no TERM to send, and only the hook itself can be ended.

func ownGroup(*exec.Cmd) {}

func (p *probe) terminate() bool { return false }

func (p *probe) kill() { _ = p.cmd.Process.Kill() } // gone is fine

func (p *probe) groupAlive() bool { return false }

func killProcess(pid int) {
	if process, err := os.FindProcess(pid); err == nil {
		_ = process.Kill() // gone is fine
	}
}

// processAlive cannot tell here: nothing is swept.
func processAlive(int) bool { return true }
