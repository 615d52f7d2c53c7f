package storetest

import (
	"context"
	"fmt"

	"github.com/skein-dev/skein"
)

func forks() []check {
	return []check{
		{name: "at any seq it shows what the parent had there", run: anySeq},
		{name: "a fork of a fork", run: forkOfFork},
		{name: "where it cannot begin", run: badForks},
		{name: "whatever the parent does later", run: parentMoves},
		{name: "when the parent is deleted", run: parentDeleted},
		{name: "two forks at different places, then the parent is deleted", run: twoForks},
		{name: "a line of forks, deleted from any end", run: lineOfForks},
		{name: "a fork that does not reach the middle one", run: pastTheMiddle},
		{name: "usage and search count an event once", run: countedOnce},
		{name: "forks made by 16 writers while the parent grows", run: manyForks},
		{name: "what it shows of the parent is as it was at that place", run: shownThen},
		{name: "before the first words it has no words of the parent", run: wordless},
	}
}

// wordless forks after a prompt without words, such as a picture alone.
func wordless(t *test) {
	t.add("a", created(), user(""), user("words"), user("more"))
	t.add("f", fork("a", 2), user("own"))
	t.add("g", fork("a", 3), user("own"))
	for id, want := range map[skein.SessionID]string{"a": "words", "f": "own", "g": "words"} {
		if s := t.session(id); s.First != want {
			t.Errorf("the first words of %s are %q, want %q", id, s.First, want)
		}
	}
}

// wantShows checks that id has these events, with their seqs.
func (t *asker) wantShows(id skein.SessionID, want []skein.Event) {
	t.Helper()
	equal(t, "Events of "+string(id), t.events(id), want)
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

func (t *asker) delete(id skein.SessionID) skein.Deleted {
	t.Helper()
	d, err := skein.LifecycleOf(t.s).Delete(t.Context(), id, skein.Deletion{})
	if err != nil {
		t.Fatalf("Delete(%s) = %v", id, err)
	}
	return d
}

func anySeq(t *test) {
	t.add("a", everything()...)
	evs := t.events("a")
	for seq := 1; seq <= len(evs); seq++ {
		f := skein.SessionID(fmt.Sprint("f", seq))
		own := []skein.Event{fork("a", skein.Seq(seq)), user("own")}
		if r := t.append(skein.Batch{Session: f, Events: own}); r.Last != skein.Seq(seq+2) || r.Seqs[0] != skein.Seq(seq+1) {
			t.Errorf("Append of a fork at %d = %+v", seq, r)
		}
		t.wantShows(f, join(evs[:seq], own...))
		for after := range skein.Seq(seq + 3) {
			equal(t, "Events after", all(t, t.s.Events(t.Context(), f, after)), join(evs[:seq], own...)[min(int(after), seq+2):])
		}
	}
	t.wantShows("a", evs)
}

func forkOfFork(t *test) {
	t.add("a", created())
	t.add("a", some(6)...)
	a := t.events("a")
	t.add("b", fork("a", 5), user("b1"), user("b2"))
	b := join(a[:5], fork("a", 5), user("b1"), user("b2"))
	t.add("c", fork("b", 7), user("c1"))
	t.add("d", fork("b", 3), user("d1")) // within what b shows of a
	t.wantShows("b", b)
	t.wantShows("c", join(b[:7], fork("b", 7), user("c1")))
	t.wantShows("d", join(b[:3], fork("b", 3), user("d1")))
}

func badForks(t *test) {
	t.add("a", created(), user("x"))
	for seq, want := range map[skein.Seq]error{0: skein.ErrInvalid, -1: skein.ErrInvalid, 3: skein.ErrInvalid, 1 << 40: skein.ErrInvalid} {
		t.refused(skein.Batch{Session: "f", Events: []skein.Event{fork("a", seq)}}, want)
	}
	t.refused(skein.Batch{Session: "f", Events: []skein.Event{fork("f", 1)}}, skein.ErrInvalid)
	t.refused(skein.Batch{Session: "f", Events: []skein.Event{fork("nobody", 1)}}, skein.ErrNotFound)
	keyed := begin(skein.Created{Key: "k", Parent: &skein.Parent{Session: "a", Seq: 1, Why: skein.Fork}})
	t.refused(skein.Batch{Session: "f", Events: []skein.Event{keyed}}, skein.ErrInvalid)
	t.add("own", fork("a", 2), user("own"))
	for _, seq := range []skein.Seq{0, 1, 2} { // only the parent amends the parent's events
		t.refused(skein.Batch{Session: "own", Events: []skein.Event{skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: seq, Withdrawn: true})}}, skein.ErrInvalid)
	}
	t.delete("a")
	t.refused(skein.Batch{Session: "f", Events: []skein.Event{fork("a", 1)}}, skein.ErrDeleted)
	t.add("k", child("nobody")) // children may be stored before their parents
}

func countedOnce(t *test) {
	t.add("a", created(), user("needle"), paid("r1", noon, "m", skein.Usage{Input: 5}))
	for i := range 3 {
		t.add(skein.SessionID(fmt.Sprint("f", i)), fork("a", 3), user("own"))
	}
	t.wantFound("needle", at("a", 2))
	t.wantFound("session:f1 needle", at("f1", 2))
	equal(t, "all usage", t.total(skein.UsageQuery{}), skein.Usage{Input: 5, Requests: 1})
	if u := t.session("f1").Usage; u != (skein.Usage{}) {
		t.Errorf("the fork's own usage is %+v, want none", u)
	}
	t.add("f1", paid("r1", noon, "m", skein.Usage{Input: 5})) // the same request again
	equal(t, "all usage after the same request in a fork", t.total(skein.UsageQuery{}), skein.Usage{Input: 5, Requests: 1})
	if s := t.session("f1"); s.Messages != 4 || s.Turns != 2 {
		t.Errorf("the fork has %d messages and %d turns, want 4 and 2", s.Messages, s.Turns)
	}
}

func manyForks(t *test) {
	t.add("a", created())
	everyone(16, func(w int) {
		for i := range 5 {
			last, err := skein.Add(context.Background(), t.s, "a", user(fmt.Sprint(w, " ", i)))
			if err != nil {
				t.Errorf("Append = %v", err)
				return
			}
			f := skein.SessionID(fmt.Sprint("f", w, "-", i))
			if _, err := skein.Add(context.Background(), t.s, f, fork("a", last), user("own")); err != nil {
				t.Errorf("fork at %d = %v", last, err)
			}
		}
	})
	a := t.events("a")
	for w := range 16 {
		f := skein.SessionID(fmt.Sprint("f", w, "-4"))
		base := t.session(f).Base
		t.wantShows(f, join(a[:base], fork("a", base), user("own")))
	}
}

func shownThen(t *test) {
	t.add("a", begin(skein.Created{Project: "/p", Cwd: "/p/c", Agent: "g", Model: "m0"}), user("first"), answered("x"),
		user("second"), changed(skein.Changed{Project: ptr("/q"), Cwd: ptr("/q/c"), Agent: ptr("h"), Model: ptr("m2")}), user("third"), answered("y"))
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
		t.add(f, fork("a", c.seq))
		s := t.session(f)
		if s.Messages != c.messages || s.Turns != c.turns || s.First != c.first || s.Model != c.model || s.Project != c.project ||
			s.Cwd != c.project+"/c" || s.Agent != c.agent || s.Base != c.seq || s.Last != c.seq+1 {
			t.Errorf("a fork at %d is %+v, want %+v", c.seq, s, c)
		}
	}
	t.add("g", fork("f4", 3), user("own")) // through a fork
	if s := t.session("g"); s.Messages != 3 || s.Project != "/p" || s.Model != "some-model" || s.First != "first" {
		t.Errorf("a fork of a fork at 3 is %+v, want what the first parent had at 3", s)
	}
	t.add("h", fork("f4", 4))
	if s := t.session("h"); s.Messages != 3 || s.Turns != 2 {
		t.Errorf("a fork of a fork at 4 is %+v", s)
	}
	own := begin(skein.Created{Project: "/o", Cwd: "/o/c", Agent: "o", Model: "o", Parent: &skein.Parent{Session: "a", Seq: 7, Why: skein.Fork}})
	t.add("o", own)
	if s := t.session("o"); s.Project != "/o" || s.Cwd != "/o/c" || s.Agent != "o" || s.Model != "o" || s.Title != "" {
		t.Errorf("a fork that says its own project, agent and model is %+v", s)
	}
}
