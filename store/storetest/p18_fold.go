package storetest

import (
	"fmt"

	"github.com/skein-dev/skein"
)

func folding() []check {
	return []check{
		{name: "every kind of event", run: func(t *test) { t.add("a", everything()...); t.wantFolded("a") }},
		{name: "after each event of a long session", run: foldSteps},
		{name: "forks, and forks of forks", run: foldForks},
		{name: "a batch gives the same as its events one by one", run: foldPieces},
		{name: "calls that run, and calls whose outcome nobody knows", run: openCalls},
		{name: "who gave the title", run: titles},
		{name: "what is kept about a session, and who opens it, is nothing said or done in it", run: housekept},
	}
}

// wantFolded checks that the row of id is the fold of its events.
func (t *test) wantFolded(id skein.SessionID) {
	t.Helper()
	got := t.session(id)
	want, err := fold(id, t.events(id))
	t.noErr("fold", err)
	want.Binned, want.Revision, want.LockedBy = got.Binned, got.Revision, got.LockedBy
	equal(t, fmt.Sprintf("Session(%s)", id), got, want)
	for _, row := range all(t, t.s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true, Bin: got.Binned != 0})) {
		if row.ID == id {
			equal(t, fmt.Sprintf("%s in Sessions", id), row, got)
			return
		}
	}
	t.Errorf("Sessions does not yield %s", id)
}

// fold returns the fold of evs, all events that a session shows, computed with
// only Session.Apply and Entries. No other session may have had the same
// requests.
func fold(id skein.SessionID, evs []skein.Event) (s skein.Session, err error) {
	charged := map[string]skein.Usage{}
	var standing skein.LiveMessages
	for _, e := range evs {
		f, err := skein.FactsOf(e)
		if err != nil {
			return s, err
		}
		var p skein.Prior
		if f.Created != nil { // what came before it is the parent's
			p.Base = s.Shown()
			s = skein.Session{ID: id}
		}
		if m := f.Message; m != nil && m.ID != "" {
			p.Message = standing.Joins(m.ID)
		}
		if f.Charge != nil && f.Charge.Request != "" {
			p.Charged = charged[f.Charge.Request]
		}
		at := e.Seq
		a, err := s.Apply(&e, f, p)
		if err != nil {
			return s, err
		}
		if err := standing.Add(e); err != nil {
			return s, err
		}
		if a.Stale {
			s.SetShown(standing.Shown())
		}
		if e.Seq != at {
			return s, fmt.Errorf("event %d folds to seq %d", at, e.Seq)
		}
		if f.Charge != nil && f.Charge.Request != "" {
			charged[f.Charge.Request] = a.Counted
		}
	}
	return s, wantLiveCounts(&s, evs)
}

// wantLiveCounts checks that the session counts what Entries marks as live.
func wantLiveCounts(s *skein.Session, evs []skein.Event) error {
	entries, err := skein.Entries(evs)
	if err != nil {
		return err
	}
	n := 0
	for _, e := range entries {
		if !e.Rewound {
			n++
		}
	}
	if s.Messages != n {
		return fmt.Errorf("the session counts %d messages, and %d stand", s.Messages, n)
	}
	return nil
}

func foldSteps(t *test) {
	t.add("a", created())
	evs := append(everything()[1:], some(6)...)
	evs = append(evs, piece("p", "one"), user("x"), piece("p", "two"))
	for i, e := range evs {
		e.Time = noon + skein.Time(i%7)*second
		t.add("a", e)
		t.wantFolded("a")
	}
}

func foldForks(t *test) {
	t.add("a", everything()...)
	for _, seq := range []skein.Seq{1, 3, 8, 11, 17} {
		f := skein.SessionID(fmt.Sprint("f", seq))
		t.add(f, fork("a", seq))
		t.wantFolded(f)
		t.add(f, user("own"), piece("m1", "of a message that the parent may have"), titled("mine"))
		t.wantFolded(f)
		g := skein.SessionID(fmt.Sprint("g", seq))
		t.add(g, fork(f, seq+2))
		t.wantFolded(g)
		equal(t, "last prompt of a fork that begins with \"own\"", t.session(g).LastPrompt, "own")
		t.add(g, user("own"))
		t.wantFolded(g)
	}
}

func foldPieces(t *test) {
	evs := append(everything(), some(10)...)
	t.add("once", evs...)
	for _, e := range evs {
		e.Payload = append([]byte(nil), e.Payload...)
		t.add("pieces", e)
	}
	once, pieces := t.session("once"), t.session("pieces")
	pieces.ID = once.ID
	pieces.Usage, once.Usage = skein.Usage{}, skein.Usage{} // the requests are the same, and were counted already
	equal(t, "Session of events one by one", pieces, once)
	equal(t, "Events", t.events("pieces"), t.events("once"))
}

func openCalls(t *test) {
	t.add("a", created())
	state := func(call string, s skein.CallState) {
		t.add("a", skein.NewEvent(skein.KindTool, noon, skein.ToolState{Call: call, State: s}))
	}
	state("c1", skein.Pending)
	state("c2", skein.Running)
	equal(t, "Open, of which one is pending", t.session("a").Open, []string{"c2"})
	state("c1", skein.Running)
	state("c3", skein.Running)
	state("c3", skein.Pending) // it had not run after all
	equal(t, "Open", t.session("a").Open, []string{"c2", "c1"})
	equal(t, "Sessions with open calls", t.ids(skein.Filter{WithOpenCalls: true}), []skein.SessionID{"a"})
	state("c1", skein.Completed)
	state("c2", skein.Uncertain)
	s := t.session("a")
	if len(s.Open) != 0 || s.Uncertain != 1 {
		t.Errorf("Session has the open calls %v and %d uncertain, want none and 1", s.Open, s.Uncertain)
	}
	equal(t, "Sessions with open calls", t.ids(skein.Filter{WithOpenCalls: true}), nil)
	t.wantFolded("a")
}

func titles(t *test) {
	t.add("a", begin(skein.Created{Title: "source"}))
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
		t.add("a", skein.NewEvent(skein.KindTitled, noon, skein.Titled{Title: title, By: c.by, Description: "of " + title}))
		if s := t.session("a"); s.Title != c.want || s.Description != "of "+c.want {
			t.Errorf("after a title by %s the session is %q (%q), want %q", c.by, s.Title, s.Description, c.want)
		}
	}
}

func housekept(t *test) {
	const month = 30 * 24 * 3600 * second
	late := user("new")
	late.Time = noon + month
	t.add("new", created(), late)
	for i, e := range []skein.Event{
		titled("t"),
		changed(skein.Changed{Pinned: ptr(true)}),
		changed(skein.Changed{Tags: &[]string{"a"}, Status: ptr("done"), Key: ptr("k")}),
		changed(skein.Changed{Project: ptr("/p"), Cwd: ptr("/p/q"), Model: ptr("m")}),
		skein.NewEvent(skein.KindResumed, 0, skein.Program{Program: "skein"}),
		skein.NewEvent(skein.KindEnded, 0, skein.Program{How: "done"}),
		skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "scrubbed"}),
	} {
		id := skein.SessionID(fmt.Sprint("old", i))
		t.add(id, created(), user("old"))
		e.Time = noon + 2*month
		t.add(id, e)
		if s := t.session(id); s.Updated != noon+second || s.Touched != noon+2*month {
			t.Errorf("after %s the session was updated %v and touched %v, want %v and %v", e.Kind, s.Updated, s.Touched, noon+second, noon+2*month)
		}
		equal(t, fmt.Sprintf("the latest after %s of an older one", e.Kind), t.ids(skein.Filter{Limit: 1}), []skein.SessionID{"new"})
		equal(t, fmt.Sprintf("those since, after %s", e.Kind), t.ids(skein.Filter{Since: noon + month}), []skein.SessionID{"new"})
		again := user("again")
		again.Time = noon + month/2
		t.add(id, again)
		if s := t.session(id); s.Updated != noon+month/2 || s.Touched != noon+2*month {
			t.Errorf("after %s and a message the session was updated %v and touched %v, want %v and %v", e.Kind, s.Updated, s.Touched, noon+month/2, noon+2*month)
		}
		t.wantFolded(id)
	}
	t.add("untimed", skein.NewEvent(skein.KindCreated, 0, skein.Created{}), skein.Say(0, skein.UserSays("x")), titled("t"))
	equal(t, "Updated where only the title has a time", t.session("untimed").Updated, noon+3*second)
}
