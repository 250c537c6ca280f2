//go:build !unix

package fakes

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

func socketPair() (child, parent *os.File, err error) {
	return nil, nil, fmt.Errorf("socketpair: %w", errors.ErrUnsupported)
}

func ownGroup(*exec.Cmd) {}

// killGroup kills the child alone: there are no process groups here. The child
// may be gone, which is what is wanted.
func killGroup(p *os.Process) { _ = p.Kill() }

func signalName(*os.ProcessState) string { return "" }

func shellWithoutStdin() (string, error) {
	return "", fmt.Errorf("a closed stdin: %w on this system", errors.ErrUnsupported)
}
