package reconcile_test

import (
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/reconcile"
)

func said(id skein.ClientID, text string) skein.Event {
	e := skein.NewEvent(skein.KindSaid, 1, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{{Text: skein.Text(text)}}})
	e.ClientID = id
	return e
}

func event(id skein.ClientID, kind skein.Kind, payload any) skein.Event {
	e := skein.NewEvent(kind, 1, payload)
	e.ClientID = id
	return e
}

// session returns a session with these events, which get the seqs 1, 2, 3.
func session(base skein.Seq, es ...skein.Event) *reconcile.Session {
	s := reconcile.NewSession(base)
	for i, e := range es {
		e.Seq = skein.Seq(i + 1)
		s.Add(e)
	}
	return s
}

func amended(t *testing.T, es []skein.Event) skein.Amended {
	t.Helper()
	if len(es) != 1 {
		t.Fatalf("%d amendments, want 1", len(es))
	}
	a, err := skein.Decode[skein.Amended](es[0])
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestADiffOf(t *testing.T) {
	t.Run("an event that is not stored appends it", func(t *testing.T) {
		for _, s := range []*reconcile.Session{nil, session(0)} {
			if d := s.Diff(said("a", "hello")); len(d.Append) != 1 || len(d.Amend)+len(d.Withdraw) != 0 || d.SameAs != 0 {
				t.Errorf("Diff = %+v, want one event to append", d)
			}
		}
	})
	t.Run("an event that is stored says where", func(t *testing.T) {
		if d := session(0, said("a", "hello")).Diff(said("a", "hello")); d.SameAs != 1 || len(d.Append)+len(d.Amend)+len(d.Withdraw) != 0 {
			t.Errorf("Diff = %+v, want SameAs 1", d)
		}
	})
	t.Run("an event with another text amends, once", func(t *testing.T) {
		s := session(0, said("a", "hello"))
		d := s.Diff(said("a", "good day"))
		if a := amended(t, d.Amend); a.Seq != 1 || a.Withdrawn || d.SameAs != 1 || len(d.Append) != 0 {
			t.Errorf("Diff = %+v, amends %+v", d, a)
		}
		if d := s.Diff(said("a", "good day")); len(d.Amend) != 0 || d.SameAs != 1 {
			t.Errorf("a second Diff = %+v, want SameAs 1", d)
		}
	})
	t.Run("an event that somebody else amended leaves that", func(t *testing.T) {
		s := session(0, said("a", "hello"), event("", skein.KindAmended, skein.Amended{Seq: 1, Payload: said("", "mine").Payload}))
		if d := s.Diff(said("a", "hello")); d.SameAs != 1 || len(d.Amend) != 0 {
			t.Errorf("Diff = %+v, want SameAs 1", d)
		}
	})
	t.Run("another kind of event withdraws and appends", func(t *testing.T) {
		d := session(0, said("a", "hello")).Diff(event("a", skein.KindNoted, skein.Noted{}))
		if a := amended(t, d.Withdraw); a.Seq != 1 || !a.Withdrawn || len(d.Append) != 1 || reconcile.WithoutMark(d.Append[0].ClientID) != "a" {
			t.Errorf("Diff = %+v", d)
		}
	})
	t.Run("an event of the parent amends nothing", func(t *testing.T) {
		d := session(1, said("a", "hello")).Diff(said("a", "good day"))
		if len(d.Amend)+len(d.Withdraw) != 0 || len(d.Append) != 1 {
			t.Errorf("Diff = %+v, want one event to append", d)
		}
	})
	t.Run("an event of the parent that the fork says again amends the fork's", func(t *testing.T) {
		s := session(1, said("a", "hello"), said(reconcile.Again("a", "x"), "good day"))
		if d := s.Diff(said("a", "good day")); d.SameAs != 2 || len(d.Append)+len(d.Amend) != 0 {
			t.Errorf("Diff = %+v, want SameAs 2", d)
		}
		if a := amended(t, s.Diff(said("a", "good night")).Amend); a.Seq != 2 {
			t.Errorf("Diff amends %+v, want 2", a)
		}
	})
	t.Run("a title appends, for the newest counts", func(t *testing.T) {
		s := session(0, event("a", skein.KindTitled, skein.Titled{Title: "one"}))
		d := s.Diff(event("a", skein.KindTitled, skein.Titled{Title: "two"}))
		if len(d.Append) != 1 || len(d.Amend) != 0 {
			t.Errorf("Diff = %+v, want one event to append", d)
		}
	})
	t.Run("a damaged event leaves it", func(t *testing.T) {
		s := session(0)
		s.AddDamaged(7, skein.KindSaid)
		s.Locate("a", 7)
		if d := s.Diff(said("a", "hello")); d.SameAs != 7 || len(d.Append)+len(d.Amend)+len(d.Withdraw) != 0 {
			t.Errorf("Diff = %+v, want SameAs 7", d)
		}
	})
}

func record(n int, key, raw string, events int) skein.Record {
	return skein.Record{N: n, Key: skein.ClientID(key), Raw: []byte(raw), Events: events}
}

func TestRecordsThatWereRemovedAreWithdrawn(t *testing.T) {
	d := reconcile.NewRecords()
	for i, r := range []skein.Record{record(0, "a", "1", 1), record(1, "b", "2", 1), record(2, "c", "3", 2), record(3, "d", "4", 1)} {
		r.N = i
		d.Stored(r)
	}
	for _, r := range []skein.Record{record(0, "a", "1", 1), record(1, "c", "3 shorter", 1), record(2, "d", "4", 1)} {
		d.Now(r)
	}
	d.Close()
	if d.Prefix != 1 || d.Unread {
		t.Errorf("Prefix = %d, Unread = %t, want 1, false", d.Prefix, d.Unread)
	}
	if c := d.Removed.Counts(); len(c) != 1 || c[reconcile.HashKey("b")] != 1 {
		t.Errorf("Removed = %v, want b", c)
	}
	if c := d.Shrunk.Counts(); len(c) != 1 || c[reconcile.HashKey("c")] != 2 {
		t.Errorf("Shrunk = %v, want c", c)
	}
	s := session(0, said("a", "1"), said("b", "2"), said("c/0", "3"), said("c/1", "4"), said("d", "5"))
	if a := amended(t, s.WithdrawRemoved(d.Removed)); a.Seq != 2 || !a.Withdrawn {
		t.Errorf("WithdrawRemoved withdraws %+v, want 2", a)
	}
	if a := amended(t, s.WithdrawUnused("c", 2, map[skein.ClientID]bool{"c/0": true})); a.Seq != 4 || !a.Withdrawn {
		t.Errorf("WithdrawUnused withdraws %+v, want 4", a)
	}
	if again := s.WithdrawRemoved(d.Removed); len(again) != 0 {
		t.Errorf("a second WithdrawRemoved = %v, want nothing", again)
	}
}

func TestWhatCannotBeReadWasNotRemoved(t *testing.T) {
	d := reconcile.NewRecords()
	d.Stored(record(0, "a", "1", 1))
	d.Now(skein.Record{Raw: []byte("?"), Damage: "it is damaged"})
	if d.Close(); !d.Unread {
		t.Error("Unread = false, want true")
	}
}

func TestACopyIsFoundByAllOfItsEvents(t *testing.T) {
	there := map[skein.Place]skein.Event{
		{Session: "s", Seq: 3}: said("", "hello"),
		{Session: "s", Seq: 4}: said("", "good day"),
	}
	read := func(p skein.Place) (skein.Event, error) { return there[p], nil }
	at := []skein.Place{{Session: "s", Seq: 3}, {Session: "s", Seq: 4}}
	got, err := reconcile.SameAs([]skein.Event{said("", "good day"), said("", "hello")}, at, read)
	if err != nil || !slices.Equal(got, []skein.Place{at[1], at[0]}) {
		t.Errorf("SameAs = %v, %v, want %v and %v", got, err, at[1], at[0])
	}
	if got, err := reconcile.SameAs([]skein.Event{said("", "hello"), said("", "bye")}, at, read); got != nil || err != nil {
		t.Errorf("SameAs of an event that is not stored = %v, %v, want nil", got, err)
	}
	broken := errors.New("it cannot be read")
	if _, err := reconcile.SameAs([]skein.Event{said("", "hello")}, at, func(skein.Place) (skein.Event, error) { return skein.Event{}, broken }); !errors.Is(err, broken) {
		t.Errorf("SameAs = %v, want the reader's error", err)
	}
}

func TestBothWentOn(t *testing.T) {
	all := func(es ...skein.Event) iter.Seq2[skein.Event, error] {
		return func(yield func(skein.Event, error) bool) {
			for i, e := range es {
				e.Seq = skein.Seq(i + 1)
				if !yield(e, nil) {
					return
				}
			}
		}
	}
	made := reconcile.NewMade()
	for _, key := range []string{"a", "b", "c"} {
		made.Add(record(0, key, "", 1))
	}
	a, b, c, here := said("a", "1"), said("b", "2"), said("c", "3"), said("", "mine")
	for _, tt := range []struct {
		name   string
		events []skein.Event
		at     skein.Seq
	}{
		{"only the source", []skein.Event{a, b, c}, 0},
		{"only a tool's state here", []skein.Event{a, b, event("", skein.KindTool, skein.ToolState{})}, 0},
		{"the session, so that a fork begins where the source ended", []skein.Event{a, b, here}, 2},
		{"the source behind the session, which stays one line", []skein.Event{a, here, b}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := reconcile.Diverge(all(tt.events...), made, reconcile.Bounds{Last: skein.Seq(len(tt.events))})
			if err != nil || d.ForkAt() != tt.at {
				t.Errorf("ForkAt = %d, %v, want %d", d.ForkAt(), err, tt.at)
			}
		})
	}
}
