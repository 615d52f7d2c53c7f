package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/purge"
	"github.com/skein-dev/skein/store/sqlite/txn"
	"github.com/skein-dev/skein/store/stream"
)

// own returns the row of a session that the view may see, inside a transaction.
func (s *view) own(t *txn.Tx, id skein.SessionID) (columns.Head, error) {
	h, err := t.Head(id)
	if err == nil && (h.N == 0 || !s.sees(h.User)) {
		err = fmt.Errorf("session %s %w", id, skein.ErrNotFound)
	}
	return h, err
}

// Bin implements [skein.Lifecycle].
func (s *lifecycle) Bin(ctx context.Context, id skein.SessionID) (err error) {
	defer skein.Wrapf(&err, "sqlite: bin %s", id)
	return s.disk.makingRoom(ctx, func() error { // binning is the first step toward freeing room
		return s.change(ctx, func(t *txn.Tx) error {
			h, err := s.own(t, id)
			if err != nil || h.Binned != 0 {
				return err
			}
			return s.setBinned(t, h, skein.At(s.clock()))
		})
	})
}

// Restore implements [skein.Lifecycle].
func (s *lifecycle) Restore(ctx context.Context, id skein.SessionID) (err error) {
	defer skein.Wrapf(&err, "sqlite: restore %s", id)
	return s.change(ctx, func(t *txn.Tx) error {
		h, err := s.own(t, id)
		if err != nil || h.Binned == 0 {
			return err
		}
		taken, err := keyTaken(t, &h)
		if err != nil {
			return err
		}
		if taken {
			if err := s.note(t, id, erase.WithoutKey(skein.At(s.clock()))); err != nil {
				return err
			}
			if h, err = s.own(t, id); err != nil {
				return err
			}
		}
		return s.setBinned(t, h, 0)
	})
}

// note appends an event that the store itself makes.
func (s *view) note(t *txn.Tx, id skein.SessionID, e skein.Event) error {
	p, err := s.packBatch(skein.Batch{Session: id, Events: []skein.Event{e}})
	if err != nil {
		return err
	}
	c := &call{t, s, map[string]pack.Blob{}}
	_, err = c.batch(&p)
	t.OnCommit(func() { s.appended(1) })
	return err
}

func (s *lifecycle) setBinned(t *txn.Tx, h columns.Head, at skein.Time) error {
	was := h
	h.Binned = at
	t.Touch(h.ID)
	return t.PutHead(&was, &h)
}

// Delete implements [skein.Lifecycle]. A long session is removed in steps,
// between which others can write; from the first step on, the session is not
// found. If ctx ends between two steps, maintenance does the rest.
func (s *lifecycle) Delete(ctx context.Context, id skein.SessionID, d skein.Deletion) (done skein.Deleted, err error) {
	defer skein.Wrapf(&err, "sqlite: delete %s", id)
	if err := erase.Valid(d); err != nil {
		return done, err
	}
	leave, err := s.enter()
	if err != nil {
		return done, err
	}
	defer leave()
	err = s.disk.makingRoom(ctx, func() error {
		return s.write(ctx, func(t *txn.Tx) error {
			done, err = s.delete(t, id, d)
			return err
		})
	})
	if err != nil {
		return skein.Deleted{}, err
	}
	_ = cleaner{s.core}.drainAll(ctx) //nolint:errcheck // it is deleted all the same; maintenance goes on with it
	s.maintenance.wakeFor()
	return done, nil
}

func (s *lifecycle) delete(t *txn.Tx, id skein.SessionID, d skein.Deletion) (done skein.Deleted, err error) {
	h, err := s.own(t, id)
	if err != nil {
		return done, err
	}
	held, err := s.holder(t, id)
	if err != nil {
		return done, err
	}
	children, err := childrenOf(t, &h)
	if err != nil {
		return done, err
	}
	if done, err = erase.Delete(&h.Session, d, held, children); err != nil {
		return done, err
	}
	if err := s.binAll(t, done.Binned); err != nil {
		return done, err
	}
	segs, err := headSegments(t, &h)
	if err != nil {
		return done, err
	}
	newParent, upto, err := purge.Purger{Tx: t}.NewParent(h.N)
	if err != nil {
		return done, err
	}
	if newParent.N != 0 {
		done.Moved = []skein.SessionID{newParent.ID}
	}
	done.Events, done.Bytes = int(h.Last-max(segs[0].From, upto)), h.Bytes
	t.Forget()
	t.Touch(id)
	if err := (purge.Purger{Tx: t}).Begin(&h, newParent.N); err != nil {
		return done, err
	}
	if purge.OneStep(h.Last-segs[0].From, h.Bytes) {
		_, err = purge.Purger{Tx: t}.Drain()
	}
	return done, err
}

// holder returns who holds the lease; nil if nobody does.
func (s *view) holder(t *txn.Tx, id skein.SessionID) (*skein.Holder, error) {
	l, err := leaseOf(t.Conn, id)
	if err != nil {
		return nil, err
	}
	held, err := s.holds(id, l)
	if err != nil || !held {
		return nil, err
	}
	return &l.holder.Holder, nil
}

// childrenOf returns the sessions that the delegations of a session started, by ID.
func childrenOf(t *txn.Tx, h *columns.Head) (all []erase.ChildRow, err error) {
	err = t.Query(`SELECT id, binned <> 0 FROM sessions WHERE parent = ? AND parent_why = 'child' AND user_id = ? ORDER BY id`, []any{string(h.ID), string(h.User)}, func(row []driver.Value) error {
		var id string
		var binned int64
		err := engine.Scan(row, []any{&id, &binned})
		all = append(all, erase.ChildRow{ID: skein.SessionID(id), Binned: binned != 0})
		return err
	})
	return all, err
}

// binAll moves sessions to the bin.
func (s *lifecycle) binAll(t *txn.Tx, ids []skein.SessionID) error {
	for _, id := range ids {
		h, err := t.Head(id)
		if err != nil {
			return err
		}
		if err := s.setBinned(t, h, skein.At(s.clock())); err != nil {
			return err
		}
	}
	return nil
}

var _ erase.Tombstones = (*Store)(nil)

// Tombstones implements [erase.Tombstones].
func (s *lifecycle) Tombstones(ctx context.Context) iter.Seq2[erase.Tombstone, error] {
	return stream.Pages(ctx, erase.Tombstone{}, func(at *erase.Tombstone) (page []erase.Tombstone, more bool, err error) {
		defer skein.Wrapf(&err, "sqlite: tombstones")
		if *at == (erase.Tombstone{}) {
			err = s.write(ctx, func(t *txn.Tx) error { return purge.AddTombstones(t) })
		}
		if err == nil {
			page, err = s.tombPage(ctx, *at)
		}
		if len(page) > 0 {
			*at = page[len(page)-1]
		}
		return page, len(page) > 0, err
	})
}

// tombPage returns the next tombstones after last, or the first ones if last
// has no user.
func (s *lifecycle) tombPage(ctx context.Context, last erase.Tombstone) (page []erase.Tombstone, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		page, err = purge.Tombstones(c, s.user, last)
		return err
	})
	return page, err
}

// PutTombstones implements [erase.Tombstones].
func (s *lifecycle) PutTombstones(ctx context.Context, stones ...erase.Tombstone) (err error) {
	defer skein.Wrapf(&err, "sqlite: put %d tombstones", len(stones))
	return s.write(ctx, func(t *txn.Tx) error {
		for _, st := range stones {
			if s.user != "" || st.User == "" {
				st.User = s.owner()
			}
			if err := purge.PutTombstone(t, st.User, st.Hash[:], st.At); err != nil {
				return err
			}
		}
		return nil
	})
}
