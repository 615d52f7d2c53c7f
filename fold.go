package skein

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

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
	stand   LiveMessages
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
		return Added{}, Invalidf("event %d of kind %q: its place is %d", e.Seq, e.Kind, want)
	}
	defer Wrapf(&err, "event %d", e.Seq)
	facts, err := FactsOf(e)
	if err != nil {
		return Added{}, err
	}
	var p Prior
	if c := facts.Created; c != nil && c.Parent.IsFork() {
		if at := c.Parent.Seq; at != t.session.Last {
			return Added{}, Invalidf("fork at %d of %s: it comes after event %d", at, c.Parent.Session, t.session.Last)
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
		t.session.SetShown(t.stand.Shown())
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

// A LiveMessages tells from events which messages of a session stand: what was
// neither taken back nor withdrawn. That is what [Session.Messages] counts, and
// what [Entries] does not mark. Its zero value is ready.
type LiveMessages struct{ folder EntryBuilder }

// Add takes in the event e, whose seq must be greater than those before. Said,
// rewound and amended ones matter. Where not all of them are added, there must
// be all rewinds, and of each message all pieces and amendments or none.
//
// The error wraps [ErrInvalid]: a payload that does not fit its kind.
func (s *LiveMessages) Add(e Event) error {
	s.folder.light = true
	return s.folder.Add(e)
}

// Joins reports whether a said event that comes next, with this message ID, is
// a further piece of a message that stands.
func (s *LiveMessages) Joins(id string) bool {
	_, ok := s.folder.joins(id)
	return ok
}

// Shown returns what stands: Messages, Turns, First and LastPrompt.
func (s *LiveMessages) Shown() (x Shown) {
	for _, m := range s.messages() {
		if !m.stands {
			continue
		}
		x.Messages++
		if m.typed {
			x.Turns++
			x.LastPrompt = cmp.Or(m.words, x.LastPrompt)
			x.First = cmp.Or(x.First, x.LastPrompt)
		}
	}
	return x
}

// A liveMessage message is one that was said.
type liveMessage struct {
	typed, stands bool
	words         string // of the first piece that stands
}

// messages returns the messages in order of their first events.
func (s *LiveMessages) messages() []liveMessage {
	f := &s.folder
	spans := f.line.spans(math.MaxInt64)
	all := make([]liveMessage, 0, len(f.said))
	at := make([]int, len(f.said)) // first piece → index in all
	for i := range f.said {
		p := &f.said[i]
		if p.first == i {
			at[i] = len(all)
			all = append(all, liveMessage{typed: p.typed})
		}
		m := &all[at[p.first]]
		if within(spans, p.seq) && !p.gone && !m.stands {
			m.stands, m.words = true, p.message.Words()
		}
	}
	return all
}

// inShort returns what a LiveMessages keeps of m: its first words.
func inShort(m *Message) Message {
	return Message{ID: m.ID, Parts: []Part{TextPart(m.Prompt())}}
}

// A liveLine tells which events lie in the context after the last one: all but
// what was rewound. It is worked out from the rewound events alone.
type liveLine struct {
	rewinds []rewind // in order of at
}

type rewind struct{ at, to Seq }

// add takes in that the event at seq goes back to the seq to. One that names
// no earlier event goes nowhere.
func (l *liveLine) add(at, to Seq) {
	l.rewinds = append(l.rewinds, rewind{at, max(0, min(to, at-1))})
}

// A SeqRange is the places after From, up to and with To.
type SeqRange struct{ From, To Seq }

// OnLine returns the ranges of a session, up to its event at last, that lie
// in the context, in order: all but what was rewound. Of events, which are in
// order, only the rewound ones up to there matter, and these are needed all.
//
// The error wraps [ErrInvalid]: a payload that does not fit its kind.
func OnLine(events []Event, last Seq) ([]SeqRange, error) {
	var l liveLine
	for _, e := range events {
		if e.Kind == KindRewound && e.Seq <= last {
			to, err := Decode[Rewound](e)
			if err != nil {
				return nil, err
			}
			l.add(e.Seq, to.To)
		}
	}
	return l.spans(last), nil
}

// Unrewound returns the events that lie in the context, without the rewinds
// themselves. events are a session's, in order.
//
// The error wraps [ErrInvalid]: a payload that does not fit its kind.
func Unrewound(events []Event) ([]Event, error) {
	if len(events) == 0 {
		return nil, nil
	}
	spans, err := OnLine(events, events[len(events)-1].Seq)
	if err != nil {
		return nil, err
	}
	var on []Event
	for _, e := range events {
		if e.Kind != KindRewound && within(spans, e.Seq) {
			on = append(on, e)
		}
	}
	return on, nil
}

// spans returns the places on the line that ends at last, in order.
func (l *liveLine) spans(last Seq) []SeqRange {
	var back []SeqRange
	for last > 0 {
		i := sort.Search(len(l.rewinds), func(i int) bool { return l.rewinds[i].at > last })
		if i == 0 {
			back = append(back, SeqRange{0, last})
			break
		}
		r := l.rewinds[i-1]
		if last > r.at {
			back = append(back, SeqRange{r.at, last})
		}
		last = r.to
	}
	slices.Reverse(back)
	return back
}

// on reports whether seq lies on the line that goes on after the last event.
func (l *liveLine) on(seq Seq) bool {
	if n := len(l.rewinds); n == 0 || seq > l.rewinds[n-1].at {
		return true
	}
	return within(l.spans(math.MaxInt64), seq)
}

// within reports whether seq lies in one of spans, which are in order.
func within(spans []SeqRange, seq Seq) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].To >= seq })
	return i < len(spans) && spans[i].From < seq
}

// A TurnPolicy says which messages begin a turn.
type TurnPolicy int

// The policies.
const (
	OnlyTyped        TurnPolicy = iota // what a person typed: turns as [Entry].Turn numbers them
	EveryUserMessage                   // every message of the user's role that is more than tools' results, put in by programs too
)

// A Turn is a user message and everything up to the next one.
type Turn struct {
	N       int     // 1 for the first; 0 for what stands before it
	First   Seq     // of its first event
	Last    Seq     // of its last message's last event, before the next turn: where to fork to keep it all
	Entries []Entry // at least one; part of what Turns was given
	Rewound bool    // all of it was rewound
}

// Turns cuts entries, which are a session's in order, into turns. Turns that
// were rewound are among them: with OnlyTyped a turn's number never changes,
// whatever happens to the session later.
//
// A fork at turn N is one at its Last: it shows everything up to the end of
// the turn, without a rewind that came after it.
func Turns(entries []Entry, p TurnPolicy) (turns []Turn) {
	for i := range entries {
		e := &entries[i]
		n := e.Turn
		if p == EveryUserMessage {
			n = 0
			if len(turns) > 0 {
				n = turns[len(turns)-1].N
			}
			if e.Message.asks() {
				n++
			}
		}
		if len(turns) == 0 || turns[len(turns)-1].N != n {
			turns = append(turns, Turn{N: n, First: e.Seq, Rewound: true, Entries: entries[i:i:len(entries)]})
		}
		t := &turns[len(turns)-1]
		t.Entries = t.Entries[:len(t.Entries)+1]
		t.Last = max(t.Last, e.End)
		t.Rewound = t.Rewound && e.Rewound
	}
	for i := range len(turns) - 1 {
		turns[i].Last = min(turns[i].Last, turns[i+1].First-1)
		turns[i].Entries = turns[i].Entries[:len(turns[i].Entries):len(turns[i].Entries)]
	}
	return turns
}

// asks reports whether m is a user message that holds more than tools'
// results.
func (m *Message) asks() bool {
	if m.Role != RoleUser {
		return false
	}
	for _, p := range m.Parts {
		if p.Kind != PartResult {
			return true
		}
	}
	return false
}

// TurnAt returns the turn with number n.
//
// The error wraps [ErrNotFound] and says which turns there are.
func TurnAt(turns []Turn, n int) (Turn, error) {
	for _, t := range turns {
		if t.N == n {
			return t, nil
		}
	}
	if len(turns) == 0 {
		return Turn{}, fmt.Errorf("turn %d %w: there is none", n, ErrNotFound)
	}
	return Turn{}, fmt.Errorf("turn %d %w: there are %d to %d", n, ErrNotFound, turns[0].N, turns[len(turns)-1].N)
}
