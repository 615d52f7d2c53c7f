package ledger

import (
	"bytes"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
)

// A batch is a batch that is being appended.
type batch struct {
	*skein.Batch
	book  Book
	view  View
	to    *Head
	first *Event // nil if there is none
	seqs  []skein.Seq

	messages int // how many the new events begin
}

// Append appends the batch b, which came through the view v, to the session s. If
// the store does not have the session, s has only the ID. The batch must have passed
// [Check].
//
// The error is the book's, or wraps [skein.ErrNotFound], [skein.ErrExists],
// [skein.ErrDeleted], [skein.ErrMismatch], [skein.ErrFenced] or
// [skein.ErrInvalid], or is a [skein.ConflictError] or [skein.LockedError]. After
// an error, the store must roll back everything that the book wrote.
func Append(book Book, v View, s *Head, b *skein.Batch) (r skein.Receipt, err error) {
	x := batch{Batch: b, book: book, view: v, to: s, seqs: make([]skein.Seq, len(b.Events))}
	r = skein.Receipt{Session: b.Session, Seqs: x.seqs}
	if len(b.Events) > 0 {
		x.first = book.Event(0)
	}
	if err := x.admit(); err != nil {
		return r, err
	}
	if err := x.places(); err != nil {
		return r, err
	}
	if err := x.mayAppend(); err != nil {
		return r, err
	}
	r.New, err = x.events()
	r.Last, r.Messages = s.Last, x.messages
	return r, err
}

func (x *batch) begun() bool { return x.to.Last > 0 }

// creates reports whether the batch is to begin a session.
func (x *batch) creates() bool { return x.first != nil && x.first.Facts.Created != nil }

// admit refuses a batch for a session of another user, and one for a session
// that was deleted.
func (x *batch) admit() error {
	switch {
	case !x.begun():
		if err := x.checkTombs(); err != nil || x.first != nil {
			return err
		}
	case x.view.Sees(x.to.User):
		return nil
	case x.creates():
		if err := x.checkTombs(); err != nil {
			return err
		}
		return fmt.Errorf("session %s %w", x.Session, skein.ErrExists)
	}
	return fmt.Errorf("session %s %w", x.Session, skein.ErrNotFound)
}

// Tombs returns the tombstones that forbid a batch with this first event, which may
// be nil.
func Tombs(b *skein.Batch, first *Event) []Tomb {
	tombs := []Tomb{erase.TombOfID(b.Session)}
	if first == nil || first.Facts.Created == nil || b.Import == nil {
		return tombs
	}
	if o := first.Facts.Created.Origin; o != nil {
		tombs = append(tombs, erase.TombOfOrigin(*o))
	}
	return tombs
}

// checkTombs refuses a batch that would bring back a session that its user deleted,
// unless Again allows it.
func (x *batch) checkTombs() error {
	user := skein.User(x.view) // if the batch begins no session: the sender
	if x.creates() {
		user = x.first.Facts.Created.User
	}
	for _, t := range Tombs(x.Batch, x.first) {
		buried, err := x.book.HasTombstone(user, t)
		switch {
		case err != nil:
			return err
		case !buried:
		case !x.Again:
			return fmt.Errorf("session %s %w", x.Session, skein.ErrDeleted)
		default:
			if err := x.book.Lift(user, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// places determines which events the session already has. What was lost of them is
// healed.
func (x *batch) places() (err error) {
	if !x.begun() {
		return nil
	}
	for i := range x.seqs {
		var whole bool
		if x.seqs[i], whole, err = x.place(i); err != nil {
			return err
		}
		if whole && len(x.Blobs) > 0 {
			if err := x.heal(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// heal restores the blobs of the i-th event, which the session already has.
func (x *batch) heal(i int) error {
	if err := x.book.Read(i); err != nil {
		return err
	}
	facts := &x.book.Event(i).Facts
	now := facts
	if a := facts.Amended; a != nil {
		of, err := x.book.Target(a.Seq)
		if err != nil {
			return err
		}
		if now, err = Now(facts, of); err != nil {
			return nil //nolint:nilerr // what it amends was deleted in the shell, and its blobs with it
		}
	}
	return x.book.Heal(i, x.seqs[i], now.Blobs)
}

// place returns the seq of the i-th event in the session, including what it shows of
// its parents; 0 if the session does not have it. It is whole if nothing was taken out of
// it since.
func (x *batch) place(i int) (_ skein.Seq, whole bool, err error) {
	e := x.book.Event(i)
	if e.ClientID == "" {
		return 0, false, nil
	}
	at, err := x.book.Place(i)
	if err != nil || at.Seq == 0 || at.Hash == nil {
		return at.Seq, false, err
	}
	if !bytes.Equal(at.Hash, e.Hash) {
		return 0, false, fmt.Errorf("%w: %q of session %s is event %d", skein.ErrMismatch, e.ClientID, x.Session, at.Seq)
	}
	return at.Seq, true, nil
}

// mayAppend checks After and the lease if the batch has a new event.
func (x *batch) mayAppend() error {
	isNew, fenced := false, false
	for i, seq := range x.seqs {
		isNew = isNew || seq == 0
		fenced = fenced || seq == 0 && needsFence(x.Events[i].Kind)
	}
	last := x.to.Last
	if isNew && (x.After == skein.Fresh && last != 0 || x.After > 0 && x.After != last) {
		return &skein.ConflictError{Session: x.Session, Last: last}
	}
	if !isNew || x.Fence == 0 && !fenced {
		return nil
	}
	l, held, err := x.book.Lease(x.Fence)
	switch {
	case err != nil:
		return err
	case x.Fence != 0 && x.Fence != l.Fence:
		return &skein.FencedError{Session: x.Session, Fence: x.Fence, Now: l.Fence}
	case x.Fence == 0 && held:
		return &skein.LockedError{Session: x.Session, Holder: l.Holder}
	}
	return nil
}

// needsFence reports whether an event of this kind needs the Fence of the lease
// while the lease is held.
func needsFence(k skein.Kind) bool {
	switch k {
	case skein.KindSaid, skein.KindTool, skein.KindStep, skein.KindCompacted, skein.KindRewound:
		return true
	}
	return false
}

// events writes the new events and returns how many there are.
func (x *batch) events() (n int, err error) {
	forks := !x.begun() && x.creates() && x.first.Facts.Created.Parent.IsFork()
	var seen map[skein.ClientID]bool
	if len(x.Events) > 1 {
		seen = make(map[skein.ClientID]bool, len(x.Events))
	}
	for i := range x.Events {
		id := x.Events[i].ClientID
		if x.seqs[i] == 0 && i > 0 && (forks || seen[id]) { // it may be stored by now: by an earlier event of the batch, or as part of what the fork shows
			if x.seqs[i], _, err = x.place(i); err != nil {
				return n, err
			}
		}
		if seen != nil && id != "" {
			seen[id] = true
		}
		if x.seqs[i] != 0 {
			continue
		}
		if x.seqs[i], err = x.event(i); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// event writes the i-th event and returns its seq.
func (x *batch) event(i int) (skein.Seq, error) {
	if err := x.book.Read(i); err != nil {
		return 0, err
	}
	e := x.book.Event(i)
	f, s := &e.Facts, x.to
	row := Row{Event: e, Now: f, Prev: s.Said, Imported: x.Import != nil, Shakes: f.Rewound != nil}
	if f.Amended != nil {
		if err := x.amend(&row); err != nil {
			return 0, err
		}
	}
	base, err := x.prior(&row)
	if err != nil {
		return 0, err
	}
	if f.Created != nil {
		row.Prev = base.Said
	}
	key, first := s.Key, s.First
	if row.Added, err = s.Apply(&e.Event, *f, row.Prior); err != nil {
		return 0, err
	}
	switch {
	case f.Created != nil:
		s.Prompts = base.Prompts
	case f.Message != nil && !row.Added.Piece:
		x.messages++
		s.Prompts.Say(f.Message, e.Seq, first)
	}
	if err := x.takeKey(key); err != nil {
		return 0, err
	}
	if f.Created != nil {
		if err := x.book.Begin(); err != nil {
			return 0, err
		}
	}
	for _, h := range row.Now.Blobs {
		found, err := x.book.TakeBlob(h)
		if err == nil && !found {
			err = fmt.Errorf("%w event: blob %s is neither in the batch nor in the store", skein.ErrInvalid, h)
		}
		if err != nil {
			return 0, err
		}
	}
	if s.Said = row.Prev; e.Kind == skein.KindSaid {
		s.Said = e.Seq
	}
	seq := e.Seq // read before Put, which may release the event
	return seq, x.book.Put(i, &row)
}

// amend computes what an amended event changes.
func (x *batch) amend(row *Row) error {
	a := row.Facts.Amended
	of, err := x.book.Target(a.Seq)
	if err != nil {
		return err
	}
	row.Shakes = of.Kind == skein.KindSaid && (a.Withdrawn || of.Gone || of.Role == skein.RoleUser)
	row.Now, err = Now(&row.Facts, of)
	return err
}

// Now returns the facts by which an event is to be found: its own, f, or, if it
// amends another event, those of that event's new payload.
//
// The error wraps [skein.ErrInvalid]: the new payload does not fit the kind.
func Now(f *skein.Facts, of Target) (*skein.Facts, error) {
	a := f.Amended
	switch {
	case a == nil:
		return f, nil
	case a.Withdrawn || len(a.Payload) > 0 && of.Kind == "":
		return &skein.Facts{}, nil
	case len(a.Payload) == 0: // the original payload is restored
		return &skein.Facts{Role: of.Role}, nil
	}
	now, err := skein.FactsOf(skein.Event{Kind: of.Kind, Payload: a.Payload})
	if err != nil {
		return nil, fmt.Errorf("amended event %d: %w", a.Seq, err)
	}
	return &now, nil
}

// prior looks up what came before an event.
func (x *batch) prior(r *Row) (base Base, err error) {
	f := &r.Facts
	if c := f.Created; c != nil {
		if c.Parent.IsFork() && !x.begun() {
			base, err = x.base(c)
			r.Prior.Base = base.Shown
		}
		return base, err
	}
	if m := f.Message; m != nil && m.ID != "" && x.begun() {
		if r.Prior.Message, err = x.book.Joins(m.ID); err != nil {
			return base, err
		}
	}
	if c := f.Charge; c != nil && c.Request != "" && x.begun() {
		r.Prior.Charged, err = x.book.Charged(c.Request)
	}
	return base, err
}

// base looks up what the fork that c makes shows of its parent.
func (x *batch) base(c *skein.Created) (base Base, err error) {
	at := *c.Parent
	if at.Seq < 1 || at.Session == x.Session {
		return base, nil // Apply says what is wrong
	}
	p, err := x.book.Parent(at.Session, c.User)
	switch {
	case err != nil:
		return base, err
	case p == nil:
		buried, err := x.book.HasTombstone(c.User, erase.TombOfID(at.Session))
		if err == nil && buried {
			err = fmt.Errorf("fork: session %s %w", at.Session, skein.ErrDeleted)
		} else if err == nil {
			err = fmt.Errorf("fork: session %s %w", at.Session, skein.ErrNotFound)
		}
		return base, err
	case p.User != c.User:
		return base, fmt.Errorf("fork: session %s %w", at.Session, skein.ErrNotFound)
	case at.Seq > p.Last:
		return base, fmt.Errorf("%w fork: seq %d: session %s has %d events", skein.ErrInvalid, at.Seq, at.Session, p.Last)
	}
	return x.book.Shown(at)
}

// takeKey refuses a key that another live session of the user has.
func (x *batch) takeKey(was string) error {
	s := x.to
	if s.Key == was || s.Binned != 0 {
		return nil
	}
	free, err := x.book.TakeKey(was)
	if err == nil && !free {
		err = fmt.Errorf("a session with key %q %w", s.Key, skein.ErrExists)
	}
	return err
}
