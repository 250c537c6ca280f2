package nrepl

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

func TestDescribe(t *testing.T) {
	for _, tt := range []struct {
		frame string // as recorded
		want  Description
	}{
		{ // nbb
			"d3:auxde2:id1:13:opsd9:classpathde5:clonede4:evaldee6:statusl4:donee8:versionsd9:nbb-nrepld5:major4:TODO14:version-string4:TODOe4:noded11:incremental1:25:major3:v205:minor2:2014:version-string8:v20.20.2eee",
			Description{Versions: map[string]string{"nbb-nrepl": "TODO", "node": "v20.20.2"}, Ops: []string{"classpath", "clone", "eval"}},
		},
		{ // versions as plain strings
			"d2:id1:13:opsd4:evalde5:clonelee6:statusl4:donee8:versionsd14:babashka.nrepl14:0.0.6-SNAPSHOTee",
			Description{Versions: map[string]string{"babashka.nrepl": "0.0.6-SNAPSHOT"}, Ops: []string{"clone", "eval"}},
		},
		{"d2:id1:13:ops1:x6:statusl4:donee8:versionslee", Description{Versions: map[string]string{}}},
	} {
		s := session(t, func(p *peer) { p.reply(p.expect("describe"), tt.frame) })
		d, err := s.conn.Describe(t.Context())
		assert.NilError(t, err)
		assert.DeepEqual(t, d, tt.want)
		assert.Equal(t, d.Has("eval"), len(tt.want.Ops) > 0)
		assert.Assert(t, !d.Has("interrupt"))
	}
}

func TestLsSessions(t *testing.T) {
	s := session(t, func(p *peer) {
		p.reply(p.expect("ls-sessions"), "d2:id1:17:session4:none8:sessionsl3:s-13:s-2e6:statusl4:doneee")
	})
	ids, err := s.conn.LsSessions(t.Context())
	assert.NilError(t, err)
	assert.DeepEqual(t, ids, []string{"s-1", "s-2"})
}

// Fault 36: unknown-op, in the three orders in which servers send the words.
func TestOpRefused(t *testing.T) {
	for _, status := range []string{"l4:done10:unknown-op5:errore", "l5:error10:unknown-op4:donee", "l4:done5:error10:unknown-ope"} {
		s := session(t, func(p *peer) { p.reply(p.expect("ls-sessions"), "d2:id1:16:status"+status+"e") })
		_, err := s.conn.LsSessions(t.Context())
		assert.Error(t, err, `the nREPL server does not know the op "ls-sessions"`)
	}
}

func TestOpTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := session(t, func(p *peer) {
			p.expect("describe")
			p.expect("close")
			p.gone()
		})
		_, err := s.conn.Describe(context.Background())
		assert.Error(t, err, `pipe accepted the connection but did not answer "describe" within 30s; the server may be busy`)
		assert.Assert(t, errors.Is(err, ErrTimeout))
	})
}

// Close says goodbye for every open session, once, and waits for no answer
// unless it was told to linger.
func TestConnClose(t *testing.T) {
	for _, tt := range []struct{ linger, answer, took time.Duration }{
		{0, 100 * time.Millisecond, 0},
		{200 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond},
		{200 * time.Millisecond, time.Minute, 200 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := session(t, func(p *peer) {
				request := p.expect("close")
				assert.Check(t, request["session"] == "s-1")
				time.Sleep(tt.answer)
				if tt.took == tt.answer {
					p.reply(request, "d2:id1:17:session3:s-16:statusl4:done14:session-closedee")
				}
				p.gone()
			})
			s.conn.Limits.Linger = tt.linger
			start := time.Now()
			assert.NilError(t, s.conn.Close())
			assert.Equal(t, time.Since(start), tt.took)
			assert.NilError(t, s.conn.Close())
			assert.NilError(t, s.Close())
			_, err := s.conn.Clone(t.Context())
			assert.Error(t, err, "pipe: the nREPL server closed the connection earlier: it was closed by the client")
		})
	}
}

// Closing the connection ends an evaluation that is running on it.
func TestConnCloseDuringEval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := session(t, func(p *peer) {
			p.expect("eval")
			p.expect("close")
			p.gone()
		})
		time.AfterFunc(time.Second, func() { assert.Check(t, s.conn.Close()) })
		_, err := s.Eval(t.Context(), Request{Code: "x"}, nil)
		assert.Error(t, err, "pipe: the nREPL server closed the connection earlier: it was closed by the client")
		assert.Assert(t, errors.Is(err, ErrClosed))
	})
}
