package memory

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/skein-dev/skein"
)

// A lease is the newest one of a session, held or not.
type lease struct {
	skein.Lease
	held bool
}

// live reports whether l, which may be nil, is held.
func (l *lease) live() bool { return l != nil && l.held && (l.Expires == 0 || now() < l.Expires) }

// Acquire implements [skein.Leases].
func (s leases) Acquire(ctx context.Context, id skein.SessionID, r skein.LeaseRequest) (_ skein.Lease, err error) {
	defer skein.Wrapf(&err, "memory: lease of %s", id)
	if err := id.Check(); err != nil {
		return skein.Lease{}, err
	}
	if r.TTL < 0 {
		return skein.Lease{}, fmt.Errorf("%w lease: TTL %v", skein.ErrInvalid, r.TTL)
	}
	if err := s.enter(ctx); err != nil {
		return skein.Lease{}, err
	}
	defer s.mu.Unlock()
	if sess := s.sessions[id]; sess != nil && !s.sees(sess.head.User) {
		return skein.Lease{}, fmt.Errorf("session %s %w", id, skein.ErrNotFound)
	}
	was := s.newestLease[id]
	if was.live() && !r.TakeOver {
		return skein.Lease{}, &skein.LockedError{Session: id, Holder: was.Holder}
	}
	s.fence++
	l := &lease{Lease: skein.Lease{Session: id, Fence: s.fence, Holder: holder(r)}, held: true}
	if r.TTL > 0 {
		l.Expires = skein.At(time.Now().Add(r.TTL))
	}
	s.newestLease[id] = l
	return l.Lease, nil
}

// holder returns the holder that r asks for.
func holder(r skein.LeaseRequest) skein.Holder {
	host, _ := os.Hostname() // only for people; may be empty
	h := skein.Holder{Program: r.Program, PID: os.Getpid(), Host: host, Since: now()}
	if r.TTL > 0 {
		h.PID, h.Host = r.Elsewhere.PID, cmp.Or(r.Elsewhere.Host, host)
	}
	return h
}

// Renew implements [skein.Leases].
func (s leases) Renew(ctx context.Context, l skein.Lease, ttl time.Duration) (_ skein.Lease, err error) {
	defer skein.Wrapf(&err, "memory: renew the lease of %s", l.Session)
	if ttl <= 0 {
		return skein.Lease{}, fmt.Errorf("%w lease: TTL %v", skein.ErrInvalid, ttl)
	}
	if err := s.enter(ctx); err != nil {
		return skein.Lease{}, err
	}
	defer s.mu.Unlock()
	is := s.newestLease[l.Session]
	if !is.live() || !s.holds(is, l) {
		return skein.Lease{}, &skein.FencedError{Session: l.Session, Fence: l.Fence}
	}
	if is.Expires != 0 {
		is.Expires = skein.At(time.Now().Add(ttl))
	}
	return is.Lease, nil
}

// Release implements [skein.Leases].
func (s leases) Release(ctx context.Context, l skein.Lease) (err error) {
	defer skein.Wrapf(&err, "memory: release the lease of %s", l.Session)
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if is := s.newestLease[l.Session]; is != nil && s.holds(is, l) {
		is.held = false
	}
	return nil
}

// holds reports whether l is the lease is, and the view has its session.
func (s leases) holds(is *lease, l skein.Lease) bool {
	sess := s.sessions[l.Session]
	return is.Fence == l.Fence && (sess == nil || s.sees(sess.head.User))
}
