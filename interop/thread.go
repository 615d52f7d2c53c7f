package interop

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/reconcile"
	"github.com/skein-dev/skein/store/lenient"
)

// A thread is one session of a file while it is imported.
type thread struct {
	id     skein.SessionID
	begin  Begin
	fork   *skein.Parent // if it begins as one
	begun  bool          // its created event is stored or waits in events
	shared bool          // it was begun by another file: what comes may be there
	dead   bool          // it was deleted; what comes for it is dropped
	last   skein.Seq     // where the session ended when it was appended to; 0 if not known
	base   skein.Seq     // of a fork: the events up to here are its parent's; known with stored, and when it is new
	keys   []skein.ClientID
	seqs   []skein.Seq // by ordinal, as keys; 0 where not known
	events []waiting   // for the next flush
	blobs  []skein.Blob
	spared skein.Seq          // the last event of records that were removed, but not withdrawn
	stored *reconcile.Session // what the store has; nil if nothing needs to be compared with it
}

// waiting is an event that is to be appended.
type waiting struct {
	event skein.Event
	index int // ordinal, from 0; -1 if it has none
	at    site
}

// A site is where in the file a record is.
type site struct {
	n       int // of the record; -1 if there is none
	line    int
	instead bool // see Made.Instead
}

var nowhere = site{n: -1}

// add gives the next item of the session a place in the ordinals.
func (t *thread) add(key skein.ClientID, seq skein.Seq) int {
	t.keys, t.seqs = append(t.keys, key), append(t.seqs, seq)
	return len(t.keys) - 1
}

// load reads what the store has of the session, the events that it shows of its
// parent included.
func (t *thread) load(ctx context.Context, s skein.Store) error {
	id := t.id
	sess, err := s.Session(ctx, id)
	waits := errors.Is(err, skein.ErrNotFound) // to be created
	switch {
	case waits && t.fork != nil:
		id, sess.Base, sess.Last = t.fork.Session, t.fork.Seq, t.fork.Seq
	case waits:
		t.stored = reconcile.NewSession(t.base)
		return nil
	case err != nil:
		return err
	}
	t.stored, t.base = reconcile.NewSession(sess.Base), sess.Base
	damaged := func(_ skein.SessionID, e *skein.DamagedError) { t.stored.AddDamaged(e.Seq, e.Kind) }
	for e, err := range lenient.Store(s, damaged).Events(ctx, id, 0) {
		if err != nil {
			return err
		}
		if e.Seq > sess.Last {
			break
		}
		t.stored.Add(e)
	}
	if waits { // how its parent began says nothing of how it does
		t.stored.Forget(reconcile.CreatedID)
		t.stored.Forget(reconcile.RewoundID)
	}
	return nil
}

// locate finds out whether damaged events are those of the record with this key,
// which makes n.
func (t *thread) locate(ctx context.Context, s skein.Store, key skein.ClientID, n int) error {
	if !t.stored.Damaged() {
		return nil
	}
	places, err := skein.SourcesOf(s).Find(ctx, append(reconcile.ClientIDs(key, n), reconcile.Candidates(key)...))
	for id, p := range places {
		if p.Session == t.id {
			t.stored.Locate(id, p.Seq)
		}
	}
	return err
}

// reconcile adds to what waits what the session lacks of e, which has the
// ordinal index.
func (t *thread) reconcile(e skein.Event, blobs []skein.Blob, index int, at site) {
	d := t.stored.Diff(e)
	if index >= 0 && d.SameAs != 0 {
		t.seqs[index] = d.SameAs
	}
	wait := func(events []skein.Event, index int) {
		for _, e := range events {
			t.events = append(t.events, waiting{e, index, at})
		}
	}
	wait(d.Withdraw, -1)
	wait(d.Amend, -1)
	wait(d.Append, index)
	if len(d.Withdraw)+len(d.Amend)+len(d.Append) > 0 {
		t.blobs = append(t.blobs, blobs...)
	}
}

// withdraw adds withdrawals to what waits.
func (t *thread) withdraw(events []skein.Event) {
	for _, e := range events {
		t.events = append(t.events, waiting{e, -1, nowhere})
	}
}
