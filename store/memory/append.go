package memory

import (
	"context"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
)

// A tx is one call of Append, which is undone if it fails.
type tx struct {
	*view
	undo    []func()
	brought map[skein.Hash][]byte
}

// Append implements [skein.Store].
func (s *Store) Append(ctx context.Context, batches ...skein.Batch) (_ []skein.Receipt, err error) {
	defer skein.Wrapf(&err, "memory: append")
	events := make([][]ledger.Event, len(batches))
	for i := range batches {
		if events[i], err = s.check(&batches[i]); err != nil {
			return nil, err
		}
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	t := &tx{view: s.view, brought: map[skein.Hash][]byte{}}
	receipts := make([]skein.Receipt, len(batches))
	for i := range batches {
		if receipts[i], err = t.batch(&batches[i], events[i]); err != nil {
			t.rollback()
			return nil, err
		}
	}
	s.announce()
	return receipts, nil
}

// check returns the events of b with their facts.
//
// The error wraps [skein.ErrInvalid]: something in b is wrong regardless of what
// the store has.
func (v *view) check(b *skein.Batch) (events []ledger.Event, err error) {
	if err := ledger.Check(b); err != nil {
		return nil, err
	}
	events = make([]ledger.Event, len(b.Events))
	for i, e := range b.Events {
		if events[i], err = ledger.View(v.user).Read(e); err != nil {
			return nil, err
		}
	}
	for _, blob := range b.Blobs {
		if err := blob.Check(); err != nil {
			return nil, err
		}
	}
	return events, nil
}

func (t *tx) rollback() {
	for i := len(t.undo) - 1; i >= 0; i-- {
		t.undo[i]()
	}
}

func (t *tx) batch(b *skein.Batch, events []ledger.Event) (r skein.Receipt, err error) {
	if b.Session == "" {
		return r, t.importFile(b, t.owner())
	}
	for _, blob := range b.Blobs {
		t.brought[blob.Hash] = blob.Data
	}
	sess := t.sessions[b.Session]
	if sess == nil { // it is added to the sessions when it begins
		sess = &session{head: ledger.Head{Session: skein.Session{ID: b.Session}}}
		sess.index()
	}
	r, err = t.append(sess, b, events)
	if err == nil && b.Import != nil {
		err = t.importFile(b, sess.head.User)
	}
	return r, err
}

// append is the only way in which events are added to a session.
func (t *tx) append(sess *session, b *skein.Batch, events []ledger.Event) (skein.Receipt, error) {
	was, base, from := sess.head, sess.base, sess.from
	t.undo = append(t.undo, func() { sess.head, sess.base, sess.from, sess.stale = was, base, from, false })
	r, err := ledger.Append(&book{tx: t, sess: sess, events: events}, ledger.View(t.user), &sess.head, b)
	if err == nil {
		sess.settle()
	}
	return r, err
}

// A book answers the questions about one batch.
type book struct {
	*tx
	sess   *session
	events []ledger.Event
}

// Event implements [ledger.Book].
func (k *book) Event(i int) *ledger.Event { return &k.events[i] }

// Read implements [ledger.Book]. There is no error.
func (k *book) Read(int) error { return nil }

// Place implements [ledger.Book]. There is no error.
func (k *book) Place(i int) (at ledger.Place, err error) {
	if at.Seq = k.sess.client(k.events[i].ClientID, k.sess.head.Last); at.Seq > 0 {
		at.Hash = k.sess.at(at.Seq).hash
	}
	return at, nil
}

// Joins implements [ledger.Book]. There is no error.
func (k *book) Joins(message string) (bool, error) { return k.sess.stands().Joins(message), nil }

// Charged implements [ledger.Book]. There is no error.
func (k *book) Charged(id string) (skein.Usage, error) {
	return k.requests[request{k.sess.head.User, id}], nil
}

// Target implements [ledger.Book]. There is no error.
func (k *book) Target(seq skein.Seq) (of ledger.Target, err error) {
	if e := k.sess.at(seq); e != nil {
		of = ledger.Target{Kind: e.Kind, Role: e.facts.Role}
	}
	return of, nil
}

// Lease implements [ledger.Book]. There is no error.
func (k *book) Lease(skein.Fence) (l skein.Lease, held bool, err error) {
	is := k.newestLease[k.sess.head.ID]
	if is != nil {
		l = is.Lease
	}
	return l, is.live(), nil
}

// TakeKey implements [ledger.Book]. There is no error.
func (k *book) TakeKey(string) (bool, error) { return !k.keyTaken(&k.sess.head.Session), nil }

// HasTombstone implements [ledger.Book]. There is no error.
func (k *book) HasTombstone(u skein.User, t ledger.Tomb) (bool, error) {
	return k.hasTombstone(u, t), nil
}

// Lift implements [ledger.Book]. There is no error.
func (k *book) Lift(u skein.User, t ledger.Tomb) error {
	g := tombstone{u, t}
	if at, ok := k.tombs[g]; ok {
		delete(k.tombs, g)
		k.undo = append(k.undo, func() { k.tombs[g] = at })
	}
	return nil
}

// Parent implements [ledger.Book]. There is no error.
func (k *book) Parent(id skein.SessionID, _ skein.User) (*skein.Session, error) {
	if p := k.sessions[id]; p != nil && k.sees(p.head.User) {
		return &p.head.Session, nil
	}
	return nil, nil
}

// Shown implements [ledger.Book]. There is no error.
func (k *book) Shown(p skein.Parent) (ledger.Base, error) {
	k.sess.base, k.sess.from = k.sessions[p.Session], p.Seq
	return ledger.Base{Shown: k.sess.showsAt(p.Seq)}, nil
}

// Begin implements [ledger.Book]. There is no error.
func (k *book) Begin() error {
	id := k.sess.head.ID
	k.order++
	k.sess.order, k.sessions[id] = k.order, k.sess
	k.undo = append(k.undo, func() { delete(k.sessions, id) })
	return nil
}

// TakeBlob implements [ledger.Book]. There is no error.
func (k *book) TakeBlob(h skein.Hash) (bool, error) {
	key := blobKey{k.sess.head.User, h}
	if k.blobs[key] == nil {
		data, ok := k.brought[h]
		if !ok {
			return false, nil
		}
		k.blobs[key] = &blob{data: slices.Clone(data)}
	}
	k.blobs[key].refs++
	k.undo = append(k.undo, func() { k.dropBlob(key) })
	return true, nil
}

// Heal implements [ledger.Book]. There is no error, and nothing is damaged.
func (k *book) Heal(int, skein.Seq, []skein.Hash) error { return nil }

// Put implements [ledger.Book]. There is no error.
func (k *book) Put(_ int, r *ledger.Row) error {
	sess := k.sess
	k.order++
	e := event{Event: r.Event.Event, facts: r.Facts, hash: r.Hash, prior: r.Prior, added: r.Added, imported: r.Imported, order: k.order}
	if a := r.Facts.Amended; a != nil && !a.Withdrawn && len(a.Payload) > 0 {
		e.now = r.Now
	}
	user := sess.head.User
	k.charge(user, &e, e.added.Charge)
	sess.own = append(sess.own, e)
	sess.take(&sess.own[len(sess.own)-1])
	sess.enter(&e)
	k.undo = append(k.undo, func() {
		sess.own = sess.own[:len(sess.own)-1]
		sess.standing = nil
		sess.leave(&e)
		k.charge(user, &e, skein.Usage{}.Minus(e.added.Charge))
	})
	return nil
}
