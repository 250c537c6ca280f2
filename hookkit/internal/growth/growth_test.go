package growth

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestLinear(t *testing.T) {
	var sum uint64
	add := func(n int) {
		for i := range n {
			sum = sum*31 + uint64(i)
		}
	}
	assert.NilError(t, Linear(10_000, func(n int) func() { return func() { add(n) } }))
	assert.ErrorContains(t, Linear(100, func(n int) func() { return func() { add(n * n) } }), "an input of 400 costs ")
	assert.Assert(t, sum != 0)
}
