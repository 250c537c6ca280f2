package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/lab"
)

// parrotCommand makes this test binary answer as recorded.
const parrotCommand = "replay-parrot"

// parrot answers a call as it was answered when it was recorded, and looks whether the replay gave it what the hook had then.
func parrot() int {
	fault := func(err error) int {
		fmt.Fprintln(os.Stderr, "parrot:", err)
		return 99
	}
	r, err := lab.ReadRecording(os.Getenv(lab.FileVariable))
	if err != nil {
		return fault(err)
	}
	seq, err := strconv.Atoi(os.Getenv(lab.SeqVariable))
	if err != nil {
		return fault(err)
	}
	var event struct {
		Transcript string `json:"transcript_path"`
		Cwd        string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&event); err != nil {
		return fault(err)
	}
	for _, c := range r.Calls {
		if c.Seq != seq {
			continue
		}
		data, err := os.ReadFile(event.Transcript)
		if c.Transcript.Exists != (err == nil) || strings.Count(string(data), "\n") != c.Transcript.Lines {
			return fault(fmt.Errorf("the transcript has %d lines, recorded: %+v (%w)", strings.Count(string(data), "\n"), c.Transcript, err))
		}
		if here, err := os.Getwd(); err != nil || !strings.HasSuffix(here, c.Cwd) || os.Getenv("CLAUDE_PROJECT_DIR") == "" {
			return fault(fmt.Errorf("the hook runs in %s, recorded: %s (%w)", here, c.Cwd, err))
		}
		if c.Hook.TimedOut {
			time.Sleep(time.Minute)
		}
		_, _ = os.Stderr.WriteString(c.Hook.Stderr)
		_, _ = os.Stdout.WriteString(c.Hook.Stdout)
		return *c.Hook.Exit
	}
	return fault(fmt.Errorf("no call %d", seq))
}
