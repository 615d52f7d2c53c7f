package memory

import "github.com/skein-dev/skein"

// charge adds u to what was counted for the request of e.
func (s *Store) charge(user skein.User, e *event, u skein.Usage) {
	c := e.facts.Charge
	if c == nil || c.Request == "" {
		return
	}
	k := request{user, c.Request}
	if s.requests[k] = s.requests[k].Plus(u); s.requests[k] == (skein.Usage{}) {
		delete(s.requests, k)
	}
}

// keyTaken reports whether another live session of the user has the key.
func (s *Store) keyTaken(h *skein.Session) bool {
	for _, other := range s.sessions {
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
	if e.added.Stale {
		sess.head.SetShown(sess.stands().Shown())
	}
	e.after = sess.head.Shown()
}
