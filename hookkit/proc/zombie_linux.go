package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
)

// scanLimit bounds the work on machines with very many processes.
const scanLimit = 2000

// hasLiveMember reports whether a process group that still takes signals has
// more than zombies in it. Orphans become zombies until process 1 collects them,
// and in a container process 1 is often a program that never does. When /proc
// does not tell, the answer is yes.
func hasLiveMember(group int) bool {
	dir, err := os.Open("/proc")
	if err != nil {
		return true
	}
	names, err := dir.Readdirnames(-1)
	_ = dir.Close() // opened for reading
	if err != nil || len(names) > scanLimit {
		return true
	}
	pids := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		return true
	}
	slices.Sort(pids)
	buf := make([]byte, 512)
	for _, pid := range slices.Backward(pids) { // the newest first: a child is among them
		state, id, ok := stat(pid, buf)
		if ok && id == group && state != 'Z' && state != 'X' {
			return true
		}
	}
	return false
}

// stat reads a process's state and group. A process that has gone is not ok.
func stat(pid int, buf []byte) (state byte, group int, ok bool) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	n, _ := f.Read(buf) // an error leaves n at 0
	_ = f.Close()       // opened for reading
	// pid (name) state parent group …; the name may contain anything.
	_, rest, _ := bytes.Cut(buf[max(bytes.LastIndexByte(buf[:n], ')'), 0):n], []byte(" "))
	fields := bytes.Fields(rest)
	if len(fields) < 3 {
		return 0, 0, false
	}
	group, err = strconv.Atoi(string(fields[2]))
	return fields[0][0], group, err == nil
}
