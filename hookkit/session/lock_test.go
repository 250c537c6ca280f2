//go:build unix

package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestMain lets the test binary be the other processes: BREPL_TEST_ROLE says
// which, BREPL_STATE_DIR where.
func TestMain(m *testing.M) {
	role := os.Getenv("BREPL_TEST_ROLE")
	if role == "" {
		os.Exit(m.Run())
	}
	s, err := Open(os.Getenv, "s")
	if err == nil && role == "increment" {
		err = increment(s)
	}
	if err == nil && role == "hold" {
		if _, err = s.Lock(context.Background(), 0); err == nil {
			fmt.Println("held")
			time.Sleep(time.Minute)
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// increment adds one to the session's counter, with a lock it waits for as long
// as 60 others may need on a busy machine.
func increment(s *Session) error {
	unlock, err := s.Lock(context.Background(), 5*time.Minute)
	if err != nil {
		return err
	}
	defer unlock()
	path, err := s.StatePath()
	if err != nil {
		return err
	}
	data, err := ReadOwned(path, 100)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	n, _ := strconv.Atoi(string(data)) // "" is 0
	return WriteFile(path, []byte(strconv.Itoa(n+1)), WriteOptions{State: true})
}

func process(t *testing.T, root, role string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = []string{"BREPL_TEST_ROLE=" + role, "BREPL_STATE_DIR=" + root}
	return cmd
}

func TestNoCountIsLost(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	// Fault 49: 60 hooks of one session at once. Goroutines and processes together.
	root := t.TempDir()
	s, other := open(t, root, "s"), open(t, root, "other")
	var group sync.WaitGroup
	errs := make(chan error, 130)
	for range 60 {
		group.Go(func() { errs <- increment(s) })
		cmd := process(t, root, "increment")
		group.Go(func() {
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			errs <- err
		})
	}
	for range 10 {
		group.Go(func() { errs <- increment(other) })
	}
	group.Wait()
	close(errs)
	for err := range errs {
		assert.NilError(t, err)
	}
	for name, want := range map[*Session]string{s: "120", other: "10"} { // two sessions do not mix
		path, err := name.StatePath()
		assert.NilError(t, err)
		data, err := ReadOwned(path, 100)
		assert.NilError(t, err)
		assert.Equal(t, string(data), want)
	}
	assert.DeepEqual(t, tree(t, root), []string{
		privateName(), privateName() + "/other", privateName() + "/other/lock", privateName() + "/s", privateName() + "/s/lock",
		"brepl-stop-hook-other.edn", "brepl-stop-hook-s.edn",
	}) // no new file is left
}

func TestKilledHolderFreesTheLock(t *testing.T) {
	// Fault 49: holder killed: lock free.
	root := t.TempDir()
	cmd := process(t, root, "hold")
	out, err := cmd.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	assert.NilError(t, err)
	assert.Equal(t, line, "held\n")

	s := open(t, root, "s")
	began := time.Now()
	_, err = s.Lock(t.Context(), 50*time.Millisecond)
	assert.ErrorIs(t, err, ErrLocked)
	assert.Error(t, err, `session "s": another process holds the lock, for 50ms now; try again when it has finished`)
	assert.Assert(t, time.Since(began) >= 50*time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = s.Lock(ctx, 0)
	assert.ErrorIs(t, err, context.DeadlineExceeded)

	assert.NilError(t, cmd.Process.Kill())
	unlock, err := s.Lock(t.Context(), time.Minute)
	assert.NilError(t, err)
	unlock()
	_ = cmd.Wait() // killed
}

func TestLockFileRemovedWhileWaiting(t *testing.T) {
	// The end of a session removes the file on which another hook waits. Whoever
	// gets the lock then must have the one that is in place.
	root := t.TempDir()
	s := open(t, root, "s")
	unlockOld, err := s.Lock(t.Context(), 0)
	assert.NilError(t, err)
	got := make(chan func(), 2)
	for range 2 {
		go func() {
			unlock, lockErr := s.Lock(context.Background(), 5*time.Minute)
			if lockErr != nil {
				t.Error(lockErr)
			}
			got <- unlock
		}()
	}
	time.Sleep(30 * time.Millisecond)
	assert.NilError(t, s.Remove())
	unlock := <-got
	assert.Assert(t, unlock != nil)
	unlockOld() // must not free the new one
	select {
	case <-got:
		t.Fatal("two have the lock")
	case <-time.After(50 * time.Millisecond):
	}
	unlock()
	unlock = <-got
	dir, err := s.Dir()
	assert.NilError(t, err)
	_, err = os.Stat(filepath.Join(dir, lockName))
	assert.NilError(t, err)
	unlock()
}

func TestLockAndRemoveAtOnce(t *testing.T) {
	// Removal at any moment loses nobody: every Lock is granted, and without error.
	s := open(t, t.TempDir(), "s")
	done := make(chan struct{})
	var removing, group sync.WaitGroup
	removing.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				_ = s.Remove() // may meet a new file
			}
		}
	})
	for range 8 {
		group.Go(func() {
			for range 20 {
				unlock, err := s.Lock(context.Background(), 5*time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				unlock()
			}
		})
	}
	group.Wait()
	close(done)
	removing.Wait()
}
