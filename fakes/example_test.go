package fakes_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hookkit/brepl/fakes"
)

// In a test the constructor is fakes.NewNREPL(t), and what Problems returns
// here fails the test.
func ExampleStartNREPL() {
	srv, err := fakes.StartNREPL()
	if err != nil {
		fmt.Println(err)
		return
	}
	srv.On("(+ 1 2)").Value("3")
	srv.On("(/ 1 0)").Exception("java.lang.ArithmeticException", "Divide by zero")

	conn, err := net.Dial("tcp", srv.Addr())
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = io.WriteString(conn, "d4:code7:(+ 1 2)2:id1:12:op4:evale")
	fmt.Println(srv.AwaitOp("eval", 1, 5e9))
	_ = conn.Close()
	srv.Close()
	for _, p := range srv.Problems() {
		fmt.Println(p)
	}
	// Output:
	// true
	// expectation not used: eval "(/ 1 0)": expected once, used 0 times
}

// A hook must act on a whole event although the host holds stdin open. Here the
// test binary itself plays the hook.
func ExampleSpec_Run() {
	self, err := os.Executable()
	if err != nil {
		fmt.Println(err)
		return
	}
	spec := fakes.Spec{
		Path: self,
		Env:  append(fakes.HostEnv("/project", "s1"), childVariable+"=decode"),
	}
	event := fakes.StopEvent(fakes.InSession("s1"), fakes.Set("stop_hook_active", true))
	out, err := spec.Run(fakes.HeldOpen(event.JSON()))
	fmt.Println(out.Exit, out.Stdout, err)
	// Output: 2 session s1
	//  <nil>
}

func ExampleStopEvent() {
	fmt.Println(fakes.StopEvent(fakes.InProject("/app"), fakes.Set("last_assistant_message", "All tests pass.")).JSON())
	// Output: {"session_id":"11111111-1111-4111-8111-000000000001","transcript_path":"/home/dev/.claude/projects/-app/11111111-1111-4111-8111-000000000001.jsonl","cwd":"/app","prompt_id":"22222222-2222-4222-8222-000000000001","permission_mode":"acceptEdits","effort":{"level":"medium"},"hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"All tests pass.","background_tasks":[],"session_crons":[]}
}

// One script, five servers. After an error in form 2 of 3 only the JVM goes on.
func ExampleNREPLPreset() {
	for _, preset := range fakes.Presets() {
		srv, err := fakes.StartNREPL(fakes.NREPLPreset(preset))
		if err != nil {
			fmt.Println(err)
			return
		}
		srv.On("1 (/ 1 0) 3").Value("1").Exception("java.lang.ArithmeticException", "Divide by zero").Value("3")
		conn, err := net.Dial("tcp", srv.Addr())
		if err != nil {
			fmt.Println(err)
			return
		}
		_, _ = io.WriteString(conn, "d4:code11:1 (/ 1 0) 32:id1:12:op4:evale")
		var answer strings.Builder
		for one := make([]byte, 1); !strings.Contains(answer.String(), "4:done"); answer.Write(one) {
			_, _ = io.ReadFull(conn, one)
		}
		fmt.Println(preset, "values:", strings.Count(answer.String(), "5:value"),
			"eval-error:", strings.Contains(answer.String(), "eval-error"))
		_ = conn.Close()
		srv.Close()
	}
	// Output:
	// jvm-1.0.0 values: 2 eval-error: true
	// jvm-1.7 values: 2 eval-error: true
	// babashka values: 1 eval-error: true
	// nbb values: 1 eval-error: false
	// let-go values: 0 eval-error: false
}

// A client is told to wait, asks again, and is answered.
func ExampleLLM() {
	llm, err := fakes.StartLLM() // in a test: fakes.NewLLM(t)
	if err != nil {
		fmt.Println(err)
		return
	}
	llm.On(fakes.OpenAIPath).Contains("TECH_DEBT").RateLimited(time.Second).Deny("TECH_DEBT")
	for range 2 {
		response, err := http.Post(llm.URL()+fakes.OpenAIPath, "application/json", strings.NewReader(`{"ask":"TECH_DEBT"}`))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d %q\n", response.StatusCode, response.Header.Get("Retry-After"))
		_ = response.Body.Close()
	}
	llm.Close()
	fmt.Println(llm.Problems())
	// Output:
	// 429 "1"
	// 200 ""
	// []
}

// The TestMain of this package begins with fakes.ToolMain().
func ExampleTool() {
	tool, err := fakes.StartTool("claude") // in a test: fakes.NewTool(t, "claude")
	if err != nil {
		fmt.Println(err)
		return
	}
	tool.Expect("-p").Stdin("review").Answer("no findings\n", "", 0)

	cmd := exec.Command("sh", "-c", "echo please review | claude -p")
	cmd.Env = tool.Env(os.Environ())
	out, err := cmd.Output()
	fmt.Printf("%q %v\n", out, err)
	tool.Close()
	fmt.Printf("%q %v\n", tool.Calls()[0].Stdin, tool.Problems())
	// Output:
	// "no findings\n" <nil>
	// "please review\n" []
}
