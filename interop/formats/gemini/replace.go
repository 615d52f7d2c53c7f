package gemini

import (
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// An entry is a message of the conversation, and its events.
type entry struct {
	id    string
	first int // ordinal before its first event
	slots []slot
	at    map[string]int // name and kind of a slot → its position
	head  bool           // it is in the summary of a compaction, or elsewhere
	opens bool           // it is the context that the program sends at its start
}

// A slot is one of the events of a message.
type slot struct {
	name    string
	kind    skein.Kind
	ordinal int
	sum     string // of the payload
	gone    bool
}

// A change collects what one record makes.
type change struct {
	r  *reader
	ps []piece
}

// last returns the ordinal of the last event.
func (c *change) last() int { return c.r.items + len(c.ps) }

func (c *change) add(p piece) int {
	c.ps = append(c.ps, p)
	return c.last()
}

// begin adds a new message.
func (c *change) begin(id string, o loose.Object, ps []piece) {
	e := &entry{id: id, first: c.last(), opens: opens(o)}
	c.r.live = append(c.r.live, e)
	c.r.byID[id] = e
	c.grow(e, ps)
}

// grow adds what is new in a message, and amends what has changed.
func (c *change) grow(e *entry, ps []piece) {
	here := map[string]int{}
	if e.at == nil {
		e.at = map[string]int{}
	}
	for _, p := range ps {
		if here[p.slot]++; here[p.slot] > 1 { // a repeated call
			p.slot = fmt.Sprintf("%s#%d", p.slot, here[p.slot])
			here[p.slot]++
		}
		sum := short(string(p.event.Payload))
		name := p.slot + "\x00" + string(p.event.Kind)
		i, there := e.at[name]
		switch {
		case !there:
			e.at[name] = len(e.slots)
			e.slots = append(e.slots, slot{p.slot, p.event.Kind, c.add(p), sum, false})
			continue
		case e.slots[i].sum == sum && !e.slots[i].gone:
			continue
		case p.event.Kind == skein.KindSaid || p.event.Kind == skein.KindNoted:
			c.add(amended(e.slots[i].ordinal, p, skein.Amended{Payload: p.event.Payload}))
		default: // the newest counts
			e.slots[i].ordinal = c.add(p)
		}
		e.slots[i].sum, e.slots[i].gone = sum, false
	}
	for i, s := range e.slots {
		if here[s.name] == 0 {
			c.withdraw(&e.slots[i])
		}
	}
}

// withdraw removes a message from the conversation.
func (c *change) withdraw(s *slot) {
	if !s.gone && (s.kind == skein.KindSaid || s.kind == skein.KindNoted) {
		s.gone = true
		c.add(amended(s.ordinal, piece{}, skein.Amended{Withdrawn: true}))
	}
}

func amended(to int, p piece, a skein.Amended) piece {
	return piece{event: skein.NewEvent(skein.KindAmended, p.event.Time, a), blobs: p.blobs, to: to}
}

// back removes the messages from the i-th on from the conversation.
func (c *change) back(i int) {
	r := c.r
	to := 0
	if i > 0 {
		to = r.live[i].first
	}
	gone := map[string]bool{}
	for _, e := range r.live[i:] {
		delete(r.byID, e.id)
		gone[e.id] = true
	}
	for call, of := range r.calls {
		if gone[of] {
			delete(r.calls, call)
		}
	}
	r.live = r.live[:i:i]
	c.add(piece{event: skein.NewEvent(skein.KindRewound, 0, skein.Rewound{}), to: to})
}

// update reads a record of a message: the first one, or one that replaces it.
func (r *reader) update(body []byte, o loose.Object) interop.Made {
	id := loose.Str(o.Get("id"))
	c := &change{r: r}
	ps := r.pieces(id, o, body)
	if e := r.byID[id]; e != nil {
		c.grow(e, ps)
	} else {
		c.begin(id, o, ps)
	}
	return r.make(r.key(id), c.ps...)
}

// rewind reads that a message and all after it were removed; all messages, if there
// is no such message.
func (r *reader) rewind(body []byte, id string) interop.Made {
	i := max(0, slices.IndexFunc(r.live, func(e *entry) bool { return e.id == id }))
	if i == len(r.live) {
		return interop.Made{}
	}
	c := &change{r: r}
	c.back(i)
	return r.make(r.key(string(body)), c.ps...)
}

// set reads what changed in the session: a title, or the messages. Its time is
// ignored.
func (r *reader) set(body []byte, o loose.Object) interop.Made {
	c := &change{r: r}
	if t := r.titled(o); t != nil {
		c.add(*t)
	}
	if list := o.List("messages"); len(list) > 0 {
		c.replace(list)
	}
	if rest := o.Without("sessionId", "lastUpdated", "summary", "messages"); len(rest) > len("{}") {
		c.add(piece{event: noted("set", "", 0, rest)})
	}
	return r.make(r.key(string(body)), c.ps...)
}
