package nrepl

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

const (
	value3 = "d2:id1:12:ns4:user7:session3:s-15:value1:3e"
	done   = "d2:id1:17:session3:s-16:statusl4:doneee"
)

// The exact bytes of what is sent: line and column as integers (a server never
// answers strings), keys sorted, nothing that was not asked for.
func TestRequests(t *testing.T) {
	for _, tt := range []struct {
		name string
		call func(s *Session) error
		want string
	}{
		{"eval", func(s *Session) error {
			_, err := s.Eval(t.Context(), Request{Code: "(+ 1 2)"}, nil)
			return err
		}, "d4:code7:(+ 1 2)2:id1:22:op4:eval7:session3:s-1e"},
		{"eval with all", func(s *Session) error {
			_, err := s.Eval(t.Context(), Request{Code: "é", Ns: "a.b", File: "/x.clj", Line: 42, Column: 7, PrintQuota: 64}, nil)
			return err
		}, "d4:code2:é6:columni7e4:file6:/x.clj2:id1:24:linei42e28:nrepl.middleware.print/quotai64e2:ns3:a.b2:op4:eval7:session3:s-1e"},
		{"load-file", func(s *Session) error {
			_, err := s.LoadFile(t.Context(), LoadRequest{Path: "/src/lf/bad.clj", Name: "bad.clj", Content: "(ns lf.bad)\n"}, nil)
			return err
		}, "d4:file12:(ns lf.bad)\n9:file-name7:bad.clj9:file-path15:/src/lf/bad.clj2:id1:22:op9:load-file7:session3:s-1e"},
		{"load-file with a quota", func(s *Session) error {
			_, err := s.LoadFile(t.Context(), LoadRequest{Path: "/a.clj", Name: "a.clj", Content: "1", PrintQuota: 64}, nil)
			return err
		}, "d4:file1:19:file-name5:a.clj9:file-path6:/a.clj2:id1:228:nrepl.middleware.print/quotai64e2:op9:load-file7:session3:s-1e"},
		{"interrupt", (*Session).Interrupt, "d2:id1:22:op9:interrupt7:session3:s-1e"},
		{"stdin", func(s *Session) error { return s.Stdin("a\nb") }, "d2:id1:22:op5:stdin7:session3:s-15:stdin3:a\nbe"},
		{"close", (*Session).Close, "d2:id1:22:op5:close7:session3:s-1e"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := session(t, func(p *peer) {
				buf := make([]byte, 1000)
				n, err := p.nc.Read(buf)
				assert.Check(t, err)
				assert.Check(t, string(buf[:n]) == tt.want, "got %q", buf[:n])
				if strings.Contains(tt.want, "eval") || strings.Contains(tt.want, "load-file") {
					p.reply(Message{"id": "2"}, done)
				}
			})
			assert.NilError(t, tt.call(s))
		})
	}
}

func TestEvalStreams(t *testing.T) {
	s := session(t, func(p *peer) {
		p.reply(p.expect("eval"), "d2:id1:13:out3:a\nbe", value3, "d3:err1:w2:id1:1e", done)
	})
	var got []Message
	r, err := s.Eval(t.Context(), Request{Code: "x"}, func(m Message) { got = append(got, m) })
	assert.NilError(t, err)
	assert.Equal(t, len(got), 4)
	assert.Equal(t, got[0].Text("out"), "a\nb")
	assert.DeepEqual(t, r, Result{
		Values: []string{"3"}, Ns: "user", Status: Status{"done": true},
		Out: Output{Text: "a\nb"}, Err: Output{Text: "w"},
	})
}

// Fault 36: foreign ids, no id at all, done twice, output after done.
func TestEvalIgnoresWhatIsNotItsOwn(t *testing.T) {
	s := session(t, func(p *peer) {
		p.reply(p.expect("eval"), "d2:id3:abc5:value1:86:statusl4:doneee", "d6:statusl4:doneee", "d2:idi2e6:statusl4:doneee", value3, done)
		second := p.expect("eval")
		p.send("d2:id1:26:statusl4:doneee", "d2:id1:23:out5:late\ne")
		p.reply(second, value3, done)
	})
	for range 2 {
		r, err := s.Eval(t.Context(), Request{Code: "x"}, nil)
		assert.NilError(t, err)
		assert.DeepEqual(t, r, Result{Values: []string{"3"}, Ns: "user", Status: Status{"done": true}})
	}
}

// Fault 36: need-input is answered at once with the end of input.
func TestEvalNeedsInput(t *testing.T) {
	s := session(t, func(p *peer) {
		eval := p.expect("eval")
		p.reply(eval, "d2:id1:16:statusl10:need-inputee")
		stdin := p.expect("stdin")
		assert.Check(t, stdin["stdin"] == "" && stdin["session"] == "s-1")
		p.reply(stdin, done)
		p.reply(eval, "d2:id1:12:ns4:user5:value3:nile", done)
	})
	r, err := s.Eval(t.Context(), Request{Code: "(read-line)"}, nil)
	assert.NilError(t, err)
	assert.DeepEqual(t, r.Values, []string{"nil"})
	assert.Assert(t, !r.Failed)
}

// Faults 36 and 37: "done" never comes. How the evaluation ends depends on what
// the server makes of the interrupt.
func TestEvalTimeout(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server func(p *peer, eval, interrupt Message)
		text   string
		took   time.Duration
		status string
	}{
		{
			"interrupted (JVM)", func(p *peer, eval, _ Message) {
				time.Sleep(100 * time.Millisecond)
				p.reply(eval, "d2:id1:16:statusl4:done11:interruptedee")
			},
			"the evaluation timed out after 3s and was interrupted", 3100 * time.Millisecond, "done interrupted",
		},
		{
			"interrupt unknown (babashka.nrepl, nbb)", func(p *peer, _, interrupt Message) {
				p.reply(interrupt, "d2:id1:16:statusl5:error10:unknown-op4:doneee")
			},
			"the evaluation timed out after 3s; the server did not confirm the interrupt, the code may still be running", 3 * time.Second, "",
		},
		{
			"interrupt without effect (let-go)", func(p *peer, _, interrupt Message) {
				p.reply(interrupt, "d2:id1:16:statusl4:done12:session-idleee")
			},
			"the evaluation timed out after 3s; the server did not confirm the interrupt, the code may still be running", 4 * time.Second, "",
		},
		{
			"silent, in the middle of a message", func(p *peer, _, _ Message) { p.send("d3:out10:abc") },
			"the evaluation timed out after 3s; the server did not confirm the interrupt, the code may still be running", 4 * time.Second, "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := session(t, func(p *peer) {
					eval := p.expect("eval")
					p.reply(eval, "d2:id1:13:out6:start\ne")
					interrupt := p.expect("interrupt")
					assert.Check(t, interrupt["interrupt-id"] == eval["id"] && interrupt["session"] == "s-1")
					go tt.server(p, eval, interrupt)
					p.expect("close")
					p.gone()
				})
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				start := time.Now()
				r, err := s.Eval(ctx, Request{Code: "(loop [] (recur))"}, nil)
				assert.Equal(t, time.Since(start), tt.took)
				assert.Error(t, err, tt.text)
				assert.Assert(t, errors.Is(err, ErrTimeout) && errors.Is(err, context.DeadlineExceeded))
				assert.Assert(t, !errors.Is(err, ErrClosed) && !errors.Is(err, ErrNoServer))
				assert.Equal(t, r.Out.Text, "start\n")
				assert.Equal(t, r.Status.String(), tt.status)

				_, err = s.Eval(t.Context(), Request{Code: "1"}, nil)
				assert.Error(t, err, "pipe: the nREPL server closed the connection earlier: "+tt.text)
				assert.Assert(t, errors.Is(err, ErrClosed) && !errors.Is(err, ErrTimeout))
			})
		})
	}
}

// A message that the deadline cuts in two is still read whole: the interrupt's
// effect comes after it.
func TestEvalTimeoutInsideMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := session(t, func(p *peer) {
			eval := p.expect("eval")
			p.send("d2:id1:23:out6:sta")
			p.expect("interrupt")
			go func() {
				p.send("rt\ne")
				p.reply(eval, "d2:id1:16:statusl4:done11:interruptedee")
			}()
			p.expect("close")
			p.gone()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, err := s.Eval(ctx, Request{Code: "x"}, nil)
		assert.Error(t, err, "the evaluation timed out after 1s and was interrupted")
		assert.Equal(t, r.Out.Text, "start\n")
		assert.Assert(t, r.Failed && r.Interrupted)
	})
}

func TestEvalCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := session(t, func(p *peer) {
			eval := p.expect("eval")
			p.expect("interrupt")
			go p.reply(eval, "d2:id1:16:statusl4:done11:interruptedee")
			p.expect("close")
			p.gone()
		})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(2*time.Second, cancel)
		_, err := s.Eval(ctx, Request{Code: "x"}, nil)
		assert.Error(t, err, "the evaluation was canceled after 2s and was interrupted")
		assert.Assert(t, errors.Is(err, context.Canceled) && !errors.Is(err, ErrTimeout))
	})
}

// Interrupt from the handler or another goroutine: Eval reports it, and the
// connection lives on. Nobody knows the outcome, so it failed.
func TestInterrupt(t *testing.T) {
	s := session(t, func(p *peer) {
		eval := p.expect("eval")
		p.reply(eval, "d2:id1:13:out1:xe")
		interrupt := p.expect("interrupt")
		p.reply(eval, "d2:id1:16:statusl4:done11:interruptedee")
		second := p.expect("eval")
		p.reply(interrupt, done)
		p.reply(second, value3, done)
	})
	r, err := s.Eval(t.Context(), Request{Code: "x"}, func(m Message) {
		if m.Text("out") != "" {
			assert.Check(t, s.Interrupt())
		}
	})
	assert.NilError(t, err)
	assert.Assert(t, r.Interrupted && r.Failed)
	r, err = s.Eval(t.Context(), Request{Code: "x"}, nil)
	assert.NilError(t, err)
	assert.DeepEqual(t, r.Values, []string{"3"})
}

// Fault 37: System/exit, server killed, and a peer that stops making sense.
func TestEvalServerGoes(t *testing.T) {
	for _, tt := range []struct{ name, sent, text string }{
		{"between messages", "d2:id1:23:out1:xe", "pipe: the nREPL server closed the connection during eval, after 2s: it ended before the answer was complete"},
		{"in a message", "d2:id1:23:out1:xed2:id", "pipe: the nREPL server closed the connection during eval, after 2s: it ended in the middle of a message"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := session(t, func(p *peer) {
					p.expect("eval")
					p.send(tt.sent)
					time.Sleep(2 * time.Second)
				})
				r, err := s.Eval(t.Context(), Request{Code: "(System/exit 0)"}, nil)
				assert.Error(t, err, tt.text)
				assert.Assert(t, errors.Is(err, ErrClosed) && !errors.Is(err, ErrTimeout))
				assert.Equal(t, r.Out.Text, "x")
			})
		})
	}
	for _, sent := range []string{"99999999999:", "3:abc", "d2:id1:2i1e"} {
		s := session(t, func(p *peer) {
			p.expect("eval")
			_, _ = p.nc.Write([]byte(sent)) // the client may close before it is all read
		})
		_, err := s.Eval(t.Context(), Request{Code: "1"}, nil)
		var protocol *ProtocolError
		assert.Assert(t, errors.As(err, &protocol), "%q: %v", sent, err)
	}
}

// No context deadline is no reason to wait for ever.
func TestEvalWithoutDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := session(t, func(p *peer) {
			p.expect("eval")
			p.expect("interrupt")
			p.expect("close")
			p.gone()
		})
		_, err := s.Eval(context.Background(), Request{Code: "x"}, nil)
		assert.Error(t, err, "the evaluation timed out after 10m0s; the server did not confirm the interrupt, the code may still be running")
	})
}

// A server that does not read: writing ends with the context too.
func TestEvalServerDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		s := session(t, func(*peer) { <-block })
		defer close(block)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		_, err := s.Eval(ctx, Request{Code: strings.Repeat("x", 1<<20)}, nil)
		assert.Assert(t, errors.Is(err, ErrTimeout), "%v", err)
		assert.Equal(t, time.Since(start), 6*time.Second) // and 1 s for the farewell
	})
}

// Two evaluations on one connection run one after the other; waiting for the
// turn is bounded too, and does not disturb the one that runs.
func TestEvalWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := session(t, func(p *peer) {
			eval := p.expect("eval")
			time.Sleep(3 * time.Second)
			p.reply(eval, value3, done)
		})
		first := make(chan error, 1)
		go func() {
			_, err := s.Eval(t.Context(), Request{Code: "1"}, nil)
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := s.Eval(ctx, Request{Code: "2"}, nil)
		assert.Error(t, err, "pipe: eval was not sent within 1s, another call on the connection was running")
		assert.Assert(t, errors.Is(err, ErrTimeout))
		assert.NilError(t, <-first)
	})
}

// Fault 37: a 256 MB print does not grow memory.
func TestEvalBigPrint(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	const messages = 256
	chunk := "d2:id1:23:out1048576:" + strings.Repeat("x", 1<<20) + "e"
	s := session(t, func(p *peer) {
		p.expect("eval")
		for range messages {
			p.send(chunk)
		}
		p.send("d2:id1:26:statusl4:doneee")
	})
	s.conn.Limits.Output = 1000
	live := func() uint64 {
		var now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&now)
		return now.HeapAlloc
	}
	before, most, n := live(), uint64(0), 0
	r, err := s.Eval(t.Context(), Request{Code: "x"}, func(Message) {
		if n++; n%32 == 0 {
			most = max(most, live())
		}
	})
	assert.NilError(t, err)
	assert.Equal(t, len(r.Out.Text), 1000)
	assert.Equal(t, r.Out.Dropped, int64(messages<<20-1000))
	assert.Assert(t, most < before+16<<20, "heap grew from %d to %d MB", before>>20, most>>20)
}
