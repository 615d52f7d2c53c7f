package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/skein-dev/skein"
)

// own returns the row of a session that the view may see, in a transaction.
func (s *Store) own(t *tx, id skein.SessionID) (head, error) {
	h, err := t.head(id)
	if err == nil && (h.n == 0 || s.user != "" && h.User != s.user) {
		err = fmt.Errorf("session %s %w", id, skein.ErrNotFound)
	}
	return h, err
}

// Bin implements [skein.Store].
func (s *Store) Bin(ctx context.Context, id skein.SessionID) (err error) {
	defer skein.Wrapf(&err, "sqlite: bin %s", id)
	return s.change(ctx, func(t *tx) error {
		h, err := s.own(t, id)
		if err != nil || h.Binned != 0 {
			return err
		}
		return s.setBinned(t, h, skein.At(s.clock()))
	})
}

// Restore implements [skein.Store].
func (s *Store) Restore(ctx context.Context, id skein.SessionID) (err error) {
	defer skein.Wrapf(&err, "sqlite: restore %s", id)
	return s.change(ctx, func(t *tx) error {
		h, err := s.own(t, id)
		if err != nil || h.Binned == 0 {
			return err
		}
		return s.setBinned(t, h, 0)
	})
}

// setBinned writes h with the mark, without its key if another has that now.
func (s *Store) setBinned(t *tx, h head, at skein.Time) error {
	was := h
	if h.Binned = at; at == 0 && h.Key != "" {
		if err := t.checkKey(&h); err != nil {
			h.Key = ""
		}
	}
	t.changed = append(t.changed, h.ID)
	return t.putHead(&was, &h)
}

// Delete implements [skein.Store].
func (s *Store) Delete(ctx context.Context, id skein.SessionID, d skein.Deletion) (done skein.Deleted, err error) {
	defer skein.Wrapf(&err, "sqlite: delete %s", id)
	err = s.change(ctx, func(t *tx) error {
		done, err = s.delete(t, id, d)
		return err
	})
	return done, err
}

func (s *Store) delete(t *tx, id skein.SessionID, d skein.Deletion) (done skein.Deleted, err error) {
	h, err := s.own(t, id)
	if err != nil {
		return done, err
	}
	if err := s.free(t, id); err != nil {
		return done, err
	}
	if done.Children, done.Binned, err = s.children(t, id, d.Children); err != nil {
		return done, err
	}
	upto, err := s.moves(t, h.n, &done)
	if err != nil {
		return done, err
	}
	done.Events, done.Bytes = int(h.Last-max(h.Base, upto)), h.bytes
	if _, _, err := t.exec(`DELETE FROM sessions WHERE n = ?`, h.n); err != nil {
		return done, err
	}
	t.heads.clear()
	t.changed = append(t.changed, id)
	return done, t.bury()
}

// free refuses if another holds the lease.
func (s *Store) free(t *tx, id skein.SessionID) error {
	l, err := t.lease(id)
	if err != nil {
		return err
	}
	held, err := s.holds(id, l)
	if err != nil || !held || s.locks.mine(id, l.epoch) {
		return err
	}
	return &skein.LockedError{Session: id, Holder: l.holder.Holder}
}

// moves says which fork takes over the events that forks show, and up to where.
func (s *Store) moves(t *tx, n int64, done *skein.Deleted) (upto skein.Seq, err error) {
	err = t.query(`SELECT s.id, b.upto FROM bases b JOIN sessions s ON s.n = b.session WHERE b.base = ? ORDER BY b.upto DESC, b.session LIMIT 1`,
		[]any{n}, func(row []driver.Value) error {
			var heir string
			var seq int64
			err := scan(row, []any{&heir, &seq})
			done.Moved, upto = append(done.Moved, skein.SessionID(heir)), skein.Seq(seq)
			return err
		})
	return upto, err
}

// children returns the children of a session that are kept, and those that
// went to the bin.
func (s *Store) children(t *tx, id skein.SessionID, rule skein.ChildRule) (kept, binned []skein.SessionID, err error) {
	var found []skein.SessionID
	err = t.query(`SELECT id FROM sessions WHERE parent = ? AND parent_why = 'child' ORDER BY id`, []any{string(id)}, func(row []driver.Value) error {
		var child string
		err := scan(row, []any{&child})
		found = append(found, skein.SessionID(child))
		return err
	})
	if err != nil || len(found) == 0 {
		return nil, nil, err
	}
	switch rule {
	case skein.RefuseChildren:
		return nil, nil, fmt.Errorf("%w: session %s has %d children", skein.ErrRefused, id, len(found))
	case skein.BinChildren:
		return nil, found, s.binAll(t, found)
	case skein.KeepChildren, "":
		return found, nil, nil
	}
	return nil, nil, fmt.Errorf("%w child rule %q", skein.ErrInvalid, rule)
}

func (s *Store) binAll(t *tx, ids []skein.SessionID) error {
	for _, id := range ids {
		h, err := t.head(id)
		if err != nil {
			return err
		}
		if h.Binned == 0 {
			if err := s.setBinned(t, h, skein.At(s.clock())); err != nil {
				return err
			}
		}
	}
	return nil
}
