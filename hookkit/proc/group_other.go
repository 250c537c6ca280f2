//go:build !unix

package proc

import (
	"io"
	"os"
	"path/filepath"
)

// Without process groups only the command itself can be ended.

// group is a command alone.
type group struct{ process *os.Process }

type child struct{ process *os.Process }

func startChild(path string, argv []string, dir string, env []string, in, out *os.File) (child, error) {
	process, err := os.StartProcess(path, argv, &os.ProcAttr{Dir: dir, Env: env, Files: []*os.File{in, out, out}})
	return child{process}, err
}

func (c child) group() group { return group{c.process} }

func (c child) wait() (ending, error) {
	state, err := c.process.Wait()
	if err != nil {
		return ending{code: -1}, err
	}
	return ending{code: state.ExitCode()}, nil
}

func (g group) alive() bool { return false }

func (g group) terminate() { _ = g.process.Kill() } // there is no SIGTERM

func (g group) kill() { _ = g.process.Kill() }

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
