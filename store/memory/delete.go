package memory

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/ledger"
)

// A tombstone is the tombstone of one user's session.
type tombstone struct {
	user skein.User
	tomb ledger.Tomb
}

// hasTombstone reports whether u, or, if u is "", any user has the tombstone.
func (d *data) hasTombstone(u skein.User, t ledger.Tomb) bool {
	if u != "" {
		return d.tombs[tombstone{u, t}] != 0
	}
	for g := range d.tombs {
		if g.tomb == t {
			return true
		}
	}
	return false
}

// Bin implements [skein.Lifecycle].
func (s lifecycle) Bin(ctx context.Context, id skein.SessionID) (err error) {
	defer skein.Wrapf(&err, "memory: bin")
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	sess, err := s.look(id)
	if err == nil && sess.head.Binned == 0 {
		sess.head.Binned = now()
	}
	return err
}

// Restore implements [skein.Lifecycle].
func (s lifecycle) Restore(ctx context.Context, id skein.SessionID) (err error) {
	defer skein.Wrapf(&err, "memory: restore")
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	sess, err := s.look(id)
	if err != nil || sess.head.Binned == 0 {
		return err
	}
	if s.keyTaken(&sess.head.Session) {
		if err := s.note(sess, erase.WithoutKey(now())); err != nil {
			return err
		}
	}
	sess.head.Binned = 0
	return nil
}

// note appends an event that the store itself makes.
func (s lifecycle) note(sess *session, e skein.Event) error {
	x, err := ledger.View(s.user).Read(e)
	if err != nil {
		return err
	}
	t := &tx{view: s.view}
	if _, err := t.append(sess, &skein.Batch{Session: sess.head.ID, Events: []skein.Event{e}}, []ledger.Event{x}); err != nil {
		t.rollback()
		return err
	}
	s.announce()
	return nil
}

// Delete implements [skein.Lifecycle].
func (s lifecycle) Delete(ctx context.Context, id skein.SessionID, d skein.Deletion) (done skein.Deleted, err error) {
	defer skein.Wrapf(&err, "memory: delete")
	if err := erase.Valid(d); err != nil {
		return done, err
	}
	if err := s.enter(ctx); err != nil {
		return done, err
	}
	defer s.mu.Unlock()
	sess, err := s.look(id)
	if err != nil {
		return done, err
	}
	var held *skein.Holder
	if l := s.newestLease[id]; l.live() {
		held = &l.Holder
	}
	if done, err = erase.Delete(&sess.head.Session, d, held, s.children(sess)); err != nil {
		return done, err
	}
	done.Bytes = s.size(sess)
	for _, c := range done.Binned {
		s.sessions[c].head.Binned = now()
	}
	newParent, moved := s.reparent(sess)
	if moved > 0 {
		done.Moved = []skein.SessionID{newParent.head.ID}
	}
	done.Events = len(sess.own) - moved
	s.destroy(sess, moved)
	s.announce()
	return done, nil
}

// children returns the sessions that sess's delegations started, by ID.
func (d *data) children(sess *session) (all []erase.ChildRow) {
	for _, c := range d.sessions {
		if p := c.head.Parent; p != nil && p.Why == skein.Child && p.Session == sess.head.ID && c.head.User == sess.head.User {
			all = append(all, erase.ChildRow{ID: c.head.ID, Binned: c.head.Binned != 0})
		}
	}
	slices.SortFunc(all, func(a, b erase.ChildRow) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all
}

// destroy deletes sess and its own events, except for the first ones, which moved.
func (d *data) destroy(sess *session, moved int) {
	h := &sess.head.Session
	for _, e := range sess.own[moved:] {
		d.charge(h.User, &e, skein.Usage{}.Minus(e.added.Charge))
		for _, hash := range e.blobs() {
			d.dropBlob(blobKey{h.User, hash})
		}
	}
	for k, f := range d.files {
		if f.is(k, h) && f.CopyOf == h.ID {
			d.putTombstone(h.User, erase.TombOfOrigin(skein.Origin{Format: f.Format, Path: f.Path, ID: f.ID}), now())
		}
	}
	maps.DeleteFunc(d.files, func(k fileKey, f *sourceFile) bool { return f.is(k, h) })
	delete(d.sessions, h.ID)
	delete(d.newestLease, h.ID)
	for _, t := range erase.Tombs(h.ID, h.Origin) {
		d.putTombstone(h.User, t, now())
	}
}
