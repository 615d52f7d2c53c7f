package postgres

import (
	"bytes"
	"fmt"
	"math"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// batch works out one batch.
func (w *work) batch(p *packed) (r skein.Receipt, err error) {
	if p.Session == "" {
		return r, w.putImport(p, nil)
	}
	d := w.drafts[p.Session]
	if err := w.admit(p, d); err != nil {
		return r, err
	}
	r = skein.Receipt{Session: p.Session, Seqs: make([]skein.Seq, len(p.events))}
	fresh, err := w.places(p, d, r.Seqs)
	if err == nil && fresh > 0 {
		err = w.mayAppend(p, d, r.Seqs)
	}
	if err != nil {
		return r, err
	}
	for h, b := range p.blobs {
		put(w, w.brought, userBlob{w.userOf(p, d), h}, b)
	}
	for i := range p.events {
		pe := &p.events[i]
		if r.Seqs[i] == 0 && i > 0 { // those before it may have brought it
			if r.Seqs[i], err = w.place(pe, d); err != nil {
				return r, err
			}
		}
		if r.Seqs[i] != 0 {
			continue
		}
		if r.Seqs[i], err = w.event(d, pe, p.Import != nil); err != nil {
			return r, err
		}
		r.New++
	}
	r.Last = d.Last
	return r, w.putImport(p, d)
}

// userOf returns whose the session of a batch is, or will be.
func (w *work) userOf(p *packed, d *draft) skein.User {
	if d.begins && len(p.events) > 0 && p.events[0].f.Created != nil {
		return p.events[0].f.Created.User
	}
	return d.User
}

// admit refuses a batch for a session of another user, and one for a session
// that was deleted.
func (w *work) admit(p *packed, d *draft) error {
	begins := len(p.events) > 0 && p.events[0].f.Created != nil
	switch {
	case d.begins && d.Last == 0:
		if err := w.checkTombstones(p); err != nil || len(p.events) > 0 {
			return err
		}
	case w.s.sees(d.User):
		return nil
	case begins:
		if err := w.checkTombstones(p); err != nil {
			return err
		}
		return fmt.Errorf("session %s %w", p.Session, skein.ErrExists)
	}
	return fmt.Errorf("session %s %w", p.Session, skein.ErrNotFound)
}

// places puts in seqs the places of the events that the session has already
// and returns how many it has not.
func (w *work) places(p *packed, d *draft, seqs []skein.Seq) (fresh int, err error) {
	for i := range p.events {
		if d.Last > 0 {
			if seqs[i], err = w.place(&p.events[i], d); err != nil {
				return 0, err
			}
		}
		if seqs[i] == 0 {
			fresh++
		}
	}
	return fresh, nil
}

// place returns where the session has the event with p's client ID, in what
// it shows of its parent too; 0 if it has none.
func (w *work) place(p *packedEvent, d *draft) (skein.Seq, error) {
	client := p.e.ClientID
	if client == "" {
		return 0, nil
	}
	at, found := d.clients[client]
	if !found {
		if !w.looked {
			d.noClients = append(d.noClients, string(client))
		}
		return 0, nil
	}
	if at.hash != nil && !bytes.Equal(at.hash, p.hash) {
		return 0, fmt.Errorf("%w: %q of session %s is event %d", skein.ErrMismatch, client, d.ID, at.seq)
	}
	return at.seq, nil
}

// mayAppend compares After and looks at the lease.
func (w *work) mayAppend(p *packed, d *draft, seqs []skein.Seq) error {
	if p.After == skein.Fresh && d.Last != 0 || p.After > 0 && p.After != d.Last {
		return &skein.ConflictError{Session: p.Session, Last: d.Last}
	}
	needed := false
	for i := range p.events {
		needed = needed || seqs[i] == 0 && needsFence(p.events[i].e.Kind)
	}
	switch {
	case p.Fence != 0:
		if w.looked && p.Fence != d.lease.epoch {
			return fmt.Errorf("session %s: fence %d, now it is %d: %w", p.Session, p.Fence, d.lease.epoch, skein.ErrFenced)
		}
		d.fences = append(d.fences, int64(p.Fence))
	case needed:
		if w.looked && d.lease.held {
			return &skein.LockedError{Session: p.Session, Holder: d.lease.holder}
		}
		d.free = true
	}
	return nil
}

func needsFence(k skein.Kind) bool {
	switch k {
	case skein.KindSaid, skein.KindTool, skein.KindStep, skein.KindCompacted, skein.KindRewound:
		return true
	}
	return false
}

// event adds one event to d and returns its place.
func (w *work) event(d *draft, p *packedEvent, imported bool) (skein.Seq, error) {
	now, err := w.amended(d, p)
	if err != nil {
		return 0, err
	}
	prior, err := w.prior(d, p)
	if err != nil {
		return 0, err
	}
	prev, key, first, e := d.said, d.Key, d.First, p.e
	if p.f.Created != nil {
		prev = prior.said
	}
	added, err := d.Apply(&e, p.f, prior.Prior)
	if err != nil {
		return 0, err
	}
	switch {
	case added.Stale:
		w.shaken(d, p, e.Seq)
	case p.f.Created != nil:
		d.prompts = prior.prompts
	case p.f.Message != nil && !added.Piece:
		d.prompts.Say(p.f.Message, e.Seq, first)
	}
	if d.Key != key {
		if err := w.takeKey(d, key); err != nil {
			return 0, err
		}
	}
	if p.f.Created != nil {
		d.base, d.gaps = prior.strand, prior.undone
		d.segs = append(walk.Segments{{Session: d.n, From: d.Base, To: math.MaxInt64}}, prior.segs...)
		w.begun(d, prior)
	}
	if err := w.takeBlobs(d, e.Seq, now.Blobs); err != nil {
		return 0, err
	}
	if d.said = prev; e.Kind == skein.KindSaid {
		d.said = e.Seq
	}
	w.note(d, p, e, added)
	d.grew += rowSize(p)
	d.events.add(&e, p, now, added, d, prev, imported)
	d.charges.add(e.Seq, p.f.Charge, added)
	return e.Seq, nil
}

// begun sets what is known of a fork when it has begun.
func (w *work) begun(d *draft, p prior) {
	for c, at := range p.clients {
		if _, own := d.clients[c]; !own {
			put(w, d.clients, c, at)
		}
	}
	for m := range p.messages {
		put(w, d.messages, m, true)
	}
}

// note keeps what later events of the group have to know of this one.
func (w *work) note(d *draft, p *packedEvent, e skein.Event, a skein.Added) {
	if e.ClientID != "" {
		put(w, d.clients, e.ClientID, placed{e.Seq, p.hash})
	}
	if m := p.f.Message; m != nil && m.ID != "" {
		put(w, d.messages, indexed(m.ID), true)
	}
	if c := p.f.Charge; c != nil && c.Request != "" {
		put(w, w.charged, request{d.User, indexed(c.Request)}, a.Counted)
	}
	put(w, d.kinds, e.Seq, e.Kind)
	if p.f.Message != nil {
		put(w, d.roles, e.Seq, p.f.Message.Role)
	}
}

// amended returns the facts of what the row of p says: its own, or, of an
// amended event, those of what it puts in another's place.
func (w *work) amended(d *draft, p *packedEvent) (*skein.Facts, error) {
	a := p.f.Amended
	if a == nil {
		return &p.f, nil
	}
	now := &skein.Facts{}
	kind, found := d.kinds[a.Seq]
	if !a.Withdrawn && len(a.Payload) == 0 && kind == skein.KindSaid { // it is put back as it was
		now.Role = d.roles[a.Seq]
	}
	if found && !a.Withdrawn && len(a.Payload) > 0 {
		f, err := skein.FactsOf(skein.Event{Kind: kind, Payload: a.Payload})
		if err != nil {
			return nil, fmt.Errorf("amended event %d: %w", a.Seq, err)
		}
		now = &f
	}
	return now, nil
}

// prior returns what came before the event p.
func (w *work) prior(d *draft, p *packedEvent) (x prior, err error) {
	if c := p.f.Created; c != nil {
		if !c.Parent.IsFork() || d.Last > 0 {
			return x, nil
		}
		return w.shown(d, c)
	}
	if m := p.f.Message; m != nil && m.ID != "" {
		id := indexed(m.ID)
		if x.Message, err = w.joins(d, id); err != nil {
			return x, err
		}
		if !x.Message && !w.looked {
			d.noMessages = append(d.noMessages, id)
		}
	}
	if c := p.f.Charge; c != nil && c.Request != "" {
		u, found := w.charged[request{d.User, indexed(c.Request)}]
		if x.Charged = u; !found && !w.looked {
			d.noRequests = append(d.noRequests, indexed(c.Request))
		}
	}
	return x, nil
}

// takeKey looks whether another live session of the user has d's key.
func (w *work) takeKey(d *draft, was string) error {
	if d.Binned != 0 {
		return nil
	}
	if old := (userKey{d.User, was}); w.keys[old] == d.n {
		put(w, w.keys, old, 0)
	}
	if d.Key == "" {
		return nil
	}
	k := userKey{d.User, d.Key}
	if n := w.keys[k]; n != 0 && n != d.n {
		return fmt.Errorf("key %q: a session with it %w", d.Key, skein.ErrExists)
	}
	put(w, w.keys, k, d.n)
	return nil
}

// rowSize returns roughly what an event takes on disk. The index, which is made of
// the same text, does not count: a quota is of what was said.
func rowSize(p *packedEvent) int64 { return int64(80 + len(p.e.Payload) + 2*len(p.e.ClientID)) }
