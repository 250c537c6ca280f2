package settings

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"time"

	"github.com/hookkit/brepl/hookkit/rawjson"
)

const (
	// DefaultTimeout is what the host gives a handler that names no timeout.
	DefaultTimeout = 600 * time.Second
	// MaxTimeout is the longest that the host can wait: more milliseconds than 32
	// bits hold make its timer fire at once.
	MaxTimeout = 2147483 * time.Second
	// maxTimeout bounds what is read from a file, so that no sum overflows.
	maxTimeout = 365 * 24 * time.Hour
	// maxScan bounds a file that is read on every hook: 16 MiB.
	maxScan = 16 << 20
)

// HostTimeout returns how long the host lets our handlers of one event run:
// the smallest timeout of those that own recognises in files, DefaultTimeout
// when there is none. It is made for every hook: one pass over each file, no
// tree, depth and size bounded (16 MiB a file). It never fails. A file that the
// host would not read (missing, not strict JSON) and a handler that it drops
// (timeout 0, negative or not a number) count as absent.
func HostTimeout(files []File, event string, own func(Handler) bool) time.Duration {
	smallest := time.Duration(0)
	for _, f := range files {
		data, ok := readSmall(f.Path)
		if !ok {
			continue
		}
		for _, h := range scanHandlers(data, event) {
			if h.Dropped || !own(h) {
				continue
			}
			t := h.Timeout
			if t == 0 {
				t = DefaultTimeout
			}
			if smallest == 0 || t < smallest {
				smallest = t
			}
		}
	}
	if smallest == 0 {
		return DefaultTimeout
	}
	return smallest
}

// Handlers returns all handlers in one settings file that the host would
// run, in the order of the file. Like HostTimeout it never fails.
func Handlers(path string) []Handler {
	data, ok := readSmall(path)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(scanHandlers(data, ""), func(h Handler) bool { return h.Dropped })
}

// readSmall reads a regular file of at most maxScan bytes.
func readSmall(path string) ([]byte, bool) {
	info, err := os.Stat(path) // a FIFO or device would block or never end
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxScan {
		return nil, false
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, maxScan+1))
	return data, err == nil && len(data) <= maxScan
}

// scanHandlers returns the handlers of one event ("": of all) in a settings
// file, in order; none when the file is not strict JSON.
func scanHandlers(data []byte, only string) []Handler {
	data = bytes.TrimPrefix(data, []byte(bom))
	if !json.Valid(data) || tooDeep(data) >= 0 {
		return nil
	}
	c := &rawjson.Cursor{Data: data}
	var found []Handler
	members(c, func(name string) {
		if name != "hooks" {
			_ = c.Skip()
			return
		}
		found = nil // of a key given twice the last one counts
		members(c, func(event string) {
			if only != "" && event != only {
				_ = c.Skip()
				return
			}
			found = slices.DeleteFunc(found, func(h Handler) bool { return h.Event == event })
			elements(c, func() { found = append(found, decodeEntry(c, event)...) })
		})
	})
	return found
}

// decodeEntry decodes one entry of an event: a matcher and its handlers.
func decodeEntry(c *rawjson.Cursor, event string) []Handler {
	var handlers []Handler
	matcher := ""
	members(c, func(name string) {
		switch name {
		case "matcher":
			matcher = decoded(c)
		case "hooks":
			handlers = nil
			elements(c, func() { handlers = append(handlers, decodeHandler(c)) })
		default:
			_ = c.Skip()
		}
	})
	for i := range handlers {
		handlers[i].Event, handlers[i].Matcher = event, matcher
	}
	return handlers
}

// OwnTime is how long a handler of ours may take of the host's timeout, so that it always gives its verdict: 5 s less, for ending what
// runs and for the answer, but at least 0.8 of it.
func OwnTime(host time.Duration) time.Duration { return max(host-5*time.Second, host*8/10) }
