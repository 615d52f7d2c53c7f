package price

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/skein-dev/skein"
)

// A Recount works out from the events themselves what was used and what it cost: each
// request once, at the prices of its own time. It needs neither the sums that a store
// keeps nor the price of a whole day.
type Recount struct {
	table        *List
	since, until skein.Time
	requests     map[requestName]*requestCount
	sums         map[RecountKey]*RecountSum
	sharing      map[skein.SessionID]bool // mention a request that another session mentions, too
}

// A RecountKey is what a sum of a [Recount] is about.
type RecountKey struct {
	Session         skein.SessionID
	Provider, Model string
}

// A RecountSum is what a session used of a model.
type RecountSum struct {
	RecountKey
	Sum
	NoPrice bool // the model has none: the cost is what was recorded
}

type requestName struct {
	user skein.User
	name string
}

// A requestCount is what is known of one request so far.
type requestCount struct {
	RecountKey
	at      skein.Time
	tier    skein.Tier
	several bool
	usage   skein.Usage
}

// NewRecount returns a Recount at the prices of t, of the usage since a time and until
// another, to the quarter hour; 0 is no bound.
func NewRecount(t *List, since, until skein.Time) *Recount {
	return &Recount{table: t, since: since, until: until, requests: map[requestName]*requestCount{}, sums: map[RecountKey]*RecountSum{}, sharing: map[skein.SessionID]bool{}}
}

// Add counts an event of a session. Sessions are added in the order in which they began,
// their events in order: a request that several sessions mention is the first one's.
//
// The error wraps [skein.ErrInvalid] if the payload does not fit the kind.
func (r *Recount) Add(s *skein.Session, e skein.Event) error { return r.add(s, e, "") }

// AddMoved is [Recount.Add] of an event of a session that was purged: several forks may
// show it.
//
// The error is as of Add.
func (r *Recount) AddMoved(s *skein.Session, e skein.Event) error {
	return r.add(s, e, e.Time.String()+" "+string(e.Payload))
}

// add counts an event. A request without a name has that of the event, if it has one.
func (r *Recount) add(s *skein.Session, e skein.Event, event string) error {
	if e.Kind != skein.KindSaid && e.Kind != skein.KindStep || !bytes.Contains(e.Payload, []byte(`"usage"`)) {
		return nil // most events use nothing, and their facts cost much
	}
	f, err := skein.FactsOf(e)
	if err != nil || f.Charge == nil {
		return err
	}
	c := f.Charge
	name := requestName{s.User, cmp.Or(c.Request, event)}
	q := r.requests[name]
	if q == nil || name.name == "" {
		q = &requestCount{RecountKey: RecountKey{s.ID, c.Provider, c.Model}, at: c.Time}
	}
	q.usage, q.several = q.usage.Merge(c.Usage), q.several || c.Several
	if q.Session != s.ID {
		r.sharing[q.Session], r.sharing[s.ID] = true, true
	}
	q.Provider, q.Model = cmp.Or(c.Provider, q.Provider), cmp.Or(c.Model, q.Model)
	prompt := q.usage.Prompt()
	if q.several {
		prompt = 0
	}
	q.tier = skein.TierOf(cmp.Or(c.Tier.Service(), q.tier.Service()), prompt)
	if name.name == "" {
		r.count(q)
	} else {
		r.requests[name] = q
	}
	return nil
}

// count adds a request to the sum that it belongs to.
func (r *Recount) count(q *requestCount) {
	slot := q.at.Slot()
	if r.since != 0 && slot < r.since.Slot() || r.until != 0 && slot >= r.until {
		return
	}
	row := skein.UsageRow{Provider: q.Provider, Model: q.Model, Tier: q.tier, Usage: q.usage}
	if q.usage.Reported > 0 {
		row.Recorded = q.usage
	}
	s := r.sums[q.RecountKey]
	if s == nil {
		s = &RecountSum{RecountKey: q.RecountKey}
		r.sums[q.RecountKey] = s
	}
	s.Sum = s.Plus(r.table.Sum([]skein.UsageRow{row}, q.at))
	row.Usage.Reported = 0
	_, known := r.table.Cost(row, q.at)
	s.NoPrice = s.NoPrice || !known
}

// Sums returns what each session used of each model, the one first of which the recorded
// cost is farthest from ours. After it, nothing can be added.
func (r *Recount) Sums() (all []RecountSum) {
	for _, q := range r.requests {
		r.count(q)
	}
	for _, s := range r.sums {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b RecountSum) int {
		return cmp.Or(cmp.Compare(size(b.Off()), size(a.Off())), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Provider, b.Provider))
	})
	return all
}

// Shares reports whether another session, too, mentions a request that a session does: a
// store counts such a request, or what is new of it, where it found it first.
func (r *Recount) Shares(id skein.SessionID) bool { return r.sharing[id] }

// Off returns by how much the recorded cost of s is above ours of the same requests.
func (s Sum) Off() NanoUSD {
	if s.Usage.Reported == 0 {
		return 0
	}
	return NanoUSD(s.Usage.Reported) - s.ours
}

// IsOff reports whether the recorded cost of s differs from ours by half a cent or more.
func (s Sum) IsOff() bool { return size(s.Off()) >= cent/2 }

func size(n NanoUSD) NanoUSD { return max(n, -n) }
