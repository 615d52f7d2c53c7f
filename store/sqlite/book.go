package sqlite

import (
	"encoding/hex"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/purge"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// A book answers the ledger's questions about one batch in its transaction, and
// writes the batch.
type book struct {
	*call
	p *packed
	h *columns.Head

	// The row as it is in the store: before the batch, and once it was begun.
	was *columns.Head

	parent  columns.Head     // of the fork that begins
	base    int64            // bases.base: sessions.n of the session whose event the fork begins after
	rewound []skein.SeqRange // what rewinds took back, up to that event
}

// Event implements [ledger.Book].
func (k *book) Event(i int) *ledger.Event { return &k.p.events[i].Event }

// Read implements [ledger.Book].
func (k *book) Read(i int) error {
	if k.p.late && i > 0 {
		return k.s.packEvent(&k.p.events[i], k.p.Events[i])
	}
	return k.p.restore(i, k.s.pack)
}

// Place implements [ledger.Book].
func (k *book) Place(i int) (at ledger.Place, err error) {
	p := &k.p.events[i]
	segs, err := headSegments(k.call.Tx, k.h)
	if err != nil {
		return at, err
	}
	for _, seg := range segs {
		var id int64
		// The other columns are those of the row with the max.
		_, err := k.One(`SELECT id, max(seq), hash FROM events INDEXED BY events_by_client WHERE client = ? AND session = ? AND seq <= ?`,
			[]any{string(p.ClientID), seg.Session, int64(seg.To)}, &id, (*int64)(&at.Seq), &at.Hash)
		if err != nil || id == 0 {
			at = ledger.Place{}
		}
		if err != nil {
			return at, err
		}
		if id != 0 {
			if p.id = id; at.Hash == nil {
				p.id = 0
			}
			return at, nil
		}
	}
	return at, nil
}

// Target implements [ledger.Book].
func (k *book) Target(seq skein.Seq) (ledger.Target, error) { return targetOf(k.call.Tx, k.h.N, seq) }

// targetOf looks up an event of session n that is amended.
func targetOf(t *txn.Tx, n int64, seq skein.Seq) (of ledger.Target, err error) {
	var kind, role string
	var gone int64
	_, err = t.One(`SELECT e.kind, coalesce(e.role, ''), EXISTS (SELECT 1 FROM events a INDEXED BY events_amends
			WHERE a.session = e.session AND a.kind = 'amended' AND a.amends = e.seq AND a.role IS NULL)
		FROM events e WHERE e.session = ? AND e.seq = ?`, []any{n, int64(seq)}, &kind, &role, &gone)
	return ledger.Target{Kind: skein.Kind(kind), Role: skein.Role(role), Gone: gone != 0}, err
}

// Lease implements [ledger.Book].
func (k *book) Lease(fence skein.Fence) (l skein.Lease, held bool, err error) {
	row, err := leaseOf(k.call.Tx.Conn, k.h.ID)
	if err == nil && fence == 0 {
		held, err = k.s.holds(k.h.ID, row)
	}
	return skein.Lease{Session: k.h.ID, Fence: row.epoch, Holder: row.holder.Holder, Expires: row.expires}, held, err
}

// TakeKey implements [ledger.Book].
func (k *book) TakeKey(string) (bool, error) {
	taken, err := keyTaken(k.call.Tx, k.h)
	return !taken, err
}

// HasTombstone implements [ledger.Book].
func (k *book) HasTombstone(u skein.User, t ledger.Tomb) (bool, error) {
	return purge.HasTombstone(k.call.Tx, u, t)
}

// Lift implements [ledger.Book].
func (k *book) Lift(u skein.User, t ledger.Tomb) error {
	_, _, err := k.Exec(`DELETE FROM tombstones WHERE hash = ? AND user_id = ?`, t[:], string(u))
	return err
}

// Parent implements [ledger.Book].
func (k *book) Parent(id skein.SessionID, _ skein.User) (_ *skein.Session, err error) {
	if k.parent, err = k.Head(id); err != nil || k.parent.N == 0 || !k.s.sees(k.parent.User) {
		return nil, err
	}
	return &k.parent.Session, nil
}

// TakeBlob implements [ledger.Book].
func (k *book) TakeBlob(h skein.Hash) (found bool, err error) {
	hash, err := hex.DecodeString(string(h))
	if err != nil {
		return false, nil //nolint:nilerr // there is no blob with such a hash
	}
	if b, ok := k.brought[string(hash)]; ok {
		k.h.Bytes += int64(len(b.Data))
		return true, putBlob(k.call.Tx, b)
	}
	var one int64
	return k.One(`SELECT 1 FROM blob_refs r JOIN events e ON e.id = r.event JOIN sessions s ON s.n = e.session
		WHERE r.hash = ? AND s.user_id = ? LIMIT 1`, []any{hash, string(k.h.User)}, &one)
}

// Heal implements [ledger.Book].
func (k *book) Heal(i int, _ skein.Seq, blobs []skein.Hash) error {
	p := &k.p.events[i]
	for _, h := range blobs {
		hash, err := hex.DecodeString(string(h))
		b, ok := k.brought[string(hash)]
		if err != nil || !ok {
			continue
		}
		if err := errors.Join(putBlob(k.call.Tx, b), putRefs(k.call.Tx, p.id, []skein.Hash{h})); err != nil {
			return err
		}
	}
	k.forget(i)
	return nil
}

// forget releases an event that is packed late: it may be written once more, together
// with others.
func (k *book) forget(i int) {
	if k.p.late && i > 0 {
		k.p.events[i] = packedEvent{Event: ledger.Unread(k.p.Events[i])}
	}
}

// Put implements [ledger.Book].
func (k *book) Put(i int, r *ledger.Row) (err error) {
	p := &k.p.events[i]
	if r.Facts.Amended != nil {
		k.s.packText(p, r.Now)
	}
	sum := columns.Sum(&r.Event.Event, r.Now.Text)
	k.p.release(i)
	if p.id, err = k.putEvent(p, r, sum); err != nil {
		return err
	}
	k.h.Bytes += rowSize(p)
	if err := putRefs(k.call.Tx, p.id, r.Now.Blobs); err != nil {
		return err
	}
	if err := putCharge(k.call.Tx, k.h, p.id, r.Facts.Charge, &r.Added); err != nil {
		return err
	}
	if r.Shakes {
		err = k.updateLive(k.h, p)
	}
	k.forget(i)
	return err
}
