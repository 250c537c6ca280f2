package fakes

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hookkit/brepl/fakes/claudecode"
)

// transcript writes a session's transcript with the client's kinds of lines:
// those of the conversation, and among them those that a reader must skip
// (queue-operation, api-request-blob, prompt_snapshot, last-prompt …). One
// line holds one content block, and is a reply of its own: the client's lines
// of one reply share message.id (recordings), but an agent without a model says
// nothing beside its tool calls. Errors of writing are dropped: a client that
// cannot write its transcript works all the same.
type transcript struct {
	c    *Claude
	path string

	mu   sync.Mutex
	msgs int
}

func newTranscript(c *Claude) *transcript {
	return &transcript{c: c, path: filepath.Join(c.home, ".claude", "projects", projectKey(c.dir), c.sessionID+".jsonl")}
}

// append writes lines to the transcript, or to a sub-agent's.
func (w *transcript) append(path string, lines ...object) {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(Event{fields: l}.JSON())
		b.WriteByte('\n')
	}
	_ = os.MkdirAll(filepath.Dir(path), 0o700)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString(b.String())
	_ = f.Close()
}

func (w *transcript) uuid() string {
	return fmt.Sprintf("33333333-3333-4333-8333-%012d", w.c.uuids.Add(1))
}

func stampNow() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

// chained makes a line of the conversation: head, the fields given, tail.
func (w *transcript) chained(a *actor, rest ...field) object {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := w.uuid()
	line := object{{"parentUuid", a.parent}, {"isSidechain", a.id != ""}}
	if a.id != "" {
		line = append(line, field{"agentId", a.id})
	}
	line = append(line, rest...)
	entry := "cli"
	if w.c.opts.headless {
		entry = "sdk-cli"
	}
	a.parent = id
	return append(line, object{
		{"uuid", id},
		{"timestamp", stampNow()},
		{"userType", "external"},
		{"entrypoint", entry},
		{"cwd", a.cwd},
		{"sessionId", w.c.sessionID},
		{"version", claudecode.Version},
		{"gitBranch", ""},
	}...)
}

func (w *transcript) fileOf(a *actor) string {
	if a.log != "" {
		return a.log
	}
	return w.path
}

func (w *transcript) plain(kind string, rest ...field) object {
	return append(object{{"type", kind}, {"sessionId", w.c.sessionID}}, rest...)
}

// prompt writes a prompt, the user's or a task's notification.
func (w *transcript) prompt(text, origin string) {
	c := w.c
	line := w.chained(c.main, field{"promptId", c.promptID}, field{"type", "user"},
		field{"message", object{{"role", "user"}, {"content", text}}},
		field{"permissionMode", c.opts.mode}, field{"turnOrigin", origin})
	w.append(w.path,
		object{{"type", "queue-operation"}, {"operation", "enqueue"}, {"timestamp", stampNow()}, {"sessionId", c.sessionID}, {"content", text}},
		object{{"type", "queue-operation"}, {"operation", "dequeue"}, {"timestamp", stampNow()}, {"sessionId", c.sessionID}},
		line,
		w.attachment(c.main, object{{"type", "prompt_snapshot"}, {"systemPrompt", []string{"The client's own instructions: always decide, never defer, prefer tests."}}}),
		w.plain("api-request-blob", field{"message", object{{"role", "user"}, {"content", []object{{{"type", "text"}, {"text", text}}}}}}),
		w.plain("last-prompt", field{"lastPrompt", text}, field{"leafUuid", c.main.parent}),
	)
}

// user writes a user's line; isMeta marks what is not from a human.
func (w *transcript) user(a *actor, text string, extra object) {
	rest := append(object{{"promptId", w.c.promptID}, {"type", "user"}, {"message", object{{"role", "user"}, {"content", text}}}}, extra...)
	w.append(w.fileOf(a), w.chained(a, rest...))
}

func (w *transcript) assistant(a *actor, block object, stopReason string) {
	w.mu.Lock()
	w.msgs++
	n := w.msgs
	w.mu.Unlock()
	w.append(w.fileOf(a), w.chained(a,
		field{"message", object{
			{"id", fmt.Sprintf("msg_01Fake%018d", n)},
			{"type", "message"},
			{"role", "assistant"},
			{"model", w.c.opts.model},
			{"content", []object{block}},
			{"stop_reason", stopReason},
			{"stop_sequence", nil},
			{"usage", object{{"input_tokens", 1200 + 40*n}, {"output_tokens", 40}}},
		}},
		field{"type", "assistant"}))
}

func (w *transcript) assistantText(a *actor, text string) {
	w.assistant(a, object{{"type", "text"}, {"text", text}}, "end_turn")
}

func (w *transcript) toolUse(a *actor, id, name string, input json.RawMessage) {
	w.assistant(a, object{{"type", "tool_use"}, {"id", id}, {"name", name}, {"input", input}}, "tool_use")
}

func (w *transcript) toolResult(a *actor, id, text string, failed bool, response any) {
	block := object{{"tool_use_id", id}, {"type", "tool_result"}, {"content", text}}
	if failed {
		block = append(block, field{"is_error", true})
		response = "Error: " + text
	}
	w.append(w.fileOf(a), w.chained(a, field{"promptId", w.c.promptID}, field{"type", "user"},
		field{"message", object{{"role", "user"}, {"content", []object{block}}}}, field{"toolUseResult", response}))
}

// subagent starts the transcript of a sub-agent with its task.
func (w *transcript) subagent(a *actor, prompt string) { w.user(a, prompt, nil) }

func (w *transcript) attachment(a *actor, what object) object {
	return w.chained(a, field{"attachment", what}, field{"type", "attachment"})
}

func (w *transcript) informational(a *actor, text string) {
	w.append(w.fileOf(a), w.chained(a, field{"type", "system"}, field{"subtype", "informational"},
		field{"content", text}, field{"isMeta", false}, field{"level", "warning"}))
}

// cleared starts the transcript of the session after /clear.
func (w *transcript) cleared() {
	w.append(w.path, w.plain("mode", field{"mode", "normal"}))
	w.user(w.c.main, "<local-command-caveat>The command below was run directly in Claude Code, not sent to you as a request.</local-command-caveat>",
		object{{"isMeta", true}})
	w.user(w.c.main, "<command-name>/clear</command-name>\n            <command-message>clear</command-message>\n            <command-args></command-args>", nil)
}

func (w *transcript) compacted(summary string) {
	w.append(w.path, w.chained(w.c.main, field{"type", "system"}, field{"subtype", "compact_boundary"},
		field{"content", "Conversation compacted"}, field{"isMeta", false}, field{"level", "info"}))
	w.user(w.c.main, summary, object{{"isVisibleInTranscriptOnly", true}, {"isCompactSummary", true}})
}

func (w *transcript) end() {
	if _, err := os.Stat(w.path); err == nil {
		w.append(w.path, w.plain("cost-state", field{"totalCostUSD", 0.01}))
	}
}

// lagging is a write that comes some time after start, and at the latest with
// now.
type lagging struct {
	lag   time.Duration
	once  sync.Once
	write func()
	timer *time.Timer
}

func (w *transcript) later(lag time.Duration, write func()) *lagging {
	return &lagging{lag: lag, write: write}
}

func (l *lagging) start() { l.timer = time.AfterFunc(l.lag, func() { l.once.Do(l.write) }) }

func (l *lagging) now() {
	l.timer.Stop()
	l.once.Do(l.write)
}
