package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
)

// sideBySide is the maximum number of harmless tools that run at once.
const sideBySide = 4

// run runs the calls of one answer, and stores each outcome as soon as it is
// known. Harmless tools run side by side, others in order, one at a time. Its
// error is ctx's if that ended. Calls that had not begun by then get no result;
// an event says that they never ran.
func (u *turn) run(calls []*skein.Call) error {
	for len(calls) > 0 {
		n := 1
		if u.agent.safe(calls[0]) {
			for n < len(calls) && u.agent.safe(calls[n]) {
				n++
			}
		}
		if begun, err := u.together(calls[:n]); err != nil {
			return u.leave(u.ctx, calls[begun:], err)
		}
		calls = calls[n:]
	}
	return u.ctx.Err()
}

func (a *Agent) safe(c *skein.Call) bool {
	tl := a.tool(c.Name)
	return tl != nil && tl.Safe
}

// tool returns the tool of that name, or nil.
func (a *Agent) tool(name string) *tool.Tool {
	i := slices.IndexFunc(a.Tools, func(tl tool.Tool) bool { return tl.Spec.Name == name })
	if i < 0 {
		return nil
	}
	return &a.Tools[i]
}

// admit returns the tool that the call c is to run, or, if it must not run,
// what to tell the model. The error ends the turn.
func (u *turn) admit(c *skein.Call) (tl *tool.Tool, tc tool.Call, no string, err error) {
	tc = tool.Call{ID: c.ID, Input: c.Input, Session: u.id, Cwd: u.about.Cwd}
	if tl = u.agent.tool(c.Name); tl == nil {
		return nil, tc, fmt.Sprintf("No tool %.100q. The tools are: %s.", c.Name, strings.Join(u.agent.toolNames(), ", ")), nil
	}
	if input := bytes.TrimSpace(c.Input); len(input) == 0 || string(input) == "null" {
		tc.Input = json.RawMessage("{}")
	} else if input[0] != '{' || !json.Valid(input) {
		return nil, tc, fmt.Sprintf("The input of %s is not a JSON object: %.200q", c.Name, input), nil
	}
	if tl.Ask == nil {
		return tl, tc, "", nil
	}
	question := tl.Ask(tc)
	if question == "" {
		return tl, tc, "", nil
	}
	a, err := u.approval(tl, c, tc, question)
	if err != nil {
		return nil, tc, "", err
	}
	if a.Yes {
		return tl, tc, "", nil
	}
	return nil, tc, strings.TrimSpace("This was not allowed, so it was not done. " + a.Reason), nil
}

// approval returns whether the call c of tl may run. It asks a person, after it has
// stored what is asked, unless the answer is known. The error ends the turn.
func (u *turn) approval(tl *tool.Tool, c *skein.Call, tc tool.Call, question string) (Approval, error) {
	if u.o.Approve == nil {
		return Approval{Reason: "Nobody is here to allow it."}, nil
	}
	if u.o.Decides != nil {
		if a, decided := u.o.Decides(*tl); decided {
			return a, nil
		}
	}
	waits := skein.ToolState{Call: c.ID, State: skein.Pending, Title: u.agent.headline(c), Ask: skein.FirstWords(question)}
	if err := u.put(u.ctx, nil, skein.NewEvent(skein.KindTool, u.now(), waits)); err != nil {
		return Approval{}, err
	}
	a, err := u.o.Approve(u.ctx, *tl, tc, question)
	if err != nil {
		return a, cmp.Or(u.ctx.Err(), err) // nobody is there to answer
	}
	return a, nil
}

func (a *Agent) toolNames() (names []string) {
	for _, tl := range a.Tools {
		names = append(names, tl.Spec.Name)
	}
	return names
}

// headline returns one line for people that says what the call c does.
func (a *Agent) headline(c *skein.Call) string {
	title := ""
	if tl := a.tool(c.Name); tl != nil && tl.Title != nil {
		title = strings.ToValidUTF8(tl.Title(c.Input), "\ufffd")
	}
	if title == "" {
		title = tool.Line(c.Name)
	}
	return title
}

func interruptedMeta() json.RawMessage { return json.RawMessage(`{"interrupted":true}`) }
