package transfer

import (
	"context"
	"errors"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lenient"
)

// A Sending says what to send from one store to another when both go on.
type Sending struct {
	Sessions []skein.SessionID // these, their ancestors and descendants; nil for all that are not in the bin
	Dry      bool              // only compare
	Program  string            // the sender's name, for the forks that it makes
	Progress func(Progress)    // called now and then; may be nil
}

// What became of a session.
const (
	Same   = "same"   // both have all of it
	Newer  = "newer"  // the other store has more; nothing was sent
	New    = "new"    // the other store did not have it
	Grown  = "grown"  // it went on there, with what was sent
	Forked = "forked" // both had gone on: what was sent is a fork there, or continues one
	Gone   = "gone"   // it was deleted there, or its parent was; nothing was sent
	Failed = "failed"
)

// Sent is what happened to one session.
type Sent struct {
	Session skein.SessionID // in the store that it came from
	To      skein.SessionID // in the other one: differs from Session if it forked, or its ID was taken
	What    string
	Events  int  // that were sent
	Blotted bool // what was scrubbed in one store is still in the other
	Keyless bool // its key was not sent, as another session has it there

	// Damaged says what of it could not be read in the first store, in words: events,
	// for which placeholders were sent, and blobs, which were not sent.
	Damaged []string

	Err error // why it failed
}

// Send copies to the second store what the first one has and the second lacks. A
// session is identified by its ID in both. If both went on, the second keeps its
// line, and the first one's becomes a fork of it there, always the same one, in
// which it then continues; in the other direction that fork is recognized as the
// session's line. The user is not sent, nor the key if another session has it. A
// session whose ID another session has there gets another ID, by which it is
// recognized in the other direction, too.
//
// Send skips what is damaged in either store. The placeholder of an event counts as
// the event itself, in both.
//
// Send can be run again after an interruption at any point. told is called with
// each outcome, parents first; a session that fails does not affect the others.
// Errors are those of reading the stores, and of ctx.
func Send(ctx context.Context, from, to skein.Store, o Sending, told func(Sent) error) error {
	s := &sender{from: lenient.Store(from, nil), to: lenient.Store(to, nil), o: o, sessions: map[skein.SessionID]skein.Session{}, there: map[skein.SessionID]skein.Session{}, routes: routes{}, gone: map[skein.SessionID]bool{}, taken: map[skein.SessionID]bool{}, tried: map[skein.SessionID]bool{}, failed: map[skein.SessionID]error{}, told: told}
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
	told     func(Sent) error
	sessions map[skein.SessionID]skein.Session // of the first store
	there    map[skein.SessionID]skein.Session // of the second, where listed
	listed   bool
	routes                             // of sessions that were sent, or compared
	gone     map[skein.SessionID]bool  // what was deleted there
	taken    map[skein.SessionID]bool  // IDs that other sessions have there
	tried    map[skein.SessionID]bool  // sessions whose outcome was reported, or will be
	failed   map[skein.SessionID]error // why it was not sent
	sent     int                       // events
	depth    int                       // how many sessions are being sent, each started by the one before
	outcomes []Sent                    // that are not reported yet
}

// pick returns the sessions to send, and lists both stores.
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
	var err error
	_, s.there, err = listing(ctx, s.to)
	s.listed = true
	return order, err
}

// related returns the sessions that were named, with their ancestors and descendants.
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

// session sends a session, unless that was done, after its ancestors.
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
	s.depth++
	defer func() { s.depth-- }()
	before := len(s.outcomes)
	out := Sent{Session: id, To: id}
	for try := 0; ; try++ {
		err = s.line(ctx, x, &out)
		// Somebody else wrote at the same time, or the outcome is unknown: look again.
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
	if err != nil {
		delete(s.routes, id)
	}
	switch {
	case errors.Is(err, skein.ErrDeleted):
		out.What, s.gone[id] = Gone, true
	case err != nil:
		out.What, out.Err, s.failed[id] = Failed, err, err
	}
	slices.Sort(out.Damaged) // what was tried again was reported again
	out.Damaged = slices.Compact(out.Damaged)
	s.sent += out.Events
	s.outcomes = slices.Insert(s.outcomes, before, out)
	if s.depth > 1 {
		return nil // the session that started this one is reported first
	}
	for _, out := range s.outcomes {
		if err := s.told(out); err != nil {
			return err
		}
	}
	s.outcomes = nil
	return nil
}

// refresh reads again what the second store has of a session.
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
