//go:build !unix

package proc

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Without process groups only the command itself can be ended.

func groupAttr() *syscall.SysProcAttr { return nil }

func (g group) alive() bool { return false }

func (g group) terminate() { _ = g.proc.Kill() } // there is no SIGTERM

func (g group) kill() { _ = g.proc.Kill() }

func deathSignal(*os.ProcessState) string { return "" }

func signalName(int) string { return "" }

func isTooBig(error) bool { return false }

func drain(*os.File, io.Writer, int) error { return nil }

func executable(info os.FileInfo) bool { return info.Mode().IsRegular() }

// candidates are the file names a program's name stands for.
func candidates(name string) []string {
	if filepath.Ext(name) != "" {
		return []string{name}
	}
	return []string{name + ".exe", name + ".com", name + ".bat", name + ".cmd"}
}

const foldEnv = true // names of variables are the same in either case
