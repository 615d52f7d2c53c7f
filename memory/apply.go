package memory

import (
	"fmt"

	"github.com/skein-dev/skein"
)

// check returns the facts of the events of b.
//
// The error wraps [skein.ErrInvalid]: something in b is wrong whatever the
// store holds.
func check(b *skein.Batch) (facts []skein.Facts, err error) {
	none := b.Session == "" && len(b.Events) == 0 && b.Import != nil && b.Import.File.Session == ""
	if err := b.Session.Check(); err != nil && !none {
		return nil, err
	}
	switch {
	case len(b.Events) == 0 && b.Import == nil:
		return nil, fmt.Errorf("%w batch for session %s: it has no events", skein.ErrInvalid, b.Session)
	case b.After < skein.Fresh:
		return nil, fmt.Errorf("%w batch for session %s: after %d", skein.ErrInvalid, b.Session, b.After)
	case b.Fence < 0:
		return nil, fmt.Errorf("%w batch for session %s: fence %d", skein.ErrInvalid, b.Session, b.Fence)
	}
	facts = make([]skein.Facts, len(b.Events))
	for i, e := range b.Events {
		if facts[i], err = skein.FactsOf(e); err != nil {
			return nil, err
		}
	}
	for _, blob := range b.Blobs {
		if err := blob.Check(); err != nil {
			return nil, err
		}
	}
	if b.Import != nil {
		return facts, checkImport(b.Import)
	}
	return facts, nil
}

// begin works out whose the new session is and what it shows of a parent.
func (t *tx) begin(sess *session, e *event) error {
	c := *e.facts.Created
	if c.User == "" {
		c.User = t.owner()
	}
	if !t.sees(c.User) {
		return fmt.Errorf("%w created event: user %q: the store is a view of user %q", skein.ErrInvalid, c.User, t.user)
	}
	e.facts.Created = &c
	p := c.Parent
	if !p.IsFork() || p.Seq < 1 || p.Session == sess.head.ID || sess.head.Last > 0 {
		return nil // nothing to show, or an error that Apply knows of
	}
	base, err := t.parent(p, c.User)
	if err != nil {
		return err
	}
	sess.base, sess.from = base, p.Seq
	return nil
}

// amend checks that what an amended event says can stand where it says.
func (t *tx) amend(sess *session, e *event) error {
	a := e.facts.Amended
	of := sess.at(a.Seq)
	if of == nil || a.Withdrawn || len(a.Payload) == 0 {
		return nil
	}
	f, err := skein.FactsOf(skein.Event{Kind: of.Kind, Payload: a.Payload})
	if err != nil {
		return fmt.Errorf("amended event %d: %w", a.Seq, err)
	}
	e.now = &f
	return nil
}

// prior looks up what came before e.
func (t *tx) prior(sess *session, e *event) (p skein.Prior) {
	if m := e.facts.Message; m != nil && m.ID != "" {
		p.Message = sess.stands().Joins(m.ID)
	}
	if c := e.facts.Charge; c != nil && c.Request != "" {
		p.Charged = t.requests[request{sess.head.User, c.Request}]
	}
	if e.facts.Created != nil && sess.base != nil {
		p.Base = sess.at(sess.from).after
	}
	return p
}

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

// checkKey looks whether another live session of the user has the key.
func (s *Store) checkKey(h *skein.Session) error {
	if s.keyTaken(h) && h.Binned == 0 {
		return fmt.Errorf("key %q: a session with it %w", h.Key, skein.ErrExists)
	}
	return nil
}

func (s *Store) keyTaken(h *skein.Session) bool {
	for _, other := range s.sessions {
		if o := &other.head; o.ID != h.ID && o.User == h.User && o.Key == h.Key && h.Key != "" && o.Binned == 0 {
			return true
		}
	}
	return false
}

// stands returns what stands of all that sess shows.
func (sess *session) stands() *skein.Standing {
	if sess.standing == nil {
		sess.standing = &skein.Standing{}
		for e := range sess.shown(sess.head.Last) {
			_ = sess.standing.Add(e.Event) //nolint:errcheck // the facts were worked out of the same payload
		}
	}
	return sess.standing
}

// take adds the last of sess's own events to what stands.
func (sess *session) take(e *event) {
	if sess.standing != nil {
		_ = sess.standing.Add(e.Event) //nolint:errcheck // as above
	}
	if e.added.Stale {
		sess.head.Stand(sess.stands().Shown())
	}
	e.after = sess.head.Shown()
}
