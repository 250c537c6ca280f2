package lab

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/settings"
)

// A seen is what a recorder saw of one call, raw. It stays in memory.
type seen struct {
	command  string
	cwd      string
	env      map[string]string // CLAUDE* only
	stdin    []byte
	eof      bool
	answer   Answer
	fallback string // the event when the input does not name one
}

// A store is where one session's recording is written. Recorders of several hooks use it at the same moment, each in a process of its own.
type store struct {
	dir   string // of the recordings
	name  string // of this one
	key   []byte
	at    place
	state *session.Session // its folder holds the lock and what the recorders share
}

// shared is what the recorders of a session share. No raw value is in it.
type shared struct {
	standIns
	Calls      int       `json:"calls"`
	Began      time.Time `json:"began"`
	Transcript int       `json:"transcript_lines"`  // copied so far
	Offset     int64     `json:"transcript_offset"` // in the client's file, where the next line to copy begins
}

const (
	sharedFile  = "shared.json"
	storeWait   = 2 * time.Second // for the lock
	ourMode     = 0o600
	ourDirMode  = 0o700
	stateFolder = ".state"
)

// openStore finds the recording for an event. An event without a session gets a recording of its own.
func openStore(dir string, at place, event fields) (*store, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("no folder for recordings: give --dir, or set HOME or XDG_STATE_HOME (%q is not absolute)", dir)
	}
	id := event.SessionID
	if id == "" {
		id = rand.Text()
	}
	key := sessionKey(id)
	// A part of another hash: the name must not tell the key.
	name := "session-" + hex.EncodeToString(sessionKey(string(key)))[:12]
	state, err := session.OpenIn(filepath.Join(dir, stateFolder), name)
	if err != nil {
		return nil, err
	}
	return &store{dir: dir, name: name, key: key, at: at, state: state}, os.MkdirAll(dir, ourDirMode)
}

// update runs f with what the recorders share, alone, and keeps what f leaves in it.
func (s *store) update(ctx context.Context, f func(*shared) error) error {
	unlock, err := s.state.Lock(ctx, storeWait)
	if err != nil {
		return err
	}
	defer unlock()
	folder, err := s.state.Dir()
	if err != nil {
		return err
	}
	var sh shared
	path := filepath.Join(folder, sharedFile)
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err = json.Unmarshal(data, &sh); err != nil {
			return fmt.Errorf("%s: %w; remove it to begin anew", path, err)
		}
	}
	if err = f(&sh); err != nil {
		return err
	}
	if data, err = json.Marshal(sh); err != nil {
		return err
	}
	return session.WriteFile(path, data, session.WriteOptions{Mode: ourMode, State: true})
}

// number gives a call its place in the order in which the hooks started.
func (s *store) number(ctx context.Context, began time.Time) (seq int, sinceFirst time.Duration, err error) {
	err = s.update(ctx, func(sh *shared) error {
		if sh.Calls == 0 {
			sh.Began = began
		}
		sh.Calls++
		seq, sinceFirst = sh.Calls, max(0, began.Sub(sh.Began))
		return nil
	})
	return seq, sinceFirst, err
}

// dropped is why something is not in a recording; "" when data holds nothing that is known to be private.
func (s *sanitiser) dropped(data string) string {
	if what := s.leaks(data); what != "" {
		return "after sanitising it still held " + what
	}
	return ""
}

// write puts a call and the new lines of the transcript on the disk, with stand-ins. All of it is sanitised before any of it is written:
// what one part gives away is replaced in the others.
func (s *store) write(ctx context.Context, v seen, c Call, transcript string, until time.Time) error {
	return s.update(ctx, func(sh *shared) error {
		clean := newSanitiser(s.key, s.at, &sh.standIns)
		fill(clean, v, c)
		transcriptLines, err := s.newLines(sh, clean, transcript, until)
		if err != nil {
			return err
		}
		call := fill(clean, v, c) // with all that is known now
		line, err := encodeLine(call)
		if err != nil {
			return err
		}
		if why := clean.dropped(string(line)); why != "" {
			event := call.Event
			if !slices.Contains(recordedEvents(), event) {
				event = "unknown"
			}
			if line, err = encodeLine(Call{Seq: call.Seq, TMS: call.TMS, Event: event, Dropped: why}); err != nil {
				return err
			}
		}
		path := filepath.Join(s.dir, s.name+".jsonl")
		if _, err = os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			header, headerErr := encodeLine(Header{Version: RecordingVersion, Settings: s.settings(clean)})
			if headerErr != nil {
				return headerErr
			}
			line = append(header, line...)
		}
		if err = appendFile(path, line); err != nil {
			return err
		}
		return s.copyTranscript(sh, clean, transcriptLines)
	})
}

// settings are the local settings of the project, with stand-ins; nil where there are none that the client would read.
func (s *store) settings(clean *sanitiser) json.RawMessage {
	data, err := os.ReadFile(settings.Local.PathIn(s.at.project))
	if err != nil || !json.Valid(data) {
		return nil
	}
	if data = clean.json(data); clean.leaks(string(data)) != "" {
		return nil
	}
	return data
}

// fill makes the call of what was seen, with stand-ins.
func fill(clean *sanitiser, v seen, c Call) Call {
	text := bytes.TrimPrefix(v.stdin, []byte("\ufeff"))
	c.StdinBytes = len(v.stdin)
	c.StdinEndsWithNewline = bytes.HasSuffix(v.stdin, []byte("\n"))
	c.StdinEOF = v.eof
	if json.Valid(text) {
		c.Stdin = clean.json(bytes.TrimSpace(text))
	} else {
		c.StdinText = clean.text(string(text))
	}
	c.Event = clean.text(cmp.Or(eventFields(text).Event, v.fallback))
	c.Command, c.Cwd = clean.text(v.command), clean.text(v.cwd)
	c.Env = clean.env(v.env)
	c.Hook = v.answer
	c.Hook.Stdout, c.Hook.Stderr = clean.text(v.answer.Stdout), clean.text(v.answer.Stderr)
	return c
}

// env gives the client's variables stand-ins: tokens become zeros, the client's process id 4242.
func (s *sanitiser) env(env map[string]string) map[string]string {
	out := make(map[string]string, len(env))
	const fixedPID = "4242"
	pid := env["CLAUDE_PID"]
	for _, name := range slices.Sorted(maps.Keys(env)) {
		value := env[name]
		switch {
		case name == "CLAUDE_PID":
			value = fixedPID
		case isSecretVariable(name):
			value = strings.Repeat("0", len(value))
		default:
			if pid != "" {
				value = replaceAt(value, pair{pid, fixedPID}, false, wordEnds)
			}
			value = s.text(value)
		}
		out[name] = value
	}
	return out
}

func isSecretVariable(name string) bool {
	return slices.ContainsFunc([]string{"TOKEN", "SECRET", "KEY", "PASSWORD", "AUTH", "CREDENTIAL"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}

// newLines reads the lines of the client's transcript that are not in ours yet, until the time is over: a later call goes on. They are
// looked through, so that the sanitiser knows what they give away.
func (s *store) newLines(sh *shared, clean *sanitiser, transcript string, until time.Time) ([]string, error) {
	if transcript == "" {
		return nil, nil
	}
	f, err := os.Open(transcript)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	if _, err = f.Seek(sh.Offset, io.SeekStart); err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(f, 64<<10)
	var lines []string
	for left := time.Until(until); time.Until(until) > left/2; { // the other half is for writing them
		line, err := in.ReadString('\n')
		if err != nil {
			break // a line that is still being written is left to the next call
		}
		clean.text(strings.TrimSuffix(line, "\n"))
		lines = append(lines, line)
	}
	return lines, nil
}

// copyTranscript appends lines of the client's transcript to ours.
func (s *store) copyTranscript(sh *shared, clean *sanitiser, lines []string) error {
	var out bytes.Buffer
	for _, line := range lines {
		text := clean.text(strings.TrimSuffix(line, "\n"))
		if why := clean.dropped(text); why != "" { // the number of lines stays true
			mark, err := encodeLine(map[string]string{"dropped": why})
			if err != nil {
				return err
			}
			text = strings.TrimSuffix(string(mark), "\n")
		}
		out.WriteString(text + "\n")
		sh.Offset += int64(len(line))
		sh.Transcript++
	}
	if out.Len() == 0 {
		return nil
	}
	return appendFile(filepath.Join(s.dir, s.name+".transcript.jsonl"), out.Bytes())
}

// appendFile appends in one write, so that the end of the process does not leave half a line.
func appendFile(path string, data []byte) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, ourMode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(data)
	return err
}

// markTranscript counts the complete lines of a transcript.
func markTranscript(path string) TranscriptMark {
	if path == "" {
		return TranscriptMark{}
	}
	f, err := os.Open(path)
	if err != nil {
		return TranscriptMark{}
	}
	defer func() { _ = f.Close() }() // only read
	mark := TranscriptMark{Exists: true}
	buf := make([]byte, 256<<10)
	for {
		n, err := f.Read(buf)
		mark.Lines += bytes.Count(buf[:n], []byte("\n"))
		if err != nil {
			return mark
		}
	}
}
