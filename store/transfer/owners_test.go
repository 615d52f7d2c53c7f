package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/transfer"
)

// owned returns how many sessions of each user a store has.
func owned(t *testing.T, s skein.Store) map[skein.User]int {
	t.Helper()
	all := map[skein.User]int{}
	for _, bin := range []bool{false, true} {
		for x, err := range s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true, Bin: bin}) {
			do(t, err)
			all[x.User]++
		}
	}
	return all
}

func TestCopyGivesOnesSessionsToAnotherUser(t *testing.T) {
	for name, open := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, y := open(t), open(t)
			furnish(t, x)
			put(t, x, skein.Batch{Session: "named", Events: begun(skein.Created{User: skein.Local}, 1)})
			put(t, x, skein.Batch{Session: "heir4", Events: begun(forkOf("named", 2), 1)})
			if _, err := skein.LifecycleOf(x).Delete(t.Context(), "named", skein.Deletion{}); err != nil {
				t.Fatal(err)
			}
			to := transfer.Options{Users: map[skein.User]skein.User{skein.Local: "ann"}}
			r, err := transfer.Copy(t.Context(), x, y, to)
			if err != nil || !r.Same() {
				t.Fatalf("Copy = %+v, %v; %s", r, err, cmp.Diff(r.From, r.To))
			}
			had := owned(t, x)
			if got, want := owned(t, y), (map[skein.User]int{"ann": had[skein.Local]}); cmp.Diff(want, got) != "" {
				t.Errorf("sessions by user (-want +got):\n%s", cmp.Diff(want, got))
			}
			if f, err := skein.SourcesOf(y.As("ann")).File(t.Context(), "codex", "/a.jsonl"); err != nil || f.Records != 1200 {
				t.Errorf("File of ann = %+v, %v", f, err)
			}
			if _, err := y.As("ann").Append(t.Context(), skein.Batch{Session: "gone", Events: begun(skein.Created{}, 0)}); !errors.Is(err, skein.ErrDeleted) {
				t.Errorf("Append of ann to what was deleted = %v, want %v", err, skein.ErrDeleted)
			}
			if again, err := transfer.Copy(t.Context(), x, y, to); err != nil || !again.Same() || again.Stored != 0 {
				t.Errorf("Copy again = %+v, %v, want nothing new", again, err)
			}
			z := memory.New()
			back, err := transfer.Copy(t.Context(), y, z, transfer.Options{Users: map[skein.User]skein.User{"ann": skein.Local}})
			if err != nil || !back.Same() {
				t.Errorf("Copy back = %+v, %v", back, err)
			}
			if d := cmp.Diff(map[skein.User]int{skein.Local: had[skein.Local]}, owned(t, z)); d != "" {
				t.Errorf("sessions by user after the way back (-first +got):\n%s", d)
			}
			if _, err := transfer.Copy(t.Context(), x, y, transfer.Options{Users: map[skein.User]skein.User{}}); !errors.Is(err, skein.ErrExists) || !strings.Contains(err.Error(), "ann") {
				t.Errorf("Copy of what is ann's there to local = %v, want %v", err, skein.ErrExists)
			}
			if _, err := transfer.Copy(t.Context(), x, memory.New(), transfer.Options{Users: map[skein.User]skein.User{skein.Local: "x", "bob": "x"}}); !errors.Is(err, skein.ErrInvalid) {
				t.Errorf("Copy of two users' to one = %v, want %v", err, skein.ErrInvalid)
			}
		})
	}
}

// An asked store counts the sessions that were asked for one by one.
type asked struct {
	skein.Store
	n *int
}

func (a asked) Unwrap() skein.Store { return a.Store }

func (a asked) As(u skein.User) skein.Store { return asked{a.Store.As(u), a.n} }

func (a asked) Session(ctx context.Context, id skein.SessionID) (skein.Session, error) {
	*a.n++
	return a.Store.Session(ctx, id)
}

func TestCopyOfOneUserLooksUpIDsTogether(t *testing.T) {
	t.Parallel()
	x, y := memory.New(), memory.New()
	for i := range 40 {
		id := skein.SessionID(fmt.Sprintf("s%d", i))
		put(t, x, skein.Batch{Session: id, Events: begun(skein.Created{User: "bob"}, 1)})
		if i%2 == 0 { // somebody else has it there
			put(t, y, skein.Batch{Session: id, Events: begun(skein.Created{User: "eve"}, 1)})
		}
	}
	n := 0
	r, err := transfer.Copy(t.Context(), x, asked{y, &n}, transfer.Options{Users: map[skein.User]skein.User{"bob": "bob"}})
	if err != nil || !r.Same() || len(r.Renamed) != 20 {
		t.Fatalf("Copy = %+v, %v", r, err)
	}
	if n > 20 { // the other IDs of those whose own is taken
		t.Errorf("Copy of 40 sessions asks for %d sessions one by one, want at most 20", n)
	}
}

// A writing store is written to by somebody else at each append.
type writing struct {
	skein.Store
	other func()
}

func (w writing) Unwrap() skein.Store { return w.Store }

func (w writing) As(u skein.User) skein.Store { return writing{w.Store.As(u), w.other} }

func (w writing) Append(ctx context.Context, bs ...skein.Batch) ([]skein.Receipt, error) {
	w.other()
	return w.Store.Append(ctx, bs...)
}

// PutTombstones and Tombstones are those of the store.
func (w writing) PutTombstones(ctx context.Context, s ...erase.Tombstone) error {
	w.other()
	return w.Store.(erase.Tombstones).PutTombstones(ctx, s...)
}

func (w writing) Tombstones(ctx context.Context) iter.Seq2[erase.Tombstone, error] {
	return w.Store.(erase.Tombstones).Tombstones(ctx)
}

func TestCopyOfOneUserLeavesOthersAloneWhileTheyWrite(t *testing.T) {
	for name, open := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, y := open(t), open(t)
			furnish(t, x)
			before := owned(t, x)[skein.Local]
			n := 0
			others := func() { // in both stores: bob and the user who gets the sessions
				n++
				for i, s := range []skein.Store{x.As("bob"), y.As("bob"), y.As("ann")} {
					gone := skein.SessionID(fmt.Sprint("gone-", i, "-", n))
					put(t, s, skein.Batch{Session: gone, Events: begun(skein.Created{}, 0)})
					put(t, s, skein.Batch{Session: skein.SessionID(fmt.Sprint("others-", i, "-", n)), Events: begun(skein.Created{}, 2)})
					_, err := skein.LifecycleOf(s).Delete(t.Context(), gone, skein.Deletion{})
					do(t, err)
				}
			}
			to := transfer.Options{Users: map[skein.User]skein.User{skein.Local: "ann"}}
			r, err := transfer.Copy(t.Context(), x, writing{y, others}, to)
			if err != nil || !r.Same() || r.From.Sessions != before || n == 0 {
				t.Fatalf("Copy = %+v, %v while others wrote %d times; want the %d sessions; %s", r, err, n, before, cmp.Diff(r.From, r.To))
			}
			if again, err := transfer.Copy(t.Context(), x, y, to); err != nil || !again.Same() || again.Stored != 0 {
				t.Errorf("Copy again = %+v, %v, want nothing new", again, err)
			}
			if got := owned(t, y); got["ann"] != before+n || got["bob"] != n {
				t.Errorf("sessions by user are %v after others wrote %d times, want %d more of ann's", got, n, before)
			}
			if _, err := transfer.Copy(t.Context(), x, y, transfer.Options{Users: map[skein.User]skein.User{"nobody": "ann"}}); !errors.Is(err, skein.ErrNotFound) || !strings.Contains(err.Error(), "nobody") {
				t.Errorf("Copy of a user who has nothing = %v, want %v", err, skein.ErrNotFound)
			}
		})
	}
}
