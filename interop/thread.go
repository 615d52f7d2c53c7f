package interop

import (
	"context"
	"errors"
	"hash/maphash"

	"github.com/skein-dev/skein"
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
	base   skein.Seq     // of a fork: the events up to here are its parent's; known with stands, and when it is new
	keys   []skein.ClientID
	seqs   []skein.Seq // by ordinal, as keys; 0 where not known
	events []waiting   // for the next flush
	blobs  []skein.Blob
	spared skein.Seq                 // the last event of records that are gone, but not withdrawn
	stands map[skein.ClientID]*stand // what the store has; nil if it need not be looked at
	bySeq  map[skein.Seq]*stand      // of these
	hurt   map[skein.Seq]skein.Kind  // what is damaged there, and which kind it is, if that is known
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

// A stand is what the store has under a client ID.
type stand struct {
	seq       skein.Seq
	kind      skein.Kind
	content   uint64
	withdrawn bool
	amends    int

	// What its record gave, before amendments that other records of the file
	// and other hands made of it: content and withdrawn are with these.
	given uint64
	gone  bool // the record was gone
	anew  bool // it was amended in this reading, so that those are to be made again

	damaged bool // nobody knows what stands there; it is left
}

// add gives the next item of the session a place in the ordinals.
func (t *thread) add(key skein.ClientID, seq skein.Seq) int {
	t.keys, t.seqs = append(t.keys, key), append(t.seqs, seq)
	return len(t.keys) - 1
}

// look reads what the store has of the session, its parent's shown events
// included.
func (t *thread) look(ctx context.Context, s skein.Store, seed maphash.Seed) error {
	id := t.id
	sess, err := s.Session(ctx, id)
	switch {
	case errors.Is(err, skein.ErrNotFound) && t.fork != nil: // it waits to be created
		id, sess.Base, sess.Last = t.fork.Session, t.fork.Seq, t.fork.Seq
		defer func() { // how its parent began says nothing of how it does
			delete(t.stands, CreatedID)
			delete(t.stands, rewoundID)
		}()
	case errors.Is(err, skein.ErrNotFound): // it waits too, and has nothing yet
		t.stands, t.bySeq = map[skein.ClientID]*stand{}, map[skein.Seq]*stand{}
		return nil
	case err != nil:
		return err
	}
	t.stands, t.base = map[skein.ClientID]*stand{}, sess.Base
	bySeq := map[skein.Seq]*stand{}
	t.bySeq, t.hurt = bySeq, nil
	for e, err := range lenient.Store(s, t.damaged).Events(ctx, id, 0) {
		if err != nil {
			return err
		}
		if e.Seq > sess.Last {
			break
		}
		if e.Kind == skein.KindAmended {
			if a, err := skein.Decode[skein.Amended](e); err == nil && bySeq[a.Seq] != nil {
				bySeq[a.Seq].amend(a, seed)
				if isRecords(e.ClientID) {
					bySeq[a.Seq].settled()
				}
			}
		}
		if e.ClientID != "" && !e.StandsIn() {
			st := &stand{seq: e.Seq, kind: e.Kind, content: maphash.Bytes(seed, e.Payload)}
			st.settled()
			t.stands[e.ClientID], bySeq[e.Seq] = st, st
			if of := t.stands[withoutMark(e.ClientID)]; of != st && of != nil && of.kind == e.Kind && sets(e) {
				of.seq, of.content, of.withdrawn = e.Seq, st.content, false
				of.settled()
				of.amends++
				bySeq[e.Seq] = of
			}
		}
	}
	return nil
}

// damaged notes that an event cannot be read. Which client ID it has is not known.
func (t *thread) damaged(_ skein.SessionID, e *skein.DamagedError) {
	if t.hurt == nil {
		t.hurt = map[skein.Seq]skein.Kind{}
	}
	t.hurt[e.Seq] = e.Kind
}

// lookFor looks whether damaged events are those of the record with this key, which
// makes n.
func (t *thread) lookFor(ctx context.Context, s skein.Store, key skein.ClientID, n int) error {
	if len(t.hurt) == 0 {
		return nil
	}
	places, err := skein.SourcesOf(s).Find(ctx, append(clientIDs(key, n), candidates(key)...))
	for id, p := range places {
		if kind, is := t.hurt[p.Seq]; is && p.Session == t.id && t.stands[id] == nil {
			t.stands[id] = &stand{seq: p.Seq, kind: kind, damaged: true}
		}
	}
	return err
}

// known returns under which client ID the session has an event of this kind
// that the record with this key made: id, or, where it made another number of
// events then, one that no other item of the record has used. Where another
// item has taken id, it is one that is free.
func (t *thread) known(key, id skein.ClientID, kind skein.Kind, used map[skein.ClientID]bool) skein.ClientID {
	for _, c := range append([]skein.ClientID{id}, candidates(key)...) {
		if st := t.stands[c]; st != nil && st.kind == kind && !used[c] {
			used[c] = true
			return c
		}
	}
	if used[id] {
		id += skein.ClientID("~" + shortHash(string(id)+string(kind)))
	}
	used[id] = true
	return id
}

func (s *stand) amend(a skein.Amended, seed maphash.Seed) {
	s.amends++
	if s.withdrawn = a.Withdrawn; !a.Withdrawn {
		s.content = maphash.Bytes(seed, a.Payload)
	}
}

// settled says that what stands is what its record gave.
func (s *stand) settled() { s.given, s.gone = s.content, s.withdrawn }

// structural events say how others hang together; they are not amended.
func structural(k skein.Kind) bool {
	return k == skein.KindRewound || k == skein.KindCompacted || k == skein.KindCreated || k == skein.KindAmended
}
