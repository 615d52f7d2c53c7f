package copilotvscode

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A log reads the changes to a session.
type log struct {
	*reader
	state *tree
	items int
	title string
	live  []*entry // the requests, in order
}

// An entry is a request that was read, and its events.
type entry struct {
	id    string
	first int // ordinal before its first event
	slots []slot
	at    map[string]int // name of a slot → its position
}

// A slot is one of the events of a request.
type slot struct {
	name    string
	kind    skein.Kind
	ordinal int
	sum     string // of the payload
	gone    bool
}

// Kinds of change.
const (
	initial = "0" // v is the whole
	set     = "1" // v replaces the value at k
	push    = "2" // v is added to the list at k, from i on
	remove  = "3" // the value at k is removed
)

// Read implements [interop.Reader]; the error says that the record is not a change
// that fits what there is.
func (l *log) Read(in interop.Line) (m interop.Made, err error) {
	o, err := loose.Parse(in.Body)
	if err != nil {
		return m, err
	}
	kind, steps := string(o.Get("kind")), o.List("k")
	from, to := 0, -1 // the requests that may have changed; -1 for all
	switch {
	case kind == initial:
		l.state = treeOf(o.Get("v"))
		l.head, _ = loose.Parse(l.state.raw) // a value that is not an object has no members
		if id := l.head.Str("sessionId"); id != "" {
			l.id = id
		}
	case l.state == nil:
		return m, errors.New("a change to nothing")
	default:
		if err := l.change(kind, steps, o); err != nil {
			return m, err
		}
		if loose.Str(steps[0]) != "requests" {
			to = 0
		} else if len(steps) > 1 {
			from = index(steps[1])
			to = from + 1
		}
	}
	c := &changes{l: l}
	c.title()
	if err := c.requests(from, to); err != nil {
		return m, err
	}
	m = l.made(in.Body, c.ps)
	m.Instead = kind == initial // of what the log had before it was rewritten
	return m, nil
}

// change applies a change to the state.
func (l *log) change(kind string, steps []jsontext.Value, o loose.Object) error {
	if len(steps) == 0 {
		return errors.New("a change without a place")
	}
	at := l.state
	last := len(steps) - 1
	if kind == push {
		last++
	}
	for _, s := range steps[:last] {
		at = at.find(s)
	}
	if at == nil {
		return fmt.Errorf("no place for a change: %.40q", steps)
	}
	switch kind {
	case set:
		return at.put(steps[last], treeOf(o.Get("v")))
	case remove:
		return at.put(steps[last], nil)
	case push:
		length := -1
		if o.Has("i") {
			length = index(o.Get("i"))
		}
		return at.push(length, o.List("v"))
	}
	return fmt.Errorf("kind %.20q of change", kind)
}

// made returns what a record makes: these events, and the session if they are
// its first.
func (l *log) made(body []byte, ps []change) (m interop.Made) {
	if len(ps) == 0 {
		return m
	}
	sum := short(string(body))
	l.seen[sum]++
	m.Key = skein.ClientID(fmt.Sprintf("vs:%s:%s:%d", short(l.id), sum, l.seen[sum]))
	if !l.begun {
		l.begun = true
		m.Begin = []interop.Begin{l.begin(ps[0].event.Time)}
	}
	for _, p := range ps {
		l.items++
		m.Items = append(m.Items, interop.Item{Event: p.event, Blobs: p.blobs, To: p.to})
	}
	return m
}
