package transfer

import (
	"slices"

	"github.com/skein-dev/skein"
)

// An eventMap says where the events that a session of the first store shows are
// in the second one: stretches, each of the events after a seq.
type eventMap []stretch

// routes are the routes of sessions of the first store, by their IDs.
type routes map[skein.SessionID]eventMap

// place returns the ID of a session in the second store: its own there if none is
// known.
func (rs routes) place(id skein.SessionID) skein.SessionID {
	for _, s := range rs[id] {
		if !s.lent {
			return s.to
		}
	}
	return id
}

// A stretch is the events of the first store's session from after on, which are in
// a session of the second at their seq plus shift.
type stretch struct {
	after skein.Seq
	to    skein.SessionID
	shift skein.Seq
	lent  bool // to is its parent's, whose events it shows
}

// at returns the place of the event at seq.
func (r eventMap) at(seq skein.Seq) (p skein.Place, ok bool) {
	for _, s := range r {
		if s.after < seq {
			p, ok = skein.Place{Session: s.to, Seq: seq + s.shift}, true
		}
	}
	return p, ok
}

// shown returns the place at which the session itself shows the event at seq there,
// rather than the parent's place.
func (r eventMap) shown(seq skein.Seq) (p skein.Place, ok bool) {
	p, ok = r.at(seq)
	if i := slices.IndexFunc(r, func(s stretch) bool { return !s.lent }); ok && i >= 0 && seq <= r[i].after {
		p.Session = r[i].to
	}
	return p, ok
}

// upto returns the part of r for events up to seq, as another session shows it.
func (r eventMap) upto(seq skein.Seq) (part eventMap) {
	for _, s := range r {
		if s.after < seq {
			s.lent = true
			part = append(part, s)
		}
	}
	return part
}

// seq returns the new seq of the event at seq, in whichever session it is.
func (r eventMap) seq(seq skein.Seq) skein.Seq {
	if p, ok := r.at(seq); ok {
		return p.Seq
	}
	return seq
}
