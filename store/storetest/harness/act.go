package harness

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
)

// An Actor changes a store, and fails the test if it cannot.
type Actor struct {
	*testing.T
	Store skein.Store
}

// Add appends evs to the end of session id, and returns the last seq.
func (t *Actor) Add(id skein.SessionID, evs ...skein.Event) skein.Seq {
	t.Helper()
	return t.Append(skein.Batch{Session: id, Events: evs}).Last
}

// Append appends a batch that must be accepted.
func (t *Actor) Append(b skein.Batch) skein.Receipt {
	t.Helper()
	r, err := t.Store.Append(t.Context(), b)
	if err != nil {
		t.Fatalf("Append(%s) = %v", Show(b), err)
	}
	if len(r) != 1 || r[0].Session != b.Session || len(r[0].Seqs) != len(b.Events) {
		t.Fatalf("Append(%s) = %+v, want one receipt for %d events", Show(b), r, len(b.Events))
	}
	return r[0]
}

// Refused appends a batch that must be refused with want, leaving the session
// unchanged. The error is the one that the store returned.
func (t *Actor) Refused(b skein.Batch, want error) error {
	t.Helper()
	was, werr := t.Store.Session(t.Context(), b.Session)
	r, err := t.Store.Append(t.Context(), b)
	if !errors.Is(err, want) || r != nil {
		t.Errorf("Append(%s) = %+v, %v, want error %v", Show(b), r, err, want)
	}
	is, ierr := t.Store.Session(t.Context(), b.Session)
	if diff := cmp.Diff(was, is, cmpopts.EquateEmpty()); diff != "" || (werr == nil) != (ierr == nil) {
		t.Errorf("Append(%s), refused, changed the session (%v, %v):\n%s", Show(b), werr, ierr, diff)
	}
	return err
}

// Show formats b for an error message.
func Show(b skein.Batch) string {
	var s strings.Builder
	fmt.Fprintf(&s, "session %s after %d fence %d:", b.Session, b.After, b.Fence)
	for _, e := range b.Events {
		fmt.Fprintf(&s, " %s %s %.80s", e.Kind, e.ClientID, e.Payload)
	}
	return s.String()
}

// Acquire takes the lease of a session.
func (t *Actor) Acquire(id skein.SessionID, r skein.LeaseRequest) skein.Lease {
	t.Helper()
	l, err := skein.LeasesOf(t.Store).Acquire(t.Context(), id, r)
	if err != nil || l.Session != id || l.Fence < 1 {
		t.Fatalf("Acquire(%s, %+v) = %+v, %v", id, r, l, err)
	}
	return l
}

// Delete deletes a session with the usual options.
func (t *Actor) Delete(id skein.SessionID) skein.Deleted {
	t.Helper()
	d, err := skein.LifecycleOf(t.Store).Delete(t.Context(), id, skein.Deletion{})
	if err != nil {
		t.Fatalf("Delete(%s) = %v", id, err)
	}
	return d
}

// Bin moves a session to the bin.
func (t *Actor) Bin(id skein.SessionID) {
	t.Helper()
	t.NoErr("Bin", skein.LifecycleOf(t.Store).Bin(t.Context(), id))
}

// Restore takes a session out of the bin.
func (t *Actor) Restore(id skein.SessionID) {
	t.Helper()
	t.NoErr("Restore", skein.LifecycleOf(t.Store).Restore(t.Context(), id))
}

// Scrub removes secrets from a session.
func (t *Actor) Scrub(id skein.SessionID, secrets ...string) skein.Scrubbed {
	t.Helper()
	d, err := skein.LifecycleOf(t.Store).Scrub(t.Context(), id, secrets)
	if err != nil {
		t.Fatalf("Scrub(%s) = %v", id, err)
	}
	return d
}

// WantErr checks that the error of what was done wraps want.
func (t *Actor) WantErr(what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

// NoErr ends the test if what was done failed.
func (t *Actor) NoErr(what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// Full appends a session that has data in every table.
func (t *Asker) Full(id skein.SessionID, word string) (skein.Blob, *skein.Import) {
	t.Helper()
	blob := skein.NewBlob([]byte("picture of " + word))
	im := &skein.Import{
		File:    skein.SourceFile{Format: "codex", Path: "/x/" + string(id), Session: id, Records: 2, Offset: 10},
		Records: []skein.Record{{N: 0, Raw: []byte(word + "\n"), Key: skein.ClientID(id) + "-1", Events: 1}, {N: 1, Offset: 5, Raw: []byte("x")}},
	}
	evs := []skein.Event{
		fixture.Begin(skein.Created{Key: "key-" + string(id), Title: word, Origin: &skein.Origin{Format: "codex", Path: "/x/" + string(id), ID: "o"}}),
		{Kind: skein.KindSaid, Time: fixture.Noon, ClientID: skein.ClientID(id) + "-1", Payload: fixture.User(word).Payload},
		fixture.Shows(word+".png", blob),
		fixture.Paid("request-"+string(id), fixture.Noon, "m", skein.Usage{Output: 7}),
		fixture.Titled(word),
	}
	evs = append(evs, fixture.Ran("tool-"+word, "c1", `{"path":"/`+word+`"}`, word)...)
	t.Append(skein.Batch{Session: id, Events: evs, Blobs: []skein.Blob{blob}, Import: im})
	return blob, im
}
