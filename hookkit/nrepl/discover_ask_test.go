package nrepl

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// What the five servers answered to describe, recorded, and what kind that makes them.
func TestKinds(t *testing.T) {
	for _, tt := range []struct{ versions, kind, name string }{
		{"d7:clojured11:incrementali1e5:majori1e5:minori11e14:version-string6:1.11.1e4:javad14:version-string7:17.0.15e5:nrepld14:version-string5:1.0.0ee", "clojure", "clojure 1.11.1"},
		{"d7:clojured14:version-string6:1.11.1e5:nrepld14:version-string0:ee", "clojure", "clojure 1.11.1"},
		{"d14:babashka.nrepl14:0.0.6-SNAPSHOTe", "babashka", "babashka 0.0.6-SNAPSHOT"},
		{"d8:babashka7:1.3.19014:babashka.nrepl5:0.0.7e", "babashka", "babashka 1.3.190"},
		{"d9:nbb-nrepld5:major4:TODO14:version-string4:TODOe4:noded11:incremental1:25:major3:v205:minor2:2014:version-string8:v20.20.2ee", "nbb", "nbb"},
		{"d6:let-god5:major1:15:minor1:0e5:nrepld5:major1:15:minor1:0ee", "let-go", "let-go 1.0"},
		{"d8:basilisp5:0.4.0e", "basilisp", "basilisp 0.4.0"},
		{"d5:nrepl3:1.06:python3:3.14:zonk1:2e", "zonk", "zonk 2"},
		{"de", "nREPL", "nREPL"},
		{"le", "nREPL", "nREPL"},
		{"d7:clojurelee", "clojure", "clojure"},
	} {
		server, v := describe(t, "d2:id1:18:versions"+tt.versions+"6:statusl4:doneee")
		assert.Equal(t, v, isServer)
		assert.Equal(t, server.Kind, tt.kind, tt.versions)
		assert.Equal(t, server.Name(), tt.name, tt.versions)
	}
}

// describe asks a peer that answers once.
func describe(t *testing.T, answer string) (*Server, verdict) {
	t.Helper()
	port := listen(t, func(nc net.Conn) {
		p := newPeer(t, nc)
		p.reply(p.expect("describe"), answer)
		p.gone()
	})
	server, v, _ := (&listener{Target: Target{Host: "127.0.0.1", Port: port}, dir: "/known"}).ask(t.Context())
	return server, v
}

// What is no answer to describe is no server; a refusal is one.
func TestAskStrangers(t *testing.T) {
	for _, tt := range []struct {
		name  string
		serve func(nc net.Conn)
		want  verdict
	}{
		{"HTTP", text("HTTP/1.1 400 Bad Request\r\n\r\n"), noServer},
		{"SSH", text("SSH-2.0-OpenSSH\r\n"), noServer},
		{"closed", text(""), noServer},
		{"half an answer", text("d2:id"), noServer},
		{"a large answer", text("d2:id1:16:versio999999999:"), noServer},
		{"without end", func(nc net.Conn) {
			for {
				if _, err := io.WriteString(nc, "d3:out5:helloe"); err != nil {
					return
				}
			}
		}, noServer},
		{"unknown op", text("d2:id1:16:statusl5:error10:unknown-op4:doneee"), isServer},
		{"silent", silent(t), noAnswer},
		{"another's answer", func(nc net.Conn) {
			text("d2:id1:x6:statusl4:doneee")(nc)
			<-t.Context().Done()
		}, noAnswer},
	} {
		limit := time.Minute
		if tt.want == noAnswer {
			limit = 50 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, v, _ := (&listener{Target: Target{Host: "127.0.0.1", Port: listen(t, tt.serve)}}).ask(ctx)
		cancel()
		assert.Equal(t, v, tt.want, tt.name)
	}
	_, v, _ := (&listener{Target: Target{Host: "localhost", Port: stalePort(t)}}).ask(t.Context())
	assert.Equal(t, v, noServer)
}

// runningIn serves a describe and says its directory, as a JVM does.
func runningIn(t *testing.T, dir string) *listener {
	t.Helper()
	port := listen(t, func(nc net.Conn) {
		p := newPeer(t, nc)
		p.reply(p.expect("describe"), "d2:id1:18:versionsd7:clojured14:version-string1:1ee6:statusl4:doneee")
		eval := p.expect("eval")
		if code := eval.Text("code"); code != `(System/getProperty "user.dir")` {
			t.Errorf("asked for its directory with %q", code)
		}
		value := strconv.Quote(dir)
		p.reply(eval, "d2:id1:12:ns4:user5:value"+strconv.Itoa(len(value))+":"+value+"e", "d2:id1:16:statusl4:doneee")
		p.gone()
	})
	return &listener{Target: Target{Host: "127.0.0.1", Port: port, Source: discovered}}
}

// Where the system does not tell where a process runs, the servers are asked, all at once: macOS, Windows, other containers.
func TestAmongUnknown(t *testing.T) {
	root := tree(t, "project/deps.edn", "project/src/")
	project := filepath.Join(root, "project")
	l := Lookup{Dir: filepath.Join(project, "src")}
	untold := func(context.Context, []*listener, func(string) bool) {}
	quiet := &listener{Target: Target{Host: "127.0.0.1", Port: listen(t, silent(t))}}
	web := &listener{Target: Target{Host: "127.0.0.1", Port: listen(t, text("HTTP/1.1 400\r\n\r\n"))}}
	elsewhere, here := runningIn(t, root), runningIn(t, project)

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	found, tell := l.among(ctx, []*listener{quiet, web, elsewhere, here}, untold)
	assert.NilError(t, ctx.Err()) // the silent one is not waited for when the server has answered
	assert.Equal(t, len(found), 1)
	assert.Equal(t, found[0].Port, here.Port)
	assert.Equal(t, len(tell), 0) // who is silent is not known to be ours

	// A server in a container calls the folder something else.
	l.PathMap = PathMap{{project, "/app"}}
	found, _ = l.among(ctx, []*listener{web, runningIn(t, "/app/src")}, untold)
	assert.Equal(t, len(found), 1)
	found, _ = l.among(ctx, []*listener{web, runningIn(t, "/other")}, untold)
	assert.Equal(t, len(found), 0)
}

// More listeners than are asked at once: every one has its turn, also the only server.
func TestAskAllTurns(t *testing.T) {
	port := listen(t, text("x"))
	list := make([]*listener, askedAtOnce+20)
	for i := range list {
		list[i] = &listener{Target: Target{Host: "127.0.0.1", Port: port}}
	}
	list[len(list)-1] = runningIn(t, "/somewhere")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	servers, quiet := askAll(ctx, list, nil)
	assert.Equal(t, len(quiet), 0)
	assert.Equal(t, len(servers), 1)
}

func TestAmbiguousErrorText(t *testing.T) {
	err := &AmbiguousError{Dir: filepath.FromSlash("/p"), Servers: []*Server{
		{Target: Target{Host: "127.0.0.1", Port: 1}, PID: 12, Kind: "clojure", Versions: map[string]string{"clojure": "1.11.1"}},
		{Target: Target{Socket: "/s"}, Kind: "nbb"},
	}}
	assert.Error(t, err, "2 nREPL servers run in "+filepath.FromSlash("/p")+": 127.0.0.1:1 (pid 12, clojure 1.11.1), nrepl+unix:/s (nbb). "+
		"Choose one with --port, or write its port into "+filepath.FromSlash("/p/.nrepl-port"))
}

// The texts of netstat: macOS 10.14 to 26, FreeBSD, Windows in English and German.
func TestParseNetstat(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"macOS 14": {`Active Internet connections (including servers)
Proto Recv-Q Send-Q  Local Address          Foreign Address        (state)      rhiwat  shiwat    pid   epid state  options           gencnt    flags   flags1 usecnt rtncnt fltrs
tcp4       0      0  127.0.0.1.7888         *.*                    LISTEN       131072  131072   4711      0 00100 00000106 0000000000012345 00000080 00000900      1      0 000001
tcp46      0      0  *.9630                 *.*                    LISTEN       131072  131072   4712      0 00100 00000006 0000000000012346 00000080 00000900      1      0 000001
tcp6       0      0  ::1.7889               *.*                    LISTEN       131072  131072   4713      0 00100 00000006 0000000000012347 00000080 00000900      1      0 000001
tcp6       0      0  fe80::1%lo0.7890       *.*                    LISTEN       131072  131072   4714      0 00100 00000006 0000000000012347 00000080 00000900      1      0 000001
tcp4       0      0  127.0.0.1.51234        127.0.0.1.7888         ESTABLISHED  408300  146988   4715      0 00102 00000000 0000000000012348 00000080 01000900      1      0 000001
`, "127.0.0.1:7888/4711 localhost:9630/4712 [::1]:7889/4713 [fe80::1%lo0]:7890/4714"},
		"macOS 15": {`Proto Recv-Q Send-Q  Local Address          Foreign Address        (state)        rxbytes    txbytes  rhiwat  shiwat    pid   epid state  options           gencnt    flags   flags1 usecnt rtncnt fltrs
tcp4       0      0  127.0.0.1.7888         *.*                    LISTEN               0          0  131072  131072   4711      0 00100 00000106 0000000000012345 00000080 00000900      1      0 000001
`, "127.0.0.1:7888/4711"},
		"macOS 26": {`Proto Recv-Q Send-Q  Local Address          Foreign Address        (state)          rxbytes      txbytes  rhiwat  shiwat          process:pid    state  options           gencnt    flags   flags1 usecnt rtncnt fltrs
tcp4       0      0  127.0.0.1.7888         *.*                    LISTEN                 0            0  131072  131072  My Own App:4711  00100 00000106 0000000000012345 00000080 00000900      1      0 000001
tcp4       0      0  127.0.0.1.7889         *.*                    LISTEN                 0            0  131072  131072  java:4712  00100 00000106 0000000000012345 00000080 00000900      1      0 000001
`, "127.0.0.1:7888/4711 127.0.0.1:7889/4712"},
		"FreeBSD": {`Proto Recv-Q Send-Q Local Address          Foreign Address        (state)
tcp4       0      0 127.0.0.1.7888         *.*                    LISTEN
`, "127.0.0.1:7888/0"},
		"Windows": {"\r\nActive Connections\r\n\r\n  Proto  Local Address          Foreign Address        State           PID\r\n" +
			"  TCP    127.0.0.1:7888         0.0.0.0:0              LISTENING       4711\r\n" +
			"  TCP    127.0.0.1:7888         127.0.0.1:50100        ESTABLISHED     4711\r\n" +
			"  TCP    [::]:9630              [::]:0                 LISTENING       4712\r\n" +
			"  UDP    0.0.0.0:123            *:*                                    4713\r\n", "127.0.0.1:7888/4711 localhost:9630/4712"},
		"Windows, German": {"  Proto  Lokale Adresse         Remoteadresse          Status           PID\r\n" +
			"  TCP    0.0.0.0:7888           0.0.0.0:0              ABHÖREN         4711\r\n", "localhost:7888/4711"},
		"nothing":  {"", ""},
		"nonsense": {"tcp4 0 0 x *.* LISTEN\ntcp4 0 0 .7 *.* LISTEN\ntcp4 0 0 127.0.0.1. *.* LISTEN\nTCP 0.0.0.0:0 0.0.0.0:0 L 1\nTCP : [::]:0 L 1\ntcp4 0 0  LISTEN\n", ""},
	} {
		var got []string
		for _, l := range parseNetstat(tt.text) {
			got = append(got, l.Address()+"/"+strconv.Itoa(l.pid))
		}
		assert.Equal(t, strings.Join(got, " "), tt.want, name)
	}
}
