package fakes

import (
	"strings"
	"time"
)

// Fault is one way in which a server, or whatever else listens on its port,
// misbehaves on a connection. Give it to [NREPLFault] or
// [NREPLFaultOnConnection].
//
// On a connection with a fault the fake goes on recording and checking what
// the client sends.
type Fault struct {
	name string

	banner  []byte   // sent as soon as the connection is accepted
	instead []byte   // sent when the first message arrives, in place of every reply
	mute    bool     // no replies
	end     faultEnd // what follows banner and instead
	half    bool     // the first reply is cut in its middle, then the connection closes
	split   bool     // every byte is written alone
	order   keyOrder // of the keys in replies
	slow    time.Duration
	noDone  bool // "done" of an evaluation is never sent
	twice   bool // "done" of an evaluation is sent twice
	foreign bool // messages with ids nobody sent stand between the replies
	joined  bool // the messages up to the next "done" leave in one write
}

// faultEnd is what happens to a connection after the fault's bytes were sent.
type faultEnd uint8

const (
	endOpen   faultEnd = iota // stays open, silent
	endClose                  // closed
	endReset                  // reset: the client reads ECONNRESET
	endHalved                 // closed for writing, still read
)

// String returns the fault's name, for naming sub-tests.
func (f Fault) String() string { return f.name }

// splitPause stands between two bytes of [SplitEveryByte], so that the client
// really reads them one by one.
const splitPause = 200 * time.Microsecond

// Silent accepts, reads and never answers.
func Silent() Fault { return Fault{name: "silent", mute: true} }

// Garbage sends data in place of every reply and leaves the connection open.
func Garbage(data []byte) Fault { return Fault{name: "garbage", instead: data, mute: true} }

// HTTPAnswer is a web server on the port: it answers 400 and closes.
func HTTPAnswer() Fault {
	return Fault{
		name: "http", mute: true, end: endClose,
		instead: []byte("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n" +
			"Connection: close\r\n\r\n400 Bad Request"),
	}
}

// RedisAnswer is a Redis server on the port: an error line, the connection
// stays open.
func RedisAnswer() Fault {
	return Fault{name: "redis", mute: true, instead: []byte("-ERR unknown command 'd2:id1:1', with args beginning with: \r\n")}
}

// SSHBanner is an SSH server on the port: it speaks first, then waits.
func SSHBanner() Fault {
	return Fault{name: "ssh", mute: true, banner: []byte("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")}
}

// HugeLength answers with a string of 99999999999 bytes that never comes. A
// client that allocates by the announced length dies of it.
func HugeLength() Fault {
	return Fault{name: "huge length", mute: true, instead: []byte("d2:id99999999999:")}
}

// NegativeLength answers with a string length of -1.
func NegativeLength() Fault {
	return Fault{name: "negative length", mute: true, instead: []byte("d2:id-1:")}
}

// BadInteger answers with an integer that bencode does not have, i-0e.
func BadInteger() Fault {
	return Fault{name: "bad integer", mute: true, instead: []byte("d2:idi-0ee")}
}

// DeepNesting answers with depth lists inside each other, complete and well
// formed. A client that recurses without bound overflows its stack.
func DeepNesting(depth int) Fault {
	return Fault{
		name: "deep nesting", mute: true,
		instead: []byte("d1:x" + strings.Repeat("l", depth) + strings.Repeat("e", depth) + "e"),
	}
}

// UnsortedKeys sends the keys of every dictionary in reverse order.
func UnsortedKeys() Fault { return Fault{name: "unsorted keys", order: reversedKeys} }

// DuplicateKeys sends every key of every dictionary twice, with the same value.
func DuplicateKeys() Fault { return Fault{name: "duplicate keys", order: doubledKeys} }

// SplitEveryByte writes every byte of every reply alone.
func SplitEveryByte() Fault { return Fault{name: "split at every byte", split: true} }

// Joined holds the messages back until one has "done" and writes them at once,
// so that the client reads several frames in one.
func Joined() Fault { return Fault{name: "several frames in one", joined: true} }

// DropMidFrame sends half of the first reply and closes. To drop in the middle
// of an evaluation instead, script [Expect.Drop].
func DropMidFrame() Fault { return Fault{name: "drop mid-frame", half: true} }

// NeverDone withholds every message of an evaluation whose status has "done".
func NeverDone() Fault { return Fault{name: "never done", noDone: true} }

// DoneTwice sends the "done" of an evaluation twice.
func DoneTwice() Fault { return Fault{name: "done twice", twice: true} }

// ForeignIDs puts before each reply an out, a value and a done whose id the
// client never sent.
func ForeignIDs() Fault { return Fault{name: "foreign ids", foreign: true} }

// SlowOutput waits before every message of an evaluation.
func SlowOutput(pause time.Duration) Fault { return Fault{name: "slow output", slow: pause} }

// ResetConnection resets the connection when the first message has arrived.
func ResetConnection() Fault { return Fault{name: "reset", mute: true, end: endReset} }

// HalfClosed closes the writing side when the first message has arrived and
// goes on reading.
func HalfClosed() Fault { return Fault{name: "half closed", mute: true, end: endHalved} }
