package fakes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookkit/brepl/fakes/claudecode"
)

// task runs beside the agent: a command in the background, or a sub-agent.
type task struct {
	id, kind, toolUse string
	description       string
	command           string // of a shell
	agentKind         string // of a sub-agent
	output            string // path
	agent             *actor // of a sub-agent
	result            string // of a sub-agent
	tools             int    // how many it used
	reported          bool

	cmd  *exec.Cmd
	done chan struct{}
}

// kill ends a command that still runs. What it left in its group is killed by
// [Claude.Close].
func (k *task) kill() {
	if k.cmd == nil {
		return
	}
	select {
	case <-k.done:
	default:
		killGroup(k.cmd.Process)
		<-k.done
	}
}

// runningTasks is background_tasks (recordings background-shell,
// subagent-background): a task is in it until it has reported.
func (c *Claude) runningTasks() []object {
	tasks := []object{}
	for _, k := range c.tasks {
		if k.reported {
			continue
		}
		o := object{{"id", k.id}, {"type", k.kind}, {"status", "running"}, {"description", k.description}}
		if k.kind == "shell" {
			o = append(o, field{"command", k.command})
		} else {
			o = append(o, field{"agent_type", k.agentKind})
		}
		tasks = append(tasks, o)
	}
	return tasks
}

func (c *Claude) taskOutput(id string) string {
	return filepath.Join(c.sessionTemp(), "tasks", id+".output")
}

// Background is the agent running a command in the background. The turn's
// TaskID names it; Stop fires while it runs, and [Claude.Report] is its end.
func (c *Claude) Background(command, description string) *Turn {
	c.ensurePrompted()
	k := &task{
		id: fmt.Sprintf("b%07d", len(c.tasks)+1), kind: "shell", description: description,
		command: command, done: make(chan struct{}),
	}
	k.output = c.taskOutput(k.id)
	input := object{{"command", command}, {"description", description}, {"run_in_background", true}}
	t := c.use(c.main, "Bash in the background: "+firstLine(command), call{
		name: "Bash", input: input, run: func(_ *Turn, input json.RawMessage) outcome {
			var in bashCall
			if claudecode.ReadFields(input, &in) != nil || in.Command == nil {
				return invalidInput("Bash")
			}
			k.command = *in.Command
			k.toolUse = fmt.Sprintf("toolu_01Fake%018d", c.toolUses)
			if err := c.startTask(k); err != nil {
				return outcome{failure: err.Error()}
			}
			return outcome{
				result: "Command running in background with ID: " + k.id + ". Output is being written to: " + k.output +
					". You will be notified when it completes. To check interim output, use Read on that file path.",
				response: object{
					{"stdout", ""},
					{"stderr", ""},
					{"interrupted", false},
					{"isImage", false},
					{"noOutputExpected", false},
					{"backgroundTaskId", k.id},
				},
			}
		},
	})
	if k.cmd != nil {
		t.TaskID = k.id
	}
	return t
}

func (c *Claude) startTask(k *task) error {
	cmd, err := c.command(c.main, `eval "$1"`, k.command)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 500 * time.Millisecond // a child of the task may hold the streams
	if err := cmd.Start(); err != nil {
		return err
	}
	k.cmd = cmd
	c.tasks = append(c.tasks, k)
	go func() {
		_ = cmd.Wait() // the exit code tells
		c.leftBehind(cmd.Process)
		_ = writeFile(k.output, out.String()) // a report without its output is the worst that can come of it
		close(k.done)
	}()
	return nil
}

// Report waits for a background task to end and gives the agent its
// notification: UserPromptSubmit fires as for a prompt, the agent is at work
// again, and Stop is fired again at its end. An unknown id, one that has
// reported, and a sub-agent that has not stopped fail the test.
func (c *Claude) Report(taskID string) *Turn {
	at := slices.IndexFunc(c.tasks, func(k *task) bool { return k.id == taskID && !k.reported })
	if at < 0 {
		return c.misuse("no background task %q that has not reported", taskID)
	}
	k := c.tasks[at]
	switch {
	case k.cmd != nil:
		<-k.done
	case k.agent.working:
		return c.misuse("the sub-agent %s cannot report, it has not stopped", taskID)
	}
	k.reported = true
	status, extra := "completed", ""
	var summary string
	if k.kind == "shell" {
		code := k.cmd.ProcessState.ExitCode()
		summary = fmt.Sprintf("Background command %q completed (exit code 0)", k.description)
		if code != 0 {
			status = "failed"
			summary = fmt.Sprintf("Background command %q failed with exit code %d", k.description, code)
		}
	} else {
		summary = fmt.Sprintf("Agent %q finished", k.description)
		extra = fmt.Sprintf("<note>…</note>\n<result>%s</result>\n<usage><subagent_tokens>0</subagent_tokens>"+
			"<tool_uses>%d</tool_uses><duration_ms>0</duration_ms></usage>\n", k.result, k.tools)
	}
	t := c.newTurn("report")
	c.prompt(t, "<task-notification>\n<task-id>"+k.id+"</task-id>\n<tool-use-id>"+k.toolUse+"</tool-use-id>\n<output-file>"+k.output+
		"</output-file>\n<status>"+status+"</status>\n<summary>"+summary+"</summary>\n"+extra+"</task-notification>", "task_notification")
	t.Action = "report of " + k.id + ": " + summary
	return t
}

// Subagent is a sub-agent at work. Its events carry agent_id and agent_type.
type Subagent struct {
	ID, Type string

	c *Claude
	a *actor
	k *task
}

// Subagent is the agent starting a sub-agent of a type, in the background as
// the client does (recording subagent-background): the turn's Agent does the
// work and ends it with Stop; then [Claude.Report] of the turn's TaskID tells
// the agent. It is nil where a hook refused the call.
func (c *Claude) Subagent(agentType, description, prompt string) *Turn {
	c.ensurePrompted()
	id := c.newAgentID()
	k := &task{id: id, kind: "subagent", description: description, agentKind: agentType, output: c.taskOutput(id)}
	sub := &Subagent{ID: id, Type: agentType, c: c, k: k, a: &actor{
		id: id, kind: agentType, cwd: c.main.cwd, working: true,
		cap: claudecode.NewCap(envValue(c.env, claudecode.CapVariable)), log: c.agentLog(id),
	}}
	k.agent = sub.a
	input := object{{"description", description}, {"prompt", prompt}, {"subagent_type", agentType}}
	t := c.use(c.main, "Agent: "+description, call{
		name: "Agent", input: input, run: func(t *Turn, _ json.RawMessage) outcome {
			k.toolUse = fmt.Sprintf("toolu_01Fake%018d", c.toolUses)
			c.tasks = append(c.tasks, k)
			c.log.subagent(sub.a, prompt)
			c.fire(t, sub.a, c.event(sub.a, "SubagentStart", fieldsOfAgent, nil), agentType, nil)
			t.Agent, t.TaskID = sub, id
			return outcome{
				result: "Async agent launched successfully.\nagentId: " + id,
				response: object{
					{"isAsync", true},
					{"status", "async_launched"},
					{"agentId", id},
					{"description", description},
					{"resolvedModel", c.opts.model},
					{"prompt", prompt},
					{"outputFile", k.output},
					{"canReadOutputFile", true},
					{"canContinueAgent", true},
				},
			}
		},
	})
	return t
}

// Write is as [Claude.Write].
func (s *Subagent) Write(path, content string) *Turn { return s.used(s.c.write(s.a, path, content)) }

// Edit is as [Claude.Edit].
func (s *Subagent) Edit(path, old, replacement string, opts ...EditOption) *Turn {
	return s.used(s.c.edit(s.a, path, old, replacement, opts))
}

// Read is as [Claude.Read].
func (s *Subagent) Read(path string) *Turn { return s.used(s.c.read(s.a, path)) }

// Bash is as [Claude.Bash].
func (s *Subagent) Bash(command string, description ...string) *Turn {
	return s.used(s.c.bash(s.a, command, description))
}

func (s *Subagent) used(t *Turn) *Turn {
	s.k.tools++
	return t
}

// Stop is the sub-agent ending its work with a message: SubagentStop. It is
// blocked as Stop is. To stop a second time is a mistake, unless the first stop
// did not stand.
func (s *Subagent) Stop(message ...string) *Turn {
	t := s.c.stop(s.a, message)
	if !t.GoesOn && len(message) > 0 {
		s.k.result = message[0]
	}
	return t
}
