package agent_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/store/memory"
)

func TestATurnStoresEachThingBeforeTheNext(t *testing.T) {
	g := open(t, calls(`note {"a":1}`), says("well"))
	if g.Begun() {
		t.Error("a thread has begun before its first message")
	}
	out := g.say("go", "well")
	g.wantLog(`1 created
	2 said user "go"
	3 step start
	4 step finish
	5 said assistant call(c0 note {"a":1})
	6 tool c0 running
	7 tool c0 completed
	8 said tool result(c0 "ran {\"a\":1}")
	9 step start
	10 step finish
	11 said assistant "well"
	`)
	g.wantShown(`user "go"`, `assistant call(c0 note {"a":1})`, `user result(c0 "ran {\"a\":1}")`)
	want := agent.Outcome{Text: "well", Stop: agent.Done, Steps: 2, Last: 11, Usage: skein.Usage{Input: 20, Output: 10, Requests: 2}}
	if out != want {
		t.Errorf("Turn = %+v, want %+v", out, want)
	}
	s, err := g.Session(t.Context())
	if err != nil || s.Usage != want.Usage || s.Agent != "tester" || s.Provider != "anthropic" || s.Key != "cli:test" {
		t.Errorf("Session = %+v, %v, want its usage to be %+v", s, err, want.Usage)
	}
}

func TestOpeningWritesNothing(t *testing.T) {
	g := open(t)
	if err := g.Close(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Session(t.Context()); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("Session of a thread that said nothing: error %v, want %v", err, skein.ErrNotFound)
	}
	g.open()
	g.say("one", "done")
	g.again()
	g.again()
	g.say("two", "done")
	g.again()
	g.wantLog(`1 created
	2 said user "one"
	3 step start
	4 step finish
	5 said assistant "done"
	6 ended
	7 resumed
	8 said user "two"
	9 step start
	10 step finish
	11 said assistant "done"
	12 ended
	`)
}

func TestOpenSaysWhoHasTheSession(t *testing.T) {
	g := open(t)
	g.say("one", "done")
	o := g.options
	o.Session = g.ID()
	_, err := agent.Open(t.Context(), o)
	if l := (*skein.LockedError)(nil); !errors.As(err, &l) || l.Holder.Program != "test" {
		t.Errorf("Open of a session that is held = %v, want a LockedError with its holder", err)
	}
	o.Session = "nobody"
	if _, err := agent.Open(t.Context(), o); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("Open of nobody = %v, want %v", err, skein.ErrNotFound)
	}
}

func TestATakenOverThreadCannotWriteAndSaysSo(t *testing.T) {
	g := open(t, says("one"), calls("note {}"))
	g.say("go", "one")
	was := g.Thread
	g.options.TakeOver = true
	g.reopen()
	g.say("mine", "done")
	had := g.log()
	out, err := was.Turn(t.Context(), skein.UserSays("still here?"))
	if !errors.Is(err, skein.ErrFenced) || out.Stop != agent.Error {
		t.Errorf("Turn after it was taken over = %+v, %v, want %v", out, err, skein.ErrFenced)
	}
	if err := was.Close(t.Context(), "done"); err != nil {
		t.Errorf("Close after it was taken over = %v", err)
	}
	g.wantLog(had)
}

func TestATakeOverInTheMiddleEndsTheTurn(t *testing.T) {
	var g *rig
	g = open(t, calls("note {}"), answer{message: message(skein.TextPart("late")), before: func() {
		_, err := skein.LeasesOf(g.store).Acquire(context.Background(), g.ID(), skein.LeaseRequest{Program: "thief", TakeOver: true})
		if err != nil {
			t.Error(err)
		}
	}})
	_, err := g.Turn(t.Context(), skein.UserSays("go"))
	if !errors.Is(err, skein.ErrFenced) {
		t.Errorf("Turn = %v, want %v", err, skein.ErrFenced)
	}
	if last := g.events()[len(g.events())-1]; last.Kind != skein.KindStep {
		t.Errorf("the last event is %s, want the start of the request that was under way", last.Kind)
	}
}

func TestATurnEndsAtItsLimit(t *testing.T) {
	g := openWith(t, func(o *agent.Options) { o.Agent.MaxSteps = 2 }, calls("note {}"), calls("note {}"), says("never"))
	out, err := g.Turn(t.Context(), skein.UserSays("go"))
	if err != nil || out.Stop != agent.MaxSteps || out.Steps != 2 {
		t.Errorf("Turn = %+v, %v, want it to stop after 2 steps", out, err)
	}
	if p, err := g.Pending(t.Context()); !p || err != nil {
		t.Errorf("Pending = %v, %v, want the work to be taken up again", p, err)
	}
}

func TestATurnEndsWhenItsTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := openWith(t, func(o *agent.Options) { o.Agent.Timeout = time.Minute }, answer{text: "I sta", hang: true})
		out, err := g.Turn(t.Context(), skein.UserSays("go"))
		if err != nil || out.Stop != agent.Timeout {
			t.Errorf("Turn = %+v, %v, want its time to be over", out, err)
		}
		g.wantLog(`1 created
		2 said user "go"
		3 step start
		4 step finish timeout
		5 said assistant (interrupted) "I sta"
		`)
	})
}

func TestAnInterruptKeepsWhatThereWas(t *testing.T) {
	g := open(t, calls("note {}"), answer{text: "I sta", hang: true})
	go func() { // from another goroutine, as on a key press
		for g.heard(agent.Text) == 0 {
			runtime.Gosched()
		}
		g.Interrupt()
	}()
	out, err := g.Turn(t.Context(), skein.UserSays("go"))
	if err != nil || out.Stop != agent.Interrupted {
		t.Errorf("Turn = %+v, %v, want it interrupted", out, err)
	}
	g.wantLog(`1 created
	2 said user "go"
	3 step start
	4 step finish
	5 said assistant call(c0 note {})
	6 tool c0 running
	7 tool c0 completed
	8 said tool result(c0 "ran {}")
	9 step start
	10 step finish interrupted
	11 said assistant (interrupted) "I sta"
	`)
	g.say("go on", "done")
	g.wantShown(`user "go"`, `assistant call(c0 note {})`, `user result(c0 "ran {}")`,
		`assistant "I sta" "[This answer was interrupted and is not whole.]"`, `user "go on"`)
}

func TestAnAgentWithoutAModelIsAnError(t *testing.T) {
	g := openWith(t, func(o *agent.Options) { o.Agent.Model = nil })
	for name, err := range map[string]error{
		"Turn": second(g.Turn(t.Context(), skein.UserSays("x"))), "Retry": second(g.Retry(t.Context())),
		"Compact": g.Compact(t.Context()), "Suggest": g.Suggest(t.Context()),
	} {
		if !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("%s without a model = %v, want %v", name, err, skein.ErrInvalid)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestFilesGoWithTheTurn(t *testing.T) {
	b := skein.NewBlob([]byte("\x89PNG"))
	m := skein.UserSays("look")
	m.Parts = append(m.Parts, skein.Part{Kind: skein.PartFile, File: &skein.File{Name: "a.png", Media: "image/png", Blob: b.Hash}})
	g := open(t)
	if _, err := g.Turn(t.Context(), m, b); err != nil {
		t.Fatal(err)
	}
	r := g.model.requests[0]
	if got, err := r.Blob(t.Context(), b.Hash); err != nil || string(got) != "\x89PNG" {
		t.Errorf("Request.Blob = %q, %v", got, err)
	}
	if p := r.Messages[0].Parts; len(p) != 2 || p[1].File == nil {
		t.Errorf("the model is shown %+v, want the file", p)
	}
}

func TestUsageIsCountedOnce(t *testing.T) {
	same := func() answer {
		a := says("x")
		a.message.Request = "always the same"
		return a
	}
	g := open(t, same(), same(), says("x"))
	for range 3 {
		g.say("go", "x")
	}
	s, err := g.Session(t.Context())
	if want := (skein.Usage{Input: 30, Output: 15, Requests: 3}); err != nil || s.Usage != want {
		t.Errorf("Session.Usage = %+v, %v, want %+v", s.Usage, err, want)
	}
}

func TestAForkBeginsWithWhatItsParentHad(t *testing.T) {
	g := open(t, says("one"), fails(errGone))
	g.say("go", "one")
	if _, err := g.Turn(t.Context(), skein.UserSays("and")); err == nil {
		t.Fatal("Turn = nil, want the model's error")
	}
	parent := g.ID()
	s, err := g.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g.options.Created = skein.Created{Parent: &skein.Parent{Session: parent, Seq: s.Last, Why: skein.Fork}}
	g.open()
	if g.Begun() || g.ID() == parent {
		t.Errorf("the fork %s of %s has begun before its first message", g.ID(), parent)
	}
	if out, err := g.Retry(t.Context()); err != nil || out.Text != "done" {
		t.Errorf("Retry in the fork = %+v, %v", out, err)
	}
	g.wantShown(`user "go"`, `assistant "one"`, `user "and"`)
	var cwd string
	g.options.Agent.Tools[1].Run = func(_ context.Context, c tool.Call) (tool.Output, error) { cwd = c.Cwd; return tool.Output{}, nil }
	g.open()
	g.model.answers = []answer{calls("note {}"), says("well")}
	g.say("on", "well")
	if cwd != "/p/sub" {
		t.Errorf("a tool runs in %q, want the parent's folder", cwd)
	}
}

// A counted store counts how often a window was read.
type counted struct {
	skein.Store
	windows int
}

func (s *counted) Unwrap() skein.Store { return s.Store }

func (s *counted) Window(ctx context.Context, id skein.SessionID, n int) ([]skein.Event, error) {
	s.windows++
	return s.Store.Window(ctx, id, n)
}

func TestALongThreadIsReadAnewFromTimeToTime(t *testing.T) {
	s := &counted{Store: memory.New()}
	g := openWith(t, func(o *agent.Options) { o.Store, o.Agent.Newest, o.Agent.CompactAfter = s, 4, -1 })
	for i := range 400 {
		g.say(fmt.Sprint("question ", i), "done")
	}
	g.wantShown(`user "question 398"`, `assistant "done"`, `user "question 399"`)
	if s.windows == 0 || s.windows > 4 {
		t.Errorf("the window was read %d times in 400 turns, want it now and then", s.windows)
	}
}
