//go:build !unix

package fakes

import "os"

// termGroup ends the child alone: there are neither groups nor TERM here.
func termGroup(p *os.Process) { _ = p.Kill() }

func groupAlive(*os.Process) bool { return false }
