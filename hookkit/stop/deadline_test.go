package stop

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func TestLimits(t *testing.T) {
	for _, row := range []struct{ host, own, grace time.Duration }{
		{600 * time.Second, 595 * time.Second, 5 * time.Second / 3},
		{60 * time.Second, 55 * time.Second, 5 * time.Second / 3},
		{25 * time.Second, 20 * time.Second, 5 * time.Second / 3},
		{10 * time.Second, 8 * time.Second, 2 * time.Second / 3},
		{time.Second, 800 * time.Millisecond, 200 * time.Millisecond / 3},
	} {
		l := limitsFor(row.host)
		assert.Equal(t, l.own, row.own)
		assert.Equal(t, l.grace(), row.grace)
		assert.Assert(t, l.own+l.grace() < l.host, "there is time left for the answer")
	}
}
