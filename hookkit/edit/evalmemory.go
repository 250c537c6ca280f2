package edit

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/session"
)

const (
	evalMemoryName = "eval.edn"  // in the session's private folder
	lookName       = "eval-look" // beside it
	maxEvalMemory  = 1 << 20
	maxTold        = 500 // files; the oldest are forgotten first
	memoryWait     = time.Second
)

// evalMemory is what `hook eval` remembers of a session, so that the agent is told each thing once.
type evalMemory struct {
	noServer bool      // it was told that there is no server
	retry    time.Time // until then no server is discovered again, and one that was silent is not asked again
	silent   bool      // the last server that was tried accepted and was silent
	noLook   time.Time // until then the project is not walked through: it was too large
	told     []told    // oldest first
	owed     []owed
}

// told is an error that an agent knows: the sub-agent with that id, or with "" the session's own. The path is physical.
type told struct{ path, fingerprint, agent string }

// owed is a changed file that is still to be loaded: after the next event, or when the file to blame loads, because it requires that one.
type owed struct{ path, blame string }

// fingerprint stands for the text of an error. What differs each time that the same code runs does not count: the digits of addresses
// (0x7f3a, Object@7f3a), and of names that Clojure makes (eval2366, fn__140, G__12).
func fingerprint(text string) string {
	sum := fnv.New64a()
	for text != "" {
		end := len(text)
		for _, mark := range [...]string{"0x", "@", "eval", "__"} {
			if i := strings.Index(text, mark); i >= 0 {
				end = min(end, i+len(mark))
			}
		}
		_, _ = sum.Write([]byte(text[:end])) // a hash takes everything
		text = strings.TrimLeft(text[end:], "0123456789abcdef")
	}
	return strconv.FormatUint(sum.Sum64(), 16)
}

// knows reports whether an agent was told of this error of a file, and no other one since.
func (m *evalMemory) knows(agent, path, text string) bool {
	return slices.Contains(m.told, told{path, fingerprint(text), agent})
}

// fails reports whether a file had an error when it was last looked at.
func (m *evalMemory) fails(path string) bool {
	return slices.ContainsFunc(m.told, func(one told) bool { return one.path == path })
}

// tell notes that an agent was told.
func (m *evalMemory) tell(agent, path, text string) {
	m.told = slices.DeleteFunc(m.told, func(one told) bool { return one.path == path && one.agent == agent })
	m.told = append(m.told, told{path, fingerprint(text), agent})
	m.told = m.told[max(0, len(m.told)-maxTold):]
}

// mended notes that there is no error of a file any more.
func (m *evalMemory) mended(path string) {
	m.told = slices.DeleteFunc(m.told, func(one told) bool { return one.path == path })
}

// owe notes that files were dealt with, apart from those that are owed.
func (m *evalMemory) owe(paths []string, list []owed) {
	m.owed = slices.DeleteFunc(m.owed, func(one owed) bool { return slices.Contains(paths, one.path) })
	m.owed = append(m.owed, list...)
	m.owed = m.owed[max(0, len(m.owed)-maxLoads):]
}

func (m *evalMemory) encode() string {
	var b strings.Builder
	fmt.Fprintf(&b, "{:no-server %v :silent %v :retry %d :no-look %d\n :told [", m.noServer, m.silent, max(m.retry.Unix(), 0), max(m.noLook.Unix(), 0))
	for _, one := range m.told {
		fmt.Fprintf(&b, "\n  [%s %s %s]", clj.QuoteString(one.path), clj.QuoteString(one.fingerprint), clj.QuoteString(one.agent))
	}
	b.WriteString("]\n :owed [")
	for _, one := range m.owed {
		fmt.Fprintf(&b, "\n  [%s %s]", clj.QuoteString(one.path), clj.QuoteString(one.blame))
	}
	b.WriteString("]}\n")
	return b.String()
}

// decodeEvalMemory reads what encode has written. What cannot be read counts as nothing.
func decodeEvalMemory(data []byte) *evalMemory {
	m := &evalMemory{}
	nodes, errs := clj.ReadAll(evalMemoryName, data, clj.Options{})
	if len(errs) > 0 || len(nodes) != 1 {
		return m
	}
	n := nodes[0]
	m.noServer, _ = n.Get("no-server").Bool()
	m.silent, _ = n.Get("silent").Bool()
	for key, into := range map[string]*time.Time{"retry": &m.retry, "no-look": &m.noLook} {
		if seconds, ok := n.Get(key).Int(); ok {
			*into = time.Unix(seconds, 0)
		}
	}
	for _, one := range rows(n.Get("told"), 3) {
		m.told = append(m.told, told{one[0].Text, one[1].Text, one[2].Text})
	}
	for _, one := range rows(n.Get("owed"), 2) {
		m.owed = append(m.owed, owed{one[0].Text, one[1].Text})
	}
	return m
}

// rows are the elements of a list that have so many children each.
func rows(list *clj.Node, children int) (found [][]*clj.Node) {
	if list == nil {
		return nil
	}
	for _, one := range list.Children {
		if len(one.Children) == children {
			found = append(found, one.Children)
		}
	}
	return found
}

// pausing reports whether a pause of a length has not come to its end. One that ends later than it could is of a clock that was set back.
func pausing(end time.Time, length time.Duration) bool {
	left := time.Until(end)
	return left > 0 && left <= length
}

// memories is where a session's evalMemory is.
type memories struct {
	session *session.Session
	note    noteFunc
}

// read gives what is remembered.
func (k *memories) read() *evalMemory {
	if dir, err := k.session.Find(); err == nil {
		if data, err := session.ReadOwned(filepath.Join(dir, evalMemoryName), maxEvalMemory); err == nil {
			return decodeEvalMemory(data)
		}
	}
	return &evalMemory{}
}

// change changes what is remembered, under the session's lock, and writes it where it is another one then. It reports whether that
// worked; the change is made to what is known in any case.
func (k *memories) change(ctx context.Context, f func(*evalMemory)) bool {
	m := k.read()
	before := m.encode()
	if f(m); m.encode() == before {
		return true
	}
	dir, err := k.session.Dir()
	if err == nil {
		var unlock func()
		if unlock, err = k.session.Lock(context.WithoutCancel(ctx), memoryWait); err == nil {
			defer unlock()
			m = k.read() // another process may have written meanwhile
			f(m)
			err = session.WriteFile(filepath.Join(dir, evalMemoryName), []byte(m.encode()), session.WriteOptions{State: true})
		}
	}
	if err != nil {
		k.note("nothing is remembered: %v", err)
	}
	return err == nil
}

// lookFile is where the session's last look at the project's files is. With create the folder is made.
func (k *memories) lookFile(create bool) (string, error) {
	find := k.session.Find
	if create {
		find = k.session.Dir
	}
	dir, err := find()
	return filepath.Join(dir, lookName), err
}

// hasLook reports whether there is an earlier look.
func (k *memories) hasLook() bool {
	file, err := k.lookFile(false)
	if err != nil {
		return false
	}
	_, err = os.Lstat(file)
	return err == nil
}
