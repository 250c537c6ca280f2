package lab

import "syscall"

// dieWithUs: a host that kills only the process it knows must end the hook too.
func dieWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
