package harness

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

// An Asker asks a store, and fails the test if the answer is wrong.
type Asker struct{ Actor }

// most is more than any check stores.
const most = 1 << 20

// All collects what it yields; an error ends the test, and so does a sequence that does
// not end.
func All[T any](t testing.TB, it iter.Seq2[T, error]) (out []T) {
	t.Helper()
	for v, err := range it {
		if err != nil {
			t.Fatal(err)
		}
		if len(out) == most {
			t.Fatalf("%d values of type %T were yielded, and more follow: it does not end", most, v)
		}
		out = append(out, v)
	}
	return out
}

// Failure returns the error that it yields, which must be the last element.
func Failure[T any](t testing.TB, it iter.Seq2[T, error]) (last error) {
	t.Helper()
	for _, err := range it {
		if last != nil {
			t.Errorf("something is yielded after the error %v", last)
		}
		last = err
	}
	return last
}

// Events returns all events that a session shows.
func (t *Asker) Events(id skein.SessionID) []skein.Event {
	t.Helper()
	return All(t, t.Store.Events(t.Context(), id, 0))
}

// Session returns a session's row.
func (t *Asker) Session(id skein.SessionID) skein.Session {
	t.Helper()
	sess, err := t.Store.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return sess
}

// Newest returns the newest n messages of a session before a seq; 0 is the end.
func (t *Asker) Newest(id skein.SessionID, n int, before skein.Seq) []skein.Entry {
	t.Helper()
	es, err := t.Store.Newest(t.Context(), id, n, before)
	if err != nil {
		t.Fatalf("Newest(%s, %d, %d) = %v", id, n, before, err)
	}
	return es
}

// IDs returns the IDs of the sessions that f selects, in order.
func (t *Asker) IDs(f skein.Filter) (ids []skein.SessionID) {
	t.Helper()
	for _, s := range All(t, t.Store.Sessions(t.Context(), f)) {
		ids = append(ids, s.ID)
	}
	return ids
}

// Usage returns the sums that q selects.
func (t *Asker) Usage(q skein.UsageQuery) []skein.UsageRow {
	t.Helper()
	rows, err := t.Store.Usage(t.Context(), q)
	if err != nil {
		t.Fatalf("Usage(%+v) = %v", q, err)
	}
	return rows
}

// Total returns the sum of all usage that q selects.
func (t *Asker) Total(q skein.UsageQuery) (u skein.Usage) {
	t.Helper()
	for _, r := range t.Usage(q) {
		u = u.Plus(r.Usage)
	}
	return u
}

// Find searches every message for a text, with a long deadline.
func (t *Asker) Find(text string) []skein.Hit {
	t.Helper()
	q, err := search.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	q.Each, q.Limit = true, 1000
	return t.Search(q)
}

// Patience is the deadline of searches that must be complete.
const Patience = 60e9

// Search returns the hits of a search, which has a long deadline if q has none.
func (t *Asker) Search(q skein.Query) []skein.Hit {
	t.Helper()
	if q.Deadline == 0 {
		q.Deadline = Patience
	}
	r, err := t.Store.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("Search(%+v) = %v", q, err)
	}
	return r.Hits
}

// WantFound searches for text and wants hits at these seqs, in any order.
func (t *Asker) WantFound(text string, want ...skein.Place) {
	t.Helper()
	got := map[skein.Place]int{}
	for _, h := range t.Find(text) {
		got[skein.Place{Session: h.Session, Seq: h.Seq}]++
	}
	wanted := map[skein.Place]int{}
	for _, p := range want {
		wanted[p]++
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("Search(%s) finds (-want +got):\n%s", text, diff)
	}
}

// At returns the place of an event.
func At(id skein.SessionID, seq skein.Seq) skein.Place { return skein.Place{Session: id, Seq: seq} }

// Equal checks that got equals want; nil and empty are the same.
func Equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if reflect.DeepEqual(got, want) { // fast for megabytes of data
		return
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// WantEnd checks that the session ends at want, 0 if it must not exist, in its
// row and in its events.
func (t *Asker) WantEnd(id skein.SessionID, want skein.Seq) {
	t.Helper()
	WantEnd(t, t.Store, id, want)
}

// WantEnd is [Asker.WantEnd] for any store.
func WantEnd(t testing.TB, s skein.Store, id skein.SessionID, want skein.Seq) {
	t.Helper()
	sess, err := s.Session(context.Background(), id)
	if errors.Is(err, skein.ErrNotFound) && want == 0 {
		return
	}
	if err != nil || sess.Last != want {
		t.Fatalf("session %s ends at %d (error %v), want %d", id, sess.Last, err, want)
	}
	next := skein.Seq(1)
	for e, err := range s.Events(context.Background(), id, 0) {
		if err != nil || e.Seq != next {
			t.Fatalf("Events(%s) yields seq %d (error %v), want %d", id, e.Seq, err, next)
		}
		next++
	}
	if next-1 != want {
		t.Errorf("Events(%s) yields %d events, want %d", id, next-1, want)
	}
}

// WantNewest checks that Newest agrees with Entries over all events, for
// several n and before.
func (t *Asker) WantNewest(id skein.SessionID) {
	t.Helper()
	evs := t.Events(id)
	entries, err := skein.Entries(evs)
	t.NoErr("Entries", err)
	for _, n := range []int{-1, 0, 1, 2, 3, 7, 1000, math.MaxInt} {
		for before := skein.Seq(0); int(before) <= len(evs)+2; before++ {
			var want []skein.Entry
			for _, e := range entries {
				if before == 0 || e.Seq < before {
					want = append(want, e)
				}
			}
			want = want[max(0, len(want)-max(0, n)):]
			got := t.Newest(id, n, before)
			if len(got) == 0 && len(want) == 0 {
				continue
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("Newest(%s, %d, %d) (-want +got):\n%s", id, n, before, diff)
			}
		}
	}
}

// WantGone checks that every method reports that there is no such session.
func (t *Asker) WantGone(s skein.Store, id skein.SessionID) {
	t.Helper()
	ctx := t.Context()
	_, err := s.Session(ctx, id)
	t.WantErr("Session", err, skein.ErrNotFound)
	t.WantErr("Events", Failure(t, s.Events(ctx, id, 0)), skein.ErrNotFound)
	t.WantErr("Watch", Failure(t, s.Watch(ctx, id, 0)), skein.ErrNotFound)
	_, err = s.Newest(ctx, id, 5, 0)
	t.WantErr("Newest", err, skein.ErrNotFound)
	_, err = s.Blob(ctx, id, skein.NewBlob(nil).Hash)
	t.WantErr("Blob", err, skein.ErrNotFound)
	t.WantErr("Bin", skein.LifecycleOf(s).Bin(ctx, id), skein.ErrNotFound)
	t.WantErr("Restore", skein.LifecycleOf(s).Restore(ctx, id), skein.ErrNotFound)
	_, err = skein.LifecycleOf(s).Delete(ctx, id, skein.Deletion{})
	t.WantErr("Delete", err, skein.ErrNotFound)
	_, err = skein.LifecycleOf(s).Scrub(ctx, id, []string{"secret"})
	t.WantErr("Scrub", err, skein.ErrNotFound)
	_, err = skein.LifecycleOf(s).Size(ctx, id)
	t.WantErr("Size", err, skein.ErrNotFound)
	for _, f := range []skein.Filter{{IncludeEmpty: true}, {IncludeEmpty: true, Bin: true}} {
		for _, sess := range All(t, s.Sessions(ctx, f)) {
			if sess.ID == id {
				t.Errorf("Sessions(%+v) yields %s", f, id)
			}
		}
	}
	r, err := s.Search(ctx, skein.Query{Session: id, Substring: "e", Deadline: Patience})
	if err != nil || len(r.Hits) > 0 {
		t.Errorf("Search in session %s = %+v, %v, want nothing", id, r, err)
	}
	rows, err := s.Usage(ctx, skein.UsageQuery{By: skein.BySession, Sessions: []skein.SessionID{id}})
	if err != nil || len(rows) > 0 {
		t.Errorf("Usage of session %s = %+v, %v, want nothing", id, rows, err)
	}
}

// Blob checks that a session's blob has the bytes of b.
func (t *Asker) Blob(id skein.SessionID, b skein.Blob) {
	t.Helper()
	got, err := t.Store.Blob(t.Context(), id, b.Hash)
	if err != nil || !bytes.Equal(got, b.Data) {
		t.Errorf("Blob(%s, %s) = %d bytes, %v, want %d bytes", id, b.Hash, len(got), err, len(b.Data))
	}
}

// NoBlob checks that no blob b is found through a session.
func (t *Asker) NoBlob(id skein.SessionID, b skein.Blob) {
	t.Helper()
	_, err := t.Store.Blob(t.Context(), id, b.Hash)
	t.WantErr("Blob("+string(id)+")", err, skein.ErrNotFound)
}

// Records returns the records of a source file from the nth on.
func (t *Asker) Records(format, path string, n int) []skein.Record {
	t.Helper()
	return All(t, skein.SourcesOf(t.Store).Records(t.Context(), format, path, n))
}
