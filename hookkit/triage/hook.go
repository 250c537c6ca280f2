package triage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/session"
)

// hook is one run of memory-triage at a stop.
type hook struct {
	env    func(string) string
	stderr io.Writer
	now    func() time.Time
	note   func(format string, args ...any)
	model  Model // nil: the one of the configuration
}

// stop decides about one stop. An error lets the agent stop.
func (k *hook) stop(ctx context.Context, e *hookkit.Stop) (hookkit.StopDecision, error) {
	allow := hookkit.AllowStop().Silently()
	project := e.ProjectDir()
	config, warnings := loadConfig(project, k.env)
	for _, w := range warnings {
		_, _ = fmt.Fprintln(k.stderr, w) // there is nobody else to tell
	}
	s, err := session.Open(k.env, e.SessionID)
	if err != nil {
		return allow, err
	}
	flagged := takeFlag(flagPaths(s, project, e.CWD), e.SessionID, k.now())
	if config.Mode == Off || e.StopHookActive || flagged {
		k.note("allowed: mode %s, stop_hook_active %v, flag %v", config.Mode, e.StopHookActive, flagged)
		return allow, nil
	}
	a, err := k.read(&config, e)
	if err != nil || a == nil {
		return allow, err
	}
	known := readAsked(s)
	a.dropAsked(known)
	a.settle()
	findings := a.decide(&config, k.ask(ctx, &config, a))
	for _, f := range findings {
		k.note("%s %.2f %s", f.Category, f.Score, f.Quote)
	}
	if len(findings) == 0 {
		return allow, nil
	}
	if err := a.note(known, findings).write(s); err != nil {
		// Without it the same would be asked for at every stop.
		return allow, fmt.Errorf("what is asked for cannot be noted: %w", err)
	}
	if !config.Blocking {
		return allow.TellUser(compose(findings, config.Instruction)), nil
	}
	if err := raiseFlag(s, project, e.CWD); err != nil {
		return allow, fmt.Errorf("the flag against asking twice cannot be written: %w", err)
	}
	return hookkit.BlockStop(compose(findings, config.Instruction)).TellUser(userLine(findings)), nil
}

// read analyses the transcript; nil where there is none.
func (k *hook) read(config *Config, e *hookkit.Stop) (*analysis, error) {
	path := findTranscript(e.TranscriptPath, k.env("HOME"), e.SessionID)
	if path == "" {
		k.note("there is no transcript")
		return nil, nil //nolint:nilnil // nothing to read is no fault
	}
	f, size, err := openTranscript(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil //nolint:nilnil // it went in between
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return analyseFile(f, size, config, e.LastAssistantMessage)
}

// analyseFile reads the end of a transcript and applies the rules, with what the agent saved to memory since taken out.
func analyseFile(r io.ReaderAt, size int64, config *Config, last string) (*analysis, error) {
	conv, err := readConversation(r, size, config.Messages)
	if err != nil {
		return nil, err
	}
	conv.appendLast(last)
	if len(conv.messages) == 0 {
		return nil, nil //nolint:nilnil // nobody said anything
	}
	rules, err := newEngine(config.keywordRules())
	if err != nil {
		return nil, err
	}
	a := rules.analyse(&conv)
	a.dropSaved()
	a.settle()
	return a, nil
}

// ask asks the model about what is in doubt. Whatever goes wrong leaves the rules' result.
func (k *hook) ask(ctx context.Context, config *Config, a *analysis) verdict {
	if config.Mode != Hybrid {
		return verdict{}
	}
	doubts := a.doubts(config)
	if len(doubts) == 0 {
		return verdict{}
	}
	model := k.model
	if model == nil {
		model = newModel(config, k.env)
	}
	if model == nil {
		return verdict{}
	}
	ctx, cancel := context.WithTimeout(ctx, config.Timeout)
	defer cancel()
	text, err := model.Ask(ctx, a.question(doubts))
	if err != nil {
		k.note("the model was asked in vain: %v", err)
		return verdict{}
	}
	v, err := parseAnswer(text, doubts)
	if err != nil {
		k.note("%v", err)
		return verdict{}
	}
	k.note("the model confirms %v and denies %v", v.confirm, v.deny)
	return v
}
