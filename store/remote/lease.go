package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/api"
)

// Acquire implements [skein.Leases]. A lease without a TTL has an end at the
// server, which this process renews until the lease is released.
func (s leases) Acquire(ctx context.Context, id skein.SessionID, r skein.LeaseRequest) (_ skein.Lease, err error) {
	defer skein.Wrapf(&err, "remote: lease of %s", id)
	if err := id.Check(); err != nil {
		return skein.Lease{}, err
	}
	in := api.Acquire{Session: id, Program: r.Program, TakeOver: r.TakeOver, TTL: r.TTL, PID: r.Elsewhere.PID, Host: r.Elsewhere.Host}
	if r.TTL == 0 {
		host, _ := os.Hostname() // for people; without it they see the server's
		in.TTL, in.PID, in.Host = s.lease, os.Getpid(), host
	}
	got, err := change[api.Lease](ctx, s.view, "acquire", in)
	if err != nil {
		return skein.Lease{}, err
	}
	l := skein.Lease(got)
	if r.TTL == 0 {
		l.Expires = 0
		s.kept.keep(s.view, l)
	}
	return l, nil
}

// Renew implements [skein.Leases].
func (s leases) Renew(ctx context.Context, l skein.Lease, ttl time.Duration) (_ skein.Lease, err error) {
	defer skein.Wrapf(&err, "remote: renew the lease of %s", l.Session)
	if ttl <= 0 {
		if err := s.alive(ctx); err != nil {
			return skein.Lease{}, err
		}
		return skein.Lease{}, fmt.Errorf("%w TTL %v", skein.ErrInvalid, ttl)
	}
	held := s.kept.has(l)
	if held {
		ttl = s.lease // it has no end that could be renewed
	}
	got, err := ask[api.Lease](ctx, s.view, "renew", api.Renew{Session: l.Session, Fence: l.Fence, TTL: ttl})
	if held {
		got.Expires = 0
	}
	return skein.Lease(got), err
}

// Release implements [skein.Leases].
func (s leases) Release(ctx context.Context, l skein.Lease) (err error) {
	defer skein.Wrapf(&err, "remote: release the lease of %s", l.Session)
	s.kept.drop(l)
	_, err = ask[noAnswer](ctx, s.view, "release", releaseOf(l))
	return err
}

type release struct {
	Session skein.SessionID `json:"session"`
	Fence   skein.Fence     `json:"fence"`
}

func releaseOf(l skein.Lease) release { return release{l.Session, l.Fence} }

// heldLeases are the leases that this process holds for as long as it lives.
type heldLeases struct {
	mu   sync.Mutex
	held map[release]*heldLease
}

// heldLease is one of them.
type heldLease struct {
	v     *view
	leave context.CancelFunc
	done  chan struct{}
}

// keep starts renewing l.
func (k *heldLeases) keep(v *view, l skein.Lease) {
	ctx, leave := context.WithCancel(v.ending)
	h := &heldLease{v, leave, make(chan struct{})}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held == nil {
		k.held = map[release]*heldLease{}
	}
	k.held[releaseOf(l)] = h
	go func() {
		defer close(h.done)
		if v.renewing(ctx, l) {
			k.forget(releaseOf(l), h)
		}
	}()
}

// renewing renews l until ctx ends; it returns true if somebody else gets the lease
// before that.
func (v *view) renewing(ctx context.Context, l skein.Lease) bool {
	tick := time.NewTicker(v.lease / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		within, cancel := context.WithTimeout(ctx, v.lease/4)
		err := v.once(within, "renew", api.Renew{Session: l.Session, Fence: l.Fence, TTL: v.lease}, &api.Lease{})
		cancel()
		if errors.Is(err, skein.ErrFenced) || errors.Is(err, skein.ErrNotFound) {
			return true
		}
	}
}

func (k *heldLeases) has(l skein.Lease) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held[releaseOf(l)] != nil
}

func (k *heldLeases) forget(r release, h *heldLease) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held[r] == h {
		delete(k.held, r)
	}
}

// drop stops renewing l.
func (k *heldLeases) drop(l skein.Lease) {
	k.mu.Lock()
	h := k.held[releaseOf(l)]
	delete(k.held, releaseOf(l))
	k.mu.Unlock()
	if h != nil {
		h.leave()
		<-h.done
	}
}

// end releases all leases.
func (k *heldLeases) end() (err error) {
	k.mu.Lock()
	all := k.held
	k.held = nil
	k.mu.Unlock()
	for r, h := range all {
		h.leave()
		<-h.done
		within, cancel := context.WithTimeout(h.v.ending, closeFor)
		err = errors.Join(err, h.v.once(within, "release", r, &noAnswer{}))
		cancel()
	}
	return err
}

// closeFor is how long releasing a lease may take when the store is closed: otherwise
// the lease expires by itself.
const closeFor = 3 * time.Second
