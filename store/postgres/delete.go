package postgres

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// Delete implements [skein.Lifecycle]. After the first, short transaction, the
// session can no longer be found. Its data is removed in steps, between which others
// can write; if ctx ends between two steps, maintenance removes the rest.
func (s lifecycle) Delete(ctx context.Context, id skein.SessionID, d skein.Deletion) (done skein.Deleted, err error) {
	defer skein.Wrapf(&err, "postgres: delete %s", id)
	if err := erase.Valid(d); err != nil {
		return done, err
	}
	leave, err := s.enter()
	if err != nil {
		return done, err
	}
	defer leave()
	s.view = s.inside()
	err = s.write(ctx, func(t *tx) error {
		done, err = t.delete(id, d)
		return err
	})
	if err != nil {
		return skein.Deleted{}, err
	}
	for more := true; more && err == nil && s.life.Err() == nil; {
		more, err = s.drain(ctx)
	}
	if err != nil {
		s.core.maintenance.soon() // the session is deleted anyway
	}
	return done, nil
}

// delete makes a session impossible to find. drain does the rest.
func (t *tx) delete(id skein.SessionID, d skein.Deletion) (done skein.Deleted, err error) {
	h, held, err := t.lockToDelete(id)
	if err != nil {
		return done, err
	}
	children, heads, err := t.children(&h)
	if err != nil {
		return done, err
	}
	if done, err = erase.Delete(&h.Session, d, held, children); err != nil {
		return done, err
	}
	for _, c := range done.Binned {
		if err := t.setBinned(heads[c], t.txn.Now); err != nil {
			return done, err
		}
	}
	e, err := t.ownership(&h)
	if err != nil {
		return done, err
	}
	if e.newParent != 0 {
		done.Moved = []skein.SessionID{e.newParentID}
	}
	done.Events, done.Bytes = int(h.Last-max(e.first(), e.upto)), h.bytes
	t.changed(id)
	if err := t.addTombstones(&h); err != nil {
		return done, err
	}
	return done, t.settle(&h, e)
}

// lockToDelete locks and returns a session, and who holds its lease, nil if nobody does:
// until the transaction ends, nobody can write to it or fork it, and no other session of
// its user can be deleted.
func (t *tx) lockToDelete(id skein.SessionID) (h head, by *skein.Holder, err error) {
	if h, err = t.head(id); err != nil {
		return h, nil, err
	}
	if _, err := t.Exec(takeLocks, []int64{lockKey("delete", string(h.User)), sessionLock(id)}); err != nil {
		return h, nil, err
	}
	var held bool
	var holder *string
	found, err := t.One(`SELECT h.held AND h.expires > clock_timestamp(), (SELECT l.holder FROM leases l WHERE l.id = h.id) FROM heads h
		WHERE h.id = $1 AND h.n = $2 FOR UPDATE OF h`, []any{string(id), h.n}, &held, &holder)
	switch {
	case err != nil:
		return h, nil, err
	case !found:
		return h, nil, wire.ErrMoved
	case held && holder != nil:
		who, err := holderFrom(*holder)
		if err != nil {
			return h, nil, err
		}
		by = &who
	}
	h, err = t.head(id) // its state under the lock
	return h, by, err
}

// children returns the sessions that the delegations of a session started, by ID, and
// what setBinned needs of each.
func (t *tx) children(h *head) (all []erase.ChildRow, heads map[skein.SessionID]*head, err error) {
	heads = map[skein.SessionID]*head{}
	err = t.Query(`SELECT s.id, s.n, s.binned FROM sessions s WHERE s.user_id = $1 AND s.parent = $2 AND s.parent <> '' AND s.why = 'child' ORDER BY s.id`,
		[]any{string(h.User), string(h.ID)}, func(r wire.Row) error {
			c := &head{Head: ledger.Head{Session: skein.Session{User: h.User}}}
			err := r.Scan(&c.ID, &c.n, &c.Binned)
			all, heads[c.ID] = append(all, erase.ChildRow{ID: c.ID, Binned: c.Binned != 0}), c
			return err
		})
	return all, heads, err
}

// addTombstones removes the rows by which a session is found, and adds its
// tombstones. It clears the format of its source files, and of those that are copies
// of it, so that they cannot be found; drain removes them.
func (t *tx) addTombstones(h *head) error {
	var tombs [][]byte
	add := func(t ledger.Tomb) { tombs = append(tombs, t[:]) }
	for _, x := range erase.Tombs(h.ID, h.Origin) {
		add(x)
	}
	user, id := string(h.User), string(h.ID)
	err := t.Query(`SELECT f.format, f.path, f.id FROM files f WHERE f.user_id = $1 AND f.copy_of = $2 AND f.copy_of <> '' AND f.format <> ''`, []any{user, id}, func(r wire.Row) error {
		var o skein.Origin
		var path []byte
		err := r.Scan(&o.Format, &path, &o.ID)
		o.Path = string(path)
		add(erase.TombOfOrigin(o))
		return err
	})
	if err != nil {
		return err
	}
	p := t.pipe()
	p.Exec(`INSERT INTO tombstones (user_id, hash, at) SELECT $1, x, $3 FROM unnest($2::bytea[]) x ON CONFLICT DO NOTHING`, user, tombs, int64(t.txn.Now))
	p.Exec(`UPDATE files SET format = '', path = convert_to('deleted ' || n, 'UTF8') WHERE user_id = $1 AND session = $2`, user, id)
	p.Exec(`UPDATE files SET format = '', path = convert_to('deleted ' || n, 'UTF8') WHERE user_id = $1 AND copy_of = $2 AND copy_of <> ''`, user, id)
	p.Exec(`DELETE FROM leases WHERE id = $1`, id)
	p.Exec(`DELETE FROM heads WHERE id = $1`, id)
	p.Exec(`DELETE FROM sessions WHERE user_id = $1 AND n = $2`, user, h.n)
	p.Exec(`DELETE FROM shares WHERE user_id = $1 AND session = $2`, user, id) // after the session, whose row AddShare locks
	p.Exec(`DELETE FROM names WHERE user_id = $1 AND n = $2`, user, h.n)
	p.Exec(`DELETE FROM rewound_ranges WHERE user_id = $1 AND n = $2`, user, h.n)
	return p.Run()
}
