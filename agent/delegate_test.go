package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/tool"
)

// boss returns a rig whose agent can delegate to a reviewer with its own model.
func boss(t *testing.T, reviewer *model, answers ...answer) *rig {
	t.Helper()
	return openWith(t, func(o *agent.Options) {
		o.Agent.Tools = append(o.Agent.Tools, agent.Delegate(
			agent.Subagent{Name: "reviewer", Description: "reads code", File: "agents/reviewer.md", Agent: agent.Agent{Name: "reviewer", Model: reviewer, Tools: tools(), MaxSteps: 3}},
			agent.Subagent{Name: "writer"},
		))
	}, answers...)
}

const review = `delegate {"agent":"reviewer","task":"read it"}`

func TestWorkIsHandedOn(t *testing.T) {
	reviewer := newModel(calls("note {}"), says("it is fine"))
	g := boss(t, reviewer, calls(review), says("well"))
	g.say("go", "well")
	g.wantLog(`1 created
	2 said user "go"
	3 step start
	4 step finish
	5 said assistant call(c0 delegate {"agent":"reviewer","task":"read it"})
	6 tool c0 running
	7 tool c0 running child
	8 tool c0 completed child
	9 said tool result(c0 "it is fine")
	10 step start
	11 step finish
	12 said assistant "well"
	`)
	kid := g.child()
	want := &skein.Parent{Session: g.ID(), Seq: 6, Why: skein.Child, Call: "c0"}
	if diff := cmp.Diff(want, kid.Parent); diff != "" || kid.Agent != "reviewer" || kid.Project != "/p" || kid.Cwd != "/p/sub" || kid.Surface != "cli" || kid.LockedBy != "" || kid.Key != "" {
		t.Errorf("the child is %+v, its parent (-want +got):\n%s", kid, diff)
	}
	got := logOf(t, eventsOf(t, g.store, kid.ID))
	if !strings.HasPrefix(got, "1 created\n2 said user \"read it\"\n") || !strings.HasSuffix(got, "said assistant \"it is fine\"\n12 ended\n") {
		t.Errorf("the child's events are\n%s", got)
	}
	g.wantChildHeard(kid.ID)
	if s, err := g.Session(t.Context()); err != nil || s.Usage.Requests != 2 {
		t.Errorf("the parent is charged for %d requests, %v, want its own 2", s.Usage.Requests, err)
	}
}

func TestADelegateIsToldItsOwnTaskFirst(t *testing.T) {
	reviewer := newModel(says("it is fine"))
	g := openWith(t, func(o *agent.Options) {
		o.Agent.Tools = []tool.Tool{agent.Delegate(agent.Subagent{Name: "reviewer", Task: "Review.", Agent: agent.Agent{Model: reviewer}})}
	}, calls(review), says("well"))
	g.say("go", "well")
	if got := showMessage(reviewer.requests[0].Messages[0]); got != `user "Review.\n\nread it"` {
		t.Errorf("the delegate reads %s, want its own task before the one that it is handed", got)
	}
}

// child returns the session's only child.
func (g *rig) child() skein.Session {
	g.t.Helper()
	var all []skein.Session
	for s, err := range g.store.Sessions(context.Background(), skein.Filter{Parent: g.ID()}) {
		if err != nil {
			g.t.Fatal(err)
		}
		all = append(all, s)
	}
	if len(all) != 1 {
		g.t.Fatalf("there are %d children, want 1", len(all))
	}
	return all[0]
}

func eventsOf(t *testing.T, s skein.Store, id skein.SessionID) (all []skein.Event) {
	t.Helper()
	for e, err := range s.Events(context.Background(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// wantChildHeard checks that updates of the child were observed as the child's.
func (g *rig) wantChildHeard(id skein.SessionID) {
	g.t.Helper()
	told := map[skein.SessionID][]string{}
	for _, u := range g.seen {
		if u.Kind == agent.Running || u.Kind == agent.Ran {
			told[u.Child] = append(told[u.Child], string(u.Kind)+" "+u.Call.Name)
		}
	}
	want := map[skein.SessionID][]string{"": {"running delegate", "ran delegate"}, id: {"running note", "ran note"}}
	if diff := cmp.Diff(want, told); diff != "" {
		g.t.Errorf("what was told (-want +got):\n%s", diff)
	}
}

func TestTheModelIsToldWhoThereIs(t *testing.T) {
	spec := agent.Delegate(agent.Subagent{Name: "reviewer", Description: "reads code", File: "agents/reviewer.md"}, agent.Subagent{Name: "writer"}).Spec
	if !strings.Contains(spec.Doc, "\n- reviewer (agents/reviewer.md): reads code\n- writer") || !strings.Contains(string(spec.Schema), `"enum":["reviewer","writer"]`) {
		t.Errorf("the tool is %s %s", spec.Doc, spec.Schema)
	}
}

func TestADelegateThatDoesNotGetThereSaysSo(t *testing.T) {
	endless := newModel(calls("note {}"), calls("note {}"), calls("note {}"), says("never"))
	for _, c := range []struct {
		name, input, want string
		reviewer          *model
	}{
		{"it came to its limit", review, "[The agent was stopped after 3 steps, before it had finished.]", endless},
		{"it failed", review, "gone", newModel(fails(errGone))},
		{"it has no words", review, "[The agent ended without an answer.]", newModel(answer{message: message()})},
		{"there is none", `delegate {"agent":"nobody","task":"x"}`, `no agent "nobody"; the agents are: reviewer, writer`, newModel()},
		{"there is no task", `delegate {"agent":"reviewer","task":" "}`, `": empty`, newModel()},
		{"it has no model", `delegate {"agent":"writer","task":"x"}`, `it has no model`, newModel()},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := boss(t, c.reviewer, calls(c.input), says("well"))
			g.say("go", "well")
			if r := g.results()[0]; !strings.Contains(string(r.Text), c.want) {
				t.Errorf("the result is %+v, want %q in it", r, c.want)
			}
		})
	}
}

func TestAnInterruptReachesTheDelegate(t *testing.T) {
	var g *rig
	reviewer := newModel(answer{text: "I rea", hang: true, before: func() { g.Interrupt() }})
	g = boss(t, reviewer, calls(review))
	out, err := g.Turn(t.Context(), skein.UserSays("go"))
	if err != nil || out.Stop != agent.Interrupted {
		t.Errorf("Turn = %+v, %v, want it interrupted", out, err)
	}
	got := logOf(t, eventsOf(t, g.store, g.child().ID))
	if !strings.Contains(got, "(interrupted) \"I rea\"") {
		t.Errorf("the child's events are\n%s\nwant what there was of its answer", got)
	}
	if r := g.results()[0]; !strings.HasPrefix(string(r.Text), "I rea\n") && !strings.Contains(string(r.Text), "interrupted") {
		t.Errorf("the result is %+v", r)
	}
}

func TestADelegatesToolsAskTheSamePerson(t *testing.T) {
	asked := 0
	reviewer := newModel(calls("rm {}"), says("removed"))
	g := openWith(t, func(o *agent.Options) {
		rm := tool.Tool{Spec: spec("rm"), Ask: func(tool.Call) string { return "?" }, Run: func(context.Context, tool.Call) (tool.Output, error) {
			return tool.Output{Text: "ran"}, nil
		}}
		o.Agent.Tools = []tool.Tool{agent.Delegate(agent.Subagent{Name: "reviewer", Agent: agent.Agent{Model: reviewer, Tools: []tool.Tool{rm}}})}
		o.Approve = func(context.Context, tool.Tool, tool.Call, string) (agent.Approval, error) {
			asked++
			return agent.Approval{Yes: true}, nil
		}
	}, calls(review), says("well"))
	g.say("go", "well")
	if asked != 1 {
		t.Errorf("a person was asked %d times, want once", asked)
	}
}

func TestDelegationHasAnEnd(t *testing.T) {
	all := newModel()
	a := agent.Agent{Name: "a", Model: all}
	for range 8 { // each can delegate to the next one
		a = agent.Agent{Name: "a", Model: all, Tools: []tool.Tool{agent.Delegate(agent.Subagent{Name: "reviewer", Agent: a})}}
		all.answers = append(all.answers, calls(review))
	}
	g := openWith(t, func(o *agent.Options) { o.Agent = a; o.Agent.Model = all })
	g.say("go", "done")
	n := 0
	for s, err := range g.store.Sessions(t.Context(), skein.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Parent != nil {
			n++
		}
	}
	if n != 4 {
		t.Errorf("there are %d delegates below each other, want 4", n)
	}
}

func TestDelegateNeedsAThread(t *testing.T) {
	tl := agent.Delegate(agent.Subagent{Name: "a"})
	if _, err := tl.Run(t.Context(), tool.Call{Input: []byte(`{"agent":"a","task":"x"}`)}); err == nil {
		t.Error("Run outside of a thread = nil, want an error")
	}
	if title := tl.Title([]byte(`{"agent":"a","task":"read\nit"}`)); title != "a: read it" {
		t.Errorf("Title = %q", title)
	}
}

func TestTheCallsOfADeadDelegateAreUncertainToo(t *testing.T) {
	gone := make(chan struct{})
	reviewer := newModel(calls("hold {}"))
	g := openWith(t, func(o *agent.Options) {
		hold := tool.Tool{Spec: spec("hold"), Run: func(context.Context, tool.Call) (tool.Output, error) {
			close(gone)
			select {} // the program dies here
		}}
		o.Agent.Tools = []tool.Tool{agent.Delegate(agent.Subagent{Name: "reviewer", Agent: agent.Agent{Model: reviewer, Tools: []tool.Tool{hold}}})}
	}, calls(review))
	go func() { _, _ = g.Turn(context.Background(), skein.UserSays("go")) }() // it never ends
	<-gone
	for _, id := range []skein.SessionID{g.ID(), g.child().ID} { // the kernel releases the leases of dead processes
		l, err := skein.LeasesOf(g.store).Acquire(t.Context(), id, skein.LeaseRequest{TakeOver: true})
		if err == nil {
			err = skein.LeasesOf(g.store).Release(t.Context(), l)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	o := g.options
	o.Session, o.Observe = g.ID(), nil
	if _, err := agent.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	s, err := g.store.Session(t.Context(), g.ID())
	if kid := g.child(); err != nil || s.Uncertain != 1 || kid.Uncertain != 1 || len(kid.Open) > 0 || kid.LockedBy != "" {
		t.Errorf("the parent has %d uncertain calls, the child %d and the open ones %v, locked by %q; want 1 each, settled", s.Uncertain, kid.Uncertain, kid.Open, kid.LockedBy)
	}
}
