// Package proc runs the commands of hooks and gates.
//
// A command gets a process group of its own, /dev/null as stdin, and one pipe
// for stdout and stderr, so that their order is kept. It can never write to
// our own stdout or stderr, which carry the hook protocol.
//
// # How a command ends
//
// At its timeout, or when the context ends, the whole group gets SIGTERM (and
// SIGCONT, so that a stopped process can act on it). [Run] then waits until
// the group is empty, for Grace at most, and sends SIGKILL to what is left.
//
// When the command ends by itself, Run returns at once if nothing is left of
// its group and its output is at its end. Otherwise it returns at most about
// 100 ms after the exit:
//
//   - Children that stayed in the group get 50 ms to finish, because the filter
//     in `exec > >(filter)` is such a child. Then they get SIGTERM. Run does not
//     wait for one that ignores it: SIGKILL follows Grace after SIGTERM from a
//     goroutine, and [Result.Leftover] tells when that is done. If our process
//     ends before, that child has had its SIGTERM and nothing more.
//   - A child that left the group (setsid) is not touched. If it still holds the
//     pipe, the output up to then is kept and the pipe is closed; a later write
//     of that child fails with EPIPE.
//
// On systems that are not Unix there are no process groups: only the command
// itself is killed, without a SIGTERM before, and its children live on.
//
// This package is public because of the folder it is in. It carries no promise
// of stability.
package proc
