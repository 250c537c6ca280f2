package lab

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/cli"
)

// replScript is a text for `hookkit repl`, read into what a fake server is told.
type replScript struct {
	options []fakes.NREPLOption
	answers []func(*fakes.NREPL)
}

// parseREPL reads a script: a line without an indent is a request, indented lines below it are the answer. Errors name file and line.
func parseREPL(name, text string) (*replScript, error) {
	s := &replScript{}
	var request func(*fakes.NREPL) *fakes.Expect
	var steps []func(*fakes.Expect)
	flush := func() {
		if request == nil {
			return
		}
		asked, answer := request, steps
		s.answers = append(s.answers, func(n *fakes.NREPL) {
			e := asked(n).AnyTimes()
			for _, step := range answer {
				step(e)
			}
		})
		request, steps = nil, nil
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.TrimSpace(rest)
		if verb == "" || strings.HasPrefix(verb, "#") {
			continue
		}
		var err error
		switch {
		case indented && request == nil:
			err = errors.New("an answer needs a request above it, such as: eval (+ 1 2)")
		case indented:
			var step func(*fakes.Expect)
			step, err = replAnswer(verb, rest)
			steps = append(steps, step)
		case verb == "preset":
			var option fakes.NREPLOption
			option, err = replPreset(rest)
			s.options = append(s.options, option)
		default:
			flush()
			request, err = replRequest(verb, rest)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
	}
	flush()
	if len(s.answers) == 0 {
		return nil, fmt.Errorf("%s: the script has no request; write one as: eval (+ 1 2), and below it, indented: value 3", name)
	}
	return s, nil
}

func replPreset(name string) (fakes.NREPLOption, error) {
	var names []string
	for _, preset := range fakes.Presets() {
		if string(preset) == name {
			return fakes.NREPLPreset(preset), nil
		}
		names = append(names, string(preset))
	}
	return nil, fmt.Errorf("there is no server %q; there are %s", name, strings.Join(names, ", "))
}

func replRequest(verb, rest string) (func(*fakes.NREPL) *fakes.Expect, error) {
	text, err := replText(rest)
	switch {
	case err != nil:
		return nil, err
	case verb == "any" && rest == "":
		return func(n *fakes.NREPL) *fakes.Expect { return n.OnContains("") }, nil
	case text == "":
	case verb == "eval":
		return func(n *fakes.NREPL) *fakes.Expect { return n.On(text) }, nil
	case verb == "contains":
		return func(n *fakes.NREPL) *fakes.Expect { return n.OnContains(text) }, nil
	case verb == "load-file":
		return func(n *fakes.NREPL) *fakes.Expect { return n.OnLoadFile(text) }, nil
	}
	return nil, errors.New("a request is one of: eval CODE, contains PART, load-file PATH, any")
}

func replAnswer(verb, rest string) (func(*fakes.Expect), error) {
	text, err := replText(rest)
	if err != nil {
		return nil, err
	}
	printed := text
	if !strings.HasPrefix(rest, `"`) {
		printed += "\n" // a quoted text says itself where its lines end
	}
	switch verb {
	case "value":
		return func(e *fakes.Expect) { e.Value(text) }, nil
	case "out":
		return func(e *fakes.Expect) { e.Out(printed) }, nil
	case "err":
		return func(e *fakes.Expect) { e.Err(printed) }, nil
	case "exception":
		if class, message, ok := strings.Cut(rest, " "); ok {
			if message, err = replText(strings.TrimSpace(message)); err != nil {
				return nil, err
			}
			return func(e *fakes.Expect) { e.Exception(class, message) }, nil
		}
	case "delay":
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 {
			return nil, fmt.Errorf("%q is no duration; write it like 300ms or 2s", rest)
		}
		return func(e *fakes.Expect) { e.Delay(d) }, nil
	case "hang":
		return func(e *fakes.Expect) { e.Hang() }, nil
	case "drop":
		return func(e *fakes.Expect) { e.Drop() }, nil
	}
	return nil, errors.New("an answer is one of: value TEXT, out TEXT, err TEXT, exception CLASS MESSAGE, delay DURATION, hang, drop")
}

// replText is the rest of a line as it stands, or what is between double quotes with its escapes resolved.
func replText(rest string) (string, error) {
	if !strings.HasPrefix(rest, `"`) {
		return rest, nil
	}
	text, after, err := quotedWord(rest)
	if err == nil && after != "" {
		err = fmt.Errorf("there is more after the closing quote: %s", strings.TrimSpace(after))
	}
	return text, err
}

func replCommand() cli.Command {
	var (
		port     int
		untilEOF bool
	)
	return cli.Command{
		Name:  "repl",
		Usage: "SCRIPT [--port PORT] [--until-eof]",
		Short: "Start an nREPL server that answers by a script, for a demo or a test",
		Long: `Listens on 127.0.0.1, writes .nrepl-port into this folder, and removes it at the end, which is SIGINT or SIGTERM.
SCRIPT is a file ("-": stdin) with requests and, indented below each, its answer. docs/hookkit.md lists both.
Exit 1: the script is wrong, or a request came that is not in it.`,
		Mixed: true,
		Options: func(flags *flag.FlagSet) {
			flags.IntVar(&port, "port", 0, "listen on this `PORT`, not on a free one")
			flags.BoolVar(&untilEOF, "until-eof", false, "end when stdin ends too")
		},
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			switch {
			case len(args) != 1:
				return p.UsageError(errors.New("expected one SCRIPT"))
			case port < 0 || port > 65535:
				return p.UsageError(errors.New("--port is a number from 1 to 65535"))
			case untilEOF && args[0] == "-":
				return p.UsageError(errors.New("--until-eof needs stdin, which the script takes"))
			}
			text, err := readScript(p, args[0])
			if err != nil {
				return p.UsageError(err)
			}
			script, err := parseREPL(args[0], text)
			if err != nil {
				_, _ = fmt.Fprintln(p.Stderr, err)
				return 1
			}
			ctx, stop := cli.Interruptible(ctx)
			defer stop()
			if untilEOF {
				var end context.CancelFunc
				ctx, end = context.WithCancel(ctx)
				defer end()
				go func() {
					_, _ = io.Copy(io.Discard, p.Stdin) // an error is an end too
					end()
				}()
			}
			return serveREPL(ctx, p, script, port)
		},
	}
}

// serveREPL runs the server until the context ends.
func serveREPL(ctx context.Context, p *cli.Program, script *replScript, port int) int {
	fail := func(err error) int {
		_, _ = fmt.Fprintf(p.Stderr, "hookkit repl: %v\n", err)
		return 1
	}
	portFile := filepath.Join(p.Dir, ".nrepl-port")
	if err := portFileFree(ctx, portFile); err != nil {
		return fail(err)
	}
	options := script.options
	if port > 0 {
		options = append(options, fakes.NREPLOnPort(port))
	}
	server, err := fakes.StartNREPL(options...)
	if err != nil {
		return fail(err)
	}
	defer server.Close()
	for _, answer := range script.answers {
		answer(server)
	}
	number := strconv.Itoa(server.Port())
	if err := os.WriteFile(portFile, []byte(number), 0o600); err != nil {
		return fail(err)
	}
	_, _ = fmt.Fprintf(p.Stdout, "nREPL server on %s, its port in %s\n", server.Addr(), portFile)
	<-ctx.Done()
	if data, err := os.ReadFile(portFile); err == nil && string(data) == number { // else it is another server's by now
		if err := os.Remove(portFile); err != nil {
			return fail(err)
		}
	}
	server.Close()
	problems := server.Problems()
	for _, problem := range problems {
		_, _ = fmt.Fprintln(p.Stderr, problem)
	}
	if len(problems) > 0 {
		return 1
	}
	return 0
}

// portFileFree refuses a port file whose server still answers. One that a dead server left is replaced.
func portFileFree(ctx context.Context, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil //nolint:nilerr // there is none, or writing it will say why not
	}
	address := net.JoinHostPort("127.0.0.1", strings.TrimSpace(string(data)))
	conn, err := (&net.Dialer{Timeout: 300 * time.Millisecond}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil //nolint:nilerr // nobody listens any more
	}
	_ = conn.Close() // nothing was said
	return fmt.Errorf("%s names a server that answers on port %s; end that first, or go to another folder", path, strings.TrimSpace(string(data)))
}
