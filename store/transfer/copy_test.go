package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/postgres"
	"github.com/skein-dev/skein/store/sqlite"
	"github.com/skein-dev/skein/store/transfer"
)

// kinds are the stores that sessions are copied between.
var kinds = map[string]func(*testing.T) skein.Store{
	"memory": func(*testing.T) skein.Store { return memory.New() },
	"sqlite": func(t *testing.T) skein.Store {
		s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	},
	"postgres": func(t *testing.T) skein.Store {
		s, err := postgres.Open(t.Context(), pgtest.DSN(t), postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	},
}

func put(t *testing.T, s skein.Store, bs ...skein.Batch) {
	t.Helper()
	if _, err := s.Append(t.Context(), bs...); err != nil {
		t.Fatal(err)
	}
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// begun returns the events that begin a session, and n messages.
func begun(c skein.Created, n int) []skein.Event {
	evs := []skein.Event{skein.NewEvent(skein.KindCreated, 1_000, c)}
	for i := range n {
		e := skein.Say(skein.Time(2_000+i), skein.UserSays(fmt.Sprintf("word %d <&> \u2028", i)))
		if i%2 == 0 {
			e.ClientID = skein.ClientID(fmt.Sprint("c", i))
		}
		evs = append(evs, e)
	}
	return evs
}

func answer(tokens int64, request string) skein.Event {
	m := skein.Message{Role: skein.RoleAssistant, Model: "m", Provider: "p", Usage: &skein.Usage{Input: tokens, Requests: 1}, Request: request, Parts: []skein.Part{{Kind: skein.PartText, Text: "so it is"}}}
	return skein.Say(3_000, m)
}

func forkOf(id skein.SessionID, seq skein.Seq) skein.Created {
	return skein.Created{Parent: &skein.Parent{Session: id, Seq: seq, Why: skein.Fork}}
}

// furnish puts into s one of everything that is hard to copy.
func furnish(t *testing.T, s skein.Store) {
	t.Helper()
	ctx := t.Context()
	put(t, s, skein.Batch{Session: "plain", Events: append(begun(skein.Created{Key: "cli:api", Title: "Plain"}, 12), answer(7, "r1"))})
	put(t, s, skein.Batch{Session: "again", Events: append(begun(skein.Created{}, 1), answer(7, "r1"))}) // a request that was counted
	put(t, s, skein.Batch{Session: "fork", Events: begun(forkOf("plain", 4), 3)})
	put(t, s, skein.Batch{Session: "plain", Events: []skein.Event{
		skein.NewEvent(skein.KindRewound, 4_000, skein.Rewound{To: 6}),
		skein.NewEvent(skein.KindAmended, 4_000, skein.Amended{Seq: 3}),
	}})
	put(t, s, skein.Batch{Session: "child", Events: begun(skein.Created{Parent: &skein.Parent{Session: "plain", Seq: 5, Why: skein.Child, Call: "x"}}, 2)})

	blob := skein.NewBlob([]byte(strings.Repeat("picture ", 20_000)))
	m := skein.UserSays("see")
	m.Parts = append(m.Parts, skein.Part{Kind: skein.PartFile, File: &skein.File{Media: "image/png", Name: "a.png", Blob: blob.Hash}})
	put(t, s, skein.Batch{Session: "picture", Events: append(begun(skein.Created{}, 0), skein.Say(5, m)), Blobs: []skein.Blob{blob}})

	// A key that three sessions had, one after the other; one was restored without it.
	put(t, s, skein.Batch{Session: "key1", Events: begun(skein.Created{Key: "k"}, 1)})
	do(t, skein.LifecycleOf(s).Bin(ctx, "key1"))
	put(t, s, skein.Batch{Session: "key2", Events: begun(skein.Created{Key: "k"}, 1)})
	do(t, skein.LifecycleOf(s).Bin(ctx, "key2"))
	put(t, s, skein.Batch{Session: "key3", Events: begun(skein.Created{Key: "k"}, 1)})
	do(t, skein.LifecycleOf(s).Restore(ctx, "key1"))

	// Forks of deleted sessions: one deep, two of one, and one in between.
	put(t, s, skein.Batch{Session: "gone", Events: begun(skein.Created{Key: "g"}, 8)})
	put(t, s, skein.Batch{Session: "gone2", Events: begun(forkOf("gone", 3), 5)})
	put(t, s, skein.Batch{Session: "heir", Events: begun(forkOf("gone2", 6), 2)})
	put(t, s, skein.Batch{Session: "heir2", Events: begun(forkOf("gone", 5), 2)})
	put(t, s, skein.Batch{Session: "mid", Events: begun(forkOf("plain", 9), 3)})
	put(t, s, skein.Batch{Session: "heir3", Events: begun(forkOf("mid", 11), 2)})
	for _, id := range []skein.SessionID{"gone", "gone2", "mid"} {
		if _, err := skein.LifecycleOf(s).Delete(ctx, id, skein.Deletion{}); err != nil {
			t.Fatal(err)
		}
	}

	// An imported file, a file without a session, and somebody else's session.
	imported := skein.Batch{Session: "imported", Events: begun(skein.Created{Origin: &skein.Origin{Format: "codex", Path: "/a.jsonl", ID: "o"}}, 0)}
	imported.Events[0].ClientID = "created"
	f := skein.SourceFile{Format: "codex", Path: "/a.jsonl", Session: "imported", ID: "o", State: []byte("{}"), Head: blob.Hash}
	var records []skein.Record
	for i := range 1200 {
		raw := fmt.Appendf(nil, "line %d\n", i)
		r := skein.Record{N: i, Offset: f.Offset, Raw: raw, Key: skein.ClientID(fmt.Sprint("r", i)), Events: 1}
		if i%100 == 7 {
			r.Damage, r.Events, r.Key = "torn", 0, ""
			f.Damaged++
		} else {
			e := skein.Say(6, skein.UserSays(string(raw)))
			e.ClientID = r.Key
			imported.Events = append(imported.Events, e)
		}
		f.Offset += int64(len(raw))
		records = append(records, r)
	}
	f.Records, f.Size, f.Mtime, f.Inode = len(records), f.Offset, 5, 1<<63
	imported.Import = &skein.Import{File: f, Records: records}
	put(t, s, imported)
	put(t, s, skein.Batch{Session: "imported", Events: []skein.Event{skein.Say(9, skein.UserSays("went on here"))}})
	put(t, s, skein.Batch{Import: &skein.Import{File: skein.SourceFile{Format: "codex", Path: "/empty", Size: 3, Offset: 3, Records: 1}, Records: []skein.Record{{Raw: []byte("\n\n\n")}}}})
	put(t, s.As("bob"), skein.Batch{Session: "bobs", Events: begun(skein.Created{Key: "cli:api"}, 2)})
}

func TestCopyBringsEverything(t *testing.T) {
	for a, from := range kinds {
		for b, to := range kinds {
			if a == b && a != "memory" {
				continue
			}
			t.Run(a+" to "+b, func(t *testing.T) {
				t.Parallel()
				x, y := from(t), to(t)
				furnish(t, x)
				r, err := transfer.Copy(t.Context(), x, y, transfer.Options{})
				if err != nil || !r.Same() {
					t.Fatalf("Copy = %+v, %v; %s", r, err, cmp.Diff(r.From, r.To))
				}
				if r.From.Sessions < 12 || r.From.Records != 1201 || r.From.Tombstones != 3 || r.From.Blobs != 1 || r.From.Binned != 1 {
					t.Errorf("Copy = %+v, want all of it", r.From)
				}
				if again, err := transfer.Copy(t.Context(), x, y, transfer.Options{}); err != nil || !again.Same() || again.Stored != 0 {
					t.Errorf("Copy again = %+v, %v, want nothing new", again, err)
				}
				if _, err := y.Append(t.Context(), skein.Batch{Session: "gone", Events: begun(skein.Created{}, 0)}); !errors.Is(err, skein.ErrDeleted) {
					t.Errorf("Append to what was deleted = %v, want %v", err, skein.ErrDeleted)
				}
				if found, err := skein.SourcesOf(y).Find(t.Context(), []skein.ClientID{"r5", "c0"}); err != nil || len(found) != 1 || found["r5"].Session != "imported" {
					t.Errorf("Find = %v, %v, want the imported event alone", found, err)
				}
				ux, err := x.Usage(t.Context(), skein.UsageQuery{By: skein.BySession})
				do(t, err)
				uy, err := y.Usage(t.Context(), skein.UsageQuery{By: skein.BySession})
				do(t, err)
				if d := cmp.Diff(ux, uy); d != "" {
					t.Errorf("Usage by session (-from +to):\n%s", d)
				}
			})
		}
	}
}

// stops is a store that stops working after a number of appends, deletions and bins:
// as if the program had been killed.
type stops struct {
	skein.Store
	skein.Lifecycle
	left *int
}

func (s stops) Unwrap() skein.Store { return s.Store }

var errKilled = errors.New("killed")

func (s stops) spend() error {
	if *s.left--; *s.left < 0 {
		return errKilled
	}
	return nil
}

func (s stops) As(u skein.User) skein.Store {
	view := s.Store.As(u)
	return stops{view, skein.LifecycleOf(view), s.left}
}

func (s stops) Append(ctx context.Context, bs ...skein.Batch) ([]skein.Receipt, error) {
	if err := s.spend(); err != nil {
		return nil, err
	}
	return s.Store.Append(ctx, bs...)
}

func (s stops) Delete(ctx context.Context, id skein.SessionID, d skein.Deletion) (skein.Deleted, error) {
	if err := s.spend(); err != nil {
		return skein.Deleted{}, err
	}
	return skein.LifecycleOf(s.Store).Delete(ctx, id, d)
}

func (s stops) Bin(ctx context.Context, id skein.SessionID) error {
	if err := s.spend(); err != nil {
		return err
	}
	return skein.LifecycleOf(s.Store).Bin(ctx, id)
}

func (s stops) Restore(ctx context.Context, id skein.SessionID) error {
	if err := s.spend(); err != nil {
		return err
	}
	return skein.LifecycleOf(s.Store).Restore(ctx, id)
}

func (s stops) PutTombstones(ctx context.Context, st ...erase.Tombstone) error {
	if err := s.spend(); err != nil {
		return err
	}
	return s.Store.(erase.Tombstones).PutTombstones(ctx, st...)
}

func (s stops) Tombstones(ctx context.Context) func(func(erase.Tombstone, error) bool) {
	return s.Store.(erase.Tombstones).Tombstones(ctx)
}

func TestCopyGoesOnWhereverItWasKilled(t *testing.T) {
	x := memory.New()
	furnish(t, x)
	for n := 0; ; n++ {
		y := memory.New()
		left := n
		_, err := transfer.Copy(t.Context(), x, stops{y, skein.LifecycleOf(y), &left}, transfer.Options{})
		if err != nil && !errors.Is(err, errKilled) {
			t.Fatalf("Copy that ends after %d changes: %v", n, err)
		}
		r, rerr := transfer.Copy(t.Context(), x, y, transfer.Options{})
		if rerr != nil || !r.Same() {
			t.Fatalf("Copy after it was killed after %d changes = %+v, %v: %s", n, r, rerr, cmp.Diff(r.From, r.To))
		}
		if err == nil {
			if n < 20 {
				t.Errorf("Copy was killed in %d places, want many", n)
			}
			return
		}
	}
}

func TestCopySaysWhatDiffers(t *testing.T) {
	x, y := memory.New(), memory.New()
	put(t, x, skein.Batch{Session: "a", Events: begun(skein.Created{}, 2)})
	put(t, y, skein.Batch{Session: "a", Events: begun(skein.Created{Title: "another"}, 2)})
	r, err := transfer.Copy(t.Context(), x, y, transfer.Options{})
	if err != nil || r.Same() || r.Differ != 1 || len(r.Examples) != 1 || r.Examples[0] != "session a" {
		t.Errorf("Copy over another session of that ID = %+v, %v, want that it differs", r, err)
	}
}

func TestCopyMixesNoSessions(t *testing.T) {
	x, y := memory.New(), memory.New()
	put(t, x, skein.Batch{Session: "a", Events: begun(skein.Created{}, 3)})
	put(t, y, skein.Batch{Session: "a", Events: append(begun(skein.Created{}, 1), answer(3, ""))})
	if r, err := transfer.Copy(t.Context(), x, y, transfer.Options{}); !errors.Is(err, skein.ErrConflict) {
		t.Errorf("Copy to where the session went on by itself = %+v, %v, want %v", r, err, skein.ErrConflict)
	}
	if s, err := y.Session(t.Context(), "a"); err != nil || s.Last != 3 {
		t.Errorf("the session there = %+v, %v, want it as it was", s, err)
	}
}
