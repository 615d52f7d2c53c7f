package reads

import (
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func folding() []harness.Check {
	return []harness.Check{
		{Name: "every kind of event", Run: func(t *harness.Test) { t.Add("a", fixture.Everything()...); t.WantFolded("a") }},
		{Name: "after each event of a long session", Run: foldSteps},
		{Name: "forks, and forks of forks", Run: foldForks},
		{Name: "a batch gives the same as its events one by one", Run: foldPieces},
		{Name: "calls that run, and calls whose outcome nobody knows", Run: openCalls},
		{Name: "what a session is doing", Run: activity},
		{Name: "who gave the title", Run: titles},
		{Name: "what is kept about a session, and who opens it, is nothing said or done in it", Run: housekept},
	}
}

func foldSteps(t *harness.Test) {
	t.Add("a", fixture.Created())
	evs := append(fixture.Everything()[1:], fixture.Some(6)...)
	evs = append(evs, fixture.Piece("p", "one"), fixture.User("x"), fixture.Piece("p", "two"))
	for i, e := range evs {
		e.Time = fixture.Noon + skein.Time(i%7)*fixture.Second
		t.Add("a", e)
		t.WantFolded("a")
	}
}

func foldForks(t *harness.Test) {
	t.Add("a", fixture.Everything()...)
	for _, seq := range []skein.Seq{1, 3, 8, 11, 17} {
		f := skein.SessionID(fmt.Sprint("f", seq))
		t.Add(f, fixture.Fork("a", seq))
		t.WantFolded(f)
		t.Add(f, fixture.User("own"), fixture.Piece("m1", "of a message that the parent may have"), fixture.Titled("mine"))
		t.WantFolded(f)
		g := skein.SessionID(fmt.Sprint("g", seq))
		t.Add(g, fixture.Fork(f, seq+2))
		t.WantFolded(g)
		harness.Equal(t, "last prompt of a fork that begins with \"own\"", t.Session(g).LastPrompt, "own")
		t.Add(g, fixture.User("own"))
		t.WantFolded(g)
	}
}

func foldPieces(t *harness.Test) {
	evs := append(fixture.Everything(), fixture.Some(10)...)
	t.Add("once", evs...)
	for _, e := range evs {
		e.Payload = append([]byte(nil), e.Payload...)
		t.Add("pieces", e)
	}
	once, pieces := t.Session("once"), t.Session("pieces")
	pieces.ID = once.ID
	pieces.Usage, once.Usage = skein.Usage{}, skein.Usage{} // the requests are the same, and were counted already
	harness.Equal(t, "Session of events one by one", pieces, once)
	harness.Equal(t, "Events", t.Events("pieces"), t.Events("once"))
}

func openCalls(t *harness.Test) {
	t.Add("a", fixture.Created())
	state := func(call string, s skein.CallState) {
		t.Add("a", skein.NewEvent(skein.KindTool, fixture.Noon, skein.ToolState{Call: call, State: s}))
	}
	state("c1", skein.Pending)
	state("c2", skein.Running)
	harness.Equal(t, "Open, of which one is pending", t.Session("a").Open, []string{"c2"})
	state("c1", skein.Running)
	state("c3", skein.Running)
	state("c3", skein.Pending) // it had not run after all
	harness.Equal(t, "Open", t.Session("a").Open, []string{"c2", "c1"})
	harness.Equal(t, "Sessions with open calls", t.IDs(skein.Filter{WithOpenCalls: true}), []skein.SessionID{"a"})
	state("c1", skein.Completed)
	state("c2", skein.Uncertain)
	s := t.Session("a")
	if len(s.Open) != 0 || s.Uncertain != 1 {
		t.Errorf("Session has the open calls %v and %d uncertain, want none and 1", s.Open, s.Uncertain)
	}
	harness.Equal(t, "Sessions with open calls", t.IDs(skein.Filter{WithOpenCalls: true}), nil)
	t.WantFolded("a")
}

// activity checks what a store says a session is doing, without reading its events.
func activity(t *harness.Test) {
	t.Add("a", fixture.Created())
	state := func(want skein.WorkState, tool string) {
		t.Helper()
		s := t.Session("a")
		got := ""
		if c := s.Activity.Call(); c != nil {
			got = c.Name
		}
		if s.Activity.State != want || got != tool || s.Activity.Seq == 0 {
			t.Errorf("the session is %s with the call of %q since event %d, want %s with %q", s.Activity.State, got, s.Activity.Seq, want, tool)
		}
		harness.Equal(t, "Activity in the list", onlyListed(t).Activity, s.Activity)
	}
	state(skein.StateIdle, "")
	t.Add("a", fixture.User("do it"))
	state(skein.StateWorking, "")
	t.Add("a", skein.Say(fixture.Noon, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{{Kind: skein.PartCall, Call: &skein.Call{ID: "c", Name: "bash"}}}}))
	state(skein.StateWorking, "bash")
	t.Add("a", skein.NewEvent(skein.KindTool, fixture.Noon, skein.ToolState{Call: "c", State: skein.Pending, Ask: "Run it?"}))
	state(skein.StateWaiting, "bash")
	t.Add("a", skein.Say(fixture.Noon, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: "c"}}}}))
	state(skein.StateWorking, "")
	t.Add("a", skein.Say(fixture.Noon, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{}, Error: &skein.ErrorInfo{Message: "busy"}}))
	state(skein.StateFailed, "")
	t.WantFolded("a")
}

func titles(t *harness.Test) {
	t.Add("a", fixture.Begin(skein.Created{Title: "source"}))
	for _, c := range []struct {
		by   skein.By
		want string
	}{
		{skein.BySource, "source 2"},
		{skein.ByModel, "model"},
		{skein.BySource, "model"},
		{skein.ByPerson, "person"},
		{skein.ByModel, "person"},
		{skein.ByPerson, "person 2"},
	} {
		title := string(c.by)
		if c.want == title+" 2" {
			title = c.want
		}
		t.Add("a", skein.NewEvent(skein.KindTitled, fixture.Noon, skein.Titled{Title: title, By: c.by, Description: "of " + title}))
		if s := t.Session("a"); s.Title != c.want || s.Description != "of "+c.want {
			t.Errorf("after a title by %s the session is %q (%q), want %q", c.by, s.Title, s.Description, c.want)
		}
	}
}

func housekept(t *harness.Test) {
	const month = 30 * 24 * 3600 * fixture.Second
	late := fixture.User("new")
	late.Time = fixture.Noon + month
	t.Add("new", fixture.Created(), late)
	for i, e := range []skein.Event{
		fixture.Titled("t"),
		fixture.Changed(skein.Changed{Pinned: fixture.Ptr(true)}),
		fixture.Changed(skein.Changed{Tags: &[]string{"a"}, Status: fixture.Ptr("done"), Key: fixture.Ptr("k")}),
		fixture.Changed(skein.Changed{Project: fixture.Ptr("/p"), Cwd: fixture.Ptr("/p/q"), Model: fixture.Ptr("m")}),
		skein.NewEvent(skein.KindResumed, 0, skein.Program{Program: "skein"}),
		skein.NewEvent(skein.KindEnded, 0, skein.Program{How: "done"}),
		skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "scrubbed"}),
	} {
		id := skein.SessionID(fmt.Sprint("old", i))
		t.Add(id, fixture.Created(), fixture.User("old"))
		e.Time = fixture.Noon + 2*month
		t.Add(id, e)
		if s := t.Session(id); s.Updated != fixture.Noon+fixture.Second || s.Touched != fixture.Noon+2*month {
			t.Errorf("after %s the session was updated %v and touched %v, want %v and %v", e.Kind, s.Updated, s.Touched, fixture.Noon+fixture.Second, fixture.Noon+2*month)
		}
		harness.Equal(t, fmt.Sprintf("the latest after %s of an older one", e.Kind), t.IDs(skein.Filter{Limit: 1}), []skein.SessionID{"new"})
		harness.Equal(t, fmt.Sprintf("those since, after %s", e.Kind), t.IDs(skein.Filter{Since: fixture.Noon + month}), []skein.SessionID{"new"})
		again := fixture.User("again")
		again.Time = fixture.Noon + month/2
		t.Add(id, again)
		if s := t.Session(id); s.Updated != fixture.Noon+month/2 || s.Touched != fixture.Noon+2*month {
			t.Errorf("after %s and a message the session was updated %v and touched %v, want %v and %v", e.Kind, s.Updated, s.Touched, fixture.Noon+month/2, fixture.Noon+2*month)
		}
		t.WantFolded(id)
	}
	t.Add("untimed", skein.NewEvent(skein.KindCreated, 0, skein.Created{}), skein.Say(0, skein.UserSays("x")), fixture.Titled("t"))
	harness.Equal(t, "Updated where only the title has a time", t.Session("untimed").Updated, fixture.Noon+3*fixture.Second)
}

// onlyListed returns the only session, as the list has it.
func onlyListed(t *harness.Test) (x skein.Session) {
	t.Helper()
	for s, err := range t.Store.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		x = s
	}
	return x
}
