package fakes_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookkit/brepl/fakes"
	"gotest.tools/v3/assert"
)

// rawClient speaks to the fake with a codec of its own: requests are written
// by hand, replies are read tolerantly.
type rawClient struct {
	t   *testing.T
	net net.Conn
	r   *bufio.Reader
}

func dial(t *testing.T, srv *fakes.NREPL) *rawClient {
	t.Helper()
	c, err := net.Dial("tcp", srv.Addr())
	assert.NilError(t, err)
	t.Cleanup(func() { _ = c.Close() }) // closed already where the test is about closing
	assert.NilError(t, c.SetDeadline(time.Now().Add(2*time.Minute)))
	return &rawClient{t: t, net: c, r: bufio.NewReader(c)}
}

// tryDial connects and hangs up.
func tryDial(srv *fakes.NREPL) error {
	c, err := net.DialTimeout("tcp", srv.Addr(), time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

// dict writes a message: keys and values as strings, keys in sorted order.
func dict(pairs ...string) string {
	var b strings.Builder
	b.WriteByte('d')
	for _, s := range pairs {
		fmt.Fprintf(&b, "%d:%s", len(s), s)
	}
	b.WriteByte('e')
	return b.String()
}

func (c *rawClient) send(data string) {
	c.t.Helper()
	_, err := io.WriteString(c.net, data)
	assert.NilError(c.t, err)
}

// ask sends a message and returns the replies up to the first with "done".
func (c *rawClient) ask(pairs ...string) []string {
	c.t.Helper()
	c.send(dict(pairs...))
	return c.untilDone()
}

func (c *rawClient) untilDone() []string {
	c.t.Helper()
	var replies []string
	for {
		r := c.next()
		replies = append(replies, r)
		if strings.Contains(r, "4:done") {
			return replies
		}
	}
}

// next returns the next reply as it was sent.
func (c *rawClient) next() string {
	c.t.Helper()
	frame, err := c.frame()
	assert.NilError(c.t, err, "after %q", frame)
	return frame
}

func (c *rawClient) frame() (string, error) {
	var b strings.Builder
	err := readBencode(io.TeeReader(byteReader{c.r}, &b))
	return b.String(), err
}

// byteReader reads no byte more than asked for, so that the tee sees one frame.
type byteReader struct{ r *bufio.Reader }

func (b byteReader) Read(p []byte) (int, error) {
	return io.ReadFull(b.r, p)
}

func readBencode(r io.Reader) error {
	var one [1]byte
	depth := 0
	for {
		if _, err := io.ReadFull(r, one[:]); err != nil {
			return err
		}
		switch c := one[0]; {
		case c == 'd' || c == 'l':
			depth++
		case c == 'e':
			depth--
		case c == 'i':
			if _, err := number(r, "", 'e'); err != nil {
				return err
			}
		case c >= '0' && c <= '9':
			n, err := number(r, string(c), ':')
			if err != nil {
				return err
			}
			if _, err := io.CopyN(io.Discard, r, int64(n)); err != nil {
				return err
			}
		default:
			return fmt.Errorf("a value starts with %q", c)
		}
		if depth == 0 {
			return nil
		}
	}
}

func number(r io.Reader, s string, end byte) (int, error) {
	var one [1]byte
	for {
		if _, err := io.ReadFull(r, one[:]); err != nil {
			return 0, err
		}
		if one[0] == end {
			return strconv.Atoi(s)
		}
		s += string(one[0])
	}
}

// rest returns what comes until the server closes.
func (c *rawClient) rest() (string, error) {
	data, err := io.ReadAll(c.r)
	return string(data), err
}

// silent reports whether nothing comes for a while.
func (c *rawClient) silent() bool {
	c.t.Helper()
	assert.NilError(c.t, c.net.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	defer func() { assert.NilError(c.t, c.net.SetReadDeadline(time.Now().Add(2*time.Minute))) }()
	_, err := c.r.Peek(1)
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// clone opens a session and returns its id.
func (c *rawClient) clone() string {
	c.t.Helper()
	reply := c.ask("id", "c0", "op", "clone")[0]
	_, after, ok := strings.Cut(reply, "11:new-session36:")
	assert.Assert(c.t, ok, reply)
	return after[:36]
}
