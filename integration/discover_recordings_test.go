package integration

import (
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// recorded is what a server answered in a recorded exchange, one message after the other; "" where it was not recorded or said nothing.
func recorded(t *testing.T, server fakes.Preset, exchange string) string {
	t.Helper()
	data, err := os.ReadFile("../fakes/testdata/nrepl/" + string(server) + ".txt")
	assert.NilError(t, err)
	var answers strings.Builder
	in := false
	for line := range strings.Lines(string(data)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			in = strings.HasPrefix(title, exchange+":")
		} else if answer, ok := strings.CutPrefix(line, "< "); ok && in {
			text, err := strconv.Unquote(strings.TrimSpace(answer))
			assert.NilError(t, err, "%s, %s", server, exchange)
			answers.WriteString(text + "\n")
		}
	}
	return answers.String()
}

// fact is a row of a table of docs/nrepl-servers.md, as the recordings have it.
type fact struct {
	row, exchanges string
	cells          []cell // the first one whose pattern is in the answers is the row's
}

type cell struct{ pattern, text string }

var facts = []fact{
	{"`session` in an answer to a message without one", "04-eval-value", []cell{
		{`7:session36:`, "a fresh id"}, {`7:session4:none`, "`none`"}, {`7:session0:`, "empty; absent after clone"}, {``, "absent"},
	}},
	{"unknown session", "22-unknown-session", []cell{
		{`15:unknown-session`, "unknown-session, nothing evaluated"}, {`5:value1:1`, "evaluated"},
	}},
	{"`id` in an answer to a message without one", "21-no-id", []cell{
		{`2:id7:unknown`, "`unknown`"}, {`2:idle`, "an empty list"}, {`2:id0:`, "empty"}, {`5:value1:2`, "absent"},
	}},
	{"integer `id`", "49-id-integer", []cell{{`2:idi7e`, "comes back as integer"}, {`2:id1:7`, "comes back as a string"}}},
	{"interrupt", "25-interrupt 27-interrupt-idle", []cell{
		{`(?s)4:done11:interrupted.*4:done`, "done, then the interrupt's own done"}, {`10:unknown-op`, "unknown-op"}, {`12:session-idle`, "session-idle, no effect"},
	}},
	{"eval without code", "20-no-code", []cell{{`7:no-code`, "no-code"}, {`10:eval-error`, "an exception"}, {`5:value3:nil`, "value nil"}, {`4:done`, "done"}}},
	{"line as a string", "17-eval-file-line-as-strings", []cell{{`d2:id1:1(2:ns|7:session)|2:id1:17:`, "ignored"}, {``, "never answered"}}},
	{"`#?(…)` without read-cond", "53-eval-read-cond-default", []cell{{`7::is-clj\D`, "allowed"}, {`8::is-cljs`, "allowed, `:cljs`"}, {`^$`, "the server's process ends"}}},
}

// Pins that the page says what the recordings show, wherever a recording can show it.
func TestServersPageIsTrueToTheRecordings(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/nrepl-servers.md")
	assert.NilError(t, err)
	for _, f := range facts {
		row := pageRow(t, string(data), f.row)
		for i, server := range fakes.Presets() {
			answers := ""
			for exchange := range strings.FieldsSeq(f.exchanges) {
				answers += recorded(t, server, exchange)
			}
			at := slices.IndexFunc(f.cells, func(c cell) bool { return regexp.MustCompile(c.pattern).MatchString(answers) })
			assert.Assert(t, at >= 0, "%s, %s: no cell fits %q", server, f.exchanges, answers)
			assert.Check(t, row[i] == f.cells[at].text, "%s of %s: the page says %q, the recording %q", f.row, server, row[i], f.cells[at].text)
		}
	}
}

// pageRow gives the cells of a row, with "the same" put into words: it is what stands to the left.
func pageRow(t *testing.T, page, name string) []string {
	t.Helper()
	for line := range strings.Lines(page) {
		row, ok := strings.CutPrefix(line, "| "+name+" | ")
		if !ok {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimSpace(row), " |"), " | ")
		for i := range cells {
			if i > 0 && cells[i] == "the same" {
				cells[i] = cells[i-1]
			}
		}
		assert.Equal(t, len(cells), len(fakes.Presets()), line)
		return cells
	}
	t.Fatalf("docs/nrepl-servers.md has no row %q", name)
	return nil
}

// Pins what the page says of describe: versions, ops, and the kind that `brepl ls` makes of them (TestLsKinds).
func TestServersPageDescribes(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/nrepl-servers.md")
	assert.NilError(t, err)
	all := map[fakes.Preset]nrepl.Description{}
	common := map[string]int{}
	for _, server := range fakes.Presets() {
		client, peer := net.Pipe()
		answer := strings.TrimSuffix(recorded(t, server, "01-describe"), "\n")
		go func() {
			_, _ = peer.Read(make([]byte, 100))
			_, _ = peer.Write([]byte(answer)) // what goes wrong is seen by the client
		}()
		conn := nrepl.NewConn(client)
		all[server], err = conn.Describe(t.Context())
		assert.NilError(t, err)
		go func() { _, _ = peer.Read(make([]byte, 100)) }()
		assert.NilError(t, conn.Close())
		for _, op := range all[server].Ops {
			common[op]++
		}
	}
	var everywhere []string
	for op, n := range common {
		if n == len(all) {
			everywhere = append(everywhere, op)
		}
	}
	slices.Sort(everywhere)
	ops := pageRow(t, string(data), "ops beside "+strings.Join(everywhere, ", "))
	versions := pageRow(t, string(data), "names in `versions`")
	for i, server := range fakes.Presets() {
		var names, more []string
		for name := range all[server].Versions {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, op := range all[server].Ops {
			if !slices.Contains(everywhere, op) {
				more = append(more, op)
			}
		}
		assert.Check(t, versions[i] == strings.Join(names, ", "), "versions of %s: %s", server, strings.Join(names, ", "))
		assert.Check(t, ops[i] == strings.Join(more, ", "), "ops of %s: %s", server, strings.Join(more, ", "))
	}
}
