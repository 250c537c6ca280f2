//go:build unix

package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// clientJob is one session to be run with a client, all of its files in place.
type clientJob struct {
	Name    string
	Dir     string // where it is started
	Args    []string
	Env     []string // without the API's address
	Prompt  string
	Replies []modelReply
}

// clientResult is what came of a job, as far as it is not on disk.
type clientResult struct {
	Name     string
	Requests []json.RawMessage // to the model, of the session
	Others   []string          // other requests
	Stdout   string
	Stderr   string
	Exit     int
	Fault    string // why there is no result
}

// clientRun is what the process in the namespace is asked for, and what it says.
type clientRun struct {
	Client  string // a path
	Version string // what the client says of itself
	Jobs    []clientJob
	Results []clientResult
	Fault   string
}

// namespaceCommand makes this test binary run jobs in the network namespace in which it was started.
const namespaceCommand = "client-namespace"

// quickExit keeps a test binary that was built with -race from lingering for a second whenever it ends.
const quickExit = "GORACE=atexit_sleep_ms=0"

const (
	clientLimit = 90 * time.Second // for one session
	runLimit    = 8 * time.Minute  // for all of them
)

// clientCommands are what this test binary is besides a test.
func clientCommands(args []string) (code int, known bool) {
	if len(args) < 2 {
		return 0, false
	}
	switch args[1] {
	case clientHookCommand:
		return clientHookMain(args[2:]), true
	case standInCommand:
		return standInMain(args[2:]), true
	case namespaceCommand:
		return namespaceMain(), true
	}
	return 0, false
}

// namespaceMain reads a clientRun, plays it, and writes it back. It refuses to run anything where there is a way out.
func namespaceMain() int {
	var run clientRun
	if err := json.NewDecoder(os.Stdin).Decode(&run); err != nil {
		fmt.Fprintln(os.Stderr, "client-namespace:", err)
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), runLimit)
	defer cancel()
	if err := run.play(ctx); err != nil {
		run.Fault = err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(run); err != nil {
		fmt.Fprintln(os.Stderr, "client-namespace:", err)
		return 1
	}
	return 0
}

func (run *clientRun) play(ctx context.Context) error {
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("the loopback device: %w", err)
	}
	if err := isolated(ctx); err != nil {
		return err
	}
	if len(run.Jobs) > 0 {
		version := clientResult{}
		version.start(ctx, run.Client, clientJob{Dir: run.Jobs[0].Dir, Env: run.Jobs[0].Env, Args: []string{"--version"}})
		if version.Fault != "" || version.Exit != 0 {
			return fmt.Errorf("%s --version: exit %d %s %s", run.Client, version.Exit, version.Fault, version.Stderr)
		}
		run.Version = strings.TrimSpace(version.Stdout)
	}
	run.Results = make([]clientResult, len(run.Jobs))
	var wg sync.WaitGroup
	free := make(chan struct{}, max(2, runtime.NumCPU()))
	for i, job := range run.Jobs {
		free <- struct{}{}
		wg.Go(func() {
			run.Results[i] = runClient(ctx, run.Client, job)
			<-free
		})
	}
	wg.Wait()
	return nil
}

// isolated makes sure that nothing but loopback can be reached. The addresses are those that documents use; no one has them.
func isolated(ctx context.Context) error {
	devices, err := net.Interfaces()
	if err != nil {
		return err
	}
	for _, d := range devices {
		if d.Flags&net.FlagLoopback == 0 && d.Flags&net.FlagUp != 0 {
			return fmt.Errorf("no client is run here: there is a network device %s besides loopback", d.Name)
		}
	}
	for _, address := range []string{"192.0.2.1:443", "[2001:db8::1]:443"} {
		dialer := net.Dialer{Timeout: 2 * time.Second}
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		if !errors.Is(err, syscall.ENETUNREACH) && !errors.Is(err, syscall.EADDRNOTAVAIL) && !errors.Is(err, syscall.EAFNOSUPPORT) {
			return fmt.Errorf("no client is run here: there is a route to %s (%w)", address, err)
		}
	}
	return nil
}

// runClient runs one session of a client against a scripted model of its own.
func runClient(ctx context.Context, client string, job clientJob) clientResult {
	model := &scriptedModel{prompt: job.Prompt, replies: job.Replies}
	result := clientResult{Name: job.Name}
	url, stop, err := model.serve()
	if err != nil {
		result.Fault = err.Error()
		return result
	}
	defer stop()
	job.Env = append(job.Env, "ANTHROPIC_BASE_URL="+url)
	result.start(ctx, client, job)
	model.mu.Lock()
	defer model.mu.Unlock()
	result.Requests, result.Others = model.requests, model.others
	return result
}

// start runs the client to its end, in a process group that ends with it.
func (r *clientResult) start(ctx context.Context, client string, job clientJob) {
	ctx, cancel := context.WithTimeout(ctx, clientLimit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, client, job.Args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = job.Dir, job.Env, &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	r.Stdout, r.Stderr = stdout.String(), stderr.String()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		r.Fault = fmt.Sprintf("the client did not end within %v", clientLimit)
	case errors.As(err, &exit):
		r.Exit = exit.ExitCode()
	case err != nil:
		r.Fault = err.Error()
	}
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind in its group
	}
}

// errNoNamespace says that this machine lets nobody make a network namespace.
var errNoNamespace = errors.New("no network namespace can be made")

// playInNamespace runs the jobs with a client in a network namespace that has no route but loopback.
func playInNamespace(ctx context.Context, client string, jobs []clientJob) (*clientRun, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	in, err := json.Marshal(clientRun{Client: client, Jobs: jobs})
	if err != nil {
		return nil, err
	}
	attributes, err := newNamespace()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, runLimit+time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, namespaceCommand)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &stdout, &stderr
	cmd.Env, cmd.SysProcAttr = append(os.Environ(), quickExit), attributes
	cmd.WaitDelay = 5 * time.Second
	switch err := cmd.Start(); {
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%w: %w", errNoNamespace, err)
	case err != nil:
		return nil, err
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("the process in the namespace: %w: %s", err, stderr.String())
	}
	var run clientRun
	if err := json.Unmarshal(stdout.Bytes(), &run); err != nil {
		return nil, fmt.Errorf("the process in the namespace said %q: %w", stdout.String(), err)
	}
	if run.Fault != "" {
		return nil, errors.New(run.Fault)
	}
	return &run, nil
}
