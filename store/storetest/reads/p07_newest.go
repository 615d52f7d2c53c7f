package reads

import (
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func newest() []harness.Check {
	return []harness.Check{
		{Name: "the latest, in order", Run: latest},
		{Name: "pieces put together, wherever they lie", Run: pieces},
		{Name: "a receipt counts a message once, in however many pieces it comes", Run: piecesCounted},
		{Name: "what was amended, rewound and compacted", Run: marked},
		{Name: "paging back gives every message once", Run: pages},
		{Name: "through a fork", Run: newestFork},
	}
}

func latest(t *harness.Test) {
	t.Add("a", fixture.Created())
	if got := t.Newest("a", 5, 0); len(got) != 0 {
		t.Errorf("Newest of a session without messages = %+v", got)
	}
	t.Add("a", fixture.Some(10)...)
	t.Add("a", fixture.Titled("not a message"), fixture.Noted("neither"))
	var got []string
	for _, e := range t.Newest("a", 3, 0) {
		got = append(got, e.Message.Words())
	}
	harness.Equal(t, "Newest 3", got, []string{"answer 3", "question 4", "answer 4"})
	t.WantNewest("a")
	_, err := t.Store.Newest(t.Context(), "nobody", 3, 0)
	t.WantErr("Newest of nobody", err, skein.ErrNotFound)
}

func pieces(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("q"), fixture.Piece("m1", "one"), fixture.Piece("m1", "two"), fixture.User("between"), fixture.Piece("m2", "x"), fixture.Piece("m1", "three"), fixture.Noted("n"), fixture.User("last"), fixture.Piece("m2", "y"))
	if s := t.Session("a"); s.Messages != 5 || s.Turns != 3 {
		t.Errorf("Session has %d messages and %d turns, want 5 and 3", s.Messages, s.Turns)
	}
	t.WantNewest("a")
	m := t.Newest("a", 4, 0)[0]
	if m.Seq != 3 || m.End != 7 || len(m.Message.Parts) != 3 {
		t.Errorf("Newest gives %+v, want the message from 3 to 7 with 3 parts", m)
	}
}

func piecesCounted(t *harness.Test) {
	batches := []struct {
		session skein.SessionID
		events  []skein.Event
		want    int
	}{
		{"a", []skein.Event{fixture.Created(), fixture.User("q"), fixture.Piece("m1", "one"), fixture.Piece("m1", "two")}, 2},
		{"a", []skein.Event{fixture.Piece("m1", "three"), fixture.ID("i", fixture.Piece("m2", "x")), fixture.Noted("n")}, 1},
		{"a", []skein.Event{fixture.ID("i", fixture.Piece("m2", "x"))}, 0}, // already stored
		{"a", []skein.Event{fixture.ID("i", fixture.Piece("m2", "x")), fixture.Piece("m2", "y"), fixture.User("last")}, 1},
		{"f", []skein.Event{fixture.Fork("a", 5), fixture.Piece("m1", "four"), fixture.Piece("m3", "z")}, 1},
	}
	for _, b := range batches {
		if r := t.Append(skein.Batch{Session: b.session, Events: b.events}); r.Messages != b.want {
			t.Errorf("Append(%s) = %d messages, want %d", harness.Show(skein.Batch{Session: b.session, Events: b.events}), r.Messages, b.want)
		}
	}
	if s := t.Session("a"); s.Messages != 4 {
		t.Errorf("Session has %d messages, want as many as the receipts count: 4", s.Messages)
	}
}

func marked(t *harness.Test) {
	t.Add("a", fixture.Created())
	t.Add("a", fixture.Some(8)...)
	t.Add("a",
		skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: 3, Payload: skein.MustJSON(skein.UserSays("amended"))}),
		skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: 4, Withdrawn: true}),
		skein.NewEvent(skein.KindCompacted, fixture.Noon, skein.Compacted{To: 5, Summary: "s"}),
		skein.NewEvent(skein.KindRewound, fixture.Noon, skein.Rewound{To: 8}),
		fixture.User("after"),
		skein.NewEvent(skein.KindRewound, fixture.Noon, skein.Rewound{To: 4}),
		fixture.User("again"),
		skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: 9, Withdrawn: true}),
	)
	t.WantNewest("a")
	t.Add("f", fixture.Fork("a", 11), fixture.User("in the fork"))
	t.WantNewest("f")
	t.Add("b", fixture.Created())
	t.Add("b", fixture.Some(8)...)
	t.Add("b", skein.NewEvent(skein.KindCompacted, fixture.Noon, skein.Compacted{To: 5, Summary: "s"}), fixture.User("after"))
	t.Add("g", fixture.Fork("b", 10), fixture.User("in the fork"))
	for _, id := range []skein.SessionID{"b", "g"} { // nothing rewinds this compaction
		t.WantNewest(id)
		if first := t.Newest(id, 100, 0)[0]; !first.Compacted {
			t.Errorf("Newest of %s begins with %+v, want it marked as compacted", id, first)
		}
	}
}

func pages(t *harness.Test) {
	t.Add("a", fixture.Created())
	for i := range 40 {
		t.Add("a", fixture.Piece(fmt.Sprint("m", i/3), fmt.Sprint("piece ", i)), fixture.Noted("x"))
	}
	entries, err := skein.Entries(t.Events("a"))
	t.NoErr("Entries", err)
	var got []skein.Entry
	for before := skein.Seq(0); ; before = got[0].Seq {
		page := t.Newest("a", 3, before)
		if len(page) == 0 {
			break
		}
		if last := page[len(page)-1].Seq; before > 0 && last >= before {
			t.Fatalf("Newest before %d gives a message that begins at %d", before, last)
		}
		got = append(page, got...)
	}
	harness.Equal(t, "all pages", got, entries)
}

func newestFork(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.Piece("m1", "one"), fixture.User("q"), fixture.Piece("m1", "two"), fixture.Piece("m1", "three"), fixture.User("not shown"))
	t.Add("b", fixture.Fork("a", 4), fixture.Piece("m1", "other three"), fixture.User("own"))
	t.Add("c", fixture.Fork("b", 7), fixture.Piece("m1", "four"))
	for _, id := range []skein.SessionID{"a", "b", "c"} {
		t.WantNewest(id)
	}
	if n := t.Session("b").Messages; n != 3 {
		t.Errorf("the fork has %d messages, want 3", n)
	}
}
