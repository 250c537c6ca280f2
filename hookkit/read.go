package hookkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Errors of [ReadEvent] and [ParseEvent]. They are wrapped with what arrived and where it went wrong.
var (
	ErrNoEvent  = errors.New("no event on stdin")
	ErrNotJSON  = errors.New("the event is not a JSON object")
	ErrTooLarge = errors.New("the event is too large")
	ErrTimeout  = errors.New("the event did not arrive in time")
)

// ReadLimits bounds what [ReadEvent] takes. A field that is 0 has its default.
type ReadLimits struct {
	Wait  time.Duration // for the whole event, while the machine runs; default 5 s
	Bytes int           // default 64 MiB
}

const (
	defaultWait  = 5 * time.Second
	defaultBytes = 64 << 20
	firstBuffer  = 32 << 10
)

// ReadEvent reads one JSON object and returns its bytes. It is done at the object's last brace: no newline and no end of input is
// needed, and what follows in the same read is dropped. A byte order mark and white space before the object are skipped.
//
// Nothing but white space before the end of the input, after a newline, or until the time is over is [ErrNoEvent]. Everything that
// is no object is [ErrNotJSON], said as soon as the first wrong byte is there. More than the limit is [ErrTooLarge]. Half an object and
// then silence is [ErrTimeout]; the goroutine that reads is then left behind in its read, since a read from a pipe cannot be
// interrupted, so the program should end.
func ReadEvent(ctx context.Context, r io.Reader, limit ReadLimits) ([]byte, error) {
	object, _, err := readObject(ctx, r, limit, false)
	return object, err
}

// readObject is ReadEvent that also gives the object's members, so that a large event is looked through only once. Errors of a discreet
// one quote nothing of what was read: see [Discreet].
func readObject(ctx context.Context, r io.Reader, limit ReadLimits, discreet bool) (object []byte, fields []field, err error) {
	if r == nil {
		return nil, nil, ErrNoEvent
	}
	if limit.Wait <= 0 {
		limit.Wait = defaultWait
	}
	if limit.Bytes <= 0 {
		limit.Bytes = defaultBytes
	}
	// The time is counted in ticks: of those that pass while the machine stands still one is left, so that a machine that wakes up does not
	// find the time over before whoever writes the event could go on.
	const ticks = 10
	clock := time.NewTicker(max(1, limit.Wait/ticks))
	defer clock.Stop()
	left := ticks

	// The reader only reads into buffers that are lent to it, so that nothing after the object is taken and nothing is copied.
	lent := make(chan []byte, 1)
	defer close(lent)
	got := make(chan readResult, 1)
	go readInto(r, lent, got)

	var members spans
	scan := scanner{onTop: members.add, discreet: discreet}
	data := make([]byte, 0, firstBuffer)
	for empty := 0; ; {
		if len(data) == cap(data) {
			data = slices.Grow(data, cap(data))
		}
		lent <- data[len(data):cap(data)]
		var res readResult
		for waiting := true; waiting; {
			select {
			case res = <-got:
				waiting = false
			case <-ctx.Done():
				return nil, nil, fmt.Errorf("reading the event was interrupted: %w", context.Cause(ctx))
			case <-clock.C:
				if left--; left == 0 {
					return nil, nil, lateError(data, scan.state, limit.Wait, discreet)
				}
			}
		}
		if empty++; res.n > 0 {
			empty = 0
		}
		piece := data[len(data) : len(data)+res.n]
		data = data[:len(data)+res.n]
		done, err := scan.feed(piece)
		switch {
		case err != nil:
			return nil, nil, err
		case scan.offset > limit.Bytes:
			return nil, nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit.Bytes)
		case done:
			return data[scan.start:scan.offset:scan.offset], members.fields(data), nil
		case scan.state == scanStart && (scan.newline || res.err != nil):
			return nil, nil, ErrNoEvent
		case res.err != nil && !errors.Is(res.err, io.EOF):
			return nil, nil, fmt.Errorf("cannot read the event: %w", res.err)
		case res.err != nil:
			return nil, nil, fmt.Errorf("%w: the input ended too early: %s", ErrNotJSON, arrived(data, discreet))
		case empty == 100:
			return nil, nil, fmt.Errorf("cannot read the event: %w", io.ErrNoProgress)
		}
	}
}

type readResult struct {
	n   int
	err error
}

func readInto(r io.Reader, lent <-chan []byte, got chan<- readResult) {
	for buffer := range lent {
		n, err := r.Read(buffer)
		got <- readResult{n, err}
	}
}

func lateError(data []byte, state scanState, wait time.Duration, discreet bool) error {
	if state == scanStart {
		return fmt.Errorf("%w: nothing arrived within %v", ErrNoEvent, wait)
	}
	return fmt.Errorf("%w: after %v only %s", ErrTimeout, wait, arrived(data, discreet))
}

// arrived names the bytes that came, with the last few of them unless it is discreet.
func arrived(data []byte, discreet bool) string {
	const shown = 40
	tail := data[max(0, len(data)-shown):]
	end := notShown(len(tail))
	if !discreet {
		end = strconv.Quote(strings.ToValidUTF8(string(tail), "\uFFFD"))
	}
	return fmt.Sprintf("%d bytes arrived, ending in %s", len(data), end)
}

// notShown stands where a part of the event would be quoted.
func notShown(n int) string {
	unit := "bytes of the event are"
	if n == 1 {
		unit = "byte of the event is"
	}
	return fmt.Sprintf("… (%d %s not shown)", n, unit)
}
