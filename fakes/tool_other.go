//go:build !unix

package fakes

import (
	"fmt"
	"runtime"
	"syscall"
)

func toolScript(_, _, name string) (string, error) {
	return "", fmt.Errorf("the fake tool %s needs /bin/sh and unix sockets; %s has none", name, runtime.GOOS)
}

func killItself() { syscall.Exit(toolUnexpected) }
