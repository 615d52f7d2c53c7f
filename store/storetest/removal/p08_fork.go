package removal

import (
	"context"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func forks() []harness.Check {
	return []harness.Check{
		{Name: "at any seq it shows what the parent had there", Run: anySeq},
		{Name: "a fork of a fork", Run: forkOfFork},
		{Name: "where it cannot begin", Run: badForks},
		{Name: "whatever the parent does later", Run: parentMoves},
		{Name: "when the parent is deleted", Run: parentDeleted},
		{Name: "two forks at different places, then the parent is deleted", Run: twoForks},
		{Name: "a line of forks, deleted from any end", Run: lineOfForks},
		{Name: "a fork that does not reach the middle one", Run: pastTheMiddle},
		{Name: "usage and search count an event once", Run: countedOnce},
		{Name: "forks made by 16 writers while the parent grows", Run: manyForks},
		{Name: "what it shows of the parent is as it was at that place", Run: shownThen},
		{Name: "before the first words it has no words of the parent", Run: wordless},
	}
}

// wordless forks after a prompt without words, such as a picture alone.
func wordless(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User(""), fixture.User("words"), fixture.User("more"))
	t.Add("f", fixture.Fork("a", 2), fixture.User("own"))
	t.Add("g", fixture.Fork("a", 3), fixture.User("own"))
	for id, want := range map[skein.SessionID]string{"a": "words", "f": "own", "g": "words"} {
		if s := t.Session(id); s.First != want {
			t.Errorf("the first words of %s are %q, want %q", id, s.First, want)
		}
	}
}

// wantShows checks that id has these events, with their seqs.
func wantShows(t *harness.Test, id skein.SessionID, want []skein.Event) {
	t.Helper()
	harness.Equal(t, "Events of "+string(id), t.Events(id), want)
}

// join returns evs followed by own, with consecutive seqs.
func join(evs []skein.Event, own ...skein.Event) []skein.Event {
	all := append([]skein.Event(nil), evs...)
	for _, e := range own {
		e.Seq = skein.Seq(len(all) + 1)
		all = append(all, e)
	}
	return all
}

func anySeq(t *harness.Test) {
	t.Add("a", fixture.Everything()...)
	evs := t.Events("a")
	for seq := 1; seq <= len(evs); seq++ {
		f := skein.SessionID(fmt.Sprint("f", seq))
		own := []skein.Event{fixture.Fork("a", skein.Seq(seq)), fixture.User("own")}
		if r := t.Append(skein.Batch{Session: f, Events: own}); r.Last != skein.Seq(seq+2) || r.Seqs[0] != skein.Seq(seq+1) {
			t.Errorf("Append of a fork at %d = %+v", seq, r)
		}
		wantShows(t, f, join(evs[:seq], own...))
		for after := range skein.Seq(seq + 3) {
			harness.Equal(t, "Events after", harness.All(t, t.Store.Events(t.Context(), f, after)), join(evs[:seq], own...)[min(int(after), seq+2):])
		}
	}
	wantShows(t, "a", evs)
}

func forkOfFork(t *harness.Test) {
	t.Add("a", fixture.Created())
	t.Add("a", fixture.Some(6)...)
	a := t.Events("a")
	t.Add("b", fixture.Fork("a", 5), fixture.User("b1"), fixture.User("b2"))
	b := join(a[:5], fixture.Fork("a", 5), fixture.User("b1"), fixture.User("b2"))
	t.Add("c", fixture.Fork("b", 7), fixture.User("c1"))
	t.Add("d", fixture.Fork("b", 3), fixture.User("d1")) // within what b shows of a
	wantShows(t, "b", b)
	wantShows(t, "c", join(b[:7], fixture.Fork("b", 7), fixture.User("c1")))
	wantShows(t, "d", join(b[:3], fixture.Fork("b", 3), fixture.User("d1")))
}

func badForks(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("x"))
	for seq, want := range map[skein.Seq]error{0: skein.ErrInvalid, -1: skein.ErrInvalid, 3: skein.ErrInvalid, 1 << 40: skein.ErrInvalid} {
		t.Refused(skein.Batch{Session: "f", Events: []skein.Event{fixture.Fork("a", seq)}}, want)
	}
	t.Refused(skein.Batch{Session: "f", Events: []skein.Event{fixture.Fork("f", 1)}}, skein.ErrInvalid)
	t.Refused(skein.Batch{Session: "f", Events: []skein.Event{fixture.Fork("nobody", 1)}}, skein.ErrNotFound)
	keyed := fixture.Begin(skein.Created{Key: "k", Parent: &skein.Parent{Session: "a", Seq: 1, Why: skein.Fork}})
	t.Refused(skein.Batch{Session: "f", Events: []skein.Event{keyed}}, skein.ErrInvalid)
	t.Add("own", fixture.Fork("a", 2), fixture.User("own"))
	for _, seq := range []skein.Seq{0, 1, 2} { // only the parent amends the parent's events
		t.Refused(skein.Batch{Session: "own", Events: []skein.Event{skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: seq, Withdrawn: true})}}, skein.ErrInvalid)
	}
	t.Delete("a")
	t.Refused(skein.Batch{Session: "f", Events: []skein.Event{fixture.Fork("a", 1)}}, skein.ErrDeleted)
	t.Add("k", fixture.Child("nobody")) // children may be stored before their parents
}

func countedOnce(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("needle"), fixture.Paid("r1", fixture.Noon, "m", skein.Usage{Input: 5}))
	for i := range 3 {
		t.Add(skein.SessionID(fmt.Sprint("f", i)), fixture.Fork("a", 3), fixture.User("own"))
	}
	t.WantFound("needle", harness.At("a", 2))
	t.WantFound("session:f1 needle", harness.At("f1", 2))
	harness.Equal(t, "all usage", t.Total(skein.UsageQuery{}), skein.Usage{Input: 5, Requests: 1})
	if u := t.Session("f1").Usage; u != (skein.Usage{}) {
		t.Errorf("the fork's own usage is %+v, want none", u)
	}
	t.Add("f1", fixture.Paid("r1", fixture.Noon, "m", skein.Usage{Input: 5})) // the same request again
	harness.Equal(t, "all usage after the same request in a fork", t.Total(skein.UsageQuery{}), skein.Usage{Input: 5, Requests: 1})
	if s := t.Session("f1"); s.Messages != 4 || s.Turns != 2 {
		t.Errorf("the fork has %d messages and %d turns, want 4 and 2", s.Messages, s.Turns)
	}
}

func manyForks(t *harness.Test) {
	t.Add("a", fixture.Created())
	harness.Everyone(16, func(w int) {
		for i := range 5 {
			last, err := skein.Add(context.Background(), t.Store, "a", fixture.User(fmt.Sprint(w, " ", i)))
			if err != nil {
				t.Errorf("Append = %v", err)
				return
			}
			f := skein.SessionID(fmt.Sprint("f", w, "-", i))
			if _, err := skein.Add(context.Background(), t.Store, f, fixture.Fork("a", last), fixture.User("own")); err != nil {
				t.Errorf("fork at %d = %v", last, err)
			}
		}
	})
	a := t.Events("a")
	for w := range 16 {
		f := skein.SessionID(fmt.Sprint("f", w, "-4"))
		base := t.Session(f).Base
		wantShows(t, f, join(a[:base], fixture.Fork("a", base), fixture.User("own")))
	}
}

func shownThen(t *harness.Test) {
	t.Add("a", fixture.Begin(skein.Created{Project: "/p", Cwd: "/p/c", Agent: "g", Model: "m0"}), fixture.User("first"), fixture.Answered("x"),
		fixture.User("second"), fixture.Changed(skein.Changed{Project: fixture.Ptr("/q"), Cwd: fixture.Ptr("/q/c"), Agent: fixture.Ptr("h"), Model: fixture.Ptr("m2")}), fixture.User("third"), fixture.Answered("y"))
	for _, c := range []struct {
		seq             skein.Seq
		messages, turns int
		first, model    string
		project, agent  string
	}{
		{1, 0, 0, "", "m0", "/p", "g"},
		{2, 1, 1, "first", "m0", "/p", "g"},
		{3, 2, 1, "first", "some-model", "/p", "g"},
		{4, 3, 2, "first", "some-model", "/p", "g"},
		{5, 3, 2, "first", "m2", "/q", "h"},
		{7, 5, 3, "first", "some-model", "/q", "h"},
	} {
		f := skein.SessionID(fmt.Sprint("f", c.seq))
		t.Add(f, fixture.Fork("a", c.seq))
		s := t.Session(f)
		if s.Messages != c.messages || s.Turns != c.turns || s.First != c.first || s.Model != c.model || s.Project != c.project ||
			s.Cwd != c.project+"/c" || s.Agent != c.agent || s.Base != c.seq || s.Last != c.seq+1 {
			t.Errorf("a fork at %d is %+v, want %+v", c.seq, s, c)
		}
	}
	t.Add("g", fixture.Fork("f4", 3), fixture.User("own")) // through a fork
	if s := t.Session("g"); s.Messages != 3 || s.Project != "/p" || s.Model != "some-model" || s.First != "first" {
		t.Errorf("a fork of a fork at 3 is %+v, want what the first parent had at 3", s)
	}
	t.Add("h", fixture.Fork("f4", 4))
	if s := t.Session("h"); s.Messages != 3 || s.Turns != 2 {
		t.Errorf("a fork of a fork at 4 is %+v", s)
	}
	own := fixture.Begin(skein.Created{Project: "/o", Cwd: "/o/c", Agent: "o", Model: "o", Parent: &skein.Parent{Session: "a", Seq: 7, Why: skein.Fork}})
	t.Add("o", own)
	if s := t.Session("o"); s.Project != "/o" || s.Cwd != "/o/c" || s.Agent != "o" || s.Model != "o" || s.Title != "" {
		t.Errorf("a fork that says its own project, agent and model is %+v", s)
	}
}
