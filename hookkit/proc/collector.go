package proc

import (
	"io"
	"os"
	"sync"
	"time"
)

// drainLimit bounds what is read after the end: the largest pipe an ordinary
// user can have on Linux. An orphan that writes without pause cannot hold us.
const drainLimit = 1 << 20

// collector moves a command's output from the pipe to a Writer.
type collector struct {
	r    *os.File
	done chan struct{} // closed when run has returned

	mu      sync.Mutex
	w       io.Writer
	err     error // first error of w; from then on the output is dropped
	stopped bool
}

func newCollector(r *os.File, w io.Writer) *collector {
	return &collector{r: r, w: w, done: make(chan struct{})}
}

// run reads until the end of the pipe or its deadline.
func (c *collector) run() {
	defer close(c.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := c.r.Read(buf)
		_, _ = c.Write(buf[:n]) // kept in c.err
		if err != nil {
			return
		}
	}
}

// Write never fails, so that reading goes on: a full pipe would hold the command.
func (c *collector) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(p) > 0 && c.err == nil && !c.stopped {
		_, c.err = c.w.Write(p)
	}
	return len(p), nil
}

// finish waits for the end of the output, for limit at most. What is in the pipe
// by then is kept, and the pipe is closed. It returns the Writer's error.
func (c *collector) finish(limit time.Duration) error {
	timer := time.NewTimer(max(limit, 0))
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
		c.abandon()
	}
	_ = c.r.Close() // read end: nothing can be lost by closing it
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	return c.err
}

// abandon stops reading a pipe that somebody else still holds.
func (c *collector) abandon() {
	if c.r.SetReadDeadline(time.Unix(1, 0)) != nil {
		return // no deadlines on this system's pipes: the reader ends with the pipe
	}
	<-c.done
	if c.r.SetReadDeadline(time.Time{}) == nil {
		_ = drain(c.r, c, drainLimit) // c.Write keeps the error
	}
}
