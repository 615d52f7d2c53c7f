package storetest_test

import (
	"context"
	"iter"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/storetest"
)

// brokenVariable makes TestBrokenStore a child that runs the suite on the
// broken store of that name.
const brokenVariable = "SKEIN_STORETEST_BROKEN"

// A brokenStore breaks one promise.
type brokenStore struct {
	check string // that must notice
	open  func() skein.Store
}

// broken returns stores that break one promise each, by name.
func broken() map[string]brokenStore {
	all := map[string]brokenStore{
		"forgets client IDs": {"04 Same client ID twice is one event/the same answer, however much has come since", func() skein.Store {
			return &forgetful{Store: memory.New()}
		}},
		"keeps leases for long": {"06 A stale lease cannot write/one with a TTL ends in time", func() skein.Store {
			s := memory.New()
			return slow{s, s}
		}},
		"renews leases for long": {"06 A stale lease cannot write/one that is renewed ends in time", func() skein.Store {
			s := memory.New()
			return slow{s, s}
		}},
		"counts a fork's usage twice": {"19 Usage counts each request once/by session, a fork's own only", func() skein.Store {
			return twice{memory.New()}
		}},
		"a watch hangs": {"14 Watch gives what was, then what comes/what was, then what comes", func() skein.Store {
			return hangs{memory.New()}
		}},
		"a close hangs": {"01 The answer agrees with the disk/nil means that every later read has it", func() skein.Store {
			return stays{memory.New()}
		}},
		"an append hangs": {"02 All or none/an event that cannot be stored takes its batch with it", func() skein.Store {
			return stuck{memory.New()}
		}},
		"a search hangs": {"13 Search finds/the limit and the deadline", func() skein.Store {
			return lost{memory.New()}
		}},
		"a lease hangs": {"06 A stale lease cannot write/one with a TTL ends in time", func() skein.Store {
			s := memory.New()
			return waits{s, s}
		}},
	}
	maps.Copy(all, faulty())
	return all
}

// TestBrokenStore tests the suite itself: a store that breaks a promise fails
// the check of that promise, and one that hangs is named and does not block the
// tests.
func TestBrokenStore(t *testing.T) {
	if name := os.Getenv(brokenVariable); name != "" {
		storetest.Run(t, func(*testing.T) skein.Store { return broken()[name].open() }, storetest.Options{Deadline: 10 * time.Second})
		return
	}
	for name, b := range broken() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pattern := "^TestBrokenStore$"
			for part := range strings.SplitSeq(b.check, "/") {
				pattern += "/^" + part + "$"
			}
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", pattern)
			c.Env = append(os.Environ(), brokenVariable+"="+name)
			out, err := c.CombinedOutput()
			want := "TestBrokenStore/" + strings.ReplaceAll(b.check, " ", "_")
			if strings.HasSuffix(name, " hangs") {
				want = "storetest: " + want + " is not done after 10s: the store hangs"
			}
			if err == nil || !strings.Contains(string(out), want) {
				t.Errorf("the suite on a store that %s: error %v, want that %q fails\n%s", name, err, want, out)
			}
		})
	}
}

// A forgetful store knows only the client IDs of a session's newest events.
type forgetful struct {
	skein.Store
}

func (s *forgetful) Unwrap() skein.Store { return s.Store }

func (s *forgetful) Append(ctx context.Context, batches ...skein.Batch) ([]skein.Receipt, error) {
	for i, b := range batches {
		have, err := s.Session(ctx, b.Session)
		if err != nil {
			continue
		}
		for at := range s.Events(ctx, b.Session, 0) {
			for n, ours := range b.Events {
				if ours.ClientID != "" && ours.ClientID == at.ClientID && at.Seq+50 < have.Last {
					evs := append([]skein.Event(nil), b.Events...)
					evs[n].ClientID += "-new"
					batches[i].Events = evs
				}
			}
		}
	}
	return s.Store.Append(ctx, batches...)
}

// A slow store keeps leases a thousand times too long.
type slow struct {
	skein.Store
	skein.Leases
}

func (s slow) Unwrap() skein.Store { return s.Store }

func (s slow) Acquire(ctx context.Context, id skein.SessionID, r skein.LeaseRequest) (skein.Lease, error) {
	r.TTL *= 1000
	return s.Leases.Acquire(ctx, id, r)
}

func (s slow) Renew(ctx context.Context, l skein.Lease, ttl time.Duration) (skein.Lease, error) {
	return s.Leases.Renew(ctx, l, 1000*ttl)
}

// A twice store adds its parent's usage to a fork's.
type twice struct{ skein.Store }

func (s twice) Unwrap() skein.Store { return s.Store }

func (s twice) Usage(ctx context.Context, q skein.UsageQuery) ([]skein.UsageRow, error) {
	rows, err := s.Store.Usage(ctx, q)
	if q.By != skein.BySession {
		return rows, err
	}
	for i, r := range rows {
		at, err := s.Session(ctx, skein.SessionID(r.Of))
		if err != nil || at.Parent.Why != skein.Fork {
			continue
		}
		for _, parents := range rows {
			if parents.Of == string(at.Parent.Session) {
				rows[i].Usage.Input += parents.Usage.Input
			}
		}
	}
	return rows, err
}

// A stays store hangs when it is closed.
type stays struct{ skein.Store }

func (w stays) Unwrap() skein.Store { return w.Store }

func (stays) Close() error {
	<-make(chan struct{})
	return nil
}

// A hangs store has watches that ignore their context.
type hangs struct{ skein.Store }

func (s hangs) Unwrap() skein.Store { return s.Store }

func (s hangs) Watch(context.Context, skein.SessionID, skein.Seq) iter.Seq2[skein.Event, error] {
	return func(func(skein.Event, error) bool) { <-make(chan struct{}) }
}

// A stuck store hangs when it is to store several events.
type stuck struct{ skein.Store }

func (s stuck) Unwrap() skein.Store { return s.Store }

func (s stuck) Append(ctx context.Context, batches ...skein.Batch) ([]skein.Receipt, error) {
	if len(batches[0].Events) > 1 {
		<-make(chan struct{})
	}
	return s.Store.Append(ctx, batches...)
}

// A lost store has searches that ignore their deadline and their context.
type lost struct{ skein.Store }

func (s lost) Unwrap() skein.Store { return s.Store }

func (lost) Search(context.Context, skein.Query) (skein.Results, error) {
	<-make(chan struct{})
	return skein.Results{}, nil
}

// A waits store waits for ever for a lease.
type waits struct {
	skein.Store
	skein.Leases
}

func (s waits) Unwrap() skein.Store { return s.Store }

func (waits) Acquire(context.Context, skein.SessionID, skein.LeaseRequest) (skein.Lease, error) {
	<-make(chan struct{})
	return skein.Lease{}, nil
}
