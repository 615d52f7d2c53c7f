package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// A heartbeat renews the leases without a TTL that this process holds, every few
// seconds.
type heartbeat struct {
	s    leases // the store of all users
	done chan struct{}

	mu   sync.Mutex
	held map[skein.SessionID]skein.Fence
	on   bool // a goroutine is renewing
}

func newHeartbeat(s leases) *heartbeat {
	return &heartbeat{s: s, held: map[skein.SessionID]skein.Fence{}}
}

// add keeps l until it is removed.
func (k *heartbeat) add(l skein.Lease) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held[l.Session] = l.Fence
	if k.on || k.s.life.Err() != nil {
		return
	}
	k.on, k.done = true, make(chan struct{})
	go k.loop(k.done)
}

func (k *heartbeat) remove(l skein.Lease) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held[l.Session] == l.Fence {
		delete(k.held, l.Session)
	}
}

// loop renews until no lease is held or the store is closed.
func (k *heartbeat) loop(done chan struct{}) {
	defer close(done)
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-k.s.life.Done():
			return
		case <-tick.C:
		}
		ids, epochs := k.all()
		if len(ids) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(k.s.life, ownLease)
		_ = k.renew(ctx, ids, epochs) //nolint:errcheck // it is tried again soon
		cancel()
	}
}

// renew extends leases, even those that have expired but were not taken by another
// holder, and forgets those that were taken.
func (k *heartbeat) renew(ctx context.Context, ids []string, epochs []int64) error {
	mine := map[string]bool{}
	err := k.s.write(ctx, func(t *tx) error {
		clear(mine)
		return t.Query(`UPDATE heads h SET expires = clock_timestamp() + $3 * interval '1 millisecond'
			FROM unnest($1::text[], $2::bigint[]) x (id, epoch) WHERE h.id = x.id AND h.epoch = x.epoch AND h.held RETURNING h.id`,
			[]any{ids, epochs, ownLease.Milliseconds()}, func(r wire.Row) error {
				var id string
				err := r.Scan(&id)
				mine[id] = true
				return err
			})
	})
	if err != nil {
		return err
	}
	for i, id := range ids {
		if !mine[id] {
			k.remove(skein.Lease{Session: skein.SessionID(id), Fence: skein.Fence(epochs[i])})
		}
	}
	return nil
}

// all returns the leases that are held; if none are, the goroutine that asks ends.
func (k *heartbeat) all() (ids []string, epochs []int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, f := range k.held {
		ids, epochs = append(ids, string(id)), append(epochs, int64(f))
	}
	k.on = len(ids) > 0
	return ids, epochs
}

// close releases all leases. The store no longer accepts calls.
func (k *heartbeat) close() {
	k.mu.Lock()
	done, on := k.done, k.on
	k.mu.Unlock()
	if on {
		<-done
	}
	ids, epochs := k.all()
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeFor)
	defer cancel()
	_ = k.s.tryWrite(ctx, func(t *tx) error { // if it fails, they expire
		_, err := t.Exec(`UPDATE heads h SET held = false FROM unnest($1::text[], $2::bigint[]) x (id, epoch) WHERE h.id = x.id AND h.epoch = x.epoch AND h.held`, ids, epochs)
		return err
	})
}

// closeFor limits the time that closing takes to release leases.
const closeFor = 5 * time.Second
