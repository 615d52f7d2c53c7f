package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

// An asker writes to a store and asks it, and fails the test if the answer is wrong.
type asker struct {
	*testing.T
	s skein.Store
}

// add appends evs to the end of session id, and returns the last seq.
func (t *asker) add(id skein.SessionID, evs ...skein.Event) skein.Seq {
	t.Helper()
	return t.append(skein.Batch{Session: id, Events: evs}).Last
}

// append appends a batch that must be accepted.
func (t *asker) append(b skein.Batch) skein.Receipt {
	t.Helper()
	r, err := t.s.Append(t.Context(), b)
	if err != nil {
		t.Fatalf("Append(%s) = %v", show(b), err)
	}
	if len(r) != 1 || r[0].Session != b.Session || len(r[0].Seqs) != len(b.Events) {
		t.Fatalf("Append(%s) = %+v, want one receipt for %d events", show(b), r, len(b.Events))
	}
	return r[0]
}

// refused appends a batch that must be refused with want, leaving the session
// unchanged.
func (t *asker) refused(b skein.Batch, want error) error {
	t.Helper()
	was, werr := t.s.Session(t.Context(), b.Session)
	r, err := t.s.Append(t.Context(), b)
	if !errors.Is(err, want) || r != nil {
		t.Errorf("Append(%s) = %+v, %v, want error %v", show(b), r, err, want)
	}
	is, ierr := t.s.Session(t.Context(), b.Session)
	if diff := cmp.Diff(was, is, cmpopts.EquateEmpty()); diff != "" || (werr == nil) != (ierr == nil) {
		t.Errorf("Append(%s), refused, changed the session (%v, %v):\n%s", show(b), werr, ierr, diff)
	}
	return err
}

// show formats b for an error message.
func show(b skein.Batch) string {
	var s strings.Builder
	fmt.Fprintf(&s, "session %s after %d fence %d:", b.Session, b.After, b.Fence)
	for _, e := range b.Events {
		fmt.Fprintf(&s, " %s %s %.80s", e.Kind, e.ClientID, e.Payload)
	}
	return s.String()
}

// all collects what it yields; an error ends the test.
func all[T any](t testing.TB, it iter.Seq2[T, error]) (out []T) {
	t.Helper()
	for v, err := range it {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// failure returns the error that it yields, which must be the last element.
func failure[T any](t testing.TB, it iter.Seq2[T, error]) (last error) {
	t.Helper()
	for _, err := range it {
		if last != nil {
			t.Errorf("something is yielded after the error %v", last)
		}
		last = err
	}
	return last
}

func (t *asker) events(id skein.SessionID) []skein.Event {
	t.Helper()
	return all(t, t.s.Events(t.Context(), id, 0))
}

func (t *asker) session(id skein.SessionID) skein.Session {
	t.Helper()
	sess, err := t.s.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return sess
}

func (t *asker) newest(id skein.SessionID, n int, before skein.Seq) []skein.Entry {
	t.Helper()
	es, err := t.s.Newest(t.Context(), id, n, before)
	if err != nil {
		t.Fatalf("Newest(%s, %d, %d) = %v", id, n, before, err)
	}
	return es
}

// ids returns the IDs of the sessions that f selects, in order.
func (t *asker) ids(f skein.Filter) (ids []skein.SessionID) {
	t.Helper()
	for _, s := range all(t, t.s.Sessions(t.Context(), f)) {
		ids = append(ids, s.ID)
	}
	return ids
}

func (t *asker) usage(q skein.UsageQuery) []skein.UsageRow {
	t.Helper()
	rows, err := t.s.Usage(t.Context(), q)
	if err != nil {
		t.Fatalf("Usage(%+v) = %v", q, err)
	}
	return rows
}

// total returns the sum of all usage that q selects.
func (t *asker) total(q skein.UsageQuery) (u skein.Usage) {
	t.Helper()
	for _, r := range t.usage(q) {
		u = u.Plus(r.Usage)
	}
	return u
}

// find searches every message for a text, with a long deadline.
func (t *asker) find(text string) []skein.Hit {
	t.Helper()
	q, err := search.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	q.Each, q.Limit = true, 1000
	return t.search(q)
}

// patience is the deadline of searches that must be complete.
const patience = 60e9

func (t *asker) search(q skein.Query) []skein.Hit {
	t.Helper()
	if q.Deadline == 0 {
		q.Deadline = patience
	}
	r, err := t.s.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("Search(%+v) = %v", q, err)
	}
	return r.Hits
}

// wantFound searches for text and wants hits at these seqs, in any order.
func (t *asker) wantFound(text string, want ...skein.Place) {
	t.Helper()
	got := map[skein.Place]int{}
	for _, h := range t.find(text) {
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

func at(id skein.SessionID, seq skein.Seq) skein.Place { return skein.Place{Session: id, Seq: seq} }

func (t *asker) wantErr(what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

func (t *asker) noErr(what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// equal checks that got equals want; nil and empty are the same.
func equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if reflect.DeepEqual(got, want) { // fast for megabytes of data
		return
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// wantEnd checks that the session ends at want, 0 if it must not exist, in its
// row and in its events.
func (t *asker) wantEnd(id skein.SessionID, want skein.Seq) {
	t.Helper()
	wantEnd(t, t.s, id, want)
}

func wantEnd(t testing.TB, s skein.Store, id skein.SessionID, want skein.Seq) {
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
