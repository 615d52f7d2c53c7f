package transfer

import (
	"context"
	"errors"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lenient"
)

// A Sending says what to bring from one store to another that both go on.
type Sending struct {
	Sessions []skein.SessionID // these, what they hang on and what hangs on them; nil for all that are not in the bin
	Dry      bool              // only look
	Program  string            // who sends, for the forks that it makes
	Progress func(Progress)    // told now and then; nil for nobody
}

// What became of a session.
const (
	Same   = "same"   // both have all of it
	Newer  = "newer"  // the other store has more; nothing was sent
	New    = "new"    // the other store did not have it
	Grown  = "grown"  // it went on there, with what was sent
	Forked = "forked" // both had gone on: what was sent is a fork there, or goes on in one
	Gone   = "gone"   // it was deleted there, or what it is a fork of; nothing was sent
	Failed = "failed"
)

// An Outcome is what became of one session.
type Outcome struct {
	Session skein.SessionID // in the store that it came from
	To      skein.SessionID // in the other one: another than Session if it forked, or its ID was taken
	What    string
	Events  int  // that were sent
	Blotted bool // what was scrubbed in one store stands in the other

	// Damaged says what of it could not be read in the first store, in words: events,
	// of which what was sent says so in their place, and blobs, which were not sent.
	Damaged []string

	Err error // why it failed
}

// Send brings to the second store what the first one has and it lacks. A
// session is the same one in both by its ID. Where both went on, the second
// keeps its line, and the first one's becomes a fork of it there, always the
// same one, in which it then goes on; the other way round that fork is known to
// be the session's line. User and, where another session has it, key stay
// behind. A session whose ID another one has there gets another ID, by which the
// other way round it is known, too.
//
// It goes around what is damaged in either store. What stands in for an event is taken
// for the event that it stands in for, in both.
//
// It can be run again after it was interrupted anywhere. told is called with
// each outcome, parents first; one session's failure is no other's. Errors are
// those of reading what there is, and of ctx.
func Send(ctx context.Context, from, to skein.Store, o Sending, told func(Outcome) error) error {
	s := &sender{from: lenient.Store(from, nil), to: lenient.Store(to, nil), o: o, sessions: map[skein.SessionID]skein.Session{}, there: map[skein.SessionID]skein.Session{}, routes: map[skein.SessionID]route{}, gone: map[skein.SessionID]bool{}, taken: map[skein.SessionID]bool{}, tried: map[skein.SessionID]bool{}, failed: map[skein.SessionID]error{}, told: told}
	order, err := s.pick(ctx)
	if err != nil {
		return err
	}
	for i, id := range order {
		if err := s.session(ctx, id); err != nil {
			return err
		}
		if o.Progress != nil {
			o.Progress(Progress{"sending", i + 1, len(order), s.sent})
		}
	}
	return nil
}

// A sender is one run of Send.
type sender struct {
	from, to skein.Store
	o        Sending
	told     func(Outcome) error
	sessions map[skein.SessionID]skein.Session // of the first store
	there    map[skein.SessionID]skein.Session // of the second, where listed
	listed   bool
	routes   map[skein.SessionID]route // of those that were sent, or looked at
	gone     map[skein.SessionID]bool  // what was deleted there
	taken    map[skein.SessionID]bool  // IDs that others have there
	tried    map[skein.SessionID]bool  // what became of it was told, or is going to be
	failed   map[skein.SessionID]error // why it was not sent
	sent     int                       // events
}

// pick returns which sessions to send, and lists what there is.
func (s *sender) pick(ctx context.Context) ([]skein.SessionID, error) {
	if s.o.Sessions != nil {
		return s.related(ctx)
	}
	var order []skein.SessionID
	for x, err := range s.from.Sessions(ctx, skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			return nil, err
		}
		s.sessions[x.ID] = x
		if x.Messages > 0 || x.Turns > 0 || x.Last > x.Base+1 {
			order = append(order, x.ID)
		}
	}
	for _, bin := range []bool{false, true} {
		for x, err := range s.to.Sessions(ctx, skein.Filter{IncludeEmpty: true, Bin: bin}) {
			if err != nil {
				return nil, err
			}
			s.there[x.ID] = x
		}
	}
	s.listed = true
	return order, nil
}

// related returns the sessions that were named, and all that hangs on them.
func (s *sender) related(ctx context.Context) (order []skein.SessionID, err error) {
	for todo := s.o.Sessions; len(todo) > 0; {
		id := todo[0]
		todo = todo[1:]
		if _, ok := s.sessions[id]; ok {
			continue
		}
		x, err := s.from.Session(ctx, id)
		if err != nil {
			return nil, err
		}
		s.sessions[id] = x
		order = append(order, id)
		for c, err := range s.from.Sessions(ctx, skein.Filter{Parent: id, IncludeEmpty: true}) {
			if err != nil {
				return nil, err
			}
			todo = append(todo, c.ID)
		}
	}
	return order, nil
}

// of returns a session of the first store, and false if there is none.
func (s *sender) of(ctx context.Context, id skein.SessionID) (skein.Session, bool, error) {
	if x, ok := s.sessions[id]; ok {
		return x, true, nil
	}
	x, err := s.from.Session(ctx, id)
	if errors.Is(err, skein.ErrNotFound) {
		return x, false, nil
	}
	if err == nil {
		s.sessions[id] = x
	}
	return x, err == nil, err
}

// at returns a session of the second store, and false if there is none.
func (s *sender) at(ctx context.Context, id skein.SessionID) (skein.Session, bool, error) {
	if s.listed {
		x, ok := s.there[id]
		return x, ok, nil
	}
	x, err := s.to.Session(ctx, id)
	if errors.Is(err, skein.ErrNotFound) {
		return x, false, nil
	}
	return x, err == nil, err
}

// session sends one, unless that was done, after what it hangs on.
func (s *sender) session(ctx context.Context, id skein.SessionID) error {
	if s.tried[id] {
		return nil
	}
	s.tried[id] = true // it cannot be its own ancestor
	x, ok, err := s.of(ctx, id)
	if err != nil || !ok {
		return err
	}
	if p := x.Parent; p != nil {
		if _, known := s.sessions[p.Session]; known || p.Why == skein.Fork {
			if err := s.session(ctx, p.Session); err != nil {
				return err
			}
		}
	}
	out := Outcome{Session: id, To: id}
	for try := 0; ; try++ {
		err = s.line(ctx, x, &out)
		// Another wrote at the same time, or nobody knows: look again.
		again := errors.Is(err, skein.ErrConflict) || errors.Is(err, skein.ErrUnknown)
		if !again || try == 3 || ctx.Err() != nil {
			break
		}
		if err := s.refresh(ctx, out.To); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case errors.Is(err, skein.ErrDeleted):
		out.What, s.gone[id] = Gone, true
	case err != nil:
		out.What, out.Err, s.failed[id] = Failed, err, err
	}
	slices.Sort(out.Damaged) // what was tried again was told again
	out.Damaged = slices.Compact(out.Damaged)
	s.sent += out.Events
	return s.told(out)
}

// refresh looks again what the second store has of a session.
func (s *sender) refresh(ctx context.Context, id skein.SessionID) error {
	x, err := s.to.Session(ctx, id)
	switch {
	case errors.Is(err, skein.ErrNotFound):
		delete(s.there, id)
		return nil
	case err == nil:
		s.there[id] = x
	}
	return err
}
