package stop

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func TestLimits(t *testing.T) {
	for _, row := range []struct{ host, own, grace time.Duration }{
		{600 * time.Second, 595 * time.Second, 2 * time.Second},
		{60 * time.Second, 55 * time.Second, 2 * time.Second},
		{25 * time.Second, 20 * time.Second, 2 * time.Second},
		{10 * time.Second, 8 * time.Second, time.Second},
		{time.Second, 800 * time.Millisecond, 100 * time.Millisecond},
	} {
		l := limitsFor(row.host)
		assert.Equal(t, l.own, row.own)
		assert.Equal(t, l.grace(), row.grace)
		assert.Assert(t, l.own+l.grace() < l.host, "there is time left for the answer")
	}
}
