package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// Acquire implements [skein.Leases]. A process holds a lease without a TTL
// through a lock of its kernel.
func (s *leases) Acquire(ctx context.Context, id skein.SessionID, r skein.LeaseRequest) (l skein.Lease, err error) {
	defer skein.Wrapf(&err, "sqlite: acquire %s", id)
	if err := id.Check(); err != nil {
		return l, err
	}
	if r.TTL < 0 {
		return l, fmt.Errorf("%w TTL %s", skein.ErrInvalid, r.TTL)
	}
	err = s.change(ctx, func(t *txn.Tx) error {
		l, err = s.acquire(t, id, r)
		return err
	})
	return l, err
}

func (s *leases) acquire(t *txn.Tx, id skein.SessionID, r skein.LeaseRequest) (l skein.Lease, err error) {
	if err := s.mine(t, id); err != nil {
		return l, err
	}
	old, err := leaseOf(t.Conn, id)
	if err != nil {
		return l, err
	}
	held, err := s.holds(id, old)
	if err != nil {
		return l, err
	}
	if held && !r.TakeOver {
		return l, &skein.LockedError{Session: id, Holder: old.holder.Holder}
	}
	now := skein.At(s.clock())
	l = skein.Lease{Session: id, Holder: holder(r.Program, now)}
	if l.Fence, err = nextFence(t, old.epoch); err != nil {
		return l, err
	}
	if r.TTL > 0 {
		l.Holder.PID, l.Holder.Host = r.Elsewhere.PID, cmp.Or(r.Elsewhere.Host, l.Holder.Host)
		l.Expires = now + skein.Time(r.TTL.Milliseconds())
	} else if err := s.lockNext(t, l); err != nil {
		return l, err
	}
	if old.epoch > 0 {
		t.OnCommit(func() { _ = s.locks.Remove(id, old.epoch) }) //nolint:errcheck // a file that stays is swept at the next start
	}
	return l, putLease(t, id, leaseRow{l.Fence, true, l.Expires, processOf(l.Holder, l.Expires)})
}

// lockNext locks the file of l's epoch; if the transaction fails, it is unlocked.
func (s *leases) lockNext(t *txn.Tx, l skein.Lease) error {
	got, err := s.locks.Take(l.Session, l.Fence)
	if err == nil && !got {
		err = fmt.Errorf("lock file of epoch %d is taken: %w", l.Fence, skein.ErrCorrupt)
	}
	t.OnRollback(func() { _ = s.locks.Drop(l.Session, l.Fence) }) //nolint:errcheck // it is unlocked in any case
	return err
}

// Renew implements [skein.Leases].
func (s *leases) Renew(ctx context.Context, l skein.Lease, ttl time.Duration) (_ skein.Lease, err error) {
	defer skein.Wrapf(&err, "sqlite: renew the lease of %s", l.Session)
	if ttl <= 0 {
		return skein.Lease{}, fmt.Errorf("%w TTL %s", skein.ErrInvalid, ttl)
	}
	var row leaseRow
	err = s.change(ctx, func(t *txn.Tx) error {
		if row, err = s.heldRow(t, l); err != nil || row.expires == 0 {
			return err
		}
		row.expires = skein.At(s.clock()) + skein.Time(ttl.Milliseconds())
		return putLease(t, l.Session, row)
	})
	if err != nil {
		return skein.Lease{}, err
	}
	return skein.Lease{Session: l.Session, Fence: row.epoch, Holder: row.holder.Holder, Expires: row.expires}, nil
}

// heldRow returns the row of l, which must be held now.
func (s *leases) heldRow(t *txn.Tx, l skein.Lease) (leaseRow, error) {
	row, err := leaseOf(t.Conn, l.Session)
	if err != nil {
		return row, err
	}
	held, err := s.holds(l.Session, row)
	if err == nil && (!held || row.epoch != l.Fence || s.mine(t, l.Session) != nil) {
		err = &skein.FencedError{Session: l.Session, Fence: l.Fence}
	}
	return row, err
}

// mine returns an error for a session of another user. A session that has not
// begun belongs to nobody.
func (s *leases) mine(t *txn.Tx, id skein.SessionID) error {
	h, err := t.Head(id)
	if err == nil && h.N != 0 && !s.sees(h.User) {
		err = fmt.Errorf("session %s %w", id, skein.ErrNotFound)
	}
	return err
}

// Release implements [skein.Leases].
func (s *leases) Release(ctx context.Context, l skein.Lease) (err error) {
	defer skein.Wrapf(&err, "sqlite: release the lease of %s", l.Session)
	return s.change(ctx, func(t *txn.Tx) error {
		if err := s.mine(t, l.Session); err != nil {
			if errors.Is(err, skein.ErrNotFound) {
				err = nil // releasing a lease that is not held is fine
			}
			return err
		}
		return s.release(t, l)
	})
}

func (s *core) release(t *txn.Tx, l skein.Lease) error {
	t.OnCommit(func() { _ = s.locks.Drop(l.Session, l.Fence) }) //nolint:errcheck // it is unlocked in any case
	row, err := leaseOf(t.Conn, l.Session)
	if err != nil || row.epoch != l.Fence || !row.held {
		return err
	}
	row.held = false
	return putLease(t, l.Session, row)
}

// releaseAll releases the leases that this store holds as a process.
func (s *core) releaseAll(ctx context.Context) error {
	for id, epoch := range s.locks.All() {
		err := s.write(ctx, func(t *txn.Tx) error { return s.release(t, skein.Lease{Session: id, Fence: epoch}) })
		if err != nil {
			return errors.Join(err, s.locks.Close())
		}
	}
	return nil
}
