package memory

import "github.com/skein-dev/skein"

// charge adds u to what was counted for the request of e.
func (d *data) charge(user skein.User, e *event, u skein.Usage) {
	c := e.facts.Charge
	if c == nil || c.Request == "" {
		return
	}
	k := request{user, c.Request}
	if d.requests[k] = d.requests[k].Plus(u); d.requests[k] == (skein.Usage{}) {
		delete(d.requests, k)
	}
}

// keyTaken reports whether another live session of the user has the key.
func (d *data) keyTaken(h *skein.Session) bool {
	for _, other := range d.sessions {
		if o := &other.head; o.ID != h.ID && o.User == h.User && o.Key == h.Key && h.Key != "" && o.Binned == 0 {
			return true
		}
	}
	return false
}

// stands returns the live messages of what sess shows.
func (sess *session) stands() *skein.LiveMessages {
	if sess.standing == nil {
		sess.standing = &skein.LiveMessages{}
		for e := range sess.shown(sess.head.Last) {
			_ = sess.standing.Add(e.Event) //nolint:errcheck // the facts were worked out of the same payload
		}
	}
	return sess.standing
}

// take adds e, the last of sess's own events, to the live messages.
func (sess *session) take(e *event) {
	if sess.standing != nil {
		_ = sess.standing.Add(e.Event) //nolint:errcheck // as above
	}
	sess.stale = sess.stale || e.added.Stale
	e.after, e.stale = sess.head.Shown(), sess.stale
}

// settle brings what sess says of itself up to date with its last event: once a
// batch, since it takes as long as the session is.
func (sess *session) settle() {
	if sess.stale {
		sess.head.SetShown(sess.stands().Shown())
		e := &sess.own[len(sess.own)-1]
		sess.stale, e.stale, e.after = false, false, sess.head.Shown()
	}
}

// showsAt returns what a fork of sess at the event seq shows.
func (sess *session) showsAt(seq skein.Seq) skein.Shown {
	x := sess.at(seq).after
	if !sess.at(seq).stale {
		return x
	}
	var live skein.LiveMessages
	for e := range sess.shown(seq) {
		_ = live.Add(e.Event) //nolint:errcheck // as in stands
	}
	s := skein.Session{Messages: x.Messages, Turns: x.Turns, Undone: x.Undone}
	s.SetShown(live.Shown())
	x.Messages, x.Turns, x.First, x.LastPrompt, x.Undone = s.Messages, s.Turns, s.First, s.LastPrompt, s.Undone
	return x
}
