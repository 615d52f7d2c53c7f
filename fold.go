package skein

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
	f := folding{said: map[string]bool{}, charged: map[string]Usage{}}
	for i, e := range events {
		if want := Seq(i + 1); e.Seq != want {
			return Session{}, invalidf("event %d of kind %q: its place is %d", e.Seq, e.Kind, want)
		}
		if err := f.add(e); err != nil {
			return Session{}, err
		}
	}
	f.session.ID = id
	return f.session, nil
}

type folding struct {
	session Session
	said    map[string]bool  // IDs of messages
	charged map[string]Usage // by request
}

func (f *folding) add(e Event) (err error) {
	defer Wrapf(&err, "event %d", e.Seq)
	facts, err := FactsOf(e)
	if err != nil {
		return err
	}
	var p Prior
	if c := facts.Created; c != nil && c.Parent != nil && c.Parent.Why == Fork {
		if at := c.Parent.Seq; at != f.session.Last {
			return invalidf("fork at %d of %s: it comes after event %d", at, c.Parent.Session, f.session.Last)
		}
		p.Base = f.session.Shown()
		f.session = Session{}
	}
	if m := facts.Message; m != nil && m.ID != "" {
		p.Message, f.said[m.ID] = f.said[m.ID], true
	}
	if facts.Charge != nil {
		p.Charged = f.charged[facts.Charge.Request]
	}
	added, err := f.session.Apply(&e, facts, p)
	if err == nil && facts.Charge != nil && facts.Charge.Request != "" {
		f.charged[facts.Charge.Request] = added.Counted
	}
	return err
}

// Shown returns what a fork at the end of s shows of it.
func (s *Session) Shown() Shown {
	return Shown{
		Messages: s.Messages, Turns: s.Turns, First: s.First,
		Project: s.Project, Cwd: s.Cwd, Agent: s.Agent, Model: s.Model,
	}
}
