package storetest

import (
	"fmt"
	"math"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
)

func newest() []check {
	return []check{
		{name: "the latest, in order", run: latest},
		{name: "pieces put together, wherever they lie", run: pieces},
		{name: "a receipt counts a message once, in however many pieces it comes", run: piecesCounted},
		{name: "what was amended, rewound and compacted", run: marked},
		{name: "paging back gives every message once", run: pages},
		{name: "through a fork", run: newestFork},
	}
}

// wantNewest checks that Newest agrees with Entries over all events, for
// several n and before.
func (t *asker) wantNewest(id skein.SessionID) {
	t.Helper()
	evs := t.events(id)
	entries, err := skein.Entries(evs)
	t.noErr("Entries", err)
	for _, n := range []int{-1, 0, 1, 2, 3, 7, 1000, math.MaxInt} {
		for before := skein.Seq(0); int(before) <= len(evs)+2; before++ {
			var want []skein.Entry
			for _, e := range entries {
				if before == 0 || e.Seq < before {
					want = append(want, e)
				}
			}
			want = want[max(0, len(want)-max(0, n)):]
			got := t.newest(id, n, before)
			if len(got) == 0 && len(want) == 0 {
				continue
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("Newest(%s, %d, %d) (-want +got):\n%s", id, n, before, diff)
			}
		}
	}
}

func latest(t *test) {
	t.add("a", created())
	if got := t.newest("a", 5, 0); len(got) != 0 {
		t.Errorf("Newest of a session without messages = %+v", got)
	}
	t.add("a", some(10)...)
	t.add("a", titled("not a message"), noted("neither"))
	var got []string
	for _, e := range t.newest("a", 3, 0) {
		got = append(got, e.Message.Words())
	}
	equal(t, "Newest 3", got, []string{"answer 3", "question 4", "answer 4"})
	t.wantNewest("a")
	_, err := t.s.Newest(t.Context(), "nobody", 3, 0)
	t.wantErr("Newest of nobody", err, skein.ErrNotFound)
}

// piece returns a piece of the message with the ID m.
func piece(m, text string) skein.Event {
	return skein.Say(noon+second, skein.Message{ID: m, Role: skein.RoleAssistant, Model: "some-model", Parts: []skein.Part{skein.TextPart(text)}})
}

func pieces(t *test) {
	t.add("a", created(), user("q"), piece("m1", "one"), piece("m1", "two"), user("between"), piece("m2", "x"), piece("m1", "three"), noted("n"), user("last"), piece("m2", "y"))
	if s := t.session("a"); s.Messages != 5 || s.Turns != 3 {
		t.Errorf("Session has %d messages and %d turns, want 5 and 3", s.Messages, s.Turns)
	}
	t.wantNewest("a")
	m := t.newest("a", 4, 0)[0]
	if m.Seq != 3 || m.End != 7 || len(m.Message.Parts) != 3 {
		t.Errorf("Newest gives %+v, want the message from 3 to 7 with 3 parts", m)
	}
}

func piecesCounted(t *test) {
	batches := []struct {
		session skein.SessionID
		events  []skein.Event
		want    int
	}{
		{"a", []skein.Event{created(), user("q"), piece("m1", "one"), piece("m1", "two")}, 2},
		{"a", []skein.Event{piece("m1", "three"), id("i", piece("m2", "x")), noted("n")}, 1},
		{"a", []skein.Event{id("i", piece("m2", "x"))}, 0}, // already stored
		{"a", []skein.Event{id("i", piece("m2", "x")), piece("m2", "y"), user("last")}, 1},
		{"f", []skein.Event{fork("a", 5), piece("m1", "four"), piece("m3", "z")}, 1},
	}
	for _, b := range batches {
		if r := t.append(skein.Batch{Session: b.session, Events: b.events}); r.Messages != b.want {
			t.Errorf("Append(%s) = %d messages, want %d", show(skein.Batch{Session: b.session, Events: b.events}), r.Messages, b.want)
		}
	}
	if s := t.session("a"); s.Messages != 4 {
		t.Errorf("Session has %d messages, want as many as the receipts count: 4", s.Messages)
	}
}

func marked(t *test) {
	t.add("a", created())
	t.add("a", some(8)...)
	t.add("a",
		skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 3, Payload: skein.MustJSON(skein.UserSays("amended"))}),
		skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 4, Withdrawn: true}),
		skein.NewEvent(skein.KindCompacted, noon, skein.Compacted{To: 5, Summary: "s"}),
		skein.NewEvent(skein.KindRewound, noon, skein.Rewound{To: 8}),
		user("after"),
		skein.NewEvent(skein.KindRewound, noon, skein.Rewound{To: 4}),
		user("again"),
		skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 9, Withdrawn: true}),
	)
	t.wantNewest("a")
	t.add("f", fork("a", 11), user("in the fork"))
	t.wantNewest("f")
}

func pages(t *test) {
	t.add("a", created())
	for i := range 40 {
		t.add("a", piece(fmt.Sprint("m", i/3), fmt.Sprint("piece ", i)), noted("x"))
	}
	entries, err := skein.Entries(t.events("a"))
	t.noErr("Entries", err)
	var got []skein.Entry
	for before := skein.Seq(0); ; before = got[0].Seq {
		page := t.newest("a", 3, before)
		if len(page) == 0 {
			break
		}
		got = append(page, got...)
	}
	equal(t, "all pages", got, entries)
}

func newestFork(t *test) {
	t.add("a", created(), piece("m1", "one"), user("q"), piece("m1", "two"), piece("m1", "three"), user("not shown"))
	t.add("b", fork("a", 4), piece("m1", "other three"), user("own"))
	t.add("c", fork("b", 7), piece("m1", "four"))
	for _, id := range []skein.SessionID{"a", "b", "c"} {
		t.wantNewest(id)
	}
	if n := t.session("b").Messages; n != 3 {
		t.Errorf("the fork has %d messages, want 3", n)
	}
}
