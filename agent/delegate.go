package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/llm"
)

// deepest is the maximum depth of nested delegates.
const deepest = 4

// A Subagent is an agent that another agent can delegate tasks to.
type Subagent struct {
	Name        string // the name that the model uses for it
	Description string // for the model: when to delegate to it; may be ""
	File        string // path of its agent file, for the model; may be ""
	Task        string // text put before each task; may be ""
	Agent       Agent
}

// Delegate returns the tool delegate, with which a model gives a task to one of
// subs. The task is a turn in a child session of its own, and the answer of
// that turn is the tool's output. The tool works only in a [Thread].
func Delegate(subs ...Subagent) tool.Tool {
	return tool.Tool{
		Spec: llm.ToolSpec{
			Name:   "delegate",
			Doc:    delegateDoc(subs),
			Schema: delegateSchema(subs),
		},
		Title: func(input json.RawMessage) string {
			in, err := readTask(input)
			if err != nil {
				return ""
			}
			return in.Agent + ": " + skein.FirstWords(in.Task)
		},
		Run: func(ctx context.Context, c tool.Call) (tool.Output, error) {
			in, err := readTask(c.Input)
			if err != nil {
				return tool.Output{}, err
			}
			for _, s := range subs {
				if s.Name == in.Agent {
					return handOver(ctx, c, s.Agent, strings.TrimSpace(s.Task+"\n\n"+in.Task))
				}
			}
			return tool.Output{}, fmt.Errorf("no agent %q; the agents are: %s", in.Agent, strings.Join(names(subs), ", "))
		},
	}
}

// A task is the input of the tool delegate.
type task struct {
	Agent string `json:"agent"`
	Task  string `json:"task"`
}

func readTask(input json.RawMessage) (t task, err error) {
	if err := json.Unmarshal(input, &t); err != nil {
		return t, fmt.Errorf("input: %w", err)
	}
	if strings.TrimSpace(t.Task) == "" {
		return t, fmt.Errorf("task %q: empty", t.Task)
	}
	return t, nil
}

func names(subs []Subagent) (all []string) {
	for _, s := range subs {
		all = append(all, s.Name)
	}
	return all
}

func delegateDoc(subs []Subagent) string {
	var b strings.Builder
	b.WriteString("Hand a task to another agent and get its answer. The agent sees nothing of this conversation, so the task must say everything that it needs to know. The agents:")
	for _, s := range subs {
		b.WriteString("\n- " + s.Name)
		if s.File != "" {
			b.WriteString(" (" + s.File + ")")
		}
		if s.Description != "" {
			b.WriteString(": " + s.Description)
		}
	}
	return b.String()
}

func delegateSchema(subs []Subagent) json.RawMessage {
	type property struct {
		Type string   `json:"type"`
		Doc  string   `json:"description"`
		Enum []string `json:"enum,omitempty"`
	}
	return skein.MustJSON(struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}{"object", map[string]property{
		"agent": {"string", "Which agent.", names(subs)},
		"task":  {"string", "What the agent is to do, with everything that it needs to know.", nil},
	}, []string{"agent", "task"}})
}

// handKey is the context key of a tool's hand.
type handKey struct{}

// A hand gives a tool access to the thread that runs it.
type hand struct {
	crew *crew
	run  *running
}

// handOver has the agent a perform the task in a child session.
func handOver(ctx context.Context, c tool.Call, a Agent, task string) (out tool.Output, err error) {
	h, ok := ctx.Value(handKey{}).(hand)
	if !ok {
		return out, fmt.Errorf("agent %q: tasks can only be handed over in a session", a.Name)
	}
	t := h.crew.Thread
	if a.Model == nil {
		return out, fmt.Errorf("agent %q: it has no model", a.Name)
	}
	if t.depth >= deepest {
		return out, fmt.Errorf("agent %q: %d agents have already handed this task on; do it yourself", a.Name, t.depth)
	}
	var id skein.SessionID
	child, err := openAt(ctx, h.options(c, a, &id), t.depth+1)
	if err != nil {
		return out, err
	}
	id = child.id
	how := "error"
	defer func() {
		if cerr := child.Close(context.WithoutCancel(ctx), how); err == nil {
			err = cerr
		}
	}()
	if err := child.work(ctx, nil, skein.Say(child.now(), skein.UserSays(task))); err != nil {
		return out, err
	}
	if err := c.Started(child.id); err != nil {
		return out, err
	}
	o, err := child.answer(ctx)
	if err != nil {
		return tool.Output{Text: o.Text}, err
	}
	how = string(o.Stop)
	return handedBack(o, child.id), ctx.Err()
}

// handedBack returns the output that tells the model the child's outcome.
func handedBack(o Outcome, child skein.SessionID) tool.Output {
	out := tool.Output{Text: o.Text, Meta: skein.MustJSON(map[string]skein.SessionID{"child": child})}
	switch o.Stop {
	case Done:
		if strings.TrimSpace(out.Text) == "" {
			out.Text = "[The agent ended without an answer.]"
		}
		return out
	case MaxSteps:
		out.Text = join(out.Text, fmt.Sprintf("[The agent was stopped after %d steps, before it had finished.]", o.Steps))
	case Timeout:
		out.Text = join(out.Text, "[The agent was stopped before it had finished: it ran out of time.]")
	default:
		out.Text = join(out.Text, "[The agent was interrupted before it had finished.]")
	}
	out.Failed = true
	return out
}

// options returns the options of the child session that a answers in, whose ID
// will be in id.
func (h hand) options(c tool.Call, a Agent, id *skein.SessionID) Options {
	t, parent := h.crew.Thread, h.crew.o
	o := Options{
		Store: parent.Store, Program: parent.Program, Version: parent.Version, Host: parent.Host, Agent: a,
		Now: parent.Now, Wait: parent.Wait, Attempts: parent.Attempts,
	}
	h.crew.ask(h.run, func() {
		o.Created = skein.Created{
			User: t.about.User, Surface: t.about.Surface, Project: t.about.Project, Cwd: c.Cwd, Program: parent.Created.Program, Version: parent.Created.Version,
			Parent: &skein.Parent{Session: t.id, Seq: t.last, Why: skein.Child, Call: c.ID},
		}
	})
	o.Observe = func(u Update) {
		if u.Child == "" {
			u.Child = *id
		}
		h.crew.ask(h.run, func() { parent.Observe(u) })
	}
	if parent.Decides != nil {
		o.Decides = func(tl tool.Tool) (a Approval, decided bool) {
			h.crew.ask(h.run, func() { a, decided = parent.Decides(tl) })
			return a, decided
		}
	}
	if parent.Approve != nil {
		o.Approve = func(ctx context.Context, tl tool.Tool, tc tool.Call, question string) (ap Approval, err error) {
			h.crew.ask(h.run, func() { ap, err = parent.Approve(ctx, tl, tc, question) })
			return ap, err
		}
	}
	return o
}
