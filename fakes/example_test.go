package fakes_test

import (
	"fmt"
	"io"
	"net"
	"os"

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
