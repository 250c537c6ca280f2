package nrepl

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

const tcpTable = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1ED0 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 31728 1 0000000000000000 100 0 0 10 0
   1: 00000000:259E 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 31729 1 0000000000000000 100 0 0 10 0
   2: 0100007F:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 31730 1 0000000000000000 100 0 0 10 0
   3: 0100007F:A0B2 0100007F:1ED0 01 00000000:00000000 00:00000000 00000000  1000        0 31731 1 0000000000000000 20 4 0 10 -1
   4: 0200A8C0:1ED1 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 31732 1 0000000000000000 100 0 0 10 0
   5: garbage 0A 0A 0A
   6: 0100007F:0000 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1
   7: 0100007F:1ED5 00000000:0000 0A 00000000:0000`

const tcp6Table = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000001000000:1ED2 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 41 1 0000000000000000 100 0 0 10 0
   1: 00000000000000000000000000000000:1ED3 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 42 1 0000000000000000 100 0 0 10 0
   2: 0000000000000000FFFF00000100007F:1ED4 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 43 1 0000000000000000 100 0 0 10 0
`

// The kernel's tables, as they are: a JVM on 127.0.0.1 is an IPv6 socket with a mapped address.
func TestParseTCP(t *testing.T) {
	var got []string
	for _, l := range append(parseTCP(tcpTable, 1000), parseTCP(tcp6Table, 1000)...) {
		assert.Assert(t, l.inode > 0 && l.Source == discovered)
		got = append(got, l.Address())
	}
	assert.Equal(t, strings.Join(got, " "), "127.0.0.1:7888 localhost:9630 192.168.0.2:7889 [::1]:7890 localhost:7891 127.0.0.1:7892")
}

func TestParseUnix(t *testing.T) {
	list := parseUnix(`Num       RefCount Protocol Flags    Type St Inode Path
000000006b3dc437: 00000002 00000000 00010000 0001 01 31728 /tmp/u/my sock.s
0000000000000000: 00000003 00000000 00000000 0001 03 31729 /tmp/u/connected
0000000000000000: 00000002 00000000 00010000 0001 01    17 @abstract
0000000000000000: 00000002 00000000 00010000 0005 01    18 /run/seqpacket
0000000000000000: 00000002 00000000 00010000 0001 01    19
0000000000000000: 00000002 00000000 00010000 0001 01    20 relative.sock
`)
	assert.Equal(t, len(list), 2)
	assert.Equal(t, list[0].Socket, "/tmp/u/my sock.s")
	assert.Equal(t, list[0].inode, uint64(31728))
	assert.Equal(t, list[1].Socket, "relative.sock")
}

// The tables of this machine have our own sockets, and we are found behind them.
func TestAttributeSelf(t *testing.T) {
	here, err := os.Getwd()
	assert.NilError(t, err)
	here = physical(here)
	port := listen(t, func(net.Conn) {})
	dir := tree(t)
	unix, err := net.Listen("unix", filepath.Join(dir, "s"))
	assert.NilError(t, err)
	defer unix.Close()
	find := func(list []*listener) (tcp, socket *listener) {
		for _, l := range list {
			if l.Port == port {
				tcp = l
			} else if l.Socket == filepath.Join(dir, "s") {
				socket = l
			}
		}
		return tcp, socket
	}
	list := listening(t.Context())
	attribute(t.Context(), list, func(dir string) bool { return dir != here })
	tcp, socket := find(list)
	assert.Assert(t, tcp.inode > 0 && socket.inode > 0)
	assert.Equal(t, tcp.pid+socket.pid, 0) // runs in a folder that is not wanted
	attribute(t.Context(), list, nil)
	tcp, socket = find(list)
	assert.Equal(t, tcp.pid, os.Getpid())
	assert.Equal(t, socket.pid, os.Getpid())
	assert.Equal(t, tcp.dir, here)

	assert.Assert(t, !socket.repl) // our own, and this program is no REPL's

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	list = listening(ended)
	attribute(ended, list, nil) // ends at once
	tcp, _ = find(list)
	assert.Equal(t, tcp.pid, 0)
}

// Of which processes a unix-domain socket that nobody named may be a server's.
func TestIsREPL(t *testing.T) {
	for commandLine, want := range map[string]bool{
		"java\x00-cp\x00x\x00":                           true,
		"/usr/lib/jvm/17/bin/java\x00":                   true,
		"bb\x00nrepl-server\x00":                         true,
		"/home/u/bin/lg\x00":                             true,
		"node\x00/usr/local/bin/nbb\x00nrepl-server\x00": true,
		"nbb":                               true,
		"node\x00/usr/local/bin/claude\x00": false,
		"node\x00/usr/local/bin/claude\x00-p\x00java\x00": false,
		"claude":                       false,
		"/opt/java/claude\x00java\x00": false,
		"java -cp x, a title that a program gave itself.": false,
		"node": false,
		"":     false, // a thread of the kernel
	} {
		assert.Equal(t, isREPL(commandLine), want, "%q", commandLine)
	}
}

func TestStartedUs(t *testing.T) {
	sibling := exec.CommandContext(t.Context(), "sleep", "60")
	assert.NilError(t, sibling.Start())
	defer func() {
		_ = sibling.Process.Kill()
		_ = sibling.Wait()
	}()
	for pid, want := range map[int]bool{os.Getpid(): true, os.Getppid(): true, sibling.Process.Pid: false, 0: false, 1 << 30: false} {
		assert.Equal(t, startedUs(pid), want, "%d", pid)
	}
}
