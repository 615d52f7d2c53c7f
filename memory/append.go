package memory

import (
	"bytes"
	"context"
	"fmt"

	"github.com/skein-dev/skein"
)

// A tx is one call of Append: what it did is undone if it fails.
type tx struct {
	*Store
	undo    []func()
	brought map[skein.Hash][]byte
}

// Append implements [skein.Store].
func (s *Store) Append(ctx context.Context, batches ...skein.Batch) (_ []skein.Receipt, err error) {
	defer skein.Wrapf(&err, "memory: append")
	facts := make([][]skein.Facts, len(batches))
	for i := range batches {
		if facts[i], err = check(&batches[i]); err != nil {
			return nil, err
		}
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	t := &tx{Store: s, brought: map[skein.Hash][]byte{}}
	receipts := make([]skein.Receipt, len(batches))
	for i := range batches {
		if receipts[i], err = t.batch(&batches[i], facts[i]); err != nil {
			t.rollback()
			return nil, err
		}
	}
	s.announce()
	return receipts, nil
}

func (t *tx) rollback() {
	for i := len(t.undo) - 1; i >= 0; i-- {
		t.undo[i]()
	}
}

func (t *tx) batch(b *skein.Batch, facts []skein.Facts) (r skein.Receipt, err error) {
	if b.Session == "" {
		return r, t.importFile(b, t.owner())
	}
	if err := t.buriedBatch(b, facts); err != nil {
		return r, err
	}
	sess, err := t.open(b, facts)
	if err != nil {
		return r, err
	}
	isNew, err := missing(sess, b)
	if err == nil && len(isNew) > 0 {
		err = t.checkBatch(sess, b, isNew)
	}
	if err != nil {
		return r, err
	}
	for _, blob := range b.Blobs {
		t.brought[blob.Hash] = blob.Data
	}
	r = skein.Receipt{Session: b.Session, Seqs: make([]skein.Seq, len(b.Events))}
	for i := range b.Events {
		was := sess.head.Last
		if r.Seqs[i], err = t.event(sess, b, b.Events[i], facts[i]); err != nil {
			return r, err
		}
		if sess.head.Last != was {
			r.New++
		}
	}
	r.Last = sess.head.Last
	if b.Import != nil {
		err = t.importFile(b, sess.head.User)
	}
	return r, err
}

// open returns the session of b. One that has not begun is put among the
// others, for what follows in the call.
func (t *tx) open(b *skein.Batch, facts []skein.Facts) (*session, error) {
	if sess := t.sessions[b.Session]; sess != nil {
		if t.sees(sess.head.User) {
			return sess, nil
		}
		if len(facts) > 0 && facts[0].Created != nil {
			return nil, fmt.Errorf("session %s %w", b.Session, skein.ErrExists)
		}
		return nil, fmt.Errorf("session %s %w", b.Session, skein.ErrNotFound)
	}
	if len(b.Events) == 0 {
		return nil, fmt.Errorf("session %s %w", b.Session, skein.ErrNotFound)
	}
	t.order++
	sess := &session{head: skein.Session{ID: b.Session}, order: t.order}
	sess.index()
	t.sessions[b.Session] = sess
	t.undo = append(t.undo, func() { delete(t.sessions, b.Session) })
	return sess, nil
}

// missing returns the events of b that sess does not have.
//
// The error wraps [skein.ErrMismatch] if it has others with their client IDs.
func missing(sess *session, b *skein.Batch) (isNew []skein.Event, err error) {
	for _, e := range b.Events {
		seq, err := stored(sess, e)
		if err != nil {
			return nil, err
		}
		if seq == 0 {
			isNew = append(isNew, e)
		}
	}
	return isNew, nil
}

// stored returns where the event with the client ID of e stands; 0 if there
// is none.
func stored(sess *session, e skein.Event) (skein.Seq, error) {
	if e.ClientID == "" {
		return 0, nil
	}
	seq := sess.client(e.ClientID, sess.head.Last)
	if seq == 0 {
		return 0, nil
	}
	had := sess.at(seq)
	if !had.scrubbed && (had.Kind != e.Kind || !bytes.Equal(had.Payload, e.Payload)) {
		return 0, fmt.Errorf("session %s: event %d has the client ID %q: %w", sess.head.ID, seq, e.ClientID, skein.ErrMismatch)
	}
	return seq, nil
}

// checkBatch compares After and Fence.
func (t *tx) checkBatch(sess *session, b *skein.Batch, isNew []skein.Event) error {
	end := sess.head.Last
	if b.After == skein.Fresh && end != 0 || b.After > 0 && b.After != end {
		return &skein.ConflictError{Session: b.Session, Last: end}
	}
	return t.checkFence(b, isNew)
}

// event adds e to sess, unless it is there, and returns its place.
func (t *tx) event(sess *session, b *skein.Batch, e skein.Event, f skein.Facts) (skein.Seq, error) {
	if seq, err := stored(sess, e); err != nil || seq > 0 {
		return seq, err
	}
	t.order++
	added := event{Event: e, facts: f, imported: b.Import != nil, order: t.order}
	if err := t.add(sess, &added); err != nil {
		return 0, err
	}
	return added.Seq, nil
}

// add is the one way in which an event comes to be in a session.
func (t *tx) add(sess *session, e *event) (err error) {
	was, base, from := sess.head, sess.base, sess.from
	t.undo = append(t.undo, func() { sess.head, sess.base, sess.from = was, base, from })
	if c := e.facts.Created; c != nil {
		err = t.begin(sess, e)
	}
	if err == nil && e.facts.Amended != nil {
		err = t.amend(sess, e)
	}
	if err != nil {
		return err
	}
	e.prior = t.prior(sess, e)
	if e.added, err = sess.head.Apply(&e.Event, e.facts, e.prior); err != nil {
		return err
	}
	if sess.head.Key != was.Key {
		if err := t.checkKey(&sess.head); err != nil {
			return err
		}
	}
	if err := t.takeBlobs(sess, e); err != nil {
		return err
	}
	t.charge(sess.head.User, e, e.added.Charge)
	sess.own = append(sess.own, *e)
	sess.take(&sess.own[len(sess.own)-1])
	sess.enter(e)
	t.undo = append(t.undo, func() {
		sess.own = sess.own[:len(sess.own)-1]
		sess.standing = nil
		sess.leave(e)
		t.charge(was.User, e, skein.Usage{}.Minus(e.added.Charge))
	})
	return nil
}
