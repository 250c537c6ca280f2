package fakes

import (
	"fmt"
	"slices"

	"github.com/hookkit/brepl/fakes/claudecode"
)

// Start starts the session: SessionStart with source startup, resume or fork.
// The other turns start it with "startup" where it has not been. resume keeps
// the session's id, fork makes a new one (recording resume-and-fork), and so
// does a startup after [Claude.Exit]. Another source fails the test; what
// /clear and /compact start is theirs.
func (c *Claude) Start(source string) *Turn {
	if !slices.Contains([]string{"startup", "resume", "fork"}, source) {
		return c.misuse("no session starts with %q: it is startup, resume or fork", source)
	}
	t := c.newTurn("start (" + source + ")")
	switch {
	case source == "fork" && c.started:
		c.newSession("")
	case source == "startup" && c.exited:
		c.newSession("")
		c.promptID, c.known = "", map[string]bool{}
		c.main.cwd = c.dir
		c.main.cap.Prompted()
	}
	c.started, c.exited, c.refused = true, false, false
	c.main.working, c.main.active = false, false
	c.sessionStart(t, source)
	return t
}

func (c *Claude) sessionStart(t *Turn, source string) {
	which := fieldsOfStart
	rest := object{{"source", source}}
	if source == "compact" {
		which = fieldsOfEnd
	}
	if source == "compact" || source == "startup" && !c.opts.headless {
		rest = append(rest, field{"model", c.opts.model})
	}
	c.fire(t, c.main, c.event(c.main, "SessionStart", which, rest), source, nil)
}

// Prompt is the user's prompt. Blocked says that a hook refused it: then the
// agent never sees it, and nothing happens until the next prompt: the turns of
// tools and stops are Skipped.
func (c *Claude) Prompt(text string) *Turn {
	c.ensureStarted()
	t := c.newTurn("prompt")
	c.prompt(t, text, "sdk")
	return t
}

func (c *Claude) prompt(t *Turn, text, origin string) {
	t.Action = "prompt: " + firstLine(text)
	c.nextPrompt()
	c.main.active = false
	c.main.cap.Prompted()
	r := c.fire(t, c.main, c.event(c.main, "UserPromptSubmit", fieldsOfPrompt, object{{"prompt", text}}), "", nil)
	t.Blocked, c.refused = r.Blocked, r.Blocked
	c.main.working = !r.Blocked && !r.Ended
	if !r.Blocked {
		c.log.prompt(text, origin)
	}
}

// nextPrompt gives what comes next its prompt_id; a command such as /clear
// takes one too (recordings clear-and-continue, interactive-clear-exit).
func (c *Claude) nextPrompt() {
	c.prompts++
	c.promptID = fmt.Sprintf("22222222-2222-4222-8222-%012d", c.prompts)
}

// ensureStarted and ensurePrompted do what the script left out.
func (c *Claude) ensureStarted() {
	if !c.started || c.exited {
		c.Start("startup")
	}
}

func (c *Claude) ensurePrompted() {
	c.ensureStarted()
	if !c.main.working && !c.refused {
		c.Prompt("Go on.")
	}
}

// Stop is the agent ending its turn with a message, "Done." if there is none.
// GoesOn says that it gets another turn: by a block (Blocked) or by a hook's
// additionalContext; Told is what it then reads, and the script decides what
// it does: a tool, or Stop again. The 9th block in a row is overridden
// ([claudecode.Cap]).
func (c *Claude) Stop(message ...string) *Turn {
	c.ensurePrompted()
	return c.stop(c.main, message)
}

func (c *Claude) stop(a *actor, message []string) *Turn {
	text := "Done."
	if len(message) > 0 {
		text = message[0]
	}
	action, value := "stop: "+firstLine(text), ""
	if a.log != "" {
		action, value = "sub-agent's "+action, a.kind
	}
	if t := c.idle(a, action); t != nil {
		return t
	}
	t := c.newTurn(action)
	written := c.log.later(c.opts.lag, func() { c.log.assistantText(a, text) })
	run := c.runHooks(t, a, c.stopEvent(a, text), value, nil, written.start)
	written.now()
	c.log.hooks(a, value, run, "")
	r := run.Reaction
	t.Blocked, t.GoesOn = r.Blocked, r.GoesOn
	if r.GoesOn && !a.cap.Block() {
		t.Blocked, t.GoesOn, t.Told = false, false, nil
		t.Shown = append(t.Shown, claudecode.Text{As: claudecode.AsNotice, Text: a.cap.Notice()})
		c.log.informational(a, a.cap.Notice())
	}
	a.active = a.active || t.GoesOn
	a.working = t.GoesOn
	return t
}

// Interrupt is the user stopping the agent: no Stop event is fired.
func (c *Claude) Interrupt() *Turn {
	t := c.newTurn("interrupt")
	c.main.working = false
	c.log.user(c.main, "[Request interrupted by user]", nil)
	return t
}

// Fail is an error of the API, which ends the agent's turn: StopFailure is
// fired and not Stop (recording api-error). The message is what the user
// reads of it.
func (c *Claude) Fail(message string) *Turn {
	c.ensurePrompted()
	action := "API error: " + firstLine(message)
	if t := c.idle(c.main, action); t != nil {
		return t
	}
	t := c.newTurn(action)
	e := c.event(c.main, "StopFailure", "pe", object{{"error", "unknown"}, {"last_assistant_message", message}})
	c.fire(t, c.main, e, "", nil)
	c.main.working = false
	return t
}

// Clear is /clear: SessionEnd, then SessionStart of a new session (recordings
// clear-and-continue, interactive-clear-exit).
func (c *Claude) Clear() *Turn {
	c.ensureStarted()
	t := c.newTurn("/clear")
	c.nextPrompt()
	c.sessionEnd(t, "clear")
	c.newSession("")
	c.promptID = ""
	c.known, c.refused = map[string]bool{}, false
	c.main.working, c.main.active, c.main.cwd = false, false, c.dir
	c.main.cap.Prompted()
	c.sessionStart(t, "clear")
	c.log.cleared()
	return t
}

// Compact is /compact: PreCompact, SubagentStop with an empty agent_type,
// SessionStart, PostCompact (recording compact). The summary is what the
// conversation is replaced by.
func (c *Claude) Compact(summary ...string) *Turn {
	c.ensureStarted()
	t := c.newTurn("/compact")
	text := "<summary>What was done so far.</summary>"
	if len(summary) > 0 {
		text = summary[0]
	}
	c.nextPrompt()
	pre := c.event(c.main, "PreCompact", fieldsOfEnd, object{{"trigger", "manual"}, {"custom_instructions", ""}})
	if r := c.fire(t, c.main, pre, "manual", nil); r.Blocked {
		t.Blocked = true
		return t
	}
	id := c.newAgentID()
	agent := &actor{id: id, cwd: c.main.cwd, cap: claudecode.NewCap(""), log: c.agentLog(id)}
	c.fire(t, agent, c.stopEvent(agent, text), "", nil)
	c.sessionStart(t, "compact")
	post := c.event(c.main, "PostCompact", fieldsOfEnd, object{{"trigger", "manual"}, {"compact_summary", text}})
	c.fire(t, c.main, post, "manual", nil)
	c.log.compacted(text)
	return t
}

// Exit ends the session: SessionEnd with its budget of 1.5 s. The reason is
// resume, logout, prompt_input_exit, other, or clear, which leaves out what
// [Claude.Clear] does next; another one fails the test.
func (c *Claude) Exit(reason string) *Turn {
	if !slices.Contains([]string{"clear", "resume", "logout", "prompt_input_exit", "other"}, reason) {
		return c.misuse("no session ends with %q: it is clear, resume, logout, prompt_input_exit or other", reason)
	}
	c.ensureStarted()
	t := c.newTurn("exit (" + reason + ")")
	if reason == "prompt_input_exit" {
		c.nextPrompt()
	}
	c.sessionEnd(t, reason)
	c.exited = true
	c.main.working = false
	return t
}

func (c *Claude) sessionEnd(t *Turn, reason string) {
	c.fire(t, c.main, c.event(c.main, "SessionEnd", fieldsOfEnd, object{{"reason", reason}}), reason, nil)
	c.log.end()
}

// newAgentID has the form of the client's ids and is the same in every run.
func (c *Claude) newAgentID() string {
	c.agents++
	return fmt.Sprintf("a%016x", c.agents)
}

// firstLine is a text cut for one line of a story.
func firstLine(s string) string {
	for i, r := range s {
		if r == '\n' || i >= 70 {
			return s[:i] + "…"
		}
	}
	return s
}
