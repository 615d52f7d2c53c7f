package postgres

import (
	"math"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/postgres/columns"
)

// A book answers for one batch from what its group has looked up. If the group has
// not looked anything up, the book assumes that the session has none of what is
// asked for, and notes the assumption.
type book struct {
	*work
	p *packed
	d *sessionDraft
	forkParent
}

// batch computes what one batch changes.
func (w *work) batch(p *packed) (r skein.Receipt, err error) {
	if p.Session == "" {
		return r, w.putImport(p, nil)
	}
	d := w.drafts[p.Session]
	for h, b := range p.blobs {
		put(w, w.blobs.brought, userBlob{w.userOf(p, d), h}, b)
	}
	if r, err = ledger.Append(&book{work: w, p: p, d: d}, ledger.View(w.s.user), &d.Head, &p.Batch); err != nil {
		return r, err
	}
	return r, w.putImport(p, d)
}

// userOf returns the present or future owner of a batch's session.
func (w *work) userOf(p *packed, d *sessionDraft) skein.User {
	if d.begins && len(p.events) > 0 && p.events[0].Facts.Created != nil {
		return p.events[0].Facts.Created.User
	}
	return d.User
}

// Event implements [ledger.Book].
func (k *book) Event(i int) *ledger.Event { return &k.p.events[i] }

// Read implements [ledger.Book]. There is no error.
func (k *book) Read(int) error { return nil }

// Place implements [ledger.Book]. There is no error.
func (k *book) Place(i int) (ledger.Place, error) {
	client := k.p.events[i].ClientID
	at, found := k.d.clients[client]
	if !found && !k.looked {
		k.d.noClients = append(k.d.noClients, string(client))
	}
	return at, nil
}

// Joins implements [ledger.Book].
func (k *book) Joins(message string) (bool, error) {
	id := columns.Indexed(message)
	joins, err := k.joins(k.d, id)
	if err == nil && !joins && !k.looked {
		k.d.noMessages = append(k.d.noMessages, id)
	}
	return joins, err
}

// Charged implements [ledger.Book]. There is no error.
func (k *book) Charged(id string) (skein.Usage, error) {
	u, found := k.charged[request{k.d.User, columns.Indexed(id)}]
	if !found && !k.looked {
		k.d.noRequests = append(k.d.noRequests, columns.Indexed(id))
	}
	return u, nil
}

// Target implements [ledger.Book]. There is no error.
func (k *book) Target(seq skein.Seq) (ledger.Target, error) { return k.d.targets[seq], nil }

// Lease implements [ledger.Book]. There is no error.
func (k *book) Lease(fence skein.Fence) (l skein.Lease, held bool, err error) {
	d := k.d
	if fence != 0 {
		d.fences = append(d.fences, int64(fence))
	} else {
		d.free = true
	}
	if !k.looked {
		return skein.Lease{Session: d.ID, Fence: fence}, false, nil
	}
	return skein.Lease{Session: d.ID, Fence: d.lease.epoch, Holder: d.lease.holder}, d.lease.held, nil
}

// TakeKey implements [ledger.Book]. There is no error.
func (k *book) TakeKey(was string) (bool, error) {
	d := k.d
	if old := (userKey{d.User, was}); k.keys[old] == d.n {
		put(k.work, k.keys, old, 0)
	}
	if d.Key == "" {
		return true, nil
	}
	key := userKey{d.User, d.Key}
	if n := k.keys[key]; n != 0 && n != d.n {
		return false, nil
	}
	put(k.work, k.keys, key, d.n)
	return true, nil
}

// HasTombstone implements [ledger.Book]. There is no error.
func (k *book) HasTombstone(u skein.User, t ledger.Tomb) (bool, error) {
	return k.tombs[tombOf{string(t[:]), u}], nil
}

// Lift implements [ledger.Book]. There is no error.
func (k *book) Lift(u skein.User, t ledger.Tomb) error {
	x := tombOf{string(t[:]), u}
	put(k.work, k.tombs, x, false)
	k.lift = append(k.lift, x)
	return nil
}

// Begin implements [ledger.Book]. There is no error.
func (k *book) Begin() error {
	d := k.d
	d.base, d.gaps = k.base, k.rewound
	d.segs = append(walk.Segments{{Session: d.n, From: d.Base, To: math.MaxInt64}}, k.segs...)
	for c, at := range k.clients {
		if _, own := d.clients[c]; !own {
			put(k.work, d.clients, c, at)
		}
	}
	for m, live := range k.messages {
		put(k.work, d.messages, m, live)
	}
	return nil
}

// TakeBlob implements [ledger.Book].
func (k *book) TakeBlob(h skein.Hash) (found bool, err error) {
	key := userBlob{k.d.User, h}
	if b, ok := k.blobs.brought[key]; ok {
		k.d.grew += int64(len(b.Data))
	} else if found, err := k.blobs.has(k.tx, key); err != nil || !found {
		return false, err
	}
	put(k.work, k.blobs.stored, key, true)
	return true, nil
}

// Heal implements [ledger.Book]. There is no error.
func (k *book) Heal(_ int, seq skein.Seq, blobs []skein.Hash) error {
	for _, h := range blobs {
		key := userBlob{k.d.User, h}
		if _, ok := k.blobs.brought[key]; ok {
			put(k.work, k.blobs.stored, key, true)
			put(k.work, k.blobs.healed, blobRef{key, k.d.shows().Of(seq).Session, seq}, true)
		}
	}
	return nil
}

// Put implements [ledger.Book].
func (k *book) Put(_ int, r *ledger.Row) error {
	d := k.d
	for _, h := range r.Now.Blobs {
		hash, err := columns.Hash(h)
		if err != nil {
			return err
		}
		d.refs.seq, d.refs.hash = append(d.refs.seq, int64(r.Seq)), append(d.refs.hash, hash)
	}
	if r.Shakes {
		d.shaken(r)
	}
	k.note(r)
	d.grew += rowSize(&r.Event.Event)
	d.events.add(r, d.Ever().Messages)
	d.charges.add(r.Seq, r.Facts.Charge, r.Added)
	return nil
}

// note keeps what later events of the group need to know about this one.
func (k *book) note(r *ledger.Row) {
	d := k.d
	if r.ClientID != "" {
		put(k.work, d.clients, r.ClientID, ledger.Place{Seq: r.Seq, Hash: r.Hash})
	}
	if m := r.Facts.Message; m != nil && m.ID != "" {
		put(k.work, d.messages, columns.Indexed(m.ID), true)
	}
	if c := r.Facts.Charge; c != nil && c.Request != "" {
		put(k.work, k.charged, request{d.User, columns.Indexed(c.Request)}, r.Added.Counted)
	}
	put(k.work, d.targets, r.Seq, ledger.Target{Kind: r.Kind, Role: r.Facts.Role})
	if a := r.Facts.Amended; a != nil && a.Withdrawn {
		of := d.targets[a.Seq]
		of.Gone = true
		put(k.work, d.targets, a.Seq, of)
	}
}

// rowSize returns roughly the space that an event takes on disk. The search index,
// which is made from the same text, does not count toward quotas.
func rowSize(e *skein.Event) int64 { return int64(80 + len(e.Payload) + 2*len(e.ClientID)) }
