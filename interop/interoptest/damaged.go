package interoptest

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/lenient"
	"github.com/skein-dev/skein/store/memory"
)

// hurt is a store with a damaged event in each of some sessions, and a damaged record in
// each of some files.
type hurt struct {
	skein.Store
	skein.Sources
	events  map[skein.SessionID]skein.Seq
	records map[string]int // by path
}

func (h hurt) Unwrap() skein.Store { return h.Store }

func (h hurt) Events(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return func(yield func(skein.Event, error) bool) {
		for e, err := range h.Store.Events(ctx, id, after) {
			if err == nil && e.Seq == h.events[id] {
				yield(skein.Event{}, &skein.DamagedError{Seq: e.Seq, Time: e.Time, Kind: e.Kind, Role: skein.RoleUser, Err: skein.ErrSum})
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (h hurt) Records(ctx context.Context, format, path string, n int) iter.Seq2[skein.Record, error] {
	return func(yield func(skein.Record, error) bool) {
		for r, err := range skein.SourcesOf(h.Store).Records(ctx, format, path, n) {
			if at, is := h.records[path]; err == nil && is && r.N == at {
				yield(skein.Record{}, &skein.DamagedRecordsError{First: r.N, Last: r.N, Err: skein.ErrSum})
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// whole returns s.
func whole(_ *testing.T, s skein.Store) skein.Store { return s }

// hurtOf returns s with the last but one of the imported messages of each session
// damaged, and the last but one of the records of each file.
func hurtOf(t *testing.T, s skein.Store) skein.Store {
	h := hurt{s, skein.SourcesOf(s), map[skein.SessionID]skein.Seq{}, map[string]int{}}
	for sess, err := range s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		last := skein.Seq(0)
		for e, err := range s.Events(t.Context(), sess.ID, sess.Base) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind != skein.KindSaid || e.ClientID == "" {
				continue
			}
			if h.events[sess.ID] = last; last == 0 {
				h.events[sess.ID] = e.Seq
			}
			last = e.Seq
		}
	}
	for f, err := range skein.SourcesOf(s).Files(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		h.records[f.Path] = max(0, f.Records-2)
	}
	return h
}

// aroundDamage checks, for a format that can be written: what cannot be read of a session
// is named, a placeholder is written in its place, and everything else is written.
func (s writes) aroundDamage(t *testing.T) {
	from := memory.New()
	defer from.Close()
	id := composed(t, from)
	const at = 7 // thanks
	bad := hurt{from, skein.SourcesOf(from), map[skein.SessionID]skein.Seq{id: at}, nil}
	home := filepath.Join(t.TempDir(), "home")
	done, err := writeback.Export(t.Context(), bad, s.Format, id, home, writeback.Exports{})
	if err != nil || len(done[0].Damaged) != 1 || !strings.Contains(done[0].Damaged[0], "event 7 is damaged") {
		t.Fatalf("Export with event %d damaged = %+v, %v, want that it is named", at, done, err)
	}
	if again, err := writeback.Export(t.Context(), bad, s.Format, id, home, writeback.Exports{}); err != nil || !again[0].Unchanged || len(again[0].Damaged) != 1 {
		t.Errorf("Export once more = %+v, %v, want that nothing is new, and what is damaged named", again, err)
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		t.Fatal(err)
	}
	to := memory.New()
	defer to.Close()
	s.bring(t, to, home)
	var want []string
	for e, err := range lenient.Store(bad, nil).Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, string(e.Kind)+string(e.Payload))
	}
	var got []string
	for e, err := range to.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, string(e.Kind)+string(e.Payload)); e.IsPlaceholder() != (e.Seq == at) {
			t.Errorf("of what was written event %d stands in for a damaged one: %v", e.Seq, e.IsPlaceholder())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("there and back (-was +is):\n%s", diff)
	}
	for _, d := range done {
		if err := os.Remove(d.Side); d.Side != "" && err != nil {
			t.Fatal(err)
		}
	}
	alone := memory.New()
	defer alone.Close()
	s.bring(t, alone, home)
	is := func(text string) bool { return strings.Contains(text, "event 7 is damaged") }
	if words := said(t, alone); !slices.ContainsFunc(words, is) || slices.ContainsFunc(words, func(text string) bool { return strings.HasSuffix(text, "thanks") }) {
		t.Errorf("without the side file it says %q, want that event %d is damaged", words, at)
	}
}
