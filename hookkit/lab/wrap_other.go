//go:build !unix

package lab

import (
	"context"
	"errors"
	"os/exec"
	"time"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/proc"
)

// errNoRecording is why there is no recording.
var errNoRecording = errors.New("recording a command needs a unix system; the command ran without it")

// wrap runs the command. Streams are not recorded on this system, and who asks is told so.
func wrap(ctx context.Context, p *cli.Program, argv []string, dir string, fault error) int {
	r := newRecorder(p, argv, dir, time.Now(), fault)
	if fault == nil {
		r.opened, r.err = true, errNoRecording
	}
	path, err := proc.LookPath(argv[0], p.Env)
	if err != nil {
		return cannotStart(p, argv, err)
	}
	cmd := &exec.Cmd{Path: path, Args: argv, Dir: p.Dir, Env: p.Env, Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr}
	err = cmd.Run()
	r.report(ctx)
	if cmd.ProcessState == nil {
		return cannotStart(p, argv, err)
	}
	return cmd.ProcessState.ExitCode()
}
