package storetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

func order() []check {
	return []check{
		{name: "1, 2, 3, no gaps, 1 writer", run: func(t *test) { dense(t, 1, 50) }},
		{name: "1, 2, 3, no gaps, 16 writers", run: func(t *test) { dense(t, 16, 10) }},
		{name: "1, 2, 3, no gaps, two handles", two: denseTwo},
		{name: "in the same millisecond and with a clock that goes back", run: clockBack},
		{name: "a place to begin after", run: beginAfter},
		{name: "created comes first and once", run: createdOnce},
		{name: "invalid IDs", run: badIDs},
		{name: "sessions latest first, equal times by ID", run: sessionOrder},
	}
}

func dense(t *test, writers, each int) {
	t.add("a", created())
	denseIn(t, []skein.Store{t.s}, writers, each)
}

func denseTwo(t *test, other skein.Store) {
	t.add("a", created())
	denseIn(t, []skein.Store{t.s, other}, 8, 10)
}

// denseIn has writers append batches of three and checks that each batch got
// consecutive seqs, in its own order, and that there are no gaps.
func denseIn(t *test, stores []skein.Store, writers, each int) {
	got := make([][]skein.Receipt, writers)
	everyone(writers, func(w int) {
		for i := range each {
			b := skein.Batch{Session: "a"}
			for j := range 3 {
				b.Events = append(b.Events, user(fmt.Sprintf("%d %d %d", w, i, j)))
			}
			r, err := stores[w%len(stores)].Append(context.Background(), b)
			if err != nil {
				t.Errorf("Append = %v", err)
				return
			}
			got[w] = append(got[w], r[0])
		}
	})
	end := skein.Seq(1 + 3*writers*each)
	t.wantEnd("a", end)
	evs := t.events("a")
	for w, receipts := range got {
		last := skein.Seq(0)
		for i, r := range receipts {
			first := r.Seqs[0]
			if !slices.Equal(r.Seqs, []skein.Seq{first, first + 1, first + 2}) || r.Last != first+2 || first <= last || r.Last > end {
				t.Errorf("receipt %d of writer %d is %+v after %d, want three places in a row", i, w, r, last)
				continue
			}
			last = r.Last
			for j, seq := range r.Seqs {
				want := string(user(fmt.Sprintf("%d %d %d", w, i, j)).Payload)
				if got := string(evs[seq-1].Payload); got != want {
					t.Errorf("event %d is %s, want %s", seq, got, want)
				}
			}
		}
	}
}

func clockBack(t *test) {
	t.add("a", created())
	var want []string
	for i := range 30 {
		e := user(fmt.Sprint("message ", i))
		e.Time = noon - skein.Time(i/3)*second
		if i%5 == 0 {
			e.Time = 0
		}
		t.add("a", e)
		want = append(want, string(e.Payload))
	}
	var got []string
	for _, e := range t.events("a")[1:] {
		got = append(got, string(e.Payload))
	}
	equal(t, "Events", got, want)
	got = nil
	for _, e := range t.newest("a", 30, 0) {
		got = append(got, string(skein.MustJSON(e.Message)))
	}
	equal(t, "Newest", got, want)
}

func beginAfter(t *test) {
	t.add("a", created())
	t.add("a", some(9)...)
	for _, after := range []skein.Seq{0, 1, 9, 10, 11, 1 << 40} {
		evs := all(t, t.s.Events(t.Context(), "a", after))
		want := max(0, 10-int(after))
		if after > 10 {
			want = 0
		}
		if len(evs) != want || want > 0 && evs[0].Seq != after+1 {
			t.Errorf("Events after %d yields %d from %v, want %d", after, len(evs), evs[:min(1, len(evs))], want)
		}
	}
	for range t.s.Events(t.Context(), "a", 0) {
		t.add("a", user("while one reads")) // no lock is held
		break
	}
	t.wantEnd("a", 11)
	t.wantErr("Events of nobody", failure(t, t.s.Events(t.Context(), "nobody", 0)), skein.ErrNotFound)
}

func createdOnce(t *test) {
	for _, e := range everything()[1:] {
		t.refused(skein.Batch{Session: "a", Events: []skein.Event{e}}, skein.ErrNotFound)
	}
	t.add("a", created())
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{created()}}, skein.ErrExists)
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{begin(skein.Created{Title: "x"})}}, skein.ErrExists)
	t.refused(skein.Batch{Session: "b", Events: []skein.Event{begin(skein.Created{Parent: &skein.Parent{Session: "b", Why: skein.Child}})}}, skein.ErrInvalid)
}

func badIDs(t *test) {
	long := string(make([]byte, skein.MaxIDLen+1))
	for _, bad := range []string{"", "a/b", "a\nb", "a\x00b", "a\xffb", long} {
		for _, b := range []skein.Batch{
			{Session: skein.SessionID(bad), Events: []skein.Event{created()}},
			{Session: skein.SessionID(bad), Import: &skein.Import{File: skein.SourceFile{Format: "f", Path: "/p", Session: "x"}}},
		} {
			if _, err := t.s.Append(t.Context(), b); err == nil {
				t.Errorf("Append to session %q is taken", bad)
			} else {
				t.wantErr(fmt.Sprintf("Append to session %q", bad), err, skein.ErrInvalid)
			}
		}
		_, err := skein.LeasesOf(t.s).Acquire(t.Context(), skein.SessionID(bad), skein.LeaseRequest{})
		t.wantErr(fmt.Sprintf("Acquire of %q", bad), err, skein.ErrInvalid)
		_, err = t.s.Session(t.Context(), skein.SessionID(bad))
		t.wantErr(fmt.Sprintf("Session(%q)", bad), err, skein.ErrNotFound)
	}
	for _, good := range []string{"a", " a b ", "Zürich 東京", "a'b\"c%_", "~/x"[:1], string(append(make([]byte, 0), "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"...))} {
		t.add(skein.SessionID(good), created(), user("x"))
		t.wantEnd(skein.SessionID(good), 2)
	}
}

func sessionOrder(t *test) {
	for i, id := range []skein.SessionID{"m", "z", "b", "never"} {
		c, m := created(), user("x")
		m.Time = noon
		switch i {
		case 1:
			m.Time = noon + 1
		case 3:
			c.Time, m.Time = 0, 0
		}
		t.add(id, c, m)
	}
	equal(t, "Sessions", t.ids(skein.Filter{}), []skein.SessionID{"z", "b", "m", "never"})
	early := user("an early message")
	early.Time = noon - 3600*second
	t.add("z", early)
	equal(t, "Sessions after a message with an early time", t.ids(skein.Filter{}), []skein.SessionID{"z", "b", "m", "never"})
	late := user("late")
	late.Time = noon + 5
	t.add("m", late)
	equal(t, "Sessions after a late message", t.ids(skein.Filter{}), []skein.SessionID{"m", "z", "b", "never"})
}
