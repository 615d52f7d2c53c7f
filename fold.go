package skein

import "cmp"

// Fold returns what events add up to as the session id: all of them in order,
// of a fork those of its parents first, as [Store.Events] yields them. It is
// [Session.Apply] with its own look-ups, so that a store can be held against
// it, or a session worked out without one.
//
// What a store knows and events do not say is left out: Revision, Binned,
// LockedBy. Requests that another session was charged for before are counted
// here once more, because Fold does not see them.
//
// The error wraps [ErrInvalid] if a payload does not fit its kind or a seq is
// not the next one, else it is one of [Session.Apply].
func Fold(id SessionID, events []Event) (Session, error) {
	t := NewTally(id)
	for _, e := range events {
		if _, err := t.Add(e); err != nil {
			return Session{}, err
		}
	}
	return t.Session(), nil
}

// A Tally does what [Fold] does with events that come one by one. Make one
// with [NewTally].
type Tally struct {
	id      SessionID
	session Session
	stand   Standing
	charged map[string]Usage // by request
}

// NewTally returns the tally of the session id without any event.
func NewTally(id SessionID) *Tally {
	return &Tally{id: id, charged: map[string]Usage{}}
}

// Session returns what the events added so far add up to.
func (t *Tally) Session() Session {
	s := t.session
	s.ID = t.id
	return s
}

// Add adds the next event and returns what it added. Errors as [Fold]; after
// one the tally is of no more use.
func (t *Tally) Add(e Event) (_ Added, err error) {
	if want := t.session.Last + 1; e.Seq != want {
		return Added{}, invalidf("event %d of kind %q: its place is %d", e.Seq, e.Kind, want)
	}
	defer Wrapf(&err, "event %d", e.Seq)
	facts, err := FactsOf(e)
	if err != nil {
		return Added{}, err
	}
	var p Prior
	if c := facts.Created; c != nil && c.Parent.IsFork() {
		if at := c.Parent.Seq; at != t.session.Last {
			return Added{}, invalidf("fork at %d of %s: it comes after event %d", at, c.Parent.Session, t.session.Last)
		}
		p.Base = t.session.Shown()
		t.session = Session{}
	}
	if facts.Message != nil {
		p.Message = t.stand.Joins(facts.Message.ID)
	}
	if facts.Charge != nil {
		p.Charged = t.charged[facts.Charge.Request]
	}
	added, err := t.session.Apply(&e, facts, p)
	if err == nil {
		err = t.stand.Add(e)
	}
	if added.Stale {
		t.session.Stand(t.stand.Shown())
	}
	if err == nil && facts.Charge != nil && facts.Charge.Request != "" {
		t.charged[facts.Charge.Request] = added.Counted
	}
	return added, err
}

// Shown returns what a fork at the end of s shows of it.
func (s *Session) Shown() Shown {
	return Shown{
		Messages: s.Messages, Turns: s.Turns, Undone: s.Undone, First: s.First, LastPrompt: s.LastPrompt,
		Project: s.Project, Cwd: s.Cwd, Agent: s.Agent, Model: s.Model,
	}
}

// Set puts in x what a created or changed event with the facts f sets, as
// [Session.Apply] does, and reports whether that is the model. Of a created
// event that is no fork's, all that was set before it is gone.
func (x *Shown) Set(f Facts) (model bool) {
	switch c := f.Created; {
	case f.Changed != nil:
		s := Session{Project: x.Project, Cwd: x.Cwd, Agent: x.Agent, Model: x.Model}
		s.change(f.Changed)
		x.Project, x.Cwd, x.Agent, x.Model = s.Project, s.Cwd, s.Agent, s.Model
		return f.Changed.Model != nil
	case c != nil:
		if !c.Parent.IsFork() {
			*x = Shown{}
		}
		x.Project, x.Cwd = cmp.Or(c.Project, x.Project), cmp.Or(c.Cwd, x.Cwd)
		x.Agent, x.Model = cmp.Or(c.Agent, x.Agent), cmp.Or(c.Model, x.Model)
		return c.Model != "" || !c.Parent.IsFork()
	}
	return false
}
