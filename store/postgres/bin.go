package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/postgres/sqlstate"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// Bin implements [skein.Lifecycle].
func (s lifecycle) Bin(ctx context.Context, id skein.SessionID) (err error) {
	defer skein.Wrapf(&err, "postgres: bin %s", id)
	return s.write(ctx, func(t *tx) error {
		if err := t.lock(id); err != nil {
			return err
		}
		h, err := t.head(id)
		if err != nil || h.Binned != 0 {
			return err
		}
		return t.setBinned(&h, t.txn.Now)
	})
}

// Restore implements [skein.Lifecycle].
func (s lifecycle) Restore(ctx context.Context, id skein.SessionID) (err error) {
	defer skein.Wrapf(&err, "postgres: restore %s", id)
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	in := s.inside()
	for try := 1; ; try++ {
		taken, last, err := lifecycle{in}.restore(ctx, id)
		if err != nil || !taken {
			return err
		}
		_, err = appends{in}.Append(ctx, skein.Batch{
			Session: id, After: last,
			Events: []skein.Event{erase.WithoutKey(skein.At(time.Now()))},
		})
		if err != nil && (!errors.Is(err, skein.ErrConflict) || try == wire.MaxTries) {
			return err
		}
	}
}

// restore takes a session out of the bin, unless its key is taken; then last is
// its last seq.
func (s lifecycle) restore(ctx context.Context, id skein.SessionID) (taken bool, last skein.Seq, err error) {
	err = s.write(ctx, func(t *tx) error {
		taken = false
		if err := t.lock(id); err != nil {
			return err
		}
		h, err := t.head(id)
		if err != nil || h.Binned == 0 {
			return err
		}
		if h.Key != "" {
			last = h.Last
			taken, err = t.One(`SELECT s.n FROM sessions s WHERE s.user_id = $1 AND s.key = $2 AND s.key <> '' AND s.binned = 0`,
				[]any{string(h.User), h.Key}, new(int64))
		}
		if err != nil || taken {
			return err
		}
		err = t.setBinned(&h, 0)
		if sqlstate.Of(err) == sqlstate.Unique { // another session has just taken the key
			err = fmt.Errorf("%w: %w", wire.ErrMoved, err)
		}
		return err
	})
	return taken, last, err
}

// setBinned puts a session into the bin, or takes it out if at is 0.
func (t *tx) setBinned(h *head, at skein.Time) error {
	if err := t.touch(h); err != nil {
		return err
	}
	_, err := t.Exec(`UPDATE sessions SET binned = $3 WHERE user_id = $1 AND n = $2`, string(h.User), h.n, int64(at))
	return err
}

// touch lets this transaction change the row of h in sessions: it raises the
// revision, so that writers that know an older one, in this process or another,
// notice.
func (t *tx) touch(h *head) error {
	n, err := t.Exec(`UPDATE heads SET revision = revision + 1 WHERE id = $1 AND n = $2`, string(h.ID), h.n)
	if err == nil && n == 0 {
		err = fmt.Errorf("session %s: %w", h.ID, wire.ErrMoved) // deleted meanwhile
	}
	t.changed(h.ID)
	return err
}

// changed notes the sessions to be announced as changed after the commit.
func (t *tx) changed(ids ...skein.SessionID) {
	t.txn.After(func() {
		for _, id := range ids {
			t.s.heads.drop(id)
		}
		t.s.stored(0, ids...)
	})
}

// Size implements [skein.Lifecycle].
func (s lifecycle) Size(ctx context.Context, id skein.SessionID) (n int64, err error) {
	defer skein.Wrapf(&err, "postgres: size of %s", id)
	h, err := s.headOf(ctx, id)
	return h.bytes, err
}
