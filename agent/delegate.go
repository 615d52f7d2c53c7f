package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/tool"
)

// deepest is how many delegates may stand below each other.
const deepest = 4

// A Subagent is an agent that another one can hand work to.
type Subagent struct {
	Name        string // by which the model names it
	Description string // for the model: when to hand work to it; "" for none
	File        string // that defines it, for the model; "" for none
	Agent       Agent
}

// Delegate returns the tool delegate, by which a model hands a task to one of
// subs. The task is a turn in a child session of its own, whose answer is what
// the tool answers. It works only in a [Thread].
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
					return handOver(ctx, c, s.Agent, in.Task)
				}
			}
			return tool.Output{}, fmt.Errorf("there is no agent %q: there are %s", in.Agent, strings.Join(names(subs), ", "))
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
		return t, fmt.Errorf("task %q: it is empty", t.Task)
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
	b.WriteString("Hand a task to another agent and get its answer. It sees nothing of this conversation, so the task must say all that it needs to know. The agents:")
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
		"task":  {"string", "What it shall do, with all that it needs to know.", nil},
	}, []string{"agent", "task"}})
}

// handOver lets a answer the task in a child session.
func handOver(ctx context.Context, c tool.Call, a Agent, task string) (out tool.Output, err error) {
	return tool.Output{}, errNotYet
}
