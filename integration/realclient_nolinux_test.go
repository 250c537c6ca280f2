//go:build unix && !linux

package integration

import (
	"fmt"
	"runtime"
	"syscall"
)

func newNamespace() (*syscall.SysProcAttr, error) {
	return nil, fmt.Errorf("%w on %s: a client is only run on Linux", errNoNamespace, runtime.GOOS)
}

func loopbackUp() error { return errNoNamespace }
