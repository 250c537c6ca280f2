package nrepl

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

// conn returns a client on a pipe whose peer follows the script.
func conn(t *testing.T, script func(p *peer)) *Conn {
	t.Helper()
	c, p := pipe(t)
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = c.nc.Close()
		<-done
	})
	go func() {
		defer close(done)
		defer p.nc.Close()
		script(p)
	}()
	return c
}

// Issue 5: -m gets an id unless it has one, and every answer is given on, errors and foreign keys too.
func TestRaw(t *testing.T) {
	for _, tt := range []struct {
		name    string
		message Message
		answer  string
		id      any
	}{
		{"an id is added", Message{"op": "describe"}, "d2:id1:16:statusl4:doneee", "1"},
		{"the id given stays", Message{"op": "describe", "id": "mine"}, "d2:id4:mine6:statusl4:doneee", "mine"},
		{"an integer stays one", Message{"op": "describe", "id": int64(7)}, "d2:idi7e6:statusl4:doneee", int64(7)},
		{"let-go answers it as text", Message{"op": "describe", "id": int64(7)}, "d2:id1:76:statusl4:doneee", int64(7)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := conn(t, func(p *peer) {
				request := p.expect("describe")
				assert.Check(t, request["id"] == tt.id, "%v", request)
				p.send("d2:id7:foreign6:statusl4:doneee", tt.answer)
			})
			given := len(tt.message)
			var got []Message
			assert.NilError(t, c.Raw(t.Context(), tt.message, func(m Message) { got = append(got, m) }))
			assert.Equal(t, len(got), 1)
			assert.Equal(t, len(tt.message), given) // the caller's map is left alone
		})
	}
}

func TestRawAnswers(t *testing.T) {
	c := conn(t, func(p *peer) {
		p.expect("nonsense")
		p.send("d2:id1:13:out1:xe", "d2:id1:16:statusl5:error10:unknown-op4:doneee")
	})
	var got []string
	assert.NilError(t, c.Raw(t.Context(), Message{"op": "nonsense"}, func(m Message) { got = append(got, m.Text("out")+m.Status().String()) }))
	assert.DeepEqual(t, got, []string{"x", "done error unknown-op"})
}

// Fault 36: need-input without a session cannot be answered, with one it is the end of input.
func TestRawNeedsInput(t *testing.T) {
	c := conn(t, func(p *peer) {
		p.expect("eval")
		p.send("d2:id1:16:statusl10:need-inputee")
		p.gone()
	})
	assert.ErrorIs(t, c.Raw(t.Context(), Message{"op": "eval", "code": "(read-line)"}, nil), ErrNeedsInput)

	c = conn(t, func(p *peer) {
		p.expect("eval")
		p.send("d2:id1:16:statusl10:need-inputee")
		stdin := p.expect("stdin")
		assert.Check(t, stdin["stdin"] == "" && stdin["session"] == "s-9")
		p.send("d2:id1:15:value3:nil6:statusl4:doneee")
	})
	assert.NilError(t, c.Raw(t.Context(), Message{"op": "eval", "code": "(read-line)", "session": "s-9"}, nil))
}

func TestRawEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := conn(t, func(p *peer) {
			p.expect("eval")
			p.gone()
		})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		err := c.Raw(ctx, Message{"op": "eval"}, nil)
		assert.ErrorIs(t, err, ErrTimeout)
		assert.Error(t, err, `pipe accepted the connection but did not answer "eval" within 2s; the server may be busy`)
		assert.ErrorIs(t, c.Raw(t.Context(), Message{"op": "eval"}, nil), ErrClosed)
	})
	c := conn(t, func(*peer) {})
	assert.ErrorContains(t, c.Raw(t.Context(), Message{"op": "x", "n": 1.5}, nil), "bencode has no float64")
}

// Issue 5: --verbose shows every message both ways, the clone and what nobody waits for included.
func TestTrace(t *testing.T) {
	var got []string
	c, p := pipe(t)
	c.Trace = func(sent bool, m Message) {
		arrow := "<- "
		if sent {
			arrow = "-> "
		}
		got = append(got, arrow+m.Text("op")+m.Text("value")+m.Text("new-session")+m.Status().String())
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.expect("clone")
		p.send("d2:id1:111:new-session3:s-16:statusl4:doneee")
		p.reply(p.expect("eval"), value3, "d2:id1:16:statusl4:doneee")
		p.expect("close")
	}()
	s, err := c.Clone(t.Context())
	assert.NilError(t, err)
	_, err = s.Eval(t.Context(), Request{Code: "x"}, nil)
	assert.NilError(t, err)
	assert.NilError(t, c.Close())
	<-done
	assert.DeepEqual(t, got, []string{"-> clone", "<- s-1done", "-> eval", "<- 3", "<- done", "-> close"})
}

// Issue 5: need-input is answered with what the caller has, and its messages go on to arrive meanwhile.
func TestEvalInput(t *testing.T) {
	seen := make(chan struct{})
	s := session(t, func(p *peer) {
		eval := p.expect("eval")
		p.reply(eval, "d2:id1:16:statusl10:need-inputee", "d2:id1:13:out4:ticke")
		stdin := p.expect("stdin")
		assert.Check(t, stdin["stdin"] == "Ada\n", "%v", stdin)
		p.reply(eval, "d2:id1:16:statusl10:need-inputee")
		stdin = p.expect("stdin")
		assert.Check(t, stdin["stdin"] == "", "%v", stdin)
		p.reply(eval, "d2:id1:12:ns4:user5:value3:nile", "d2:id1:16:statusl4:doneee")
	})
	lines := []string{"Ada\n"}
	input := func(context.Context) (string, error) {
		<-seen
		if len(lines) == 0 {
			return "thrown away", context.Canceled
		}
		line := lines[0]
		lines = lines[1:]
		return line, nil
	}
	r, err := s.Eval(t.Context(), Request{Code: "x", Input: input}, func(m Message) {
		if m.Text("out") == "tick" {
			close(seen)
		}
	})
	assert.NilError(t, err)
	assert.DeepEqual(t, r.Values, []string{"nil"})
}

// A person who does not answer does not hold up the end of the evaluation.
func TestEvalInputEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := session(t, func(p *peer) {
			load := p.expect("load-file")
			p.reply(load, "d2:id1:16:statusl10:need-inputee", "d2:id1:16:statusl10:need-inputee", "d2:id1:16:statusl10:need-inputee")
			time.Sleep(time.Second)
			p.reply(load, "d2:id1:16:statusl4:doneee")
		})
		asked := 0
		_, err := s.LoadFile(t.Context(), LoadRequest{Content: "x", Input: func(ctx context.Context) (string, error) {
			asked++
			<-ctx.Done()
			return "late", nil
		}}, nil)
		assert.NilError(t, err)
		assert.Equal(t, asked, 1)
	})
}
