// Package fakes holds what a test puts in place of the world around a hook
// program: an nREPL server that follows a script ([NREPL]) as one of five real
// servers would ([NREPLPreset]), a model server ([LLM]), a command-line tool on
// PATH ([Tool]), a host that feeds a hook's standard input in every awkward way
// ([Stdin], [Run]), the events and environment of a real client ([StopEvent],
// [HostEnv]), and a project tree to work in ([Project]).
//
// The fakes are strict. A call that no script foresees fails the test at once
// and shows what arrived; an expectation that nothing used fails it at the
// end. Each fake has its own codec and its own field names and imports nothing
// of the programs it tests: one mistake cannot hide on both sides.
//
// A test of an nREPL client looks like this:
//
//	srv := fakes.NewNREPL(t)
//	srv.On("(run-tests)").Out("Testing a\n").Value("{:fail 0, :error 0}")
//	srv.WritePortFile(dir)
//	// … run the client in dir …
//	for _, s := range srv.Sessions() {
//		assert.Assert(t, s.Closed)
//	}
//
// and one of a hook like this:
//
//	out := fakes.Run(t, fakes.Spec{Path: hook, Dir: dir, Env: env}, fakes.HeldOpen(fakes.StopEvent().JSON()))
//	assert.Equal(t, out.Exit, 0, out.Stderr)
//	assert.Assert(t, out.AfterBrace < 50*time.Millisecond)
//
// Constructors take a [T], which *testing.T satisfies, so the fakes work
// outside of tests too. [StartNREPL], [StartLLM], [StartTool] and [Spec.Run] need
// no T at all.
//
// The package promises stability: names may be added, none change.
package fakes
