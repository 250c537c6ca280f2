// Command play tells the story of scripts/demo with the built program: stop, blocked, fixed, stop, approved, session end.
// It plays the host: it starts each hook with the host's event and environment, and shows what comes back.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookkit/brepl/fakes"
)

const (
	source = `(ns shop.stock)

(defn remove-stock
  "Takes n units off; never below zero."
  [quantity n]
  (- quantity n))
`
	test = `(ns shop.stock-test
  (:require [clojure.test :refer [deftest is]]
            [shop.stock :as stock]))

(deftest never-below-zero
  (is (= 3 (stock/remove-stock 5 2)))
  (is (= 0 (stock/remove-stock 2 5))))
`
	hooks = `{:stop
 [{:type :tests
   :name "tests"
   :retry-on-failure? true
   :max-retries 10
   :required? true
   :timeout 60}]}
`
	wrong, right = "(- quantity n)", "(max 0 (- quantity n))"

	session = "11111111-1111-4111-8111-000000000001"
)

func main() {
	scripted := flag.Bool("stand-in", false, "use the scripted stand-in even if there is a JVM")
	flag.Parse()
	if err := play(*scripted); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// stage is where the story happens.
type stage struct {
	brepl   string
	project string
	env     []string
	step    int
}

func play(scripted bool) (err error) {
	began := time.Now()
	brepl, err := filepath.Abs("bin/brepl")
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "brepl-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }() // ours, in the system's temporary folder
	s := &stage{brepl: brepl, project: filepath.Join(work, "shop")}
	state := filepath.Join(work, "state")
	s.env = append(fakes.WithoutHostEnv(os.Environ()), fakes.HostEnv(s.project, session)...)
	// Home too is the story's own, so that nobody's settings take part in it.
	s.env = append(s.env, "BREPL_STATE_DIR="+state, "HOME="+filepath.Join(work, "home"), "NO_COLOR=1")

	s.chapter("A Clojure project. One of its tests fails.")
	files := [][2]string{{"src/shop/stock.clj", source}, {"test/shop/stock_test.clj", test}}
	for _, f := range files {
		if err = s.write(f[0], f[1]); err != nil {
			return err
		}
		fmt.Printf("    %s\n%s", f[0], quote(f[1]))
	}

	s.chapter("A REPL that runs.")
	end, err := s.startREPL(scripted)
	if err != nil {
		return err
	}
	defer end()

	s.chapter("brepl is installed into the project's settings, and told what must pass.")
	if err = s.command(0, "hook", "install"); err != nil {
		return err
	}
	if err = s.write(".brepl/hooks.edn", hooks); err != nil {
		return err
	}
	fmt.Printf("    .brepl/hooks.edn\n%s", quote(hooks))

	s.chapter(`The agent says "done". The host fires its Stop event, and brepl runs the tests.`)
	blocked, err := s.hook("stop", fakes.StopEvent(fakes.InProject(s.project), fakes.InSession(session)))
	if err != nil {
		return err
	}
	if blocked.exit != 2 || !strings.Contains(blocked.stderr, "never-below-zero") {
		return fmt.Errorf("the stop was to be blocked with the failing test's report, and was not")
	}
	fmt.Println("    Exit code 2: the agent has to go on, and reads the text on stderr.")

	s.chapter("The agent reads it and fixes the function.")
	if err = s.write("src/shop/stock.clj", strings.Replace(source, wrong, right, 1)); err != nil {
		return err
	}
	fmt.Printf("    - %s\n    + %s\n", wrong, right)

	s.chapter(`It says "done" again.`)
	passed, err := s.hook("stop", fakes.StopEvent(fakes.InProject(s.project), fakes.InSession(session), fakes.Set("stop_hook_active", true)))
	if err != nil {
		return err
	}
	if passed.exit != 0 || passed.stdout != "{\"decision\":\"approve\"}\n" {
		return fmt.Errorf("the stop was to be approved, and was not")
	}
	fmt.Println("    Exit code 0: the agent can stop.")

	s.chapter("The session ends, and nothing of it is left.")
	if _, err = s.hook("session-end", fakes.SessionEndEvent("other", fakes.InProject(s.project), fakes.InSession(session))); err != nil {
		return err
	}
	left, err := leftovers(state)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("state is left: %s", strings.Join(left, ", "))
	}
	fmt.Printf("    No state file of the session is left.\n\nThe story took %.1f s.\n", time.Since(began).Seconds())
	return nil
}

func (s *stage) chapter(title string) {
	s.step++
	fmt.Printf("\n%d. %s\n\n", s.step, title)
}

func (s *stage) write(name, text string) error {
	path := filepath.Join(s.project, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

func quote(text string) string {
	return "      | " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n      | ") + "\n"
}

// command runs brepl as a person would and shows what it prints.
func (s *stage) command(want int, args ...string) error {
	out, err := s.run("", args...)
	if err != nil {
		return err
	}
	fmt.Printf("    $ brepl %s\n%s", strings.Join(args, " "), quote(out.stdout+out.stderr))
	if out.exit != want {
		return fmt.Errorf("brepl %s: exit code %d, not %d", strings.Join(args, " "), out.exit, want)
	}
	return nil
}

type outcome struct {
	stdout, stderr string
	exit           int
}

// hook runs one of brepl's hooks as the host does and shows both streams.
func (s *stage) hook(name string, event fakes.Event) (outcome, error) {
	began := time.Now()
	out, err := s.run(event.JSON()+"\n", "hook", name)
	if err != nil {
		return out, err
	}
	fmt.Printf("    $ brepl hook %s    (the host's event on stdin)\n", name)
	for _, stream := range [][2]string{{"stderr", out.stderr}, {"stdout", out.stdout}} {
		if stream[1] != "" {
			fmt.Printf("      %s\n%s", stream[0], quote(strings.ReplaceAll(stream[1], s.project, "…/shop")))
		}
	}
	fmt.Printf("      exit %d, %d ms\n\n", out.exit, time.Since(began).Milliseconds())
	return out, nil
}

func (s *stage) run(stdin string, args ...string) (outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, s.brepl, args...)
	cmd.Dir, cmd.Env = s.project, s.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return outcome{}, err
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}, nil
}

// startREPL starts a real Clojure in the project, or the stand-in where there is none.
func (s *stage) startREPL(scripted bool) (end func(), err error) {
	script, err := filepath.Abs("scripts/jvm-nrepl")
	if err != nil {
		return nil, err
	}
	if scripted {
		fmt.Println("    A scripted stand-in was asked for.")
		return s.standIn()
	}
	if exec.Command(script, "--check").Run() != nil {
		fmt.Println("    There is no JVM with nREPL here, so a scripted stand-in takes its place.")
		return s.standIn()
	}
	began := time.Now()
	cmd := exec.Command(script, "--until-eof", "--bind", "127.0.0.1", "--port", "0")
	cmd.Dir = s.project
	cmd.Env = append(os.Environ(), "BREPL_TEST_CLASSPATH="+filepath.Join(s.project, "src")+":"+filepath.Join(s.project, "test"))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	if err = cmd.Start(); err != nil {
		return nil, err
	}
	end = func() {
		_ = stdin.Close() // this ends the server
		_ = cmd.Wait()
	}
	// The port file is there when this line comes.
	first, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		end()
		return nil, fmt.Errorf("the nREPL server did not start: %w", err)
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	fmt.Printf("    A real one: Clojure on the JVM, ready after %.1f s. It says:\n%s", time.Since(began).Seconds(), quote(first))
	return end, nil
}

// standIn is the scripted server of the test harness. It knows the two answers of this story and no Clojure.
func (s *stage) standIn() (func(), error) {
	server, err := fakes.StartNREPL(fakes.NREPLOnPort(0))
	if err != nil {
		return nil, err
	}
	const plan, end = "brepl-tests {:event :plan :namespaces [\"shop.stock-test\"] :missing []}\n", "brepl-tests {:event :end}\n"
	server.OnContains(";; brepl reload").AnyTimes().Value("nil") // it knows nothing of files
	server.OnContains("clojure.test/report").
		Out(plan + `brepl-tests {:event :test :ns "shop.stock-test" :test "never-below-zero" :line 5 :failures [{:type :fail :file "stock_test.clj" :line 7 ` +
			`:expected "(= 0 (stock/remove-stock 2 5))" :actual "(not (= 0 -3))"}]}` + "\n").
		Out(`brepl-tests {:event :ns :ns "shop.stock-test" :test 1 :pass 1 :fail 1}` + "\n" + end).
		Value("nil")
	server.OnContains("clojure.test/report").
		Out(plan + `brepl-tests {:event :ns :ns "shop.stock-test" :test 1 :pass 2}` + "\n" + end).
		Value("nil")
	fmt.Printf("    It answers on port %d, and knows this story only.\n", server.Port())
	return server.Close, s.write(".nrepl-port", strconv.Itoa(server.Port()))
}

// leftovers lists the files below the state folder that belong to a session. What is remembered of the project's tests stays.
func leftovers(state string) ([]string, error) {
	var left []string
	err := filepath.WalkDir(state, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasPrefix(entry.Name(), "tests-") {
			left = append(left, path)
		}
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	})
	slices.Sort(left)
	return left, err
}
