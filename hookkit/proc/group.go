package proc

import "time"

// clear ends what a command that exited by itself left in its group (see the
// package comment): SIGTERM after finish. It returns before the time given; a
// result that is not nil is closed when the rest has ended or was killed.
func (g group) clear(finish, before time.Time, grace time.Duration) <-chan struct{} {
	if !g.alive() {
		return nil
	}
	if g.gone(finish) {
		return nil
	}
	g.terminate()
	end := time.Now().Add(grace)
	if g.gone(earlier(before, end)) {
		return nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if !g.gone(end) {
			g.kill()
		}
	}()
	return done
}

// gone waits until the group is empty, and reports whether it is. There is
// nothing to wait on for a process that is not our child, so it looks again
// after 1 ms, 2 ms, up to 16 ms.
func (g group) gone(before time.Time) bool {
	for pause := time.Millisecond; g.alive(); pause = min(2*pause, 16*time.Millisecond) {
		left := time.Until(before)
		if left <= 0 {
			return false
		}
		time.Sleep(min(pause, left))
	}
	return true
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
