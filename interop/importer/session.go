package importer

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/reconcile"
	"github.com/skein-dev/skein/store/lenient"
)

// A fileSession is one session of a file while it is imported.
type fileSession struct {
	id     skein.SessionID
	begin  interop.Begin
	fork   *skein.Parent // if it begins as a fork
	begun  bool          // its created event is stored or waits in events
	shared bool          // it was begun by another file, which may have stored what comes next
	dead   bool          // it was deleted: its events are dropped
	last   skein.Seq     // where the session ended when it was last appended to; 0 if not known
	base   skein.Seq     // for a fork: the events up to here are its parent's; set with stored, and for a new fork
	keys   []skein.ClientID
	seqs   []skein.Seq    // by ordinal, as keys; 0 if not known
	backs  []sourceRewind // those among the items
	events []waiting      // for the next flush
	blobs  []skein.Blob
	spared skein.Seq          // the last event of records that were removed, but not withdrawn
	stored *reconcile.Session // what the store has; nil if nothing needs to be compared with it
}

// waiting is an event that is to be appended.
type waiting struct {
	event skein.Event
	index int // ordinal, from 0; -1 if it has none
	at    filePos
}

// A filePos is the position of a record in the file.
type filePos struct {
	n       int // of the record; -1 if there is no record
	line    int
	instead bool // see Made.Instead
}

var nowhere = filePos{n: -1}

// A sourceRewind is a rewound event of a source, in ordinals from 1: to is 0 for everything.
type sourceRewind struct{ at, to int }

// add gives the next item of the session an ordinal.
func (t *fileSession) add(it *interop.Item, key skein.ClientID, seq skein.Seq) int {
	if it.Event.Kind == skein.KindRewound {
		t.backs = append(t.backs, sourceRewind{len(t.keys) + 1, it.To})
	}
	t.keys, t.seqs = append(t.keys, key), append(t.seqs, seq)
	return len(t.keys) - 1
}

// load reads what the store has of the session, including the events that it shows of
// its parent.
func (t *fileSession) load(ctx context.Context, s skein.Store) error {
	id := t.id
	sess, err := s.Session(ctx, id)
	waits := errors.Is(err, skein.ErrNotFound) // not created yet
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
	if waits { // how its parent began does not say how it will
		t.stored.Forget(reconcile.CreatedID)
		t.stored.Forget(reconcile.RewoundID)
	}
	return nil
}

// locate determines whether damaged events are those of the record with this key,
// which makes n.
func (t *fileSession) locate(ctx context.Context, s skein.Store, key skein.ClientID, n int) error {
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

// reconcile queues what the session lacks of e, which has the ordinal index.
func (t *fileSession) reconcile(e skein.Event, blobs []skein.Blob, index int, at filePos) {
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

// withdraw queues withdrawals.
func (t *fileSession) withdraw(events []skein.Event) {
	for _, e := range events {
		t.events = append(t.events, waiting{e, -1, nowhere})
	}
}

// inherits reports whether an amendment concerns none of the session's own events.
func (t *fileSession) inherits(e skein.Event) bool {
	a, err := skein.Decode[skein.Amended](e)
	return err != nil || a.Seq <= t.base
}

// place returns the item's event with the seq that it refers to in its payload.
func (o *outbox) place(ctx context.Context, th *fileSession, it interop.Item) (skein.Event, error) {
	e := it.Event
	if e.Kind != skein.KindRewound && e.Kind != skein.KindCompacted && e.Kind != skein.KindAmended {
		return e, nil
	}
	to, err := o.seq(ctx, th, it.To)
	if err != nil {
		return e, err
	}
	switch e.Kind {
	case skein.KindRewound:
		e.Payload = skein.MustJSON(skein.Rewound{To: to})
	case skein.KindCompacted:
		var c skein.Compacted
		c, err = skein.Decode[skein.Compacted](e)
		if c.To != to {
			c.Keep = nil // positions by the file's own count
		}
		c.To = to
		e.Payload = skein.MustJSON(c)
	default:
		var a skein.Amended
		a, err = skein.Decode[skein.Amended](e)
		a.Seq = to
		e.Payload = skein.MustJSON(a)
	}
	return e, err
}

// seq returns the seq of an item by its ordinal, counted from 1; 0 for 0. An
// item that is not stored, because it was dropped, has the seq of the one before
// it.
func (o *outbox) seq(ctx context.Context, th *fileSession, ordinal int) (skein.Seq, error) {
	for i := min(ordinal, len(th.keys)) - 1; i >= 0; i-- {
		if th.seqs[i] == 0 && len(th.events) > 0 {
			if err := o.flush(ctx); err != nil {
				return 0, err
			}
		}
		if th.seqs[i] == 0 {
			if err := o.find(ctx, th, i); err != nil {
				return 0, err
			}
		}
		if th.seqs[i] != 0 {
			return th.seqs[i], nil
		}
	}
	return 0, nil
}

// find looks up the seq of item i of th.
func (o *outbox) find(ctx context.Context, th *fileSession, i int) error {
	key := th.keys[i]
	places, err := skein.SourcesOf(o.store).Find(ctx, []skein.ClientID{key})
	if err != nil {
		return err
	}
	if p, ok := places[key]; ok && p.Session == th.id {
		th.seqs[i] = p.Seq
		return nil
	}
	if th.stored == nil {
		if err := th.load(ctx, o.store); err != nil && !errors.Is(err, skein.ErrNotFound) {
			return err
		}
	}
	if seq := th.stored.Seq(key); seq != 0 {
		th.seqs[i] = seq
	}
	return nil
}
