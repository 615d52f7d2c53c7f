package skein

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Fold computes the session id from its events: all of them in order, for a fork
// those of its parents first, as [Store.Events] yields them. It is [Session.Apply]
// with its own lookups, for checking a store against it or computing a session
// without a store.
//
// Revision, Binned and LockedBy, which only a store knows, are left out. Requests
// that another session was charged for before are counted again, because Fold does
// not see that session.
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

// A Tally is a [Fold] of events that are added one by one. Make one with
// [NewTally].
type Tally struct {
	id      SessionID
	session Session
	stand   LiveMessages
	charged map[string]Usage // by request
}

// NewTally returns the tally of the session id without events.
func NewTally(id SessionID) *Tally {
	return &Tally{id: id, charged: map[string]Usage{}}
}

// Session returns the session that results from the events added so far.
func (t *Tally) Session() Session {
	s := t.session
	s.ID = t.id
	return s
}

// Add adds the next event and returns what it added. Errors as [Fold]; after
// an error the tally must not be used.
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
		Project: s.Project, Cwd: s.Cwd, Checkout: s.Checkout, Agent: s.Agent, Model: s.Model,
	}
}

// Set sets in x what a created or changed event with the facts f sets, as
// [Session.Apply] does, and reports whether that includes the model. A created
// event that does not begin a fork resets x first.
func (x *Shown) Set(f Facts) (model bool) {
	switch c := f.Created; {
	case f.Changed != nil:
		s := Session{Project: x.Project, Cwd: x.Cwd, Checkout: x.Checkout, Agent: x.Agent, Model: x.Model}
		s.change(f.Changed)
		x.Project, x.Cwd, x.Checkout, x.Agent, x.Model = s.Project, s.Cwd, s.Checkout, s.Agent, s.Model
		return f.Changed.Model != nil
	case c != nil:
		if !c.Parent.IsFork() {
			*x = Shown{}
		}
		x.Checkout = x.checkout(c)
		x.Project, x.Cwd = cmp.Or(c.Project, x.Project), cmp.Or(c.Cwd, x.Cwd)
		x.Agent, x.Model = cmp.Or(c.Agent, x.Agent), cmp.Or(c.Model, x.Model)
		return c.Model != "" || !c.Parent.IsFork()
	}
	return false
}

// checkout returns what is checked out where a fork of x begins.
func (x *Shown) checkout(c *Created) Checkout {
	switch {
	case c.Checkout == nil:
		return x.Checkout
	case c.Project != "" && c.Project != x.Project:
		return *c.Checkout
	}
	return x.Checkout.then(*c.Checkout)
}

// A LiveMessages determines from events which messages of a session are live, that
// is, neither taken back nor withdrawn. These are the messages that
// [Session.Messages] counts and that [Entries] does not mark. Its zero value is
// ready to use.
type LiveMessages struct{ folder EntryBuilder }

// Add adds the event e, whose seq must be greater than those before. Only said,
// rewound and amended events matter. If not all of them are added, all rewinds must
// be, and of each message either all pieces and amendments or none.
//
// The error wraps [ErrInvalid]: a payload that does not fit its kind.
func (s *LiveMessages) Add(e Event) error {
	s.folder.light = true
	return s.folder.Add(e)
}

// Joins reports whether the next event, if it is a said event with this message ID,
// is a further piece of a live message.
func (s *LiveMessages) Joins(id string) bool {
	_, ok := s.folder.joins(id)
	return ok
}

// Shown returns Messages, Turns, First and LastPrompt of the live messages.
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

// A liveMessage is a message that was said.
type liveMessage struct {
	typed, stands bool
	words         string // of the first live piece
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

// A liveLine determines which events are in the context after the last one: all
// that were not rewound. It is computed from the rewound events alone.
type liveLine struct {
	rewinds []rewind // in order of at
}

type rewind struct{ at, to Seq }

// add adds a rewind: the event at goes back to the seq to. A rewind that does not
// name an earlier event has no effect.
func (l *liveLine) add(at, to Seq) {
	l.rewinds = append(l.rewinds, rewind{at, max(0, min(to, at-1))})
}

// A SeqRange is the seqs after From, up to and including To.
type SeqRange struct{ From, To Seq }

// OnLine returns the ranges of a session, up to the seq last, that are in the
// context, in order: all that was not rewound. events are in order and must include
// all rewound events up to last; others do not matter.
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

// Unrewound returns the events that are in the context, without the rewinds
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

// spans returns the ranges of seqs on the line that ends at last, in order.
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

// on reports whether seq is on the line that continues after the last event.
func (l *liveLine) on(seq Seq) bool {
	if n := len(l.rewinds); n == 0 || seq > l.rewinds[n-1].at {
		return true
	}
	return within(l.spans(math.MaxInt64), seq)
}

// within reports whether seq is in one of spans, which are in order.
func within(spans []SeqRange, seq Seq) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].To >= seq })
	return i < len(spans) && spans[i].From < seq
}

// A TurnPolicy says which messages begin a turn.
type TurnPolicy int

// The policies.
const (
	OnlyTyped        TurnPolicy = iota // what a person typed: turns as [Entry].Turn numbers them
	EveryUserMessage                   // every user message that is more than tool results, including those that programs inserted
)

// A Turn is a user message and everything up to the next one.
type Turn struct {
	N       int     // 1 for the first; 0 for what comes before it
	First   Seq     // of its first event
	Last    Seq     // of its last message's last event, before the next turn: a fork there keeps the whole turn
	Entries []Entry // at least one; a slice of the argument of Turns
	Rewound bool    // all of it was rewound
}

// Turns splits entries, which are a session's in order, into turns, including those
// that were rewound: with OnlyTyped, a turn's number never changes, whatever
// happens to the session later.
//
// A fork at turn N is a fork at its Last: it shows everything up to the end of the
// turn, without a rewind that came after it.
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

// asks reports whether m is a user message that is more than tool results.
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
// The error wraps [ErrNotFound] and says which turns exist.
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
