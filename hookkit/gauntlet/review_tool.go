package gauntlet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hookkit/brepl/hookkit/proc"
	"github.com/hookkit/brepl/hookkit/text"
)

// maxAnswer is how much of a tool's output is kept, its end: the answer is the last thing in it.
const maxAnswer = 1 << 20

// askTool asks one tool, and once more if its answer cannot be read.
func (run *reviewRun) askTool(ctx context.Context, name string, question prompt) (answer, error) {
	tool, ok := adapterFor(name, run.task.Config.Adapters)
	if !ok {
		return answer{}, fmt.Errorf("unknown tool; give it a command under cli.adapters.%s", name)
	}
	if run.task.Config.CheckUsageLimit {
		if err := run.r.probe(ctx, tool, run.task); err != nil {
			return answer{}, err
		}
	}
	output, err := run.call(ctx, tool, question)
	if err != nil {
		return answer{}, err
	}
	a, err := readAnswer(output)
	if err == nil {
		return a, nil
	}
	if why := tool.unwilling(output); why != "" {
		return answer{}, errors.New(why)
	}
	_, _ = fmt.Fprintf(run.log, "\n== the answer cannot be read: %v; asked once more\n", err)
	question.text += reminder(err)
	output, callErr := run.call(ctx, tool, question)
	if callErr != nil {
		return answer{}, callErr
	}
	if a, err = readAnswer(output); err == nil {
		return a, nil
	}
	return answer{}, fmt.Errorf("unreadable answer, twice: %w", err)
}

// call runs a tool and gives the end of its output, without the prompt. A tool that fails but has answered has answered.
func (run *reviewRun) call(ctx context.Context, tool adapter, question prompt) (string, error) {
	argv := tool.argv(run.task.Job.Gate.Model, question.text)
	if tool.argument && len(question.text) > maxArgument {
		return "", fmt.Errorf("the prompt of %d KiB is too long for an argument (cli.adapters.%s.prompt: stdin has no such limit)", len(question.text)>>10, tool.name)
	}
	_, _ = fmt.Fprintf(run.log, "\n== %s: a prompt of %d bytes to %s\n", time.Now().Format(time.RFC3339), len(question.text), strings.Join(tool.command, " "))
	tail := proc.NewTail(maxAnswer)
	command := proc.Command{
		Argv: argv, Dir: run.task.Config.Root, Env: run.task.Env, Output: io.MultiWriter(tail, &bounded{w: run.log, left: maxAnswer}), Grace: run.task.Grace,
	}
	if !tool.argument {
		command.Stdin = strings.NewReader(question.text)
	}
	result := proc.Run(ctx, command)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if result.StartErr != nil {
		return "", startProblem(result.StartErr)
	}
	output := question.behind(string(bytes.ToValidUTF8(tail.Kept().Text, []byte("\uFFFD"))))
	if !result.OK() {
		if _, answerErr := readAnswer(output); answerErr == nil {
			return output, nil
		}
		if why := tool.unwilling(output); why != "" {
			return "", errors.New(why)
		}
		return "", fmt.Errorf("%v: %s", result, text.CutBytes(text.Line(lastLine(output)), 200))
	}
	return output, nil
}

func startProblem(err error) error {
	if errors.Is(err, proc.ErrNotFound) {
		return errors.New("not installed")
	}
	return err
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// probeLimit is how long the question may take that finds out about a usage limit.
const probeLimit = time.Minute

// probe asks a tool a question of one word, once in a run, to see whether its usage limit is reached.
func (r *toolReviewer) probe(ctx context.Context, tool adapter, task ReviewTask) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err, asked := r.probed[tool.name]; asked {
		return err
	}
	const question = "Answer with the one word OK, and do nothing else.\n"
	tail := proc.NewTail(64 << 10)
	command := proc.Command{
		Argv: tool.argv("", question), Dir: task.Config.Root, Env: task.Env, Output: tail, Timeout: probeLimit, Grace: task.Grace,
	}
	if !tool.argument {
		command.Stdin = strings.NewReader(question)
	}
	result := proc.Run(ctx, command)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var err error
	switch why := tool.unwilling(string(tail.Kept().Text)); {
	case result.StartErr != nil:
		err = startProblem(result.StartErr)
	case why != "":
		err = errors.New(why)
	case !result.OK():
		err = fmt.Errorf("asked for one word: %v", result)
	}
	r.probed[tool.name] = err
	return err
}

// versionLimit is how long a tool may take to say its version.
const versionLimit = 10 * time.Second

// Health looks for each tool of the preferences and asks for its version.
func (r *toolReviewer) Health(ctx context.Context) []ToolHealth {
	names := r.names()
	list := make([]ToolHealth, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		group.Go(func() { list[i] = r.health(ctx, name) })
	}
	group.Wait()
	return list
}

// names are the tools that the configuration or a gate prefers, each once.
func (r *toolReviewer) names() []string {
	var names []string
	seen := map[string]bool{}
	add := func(list []string) {
		for _, name := range list {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	add(r.config.CLIPreference)
	for _, gate := range r.config.Gates {
		add(gate.CLIPreference)
	}
	return names
}

func (r *toolReviewer) health(ctx context.Context, name string) ToolHealth {
	h := ToolHealth{Name: name}
	tool, ok := adapterFor(name, r.config.Adapters)
	if !ok {
		h.Detail = "unknown tool; give it a command under cli.adapters." + name
		return h
	}
	path, err := proc.LookPath(tool.command[0], r.env)
	if err != nil {
		h.Detail = startProblem(err).Error()
		return h
	}
	tail := proc.NewTail(4 << 10)
	result := proc.Run(ctx, proc.Command{Argv: []string{path, "--version"}, Dir: r.config.Root, Env: r.env, Output: tail, Timeout: versionLimit})
	version := text.CutBytes(text.Line(string(tail.Kept().Text)), 80)
	switch {
	case result.StartErr != nil:
		h.Detail = startProblem(result.StartErr).Error()
	case !result.OK():
		h.Detail = fmt.Sprintf("%s --version: %v: %s", path, result, version)
	default:
		h.Available, h.Detail = true, path+" "+version
	}
	return h
}

// lockedWriter lets several tools write to one log.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// bounded passes on the first bytes and drops the rest: a reviewer that prints without end must not fill the disk.
type bounded struct {
	w    io.Writer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	part := p[:min(len(p), b.left)]
	b.left -= len(part)
	if len(part) > 0 {
		_, _ = b.w.Write(part) // a log that cannot be written takes no answer away
	}
	return len(p), nil
}
