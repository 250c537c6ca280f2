package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// maxCode bounds the code of one call, in bytes. It is a string in one message, and servers hold it several times.
	maxCode = 16 << 20
	// silence is how long stdin may stay silent before a person is told what we wait for.
	silence = 2 * time.Second
	// idleLimit is how long it may stay silent before we give up: a program that calls us may never close it.
	idleLimit = time.Minute
)

// code is what is to be evaluated.
type code struct {
	text string
	file string // where it is from, absolute; "" for an expression and for stdin
}

// errNoCode is a usage error: stdin was meant to have code.
var errNoCode = errors.New("nothing to evaluate: stdin is empty, and no expression, -e, -f or -m is given")

// read gets the code that the call names.
func (r *run) read(ctx context.Context) (code, error) {
	switch {
	case len(r.exprs) > 0:
		return code{text: strings.Join(r.exprs, "\n")}, nil
	case len(r.args) > 0 && r.args[0] != "-":
		return code{text: r.args[0]}, nil
	case len(r.files) > 0 && r.files[0] != "-":
		path := absolute(r.program.Dir, r.files[0])
		text, err := r.all(ctx, "", func() (io.ReadCloser, error) { return os.Open(path) })
		if err != nil {
			return code{}, fmt.Errorf("%s: %w", r.files[0], pathless(err))
		}
		text, err = r.decode(r.files[0], text)
		return code{text: text, file: path}, err
	}
	text, err := r.all(ctx, "waiting for code on stdin; its end is that of the input", func() (io.ReadCloser, error) {
		return io.NopCloser(r.program.Stdin), nil
	})
	if err != nil {
		return code{}, fmt.Errorf("stdin: %w", pathless(err))
	}
	if strings.TrimSpace(text) == "" {
		return code{}, errNoCode
	}
	text, err = r.decode("stdin", text)
	return code{text: text}, err
}

// all reads a file or stdin to its end, as far as the context goes, and gives up when nothing comes for a while: a pipe may have no end.
// The notice tells a person what we wait for.
func (r *run) all(ctx context.Context, notice string, open func() (io.ReadCloser, error)) (string, error) {
	type outcome struct {
		text []byte
		err  error
	}
	done := make(chan outcome, 1)
	come := make(chan struct{}, 1)
	go func() {
		f, err := open()
		if err != nil {
			done <- outcome{nil, err}
			return
		}
		defer func() { _ = f.Close() }() // only read
		text, err := io.ReadAll(io.LimitReader(watched{f, come}, maxCode+1))
		done <- outcome{text, err}
	}()
	first, idle := time.NewTimer(silence), time.NewTimer(idleLimit)
	defer first.Stop()
	defer idle.Stop()
	for {
		select {
		case o := <-done:
			if len(o.text) > maxCode {
				return "", fmt.Errorf("is larger than %d MB, which is more than a REPL takes at once", maxCode>>20)
			}
			return string(o.text), o.err
		case <-come:
			first.Stop()
			idle.Reset(idleLimit)
		case <-first.C:
			if notice != "" {
				r.show.note(notice)
			}
		case <-idle.C:
			return "", fmt.Errorf("nothing came for %v, and no end", idleLimit)
		case <-ctx.Done():
			return "", errors.New("its end did not come in time")
		}
	}
}

// watched is a reader that says when something has come.
type watched struct {
	io.Reader

	come chan<- struct{}
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if n > 0 {
		select {
		case w.come <- struct{}{}:
		default: // said already
		}
	}
	return n, err
}

// decode takes a byte order mark off, which Clojure would read as a symbol, and refuses what is no UTF-8 text at all.
func (r *run) decode(name, text string) (string, error) {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return "", fmt.Errorf("%s: is UTF-16; Clojure reads UTF-8", name)
	}
	text = strings.TrimPrefix(text, "\ufeff")
	if !utf8.ValidString(text) {
		line, column := invalid(text)
		r.show.note(fmt.Sprintf("%s:%d:%d: not UTF-8; the server reads another character there", name, line, column))
	}
	return text, nil
}

// invalid is the place of the first byte that is not UTF-8: line and column from 1, the column in characters.
func invalid(text string) (line, column int) {
	for i, c := range text {
		if c != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
			before := []byte(text[:i])
			start := bytes.LastIndexByte(before, '\n') + 1
			return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
		}
	}
	return 1, 1
}

// pathless takes the path out of a file error: the caller says it as the user typed it.
func pathless(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

// keyboard gives code that reads standard input the lines that a person types.
type keyboard struct {
	in    io.Reader
	lines chan string // "" is the end of the input
}

// line is an nrepl.Input. A read that is under way when the context ends goes on: a terminal cannot be told to stop. What it reads is
// given to the next call.
func (k *keyboard) line(ctx context.Context) (string, error) {
	if k.lines == nil {
		k.lines = make(chan string)
		go func() {
			in := bufio.NewReader(k.in)
			for {
				text, err := in.ReadString('\n')
				if text != "" {
					k.lines <- text
				}
				if err != nil {
					k.lines <- ""
				}
			}
		}()
	}
	select {
	case text := <-k.lines:
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
