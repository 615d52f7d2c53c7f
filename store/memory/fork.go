package memory

import (
	"iter"
	"slices"

	"github.com/skein-dev/skein"
)

// shown yields the events that sess shows up to and including upto: those before
// its own are its base's.
func (sess *session) shown(upto skein.Seq) iter.Seq[*event] {
	return func(yield func(*event) bool) {
		if sess.base != nil {
			for e := range sess.base.shown(min(upto, sess.from)) {
				if !yield(e) {
					return
				}
			}
		}
		for i := range sess.own {
			if sess.own[i].Seq > upto || !yield(&sess.own[i]) {
				return
			}
		}
	}
}

// at returns the event that sess shows at seq; nil if there is none.
func (sess *session) at(seq skein.Seq) *event {
	switch {
	case seq <= sess.from && sess.base != nil:
		return sess.base.at(seq)
	case seq > sess.from && seq <= sess.from+skein.Seq(len(sess.own)):
		return &sess.own[seq-sess.from-1]
	}
	return nil
}

// client returns the seq of the last event up to upto that has the client ID; 0 if
// there is none.
func (sess *session) client(id skein.ClientID, upto skein.Seq) skein.Seq {
	if seq := last(sess.clients[id], upto); seq > 0 || sess.base == nil {
		return seq
	}
	return sess.base.client(id, min(upto, sess.from))
}

// last returns the greatest of seqs up to upto; 0 if there is none.
func last(seqs []skein.Seq, upto skein.Seq) (seq skein.Seq) {
	for _, s := range seqs {
		if s <= upto {
			seq = max(seq, s)
		}
	}
	return seq
}

// reparent gives the events of sess that forks show to the fork that shows the most
// of them, and makes it the base of the other forks. newParent is that fork, nil if
// there are no forks; moved is how many events moved.
func (d *data) reparent(sess *session) (newParent *session, moved int) {
	var forks []*session
	for _, f := range d.sessions {
		if f.base == sess {
			forks = append(forks, f)
		}
	}
	if len(forks) == 0 {
		return nil, 0
	}
	newParent = slices.MaxFunc(forks, func(a, b *session) int {
		if a.from != b.from {
			return int(a.from - b.from)
		}
		return b.order - a.order
	})
	moved = max(0, int(newParent.from-sess.from))
	newParent.own = slices.Concat(sess.own[:moved], newParent.own)
	newParent.from, newParent.base = min(newParent.from, sess.from), sess.base
	newParent.index()
	for _, e := range newParent.own[:moved] {
		newParent.head.Usage = newParent.head.Usage.Plus(e.added.Charge)
	}
	for _, f := range forks {
		if f != newParent {
			f.base = newParent
		}
	}
	return newParent, moved
}

// index rebuilds the maps of sess.
func (sess *session) index() {
	sess.clients = map[skein.ClientID][]skein.Seq{}
	for i := range sess.own {
		sess.enter(&sess.own[i])
	}
}

// enter adds e, which is one of sess's own events, to the maps.
func (sess *session) enter(e *event) {
	if e.ClientID != "" {
		sess.clients[e.ClientID] = append(sess.clients[e.ClientID], e.Seq)
	}
}

// leave undoes enter for e, which was entered last.
func (sess *session) leave(e *event) {
	if e.ClientID != "" {
		seqs := sess.clients[e.ClientID]
		sess.clients[e.ClientID] = seqs[:len(seqs)-1]
	}
}
