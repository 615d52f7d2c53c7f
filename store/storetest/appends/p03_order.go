package appends

import (
	"context"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func order() []harness.Check {
	return []harness.Check{
		{Name: "1, 2, 3, no gaps, 1 writer", Run: func(t *harness.Test) { dense(t, 1, 50) }},
		{Name: "1, 2, 3, no gaps, 16 writers", Run: func(t *harness.Test) { dense(t, 16, 10) }},
		{Name: "1, 2, 3, no gaps, two handles", Two: denseTwo},
		{Name: "in the same millisecond and with a clock that goes back", Run: clockBack},
		{Name: "a place to begin after", Run: beginAfter},
		{Name: "created comes first and once", Run: createdOnce},
		{Name: "invalid IDs", Run: badIDs},
		{Name: "sessions latest first, equal times by ID", Run: sessionOrder},
	}
}

func dense(t *harness.Test, writers, each int) {
	t.Add("a", fixture.Created())
	denseIn(t, []skein.Store{t.Store}, writers, each)
}

func denseTwo(t *harness.Test, other skein.Store) {
	t.Add("a", fixture.Created())
	denseIn(t, []skein.Store{t.Store, other}, 8, 10)
}

// denseIn has writers append batches of three and checks that each batch got
// consecutive seqs, in its own order, and that there are no gaps.
func denseIn(t *harness.Test, stores []skein.Store, writers, each int) {
	got := make([][]skein.Receipt, writers)
	harness.Everyone(writers, func(w int) {
		for i := range each {
			b := skein.Batch{Session: "a"}
			for j := range 3 {
				b.Events = append(b.Events, fixture.User(fmt.Sprintf("%d %d %d", w, i, j)))
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
	t.WantEnd("a", end)
	evs := t.Events("a")
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
				want := string(fixture.User(fmt.Sprintf("%d %d %d", w, i, j)).Payload)
				if got := string(evs[seq-1].Payload); got != want {
					t.Errorf("event %d is %s, want %s", seq, got, want)
				}
			}
		}
	}
}

func clockBack(t *harness.Test) {
	t.Add("a", fixture.Created())
	var want []string
	for i := range 30 {
		e := fixture.User(fmt.Sprint("message ", i))
		e.Time = fixture.Noon - skein.Time(i/3)*fixture.Second
		if i%5 == 0 {
			e.Time = 0
		}
		t.Add("a", e)
		want = append(want, string(e.Payload))
	}
	var got []string
	for _, e := range t.Events("a")[1:] {
		got = append(got, string(e.Payload))
	}
	harness.Equal(t, "Events", got, want)
	got = nil
	for _, e := range t.Newest("a", 30, 0) {
		got = append(got, string(skein.MustJSON(e.Message)))
	}
	harness.Equal(t, "Newest", got, want)
}

func beginAfter(t *harness.Test) {
	t.Add("a", fixture.Created())
	t.Add("a", fixture.Some(9)...)
	for _, after := range []skein.Seq{0, 1, 9, 10, 11, 1 << 40} {
		evs := harness.All(t, t.Store.Events(t.Context(), "a", after))
		want := max(0, 10-int(after))
		if after > 10 {
			want = 0
		}
		if len(evs) != want || want > 0 && evs[0].Seq != after+1 {
			t.Errorf("Events after %d yields %d from %v, want %d", after, len(evs), evs[:min(1, len(evs))], want)
		}
	}
	for range t.Store.Events(t.Context(), "a", 0) {
		t.Add("a", fixture.User("while one reads")) // no lock is held
		break
	}
	t.WantEnd("a", 11)
	t.WantErr("Events of nobody", harness.Failure(t, t.Store.Events(t.Context(), "nobody", 0)), skein.ErrNotFound)
}

func createdOnce(t *harness.Test) {
	for _, e := range fixture.Everything()[1:] {
		t.Refused(skein.Batch{Session: "a", Events: []skein.Event{e}}, skein.ErrNotFound)
	}
	t.Add("a", fixture.Created())
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.Created()}}, skein.ErrExists)
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.Begin(skein.Created{Title: "x"})}}, skein.ErrExists)
	t.Refused(skein.Batch{Session: "b", Events: []skein.Event{fixture.Begin(skein.Created{Parent: &skein.Parent{Session: "b", Why: skein.Child}})}}, skein.ErrInvalid)
}

func badIDs(t *harness.Test) {
	long := string(make([]byte, skein.MaxIDLen+1))
	for _, bad := range []string{"", "a/b", "a\nb", "a\x00b", "a\xffb", long} {
		for _, b := range []skein.Batch{
			{Session: skein.SessionID(bad), Events: []skein.Event{fixture.Created()}},
			{Session: skein.SessionID(bad), Import: &skein.Import{File: skein.SourceFile{Format: "f", Path: "/p", Session: "x"}}},
		} {
			if _, err := t.Store.Append(t.Context(), b); err == nil {
				t.Errorf("Append to session %q is taken", bad)
			} else {
				t.WantErr(fmt.Sprintf("Append to session %q", bad), err, skein.ErrInvalid)
			}
		}
		_, err := skein.LeasesOf(t.Store).Acquire(t.Context(), skein.SessionID(bad), skein.LeaseRequest{})
		t.WantErr(fmt.Sprintf("Acquire of %q", bad), err, skein.ErrInvalid)
		_, err = t.Store.Session(t.Context(), skein.SessionID(bad))
		t.WantErr(fmt.Sprintf("Session(%q)", bad), err, skein.ErrNotFound)
	}
	for _, good := range []string{"a", " a b ", "Zürich 東京", "a'b\"c%_", "~/x"[:1], string(append(make([]byte, 0), "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"...))} {
		t.Add(skein.SessionID(good), fixture.Created(), fixture.User("x"))
		t.WantEnd(skein.SessionID(good), 2)
	}
}

func sessionOrder(t *harness.Test) {
	for i, id := range []skein.SessionID{"m", "z", "b", "never"} {
		c, m := fixture.Created(), fixture.User("x")
		m.Time = fixture.Noon
		switch i {
		case 1:
			m.Time = fixture.Noon + 1
		case 3:
			c.Time, m.Time = 0, 0
		}
		t.Add(id, c, m)
	}
	harness.Equal(t, "Sessions", t.IDs(skein.Filter{}), []skein.SessionID{"z", "b", "m", "never"})
	early := fixture.User("an early message")
	early.Time = fixture.Noon - 3600*fixture.Second
	t.Add("z", early)
	harness.Equal(t, "Sessions after a message with an early time", t.IDs(skein.Filter{}), []skein.SessionID{"z", "b", "m", "never"})
	late := fixture.User("late")
	late.Time = fixture.Noon + 5
	t.Add("m", late)
	harness.Equal(t, "Sessions after a late message", t.IDs(skein.Filter{}), []skein.SessionID{"m", "z", "b", "never"})
}
