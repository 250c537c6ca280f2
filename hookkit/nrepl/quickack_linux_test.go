package nrepl

import (
	"net"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// A server that writes each message in two segments with Nagle's algorithm on,
// as the JVM does: without TCP_QUICKACK a round takes 40 ms from the second
// evaluation on.
func TestQuickAck(t *testing.T) {
	const rounds = 20
	port := listen(t, func(nc net.Conn) {
		assert.Check(t, nc.(*net.TCPConn).SetNoDelay(false))
		p := newPeer(t, nc)
		p.reply(p.expect("clone"), "d2:id1:111:new-session3:s-16:statusl4:doneee")
		for range rounds {
			eval := p.expect("eval")
			p.reply(eval, value3)
			p.reply(eval, done)
		}
		p.expect("close")
		p.gone()
	})
	c, err := Connect(t.Context(), Lookup{Port: port})
	assert.NilError(t, err)
	s, err := c.Clone(t.Context())
	assert.NilError(t, err)
	// The kernel holds an ACK back for 40 ms at least, so one round that takes less shows it, however busy the machine is in the others.
	const heldBack = 40 * time.Millisecond
	fastest := time.Hour
	for i := range rounds {
		start := time.Now()
		_, err = s.Eval(t.Context(), Request{Code: "(+ 1 2)"}, nil)
		assert.NilError(t, err)
		if i > 2 {
			fastest = min(fastest, time.Since(start))
		}
	}
	assert.NilError(t, c.Close())
	assert.Assert(t, fastest < heldBack, "the fastest of %d rounds took %s", rounds, fastest)
}
