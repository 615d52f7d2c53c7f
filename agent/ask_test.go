package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/llm"
)

func TestARequestIsTriedAgain(t *testing.T) {
	asked := &llm.Error{Kind: llm.ErrBusy, Status: 429, After: 90 * time.Second}
	g := open(t, fails(errBusy), fails(asked), fails(errBusy), says("well"))
	g.say("go", "well")
	g.wantLog(`1 created
	2 said user "go"
	3 step start
	4 step finish busy
	5 step start 2
	6 step finish 2 busy
	7 step start 3
	8 step finish 3 busy
	9 step start 4
	10 step finish 4
	11 said assistant "well"
	`)
	if len(g.waits) != 3 || g.waits[0] < time.Second || g.waits[0] > 2*time.Second || g.waits[1] != 90*time.Second || g.waits[2] < 4*time.Second {
		t.Errorf("the waits are %v, want some 1 s, the 90 s that were asked for, some 4 s", g.waits)
	}
	s, err := g.Session(t.Context())
	if err != nil || s.Usage.Requests != 1 {
		t.Errorf("Session.Usage = %+v, %v, want one request", s.Usage, err)
	}
}

func TestWaitsAreCapped(t *testing.T) {
	var all []answer
	for range 11 {
		all = append(all, fails(errBusy))
	}
	g := openWith(t, func(o *agent.Options) { o.Attempts = 12 }, all...)
	g.say("go", "done")
	for _, d := range g.waits {
		if d > time.Minute {
			t.Errorf("a wait is %v, want at most a minute", d)
		}
	}
}

func TestARequestFailsAfterAllAttempts(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		tries int
	}{
		{"that may do later", errBusy, 5},
		{"that never does", &llm.Error{Kind: llm.ErrRequest, Status: 400}, 1},
		{"with a key that was turned down", &llm.Error{Kind: llm.ErrDenied, Status: 401}, 1},
		{"of a provider that wants hours", &llm.Error{Kind: llm.ErrBusy, After: time.Hour}, 1},
		{"with an error of its own", errGone, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := open(t, fails(c.err), fails(c.err), fails(c.err), fails(c.err), fails(c.err))
			out, err := g.Turn(t.Context(), skein.UserSays("go"))
			if !errors.Is(err, c.err) || out.Stop != agent.Error || len(g.model.requests) != c.tries {
				t.Errorf("Turn = %+v, %v after %d requests, want %v after %d", out, err, len(g.model.requests), c.err, c.tries)
			}
			g.model.answers = nil
			if out, err := g.Retry(t.Context()); err != nil || out.Text != "done" {
				t.Errorf("Retry = %+v, %v, want the answer", out, err)
			}
			g.wantShown(`user "go"`)
		})
	}
}

func TestAnAnswerThatBrokeOffIsNotShownToTheNextTry(t *testing.T) {
	half := cut("it")
	half.message = nil
	g := open(t, cut("I sta"), half, says("well"))
	g.say("go", "well")
	g.wantLog(`1 created
	2 said user "go"
	3 step start
	4 step finish cut
	5 said assistant (interrupted) "I sta"
	6 rewound to 3
	7 step start 2
	8 step finish 2 cut
	9 said assistant (interrupted) "it"
	10 rewound to 7
	11 step start 3
	12 step finish 3
	13 said assistant "well"
	`)
	g.wantShown(`user "go"`)
	g.say("on", "done")
	g.wantShown(`user "go"`, `assistant "well"`, `user "on"`)
	if err := g.Redo(t.Context()); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("Redo after a cut = %v, want %v: nobody has undone anything", err, skein.ErrInvalid)
	}
}

func TestCallsOfABrokenAnswerAreNotKept(t *testing.T) {
	a := calls("note {}")
	a.message.Parts = append([]skein.Part{skein.TextPart("I will")}, a.message.Parts...)
	a.message.Interrupted = true // the message itself says so
	g := open(t, a, says("well"))
	g.say("go", "well")
	for _, e := range g.events() {
		if e.Kind == skein.KindTool || strings.Contains(string(e.Payload), `"call"`) {
			t.Errorf("event %d is %s %s, want no call", e.Seq, e.Kind, e.Payload)
		}
	}
	if len(g.results()) != 0 {
		t.Error("a call of an answer that broke off was run")
	}
}

func TestRetryTakesUpABrokenAnswer(t *testing.T) {
	g := openWith(t, func(o *agent.Options) { o.Attempts = 1 }, says("one"), calls("note {}"), cut("I sta"))
	g.say("first", "one")
	if _, err := g.Retry(t.Context()); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("Retry after an answer = %v, want %v", err, skein.ErrInvalid)
	}
	if _, err := g.Turn(t.Context(), skein.UserSays("go")); !errors.Is(err, llm.ErrCut) {
		t.Fatalf("Turn = %v, want %v", err, llm.ErrCut)
	}
	g.again()
	if p, err := g.Pending(t.Context()); !p || err != nil {
		t.Errorf("Pending = %v, %v, want true", p, err)
	}
	if out, err := g.Retry(t.Context()); err != nil || out.Text != "done" {
		t.Errorf("Retry = %+v, %v", out, err)
	}
	g.wantShown(`user "first"`, `assistant "one"`, `user "go"`, `assistant call(c0 note {})`, `user result(c0 "ran {}")`)
	if p, err := g.Pending(t.Context()); p || err != nil {
		t.Errorf("Pending = %v, %v, want false", p, err)
	}
}

func TestAWaitEndsWithTheTurn(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	g := openWith(t, func(o *agent.Options) {
		o.Wait = func(ctx context.Context, _ time.Duration) error { stop(); return ctx.Err() }
	}, fails(errBusy))
	out, err := g.Turn(ctx, skein.UserSays("go"))
	if err != nil || out.Stop != agent.Interrupted {
		t.Errorf("Turn = %+v, %v, want it interrupted", out, err)
	}
}

func TestStepsSayWhatTheModelRead(t *testing.T) {
	g := open(t)
	done := says("done")
	done.message.Tier = "priority"
	g.model.answers = []answer{done}
	g.say("go", "done")
	all := g.events()
	start, finish := decode[skein.Step](t, all[2]), decode[skein.Step](t, all[3])
	if start.Phase != "start" || start.Mode != "turn" || len(start.Prompt) != 64 || len(start.Tools) != 64 || start.Attempt != 1 || start.Model != "m" || start.Provider != "anthropic" {
		t.Errorf("the step starts as %+v", start)
	}
	said := decode[skein.Message](t, all[4])
	if finish.Phase != "finish" || finish.Request == "" || finish.Request != said.Request || finish.Usage == nil || *finish.Usage != *said.Usage || finish.Tier != "priority" || said.Tier != finish.Tier {
		t.Errorf("the step ends as %+v, and the answer is %+v, want the same request and usage", finish, said)
	}
}
