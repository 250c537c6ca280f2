package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookkit/brepl/fakes"
)

const sum = "(+ 1 2)"

// repls are the servers that brepl is measured against.
type repls struct {
	fake    *fakes.NREPL // in this process
	fakeDir string       // with its port file
	jvmDir  string       // "" where there is no JVM
	endJVM  func()
}

func startREPLs(work string) (r repls, err error) {
	r.fakeDir = filepath.Join(work, "repl")
	if err = os.Mkdir(r.fakeDir, 0o700); err != nil {
		return r, err
	}
	if r.fake, err = fakes.StartNREPL(); err != nil {
		return r, err
	}
	r.fake.On(sum).AnyTimes().Value("3")
	r.fake.WritePortFile(r.fakeDir)
	if r.jvmDir, r.endJVM, err = jvmREPL(filepath.Join(work, "jvm")); err != nil {
		r.fake.Close()
	}
	return r, err
}

func (r repls) end() {
	r.fake.Close()
	r.endJVM()
}

func (r repls) programs(brepl string) []program {
	programs := []program{{"eval", []string{brepl, sum}, r.fakeDir, os.DevNull}}
	if r.jvmDir != "" {
		programs = append(programs, program{"eval-jvm", []string{brepl, sum}, r.jvmDir, os.DevNull})
	}
	return programs
}

// jvmREPL starts an nREPL server on a local JVM in a new folder, which it returns; "" where there is no JVM.
func jvmREPL(dir string) (started string, end func(), err error) {
	nothing := func() {}
	script, err := filepath.Abs("scripts/jvm-nrepl")
	if err != nil {
		return "", nothing, err
	}
	if missing := exec.Command(script, "--check").Run(); missing != nil {
		return "", nothing, nil //nolint:nilerr // no JVM is no fault: its row is left out
	}
	if err = os.Mkdir(dir, 0o700); err != nil {
		return "", nothing, err
	}
	cmd := exec.Command(script, "--until-eof")
	cmd.Dir = dir
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return "", nothing, err
	}
	if err = cmd.Start(); err != nil {
		return "", nothing, err
	}
	end = func() {
		_ = stdin.Close() // the server ends with it
		_ = cmd.Wait()    // by our doing
	}
	for range 600 {
		if port, err := os.ReadFile(filepath.Join(dir, ".nrepl-port")); err == nil && len(port) > 0 {
			return dir, end, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	end()
	return "", nothing, errors.New("the JVM did not write .nrepl-port within a minute")
}

// stream adds the budget of an evaluation that prints 100 MB, in messages of 1024 bytes as a JVM sends them.
func (r *result) stream(brepl string, servers repls) error {
	const size, limit = 100_000 << 10, 40
	servers.fake.On("(print-much)").OutRepeated(strings.Repeat("x", 1023)+"\n", size>>10)
	cmd := exec.Command(brepl, "(print-much)")
	cmd.Dir = servers.fakeDir
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	began := time.Now()
	if err = cmd.Start(); err != nil {
		return err
	}
	peak, printed := 0.0, 0
	buffer := make([]byte, 1<<20)
	for err == nil {
		var n int
		n, err = stdout.Read(buffer)
		printed += n
		// It only grows. The child's rusage would start at our own size.
		peak = max(peak, highWater(cmd.Process.Pid))
	}
	took := time.Since(began)
	if !errors.Is(err, io.EOF) {
		return err
	}
	if err = cmd.Wait(); err != nil {
		return fmt.Errorf("%v: %w", cmd.Args, err)
	}
	if printed != size {
		return fmt.Errorf("%v printed %d bytes, not %d", cmd.Args, printed, size)
	}
	r.Budgets = append(r.Budgets, line{
		What: fmt.Sprintf("peak RSS of brepl for an output of 100 MB, which took %v", took.Round(10*time.Millisecond)), Is: peak, Limit: limit, Unit: "MB", OK: peak <= limit,
	})
	r.OK = r.OK && peak <= limit
	return nil
}

// highWater is the largest RSS of a process so far in MB, 0 where the system does not tell.
func highWater(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	number, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	kib, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0
	}
	return kib * 1024 / 1e6
}
