package triage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
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
	// explain is where every hit is shown instead of a decision; nil to decide.
	explain io.Writer

	troubles []string // lines about what is wrong and keeps nobody from deciding
	blocks   bool     // the decision is a block: stderr is the agent's
}

// stop decides about one stop. An error lets the agent stop.
func (k *hook) stop(ctx context.Context, e *hookkit.Stop) (hookkit.StopDecision, error) {
	allow := hookkit.AllowStop().Silently()
	config, warnings := loadConfig(e.ProjectDir(), k.env)
	k.troubles = warnings
	if k.explain != nil {
		k.complain()
		a, err := k.read(&config, e)
		if err == nil {
			_, err = io.WriteString(k.explain, a.explain(&config))
		}
		return allow, oneLineError(err)
	}
	let, findings, err := k.look(ctx, &config, e)
	k.blocks = err == nil && len(findings) > 0 && config.Blocking
	if !k.blocks {
		k.complain() // at a block the agent reads stderr, and it is not for the agent
	}
	var told []string
	decision := allow
	switch {
	case err != nil:
		return allow, oneLineError(err)
	case k.blocks:
		decision = hookkit.BlockStop(compose(findings, config.Instruction))
		told = append(told, userLine(findings))
	case len(findings) > 0:
		told = append(told, compose(findings, config.Instruction))
	}
	if len(k.troubles) > 0 && !let { // who was let go on sight was told at the stop before
		told = append(told, userTrouble(k.troubles))
	}
	return decision.TellUser(strings.Join(told, "\n")), nil
}

// complain writes a line about everything that is wrong and does not keep the hook from deciding.
func (k *hook) complain() {
	for _, line := range k.troubles {
		_, _ = fmt.Fprintln(k.stderr, line) // there is nobody else to tell
	}
}

// userTrouble is one line for the user, who does not see stderr.
func userTrouble(troubles []string) string {
	text := troubles[0]
	if more := len(troubles) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more: see memory-triage explain)", more)
	}
	return text
}

// look finds what is worth asking for now, and notes that it was asked for. Let says that the loop guard lets the agent go.
func (k *hook) look(ctx context.Context, config *Config, e *hookkit.Stop) (let bool, findings []finding, err error) {
	project := e.ProjectDir()
	s, err := openNotes(k.env, session.IDOf(e.Base()))
	if err != nil {
		return false, nil, err
	}
	flagged := takeFlag(flagPaths(s, project, e.CWD), e.SessionID, k.now())
	if let = e.StopHookActive || flagged; let || config.Mode == Off {
		k.note("allowed: mode %s, stop_hook_active %v, flag %v", config.Mode, e.StopHookActive, flagged)
		return let, nil, nil
	}
	a, err := k.read(config, e)
	if err != nil || a == nil {
		return false, nil, err
	}
	known := readAsked(s)
	a.dropAsked(known)
	v := k.ask(ctx, config, a) // before the lock: others wait for it
	if len(a.fresh(known, a.decide(config, v))) == 0 {
		return false, nil, nil
	}
	if _, findErr := s.Find(); errors.Is(findErr, fs.ErrNotExist) { // the session's first: sweep what others left
		session.Sweep(k.env, k.now(), session.SweepAge)
	}
	unlock, err := s.Lock(ctx, lockWait)
	if err != nil {
		return false, nil, err
	}
	defer unlock()
	// Another stop of the session may have asked in the meantime.
	known = readAsked(s)
	a.dropAsked(known)
	findings = a.fresh(known, a.decide(config, v))
	for _, f := range findings {
		k.note("%s %.2f %s", f.Category, f.Score, f.Quote)
	}
	if len(findings) == 0 {
		return false, nil, nil
	}
	if err := a.note(known, findings).write(s); err != nil {
		// Without it the same would be asked for at every stop.
		return false, nil, fmt.Errorf("what is asked for cannot be noted: %w", err)
	}
	if config.Blocking {
		if err := raiseFlag(s, e.SessionID, project, e.CWD); err != nil {
			return false, nil, fmt.Errorf("the flag against asking twice cannot be written: %w", err)
		}
	}
	return false, findings, nil
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
	return analyseFile(f, size, config, e.ProjectDir(), e.LastAssistantMessage)
}

// analyseFile reads the end of a transcript and applies the rules, with what the agent saved to memory since taken out.
func analyseFile(r io.ReaderAt, size int64, config *Config, project, last string) (*analysis, error) {
	conv, err := readConversation(r, size, config.Messages, project)
	if err != nil {
		return nil, err
	}
	conv.appendLast(last, config.Messages)
	return analyseConversation(&conv, config)
}

// analyseConversation applies the rules to what was said; nil where nobody said anything.
func analyseConversation(conv *conversation, config *Config) (*analysis, error) {
	if len(conv.messages) == 0 {
		return nil, nil //nolint:nilnil // nobody said anything
	}
	rules, err := newEngine(config.keywordRules())
	if err != nil { // loadConfig leaves out what the tables cannot take
		rules, err = newEngine(nil)
	}
	if err != nil {
		return nil, err
	}
	a := rules.analyse(conv)
	a.dropSaved()
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
		k.note("there is no key, or no endpoint, to ask a model")
		return verdict{}
	}
	ctx, cancel := context.WithTimeout(ctx, config.Timeout)
	defer cancel()
	text, err := model.Ask(ctx, a.question(doubts))
	if err != nil {
		k.note("the model was asked in vain: %v", err)
		if errors.Is(err, errRefused) {
			k.troubles = append(k.troubles, fmt.Sprintf("%s: %s: %v; the rules decide alone", programName, config.Provider, err))
		}
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
