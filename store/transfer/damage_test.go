package transfer_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/transfer"
)

// hurt is a store in which events are damaged, and a record of a source file.
type hurt struct {
	skein.Store
	skein.Sources
	at     map[skein.Place]bool
	record int // of /p
}

func (h hurt) Unwrap() skein.Store { return h.Store }

func (h hurt) damaged(id skein.SessionID, e skein.Event) *skein.DamagedError {
	if s, err := h.Session(context.Background(), id); err != nil || e.Seq <= s.Base { // it is the parent's
		id = s.Parent.Session
	}
	if !h.at[skein.Place{Session: id, Seq: e.Seq}] {
		return nil
	}
	return &skein.DamagedError{Seq: e.Seq, Time: e.Time, Kind: e.Kind, Role: skein.RoleUser, Err: skein.ErrSum}
}

func (h hurt) As(u skein.User) skein.Store {
	view := h.Store.As(u)
	return hurt{view, skein.SourcesOf(view), h.at, h.record}
}

func (h hurt) Events(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return func(yield func(skein.Event, error) bool) {
		for e, err := range h.Store.Events(ctx, id, after) {
			if err == nil {
				if bad := h.damaged(id, e); bad != nil {
					yield(skein.Event{}, bad)
					return
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (h hurt) Feed(ctx context.Context, after skein.Cursor) iter.Seq2[skein.Fed, error] {
	return func(yield func(skein.Fed, error) bool) {
		for f, err := range skein.FeedOf(h.Store).Feed(ctx, after) {
			if err == nil && f.Event.Kind != "" {
				if bad := h.damaged(f.Session, f.Event); bad != nil {
					f.Event, f.Damaged = bad.Placeholder(), true
				}
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

func (h hurt) Records(ctx context.Context, format, path string, n int) iter.Seq2[skein.Record, error] {
	return func(yield func(skein.Record, error) bool) {
		for r, err := range skein.SourcesOf(h.Store).Records(ctx, format, path, n) {
			if err == nil && path == "/p" && r.N == h.record {
				yield(skein.Record{}, &skein.DamagedRecordsError{First: r.N, Last: r.N, Err: skein.ErrSum})
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// family returns a store with a session, a fork of it and a source file of 1,200 records,
// and the same store with damage.
func family(t *testing.T) (skein.Store, hurt) {
	t.Helper()
	s := memory.New()
	put(t, s, skein.Batch{Session: "a", Events: begun(skein.Created{Title: "one"}, 0)})
	says(t, s, "a", "one", "two", "three", "four")
	put(t, s, skein.Batch{Session: "f", Events: begun(forkOf("a", 4), 0)})
	says(t, s, "f", "own")
	f := skein.SourceFile{Format: "codex", Path: "/p", Session: "a", Records: 1200, Size: 2400}
	var rs []skein.Record
	for i := range f.Records {
		rs = append(rs, skein.Record{N: i, Raw: []byte("x\n")})
	}
	put(t, s, skein.Batch{Session: "a", Import: &skein.Import{File: f, Records: rs}})
	return s, hurt{s, skein.SourcesOf(s), map[skein.Place]bool{{Session: "a", Seq: 3}: true, {Session: "f", Seq: 5}: true}, 1100}
}

func TestSendGoesAroundDamage(t *testing.T) {
	s, bad := family(t)
	to := memory.New()
	got := send(t, bad, to)
	for id, want := range map[skein.SessionID]string{"a": "event 3", "f": "event 5"} {
		if d := got[id].Damaged; len(d) != 1 || d[0] != want {
			t.Errorf("Send %s names %q as damaged, want %s", id, d, want)
		}
	}
	if is := text(t, to, "a"); !strings.Contains(is, "event 3 is damaged") || !strings.Contains(is, "four") || strings.Contains(is, "two") {
		t.Errorf("of a damaged session %q was sent", is)
	}
	if x, err := to.Session(t.Context(), "f"); err != nil || x.Parent == nil || x.Parent.Session != "a" || x.Base != 4 {
		t.Errorf("a fork whose first event is damaged becomes %+v, %v, want a fork of a at 4", x, err)
	}
	for _, from := range []skein.Store{bad, s} { // whether it is damaged or, from a copy, whole again
		if got := send(t, from, to); len(got) > 0 {
			t.Errorf("Send again = %+v, want nothing new", got)
		}
		if got := send(t, to, from); len(got) > 0 {
			t.Errorf("Send back = %+v, want nothing new", got)
		}
	}
	says(t, s, "a", "five")
	says(t, to, "f", "theirs")
	if got := send(t, bad, to); got["a"].What != transfer.Grown || got["f"].What != transfer.Newer || len(got["a"].Damaged) > 0 {
		t.Errorf("Send of what has grown behind damage = %+v", got)
	}
	says(t, s, "f", "ours")
	if got := send(t, bad, to); got["f"].What != transfer.Forked {
		t.Errorf("Send of what has parted behind damage = %+v, want a fork", got)
	}
}

func TestCopyGoesAroundDamage(t *testing.T) {
	_, bad := family(t)
	to := memory.New()
	for i := range 2 {
		r, err := transfer.Copy(t.Context(), bad, to, transfer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(r.Damaged)
		want := []string{"session a: event 3", "session f: event 5", "source file /p"}
		if !slices.Equal(r.Damaged, want) {
			t.Errorf("copy %d names %q as damaged, want %q", i, r.Damaged, want)
		}
		if !r.Same() {
			t.Errorf("copy %d says that %q differ, %s; want all the same that could be read", i, r.Examples, cmp.Diff(r.From, r.To))
		}
	}
	if is := text(t, to, "a"); !strings.Contains(is, "event 3 is damaged") || !strings.Contains(is, "four") {
		t.Errorf("of a damaged session %q was copied", is)
	}
	if x, err := to.Session(t.Context(), "f"); err != nil || x.Parent == nil || x.Base != 4 {
		t.Errorf("a fork whose first event is damaged is copied as %+v, %v", x, err)
	}
	f, err := to.File(t.Context(), "codex", "/p")
	if err != nil || f.Records != 0 || f.Offset != 0 || f.State != nil || f.Size != 0 {
		t.Errorf("a file with a damaged record is copied as %+v, %v, want one that is to be read anew", f, err)
	}
	for r := range to.Records(t.Context(), "codex", "/p", 0) {
		t.Errorf("of a file with a damaged record, record %d was copied", r.N)
		break
	}
}
