//go:build unix && !linux

package lab

import "syscall"

// dieWithUs is known to Linux only; elsewhere the process group has to do.
func dieWithUs() *syscall.SysProcAttr { return nil }
