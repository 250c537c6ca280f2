// Package growth tells how the cost of work grows with its input. Tests ask it in place of a limit in seconds, which one machine keeps
// and the next does not.
package growth

import (
	"fmt"
	"runtime"
	"time"
)

const (
	times  = 4 // the large input, in small ones
	most   = 2 // the large one's cost, in that of four small ones; linear is 1, quadratic 4
	rounds = 8
	tick   = 8 * time.Millisecond // what a clock that ticks slowly may miss
)

// Linear returns an error when work on an input of four times the size costs more than twice as much as four times the work on the small
// one. prepare makes the work on an input of a size and is called once for each of the two.
//
// What counts is how long the calling thread is at work, on Linux; elsewhere it is the time on the clock. Work that is left to other
// goroutines is not counted.
func Linear(size int, prepare func(size int) (work func())) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	small, large := prepare(size), prepare(times*size)
	var a, b time.Duration
	for range rounds {
		start, n := threadTime(), 0
		for ; threadTime()-start < tick; n++ {
			for range times {
				small()
			}
		}
		between := threadTime()
		for range n {
			large()
		}
		a, b = a+between-start, b+threadTime()-between
		if b <= most*a {
			return nil
		}
	}
	return fmt.Errorf("an input of %d costs %.1f times as much as %d inputs of %d", times*size, float64(b)/float64(a), times, size)
}
