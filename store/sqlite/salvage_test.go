package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/lenient"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/pagefile"
)

// copiesEnv is the variable with the number of damaged copies to salvage; 16, or 4
// in a short run, if it is not set. 500 take some minutes.
const copiesEnv = "SKEIN_DAMAGED_COPIES"

// A truth is what a store contains before it is damaged.
type truth struct {
	events map[skein.SessionID][]skein.Event
	where  map[string][]pagefile.ByteSpan // bytes of each event in the file, by session and seq
}

func at(id skein.SessionID, seq skein.Seq) string { return fmt.Sprintf("%s %d", id, seq) }

// salvageable creates a store with every form that an event's bytes can have,
// and returns its file, which nobody has open.
func salvageable(t *testing.T) (name string, want truth) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "x.db")
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 30 {
		id := skein.SessionID(fmt.Sprintf("session-%02d", i))
		evs := []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{Key: fmt.Sprint("key:", i), Project: "/p"})}
		for k := range 5 + r.IntN(30) {
			e := skein.Say(skein.Time(1000+k), skein.UserSays(fmt.Sprintf("message %d of %d: %s", k, i, strings.Repeat("some words. ", r.IntN(60)))))
			if k%7 == 3 { // compresses badly
				noise := make([]byte, 200+r.IntN(9000))
				for j := range noise {
					noise[j] = "abcdefghijklmnopqrstuvwxyzABCDEF"[r.IntN(32)]
				}
				e = skein.Say(skein.Time(1000+k), skein.Message{Role: skein.RoleAssistant, Model: "m", Request: fmt.Sprint(i, "/", k), Usage: &skein.Usage{Input: 7}, Parts: []skein.Part{skein.TextPart(string(noise))}})
			}
			if k%2 == 0 {
				e.ClientID = skein.ClientID(fmt.Sprintf("c-%d-%d", i, k))
			}
			evs = append(evs, e)
		}
		if _, err := skein.Add(t.Context(), s, id, evs...); err != nil {
			t.Fatal(err)
		}
		if i%5 == 4 {
			fork := skein.NewEvent(skein.KindCreated, 1, skein.Created{Parent: &skein.Parent{Session: id, Seq: 4, Why: skein.Fork}})
			if _, err := skein.Add(t.Context(), s, "fork-of-"+id, fork, skein.Say(1, skein.UserSays("in the fork"))); err != nil {
				t.Fatal(err)
			}
		}
		if i%9 == 8 {
			if _, err := s.Delete(t.Context(), id, skein.Deletion{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	want = truth{map[skein.SessionID][]skein.Event{}, map[string][]pagefile.ByteSpan{}}
	own := map[int64]skein.SessionID{}
	for x, err := range s.Sessions(t.Context(), skein.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range s.Events(t.Context(), x.ID, 0) {
			if err != nil {
				t.Fatal(err)
			}
			want.events[x.ID] = append(want.events[x.ID], e)
		}
		h, err := headOf(t.Context(), s, x.ID)
		if err != nil {
			t.Fatal(err)
		}
		own[h.N] = x.ID
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want.find(t, name, own)
	return name, want
}

func headOf(ctx context.Context, s *Store, id skein.SessionID) (h columns.Head, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		h, err = s.head(c, id)
		return err
	})
	return h, err
}

// find locates the bytes of the events in the whole file.
func (want *truth) find(t *testing.T, name string, own map[int64]skein.SessionID) {
	t.Helper()
	empty, err := Open(t.Context(), filepath.Join(t.TempDir(), "e.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	p, err := pagefile.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	x := &salvage{from: p, to: empty, roots: map[uint32]string{}, pages: map[string][]uint32{}}
	if err := errors.Join(x.layout(t.Context()), x.sort(t.Context())); err != nil {
		t.Fatal(err)
	}
	events := x.table("events")
	for _, n := range x.pages["events"] {
		cells, _ := p.Cells(n, p.Page(n))
		for _, c := range cells {
			if row, ok := events.row(&c); ok {
				want.where[at(own[row[1].(int64)], skein.Seq(row[2].(int64)))] = c.Spans
			}
		}
	}
	n := 0
	for range want.where {
		n++
	}
	if n < 300 {
		t.Fatalf("the pages of a whole file have %d events, want all", n)
	}
}

// hurt reports whether bytes of an event are damaged: its own or, for a fork,
// those of its parent's event.
func (want *truth) hurt(id skein.SessionID, seq skein.Seq, was, is []byte) (bool, bool) {
	spans, ok := want.where[at(id, seq)]
	for _, s := range spans {
		if !bytes.Equal(was[s.From:s.To], is[s.From:s.To]) {
			return true, ok
		}
	}
	return false, ok
}

// A salvage of a damaged file loses only events whose own bytes are damaged,
// and no event differs from the original.
func TestSalvageLosesOnlyWhatIsHurt(t *testing.T) {
	copies := 16
	if testing.Short() {
		copies = 4
	}
	if n, err := strconv.Atoi(os.Getenv(copiesEnv)); err == nil {
		copies = n
	}
	name, want := salvageable(t)
	was, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	hurt, lost := 0, 0
	for i := range copies {
		r := rand.New(rand.NewPCG(7, uint64(i)))
		is, what := damaged(bytes.Clone(was), r, i)
		got := repaired(t, is, what)
		for id, events := range want.events {
			for _, e := range events {
				isHurt, own := want.hurt(id, e.Seq, was, is)
				if !own {
					continue // it is the parent's
				}
				if isHurt {
					hurt++
				}
				g, ok := got[at(id, e.Seq)]
				switch {
				case ok && (!bytes.Equal(g.Payload, e.Payload) || g.Kind != e.Kind || g.ClientID != e.ClientID):
					t.Errorf("copy %d, %s: event %d of %s is %.80s, was %.80s", i, what, e.Seq, id, g.Payload, e.Payload)
				case !ok && !isHurt:
					t.Errorf("copy %d, %s: event %d of %s (%s) is lost, and its bytes are not hurt", i, what, e.Seq, id, e.Kind)
				case !ok:
					lost++
				}
			}
		}
	}
	t.Logf("%d damaged copies: %d events hurt, %d lost", copies, hurt, lost)
	if lost == 0 {
		t.Error("no event was lost: nothing was damaged")
	}
}

// damaged damages b in one of the ways in which disks and people damage files.
func damaged(b []byte, r *rand.Rand, i int) ([]byte, string) {
	fill := func(from, to int) {
		for k := from; k < to; k++ {
			b[k] = byte(r.Uint32())
		}
	}
	page := r.IntN(len(b)/pagefile.PageSize) * pagefile.PageSize
	switch i % 8 {
	case 0:
		fill(page, page+pagefile.PageSize)
		return b, fmt.Sprintf("random page %d", page/pagefile.PageSize+1)
	case 1:
		clear(b[page : page+pagefile.PageSize])
		return b, fmt.Sprintf("empty page %d", page/pagefile.PageSize+1)
	case 2:
		fill(page+512*3, page+512*4)
		return b, fmt.Sprintf("random sector in page %d", page/pagefile.PageSize+1)
	case 3:
		k := r.IntN(len(b))
		b[k] ^= 1 << r.IntN(8)
		return b, fmt.Sprintf("bit at %d", k)
	case 4:
		fill(0, pagefile.PageSize)
		return b, "random first page"
	case 5:
		k := r.IntN(40 * pagefile.PageSize)
		b[k] ^= 1 << r.IntN(8)
		return b, fmt.Sprintf("bit at %d, in the schema", k)
	case 6:
		fill(page, page+8)
		return b, fmt.Sprintf("head of page %d", page/pagefile.PageSize+1)
	}
	clear(b[:100])
	return b, "empty header"
}

// repaired replaces a store's file with the bytes of a damaged one, repairs it,
// and returns the events that can then be read.
func repaired(t *testing.T, b []byte, what string) map[string]skein.Event {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), name, Options{})
	var broken inspect.Salvager
	if errors.As(err, &broken) {
		for _, err := range broken.Salvage(t.Context()) {
			if err != nil {
				t.Fatalf("%s: Salvage: %v", what, err)
			}
		}
		s, err = Open(t.Context(), name, Options{})
	}
	if err != nil {
		t.Fatalf("%s: Open: %v", what, err)
	}
	defer s.Close()
	for _, err := range s.Examine(t.Context(), inspect.Examination{Repair: true}) {
		if err != nil {
			t.Fatalf("%s: Examine: %v", what, err)
		}
	}
	for f, err := range s.Examine(t.Context(), inspect.Examination{}) {
		if err != nil || f.Level == inspect.Damaged && f.Area != "events" {
			t.Errorf("%s: after the repair: %+v, %v", what, f, err)
		}
	}
	got := map[string]skein.Event{}
	for x, err := range s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatalf("%s: Sessions: %v", what, err)
		}
		damaged := map[skein.Seq]bool{}
		around := lenient.Store(s, func(_ skein.SessionID, e *skein.DamagedError) { damaged[e.Seq] = true })
		for e, err := range around.Events(t.Context(), x.ID, 0) {
			if err != nil {
				t.Errorf("%s: Events(%s): %v", what, x.ID, err)
				break
			}
			if !damaged[e.Seq] && !lostMark(e) {
				got[at(x.ID, e.Seq)] = e
			}
		}
	}
	return got
}

// Whichever page of a store is damaged, the store opens, or its error is a
// Salvager, with which it opens again.
func TestNoDamagedPageClosesAStoreForGood(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	addText(t, s, "a", "one")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for page := range len(was) / pagefile.PageSize {
		if err := os.WriteFile(name, slices.Concat(was[:page*pagefile.PageSize], make([]byte, pagefile.PageSize), was[(page+1)*pagefile.PageSize:]), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), name, Options{})
		var broken inspect.Salvager
		if errors.As(err, &broken) {
			for _, err := range broken.Salvage(t.Context()) {
				if err != nil {
					t.Fatalf("with page %d empty: Salvage: %v", page+1, err)
				}
			}
			s, err = Open(t.Context(), name, Options{})
		}
		if err != nil {
			t.Fatalf("with page %d empty: Open: %v", page+1, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A reader of the feed misses nothing that comes after a salvage, and sees
// nothing twice: no cursor is assigned again, not even that of a deleted event.
func TestAFeedGoesOnAfterASalvage(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	addText(t, s, "a", "one", "two")
	addText(t, s, "b", "gone", "gone", "gone")
	var seen skein.Cursor
	for f, err := range s.Feed(t.Context(), skein.FeedNow) {
		if err != nil {
			t.Fatal(err)
		}
		seen = f.Cursor
		break
	}
	if _, err := s.Delete(t.Context(), "b", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	copy(b[100:], bytes.Repeat([]byte{0x5a}, 60)) // the page with the schema
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), name, Options{})
	var broken inspect.Salvager
	if !errors.As(err, &broken) {
		t.Fatalf("Open = %v, want a store that can be salvaged", err)
	}
	for _, err := range broken.Salvage(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	s = openTest(t, name)
	addText(t, s, "a", "three")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var next string
	for f, err := range s.Feed(ctx, seen) {
		if err != nil {
			t.Fatal(err)
		}
		next = string(f.Event.Payload)
		break
	}
	if !strings.Contains(next, "three") {
		t.Errorf("after the salvage the feed goes on with %q, want what was said since", next)
	}
}

// lostMark reports whether e is in the place of a lost event.
func lostMark(e skein.Event) bool {
	return e.Time == 0 && (e.Kind == skein.KindCreated || strings.Contains(string(e.Payload), `"lost"`))
}
