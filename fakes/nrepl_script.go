package fakes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// step is one part of an answer.
type step struct {
	do     func(e *evaluation) bool // false: the evaluation has ended with it
	waits  bool                     // do notices an interrupt and answers it
	always bool                     // done also after an error at which the code stopped
}

// Expect is one foreseen request and the answer to it, a sequence of steps in
// the order of the calls:
//
//	srv.On("(run-tests)").Out("Testing a\n").Value("{:fail 0}")
//
// A final "done" is added unless a step ends the evaluation itself. It is
// answered once; see [Expect.Times]. Several expectations for the same request
// are used in the order in which they were made.
type Expect struct {
	srv   *NREPL
	what  string
	match func(Message) bool
	steps []step
	deaf  bool
	used  int
	least int
	most  int // -1: any number
}

func (s *NREPL) expect(what string, match func(Message) bool) *Expect {
	e := &Expect{srv: s, what: what, match: match, least: 1, most: 1}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expects = append(s.expects, e)
	return e
}

// On expects an eval of exactly this code.
func (s *NREPL) On(code string) *Expect {
	return s.expect(fmt.Sprintf("eval %q", code), func(m Message) bool {
		return m.Op() == "eval" && m.Text("code") == code
	})
}

// OnContains expects an eval whose code contains part.
func (s *NREPL) OnContains(part string) *Expect {
	return s.expect(fmt.Sprintf("eval of code with %q", part), func(m Message) bool {
		return m.Op() == "eval" && strings.Contains(m.Text("code"), part)
	})
}

// OnMatch expects a request, of whatever op, for which match returns true. The
// description stands in failure messages. match must not call the server.
func (s *NREPL) OnMatch(description string, match func(Message) bool) *Expect {
	return s.expect(description, match)
}

// OnOp expects a request with this op, in place of what the server would
// answer by itself.
func (s *NREPL) OnOp(op string) *Expect {
	return s.expect("op "+op, func(m Message) bool { return m.Op() == op })
}

// OnLoadFile expects a load-file with exactly this file-path.
func (s *NREPL) OnLoadFile(path string) *Expect {
	return s.expect(fmt.Sprintf("load-file %q", path), func(m Message) bool {
		return m.Op() == "load-file" && m.Text("file-path") == path
	})
}

// OnLoadFileContains expects a load-file whose content contains part.
func (s *NREPL) OnLoadFileContains(part string) *Expect {
	return s.expect(fmt.Sprintf("load-file of content with %q", part), func(m Message) bool {
		return m.Op() == "load-file" && strings.Contains(m.Text("file"), part)
	})
}

// Times expects the request exactly n times, each answered the same way. 0
// means never.
func (e *Expect) Times(n int) *Expect { return e.count(n, n) }

// AnyTimes allows the request any number of times, also none.
func (e *Expect) AnyTimes() *Expect { return e.count(0, -1) }

func (e *Expect) count(least, most int) *Expect {
	e.srv.mu.Lock()
	defer e.srv.mu.Unlock()
	e.least, e.most = least, most
	return e
}

func (e *Expect) add(do func(*evaluation) bool) *Expect { return e.addStep(step{do: do}) }

// addWaiting adds a step that waits for something.
func (e *Expect) addWaiting(do func(*evaluation) bool) *Expect {
	return e.addStep(step{do: do, waits: true})
}

func (e *Expect) addStep(st step) *Expect {
	e.srv.mu.Lock()
	defer e.srv.mu.Unlock()
	e.steps = append(e.steps, st)
	return e
}

// Value sends each value in a message of its own, with ns, as for several
// forms. load-file on the JVM sends only the last one, without ns; other
// servers differ, see [NREPLPreset].
func (e *Expect) Value(values ...string) *Expect {
	return e.add(func(v *evaluation) bool {
		for _, value := range values {
			v.value(value)
		}
		return true
	})
}

func (e *evaluation) value(value string) {
	d := &e.srv.dialect
	load := e.request.Op() == "load-file"
	r := Message{"value": value}
	if !load || d.nsWithLoad {
		r["ns"] = e.ns
	}
	if load && d.lastValueLoad || !load && d.lastValue {
		e.heldValue = r
		return
	}
	e.send(r)
}

// Ns switches to another namespace, as (ns name) does in the code. Values that
// follow name it. Later evaluations are in it where the server keeps it: in the
// session on the JVM and babashka after an eval, in the whole server on nbb and
// let-go, after load-file too.
func (e *Expect) Ns(name string) *Expect {
	return e.add(func(v *evaluation) bool {
		v.switchNs(name)
		return true
	})
}

// NoSuchNs is what the server does when the ns of the request is not there.
// The JVM answers namespace-not-found and babashka throws, and that is the end
// of it; nbb and let-go ignore the ns and go on with the script.
func (e *Expect) NoSuchNs() *Expect {
	return e.add(func(v *evaluation) bool {
		d := &v.srv.dialect
		ns := v.request.Text("ns")
		switch d.missingNs {
		case missingNsRefused:
			v.send(Message{"ns": ns, "status": d.unknownNs})
			return false
		case missingNsThrows:
			v.thrown(strings.ReplaceAll(d.failedNs.Text("err"), "{ns}", ns), d.failedNs.Text("ex"), d.failedNs.Text("ex"))
		case missingNsIgnored:
		}
		return true
	})
}

// Out sends text as standard output: one message per line and at most 1024
// UTF-16 units each, as println does it on the JVM.
func (e *Expect) Out(text string) *Expect { return e.printed("out", text) }

// Err sends text as standard error, cut like [Expect.Out]. nbb and let-go send
// it as out.
func (e *Expect) Err(text string) *Expect { return e.printed("err", text) }

func (e *Expect) printed(stream, text string) *Expect {
	return e.add(func(v *evaluation) bool { return v.print(stream, text) })
}

// print reports false when it was interrupted.
func (e *evaluation) print(stream, text string) bool {
	if e.srv.dialect.stderrAsOut {
		stream = "out"
	}
	if e.srv.dialect.outAtEnd && stream == "out" {
		e.heldOut.WriteString(text)
		return !e.wasInterrupted() || e.stopped()
	}
	for line := range strings.SplitAfterSeq(text, "\n") {
		for _, part := range e.srv.dialect.chunks(line) {
			if e.wasInterrupted() {
				return e.stopped()
			}
			e.send(Message{stream: part})
		}
	}
	return true
}

// OutRepeated is [Expect.Out] n times over, for more output than one string
// should hold. An interrupt ends it.
func (e *Expect) OutRepeated(text string, n int) *Expect {
	return e.add(func(v *evaluation) bool {
		for range n {
			if !v.print("out", text) {
				return false
			}
		}
		return true
	})
}

// Exception throws, and the server tells it in its way: on the JVM an err
// message with the text the REPL prints, then a message of its own with status
// eval-error, ex and root-ex. class is the full name, such as
// "java.lang.ArithmeticException". What follows in the script goes on where the
// server goes on with the next form, which only the JVM does.
func (e *Expect) Exception(class, message string) *Expect {
	return e.add(func(v *evaluation) bool {
		text, ex := v.srv.dialect.exception(class, message)
		v.thrown(text, ex, ex)
		return true
	})
}

// Thrown is [Expect.Exception] with the exact texts: what is printed to err
// (nothing if empty), ex and root-ex, which nbb never sends. Use it for compile
// errors.
func (e *Expect) Thrown(err, ex, rootEx string) *Expect {
	return e.add(func(v *evaluation) bool {
		v.thrown(err, ex, rootEx)
		return true
	})
}

// ReadError is [Expect.Thrown] for code that cannot be read. No server goes on
// after it: nothing that follows in the script is sent but [Expect.Async].
func (e *Expect) ReadError(err, ex, rootEx string) *Expect {
	return e.add(func(v *evaluation) bool {
		v.thrown(err, ex, rootEx)
		v.unread = true
		return true
	})
}

func (e *evaluation) thrown(err, ex, rootEx string) {
	d := &e.srv.dialect
	e.failed = true
	e.heldValue = nil
	e.release()
	r := Message{"ex": ex}
	if !d.noRootEx {
		r["root-ex"] = rootEx
	}
	if d.evalError != nil {
		r["status"] = d.evalError
	}
	if d.errorNamesNs {
		r["ns"] = e.ns
		if e.request.Op() == "load-file" {
			r["ns"] = initialNs // wherever the file went
		}
	}
	switch {
	case err == "":
	case d.errorInOne:
		r["err"] = err
	case d.newlineAlone: // cuts what is printed, not what is reported
		e.send(Message{"err": err})
	default:
		for _, part := range d.chunks(err) {
			e.send(Message{"err": part})
		}
	}
	e.send(r)
}

// Status sends a message with these statuses. With "done" among them the
// evaluation ends and no other done follows. For "namespace-not-found" the
// message names the ns, as the real server's does.
func (e *Expect) Status(statuses ...string) *Expect {
	return e.add(func(v *evaluation) bool {
		r := Message{"status": statuses}
		if slices.Contains(statuses, "namespace-not-found") {
			r["ns"] = v.request.Text("ns")
		}
		v.release()
		v.send(r)
		return !hasDone(r)
	})
}

// Message sends a message with exactly these fields beside id and session.
// With "done" in its status ([]string) the evaluation ends.
func (e *Expect) Message(fields Message) *Expect {
	return e.add(func(v *evaluation) bool {
		r := maps.Clone(fields)
		v.release()
		v.send(r)
		return !hasDone(r)
	})
}

// NeedInput asks for input and waits until the client answers with op stdin in
// the same session. Without a session it waits for ever, as the real server
// does. babashka, nbb and let-go never ask: there it is a problem, and the
// script must say with [Expect.Thrown] what the code does instead.
func (e *Expect) NeedInput() *Expect {
	return e.addWaiting(func(v *evaluation) bool {
		if v.srv.dialect.needInput == nil {
			v.srv.problem("the script says NeedInput, but %s never asks for input; script the error it answers", v.srv.dialect.name)
			return true
		}
		var input chan string
		if v.sess != nil {
			input = v.sess.input
			for len(input) > 0 {
				<-input // what came before it was asked for
			}
		}
		v.send(Message{"status": v.srv.dialect.needInput})
		select {
		case <-input:
			return true
		case <-v.interrupted:
		case <-v.srv.closing:
		}
		return v.stopped()
	})
}

// Delay sleeps. When interrupted it throws an InterruptedException before it
// answers "done interrupted", as a sleeping thread does.
func (e *Expect) Delay(d time.Duration) *Expect {
	return e.addWaiting(func(v *evaluation) bool {
		if v.wait(d) {
			return true
		}
		if v.wasInterrupted() {
			v.thrown("Execution error (InterruptedException) at java.lang.Thread/sleep (Thread.java:-2).\nsleep interrupted\n",
				"class java.lang.InterruptedException", "class java.lang.InterruptedException")
		}
		return v.stopped()
	})
}

// Hang goes on for ever, like a busy loop, until it is interrupted.
func (e *Expect) Hang() *Expect {
	return e.addWaiting(func(v *evaluation) bool {
		v.wait(-1)
		return v.stopped()
	})
}

// HangUninterruptible goes on for ever. An interrupt is answered with "done"
// and changes nothing.
func (e *Expect) HangUninterruptible() *Expect {
	e.srv.mu.Lock()
	e.deaf = true
	e.srv.mu.Unlock()
	return e.add(func(v *evaluation) bool {
		<-v.srv.closing
		return false
	})
}

// Raw sends these bytes and nothing around them.
func (e *Expect) Raw(data []byte) *Expect {
	return e.add(func(v *evaluation) bool {
		v.conn.raw(data)
		return true
	})
}

// Drop sends half of a message and closes the connection.
func (e *Expect) Drop() *Expect {
	return e.add(func(v *evaluation) bool {
		r := Message{"value": "dropped"}
		v.srv.address(r, v.request, v.session)
		v.conn.write.Lock()
		defer v.conn.write.Unlock()
		v.conn.halfLocked(r.encode(v.conn.fault.order))
		return false
	})
}

// Async sends output with the same id after the evaluation has ended, as a
// future does. after counts from the end.
func (e *Expect) Async(after time.Duration, out string) *Expect {
	return e.addStep(step{always: true, do: func(v *evaluation) bool {
		v.async = append(v.async, func() {
			if v.srv.sleep(after) {
				v.send(Message{"out": out})
			}
		})
		return true
	}})
}
