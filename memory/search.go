package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/skein-dev/skein"
)

const (
	defaultLimit = 20               // of hits
	eventWork    = time.Microsecond // what it takes to look at one, without its text
)

// Search implements [skein.Store].
func (s *Store) Search(ctx context.Context, q skein.Query) (r skein.Results, err error) {
	defer skein.Wrapf(&err, "memory: search")
	m, err := q.Matcher()
	if err != nil {
		return r, err
	}
	if err := s.enter(ctx); err != nil {
		return r, err
	}
	defer s.mu.Unlock()
	budget := skein.NewBudget(ctx, q.Deadline)
	m = m.Within(budget)
	for _, sess := range s.newestFirst() {
		h := &sess.head
		if !s.sees(h.User) || h.Binned != 0 || q.Session != "" && q.Session != h.ID {
			continue
		}
		from := sess.from + 1
		if q.Session != "" {
			from = 1
		}
		hits, whole := sess.search(m, &q, from, budget)
		if !q.Each {
			hits = best(hits)
		}
		r.Hits = append(r.Hits, hits...)
		if r.CutOff = !whole; r.CutOff {
			break
		}
	}
	slices.SortFunc(r.Hits, better)
	r.Hits = r.Hits[:min(len(r.Hits), max(0, cmp.Or(q.Limit, defaultLimit)))]
	if err := budget.Err(); err != nil {
		return skein.Results{}, err
	}
	return r, nil
}

// newestFirst returns all sessions, the one that changed last first.
func (s *Store) newestFirst() []*session {
	return slices.SortedFunc(maps.Values(s.sessions), func(a, b *session) int {
		return cmp.Or(cmp.Compare(b.head.Updated, a.head.Updated), cmp.Compare(a.head.ID, b.head.ID))
	})
}

// search returns the events that sess shows from a place on and that match, the
// newest first, and whether the budget lasted for all.
func (sess *session) search(m *skein.Matcher, q *skein.Query, from skein.Seq, b *skein.Budget) (hits []skein.Hit, whole bool) {
	now, shown := map[skein.Seq]*event{}, slices.Collect(sess.shown(sess.head.Last))
	for _, e := range shown {
		if a := e.facts.Amended; a != nil && (e.now != nil || a.Withdrawn) {
			now[a.Seq] = e
		}
	}
	stands := sess.onLine()
	for _, e := range slices.Backward(shown) {
		if e.Seq < from {
			break
		}
		rewound := e.Kind == skein.KindSaid && !slices.ContainsFunc(stands, func(r skein.SeqRange) bool { return r.From < e.Seq && e.Seq <= r.To })
		if rewound && !q.Rewound {
			continue
		}
		if b.Spent() {
			return hits, false
		}
		b.Spend(eventWork)
		f, payload := &e.facts, e.Payload
		if a, ok := now[e.Seq]; ok {
			f, payload = a.now, a.facts.Amended.Payload
		}
		if f == nil {
			continue
		}
		if !m.Matches(&sess.head, e.Event, f) {
			if b.Spent() { // in the midst of the text, for all we know
				return hits, false
			}
			continue
		}
		h := skein.Hit{
			Session: sess.head.ID, Seq: e.Seq, Turn: e.added.Turn, Role: f.Role, Time: e.Time,
			Score: score(m, f.Text), Snippet: m.Snippet(f.Text), Rewound: rewound,
		}
		if q.Whole {
			h.Event = &skein.Event{Seq: e.Seq, Time: e.Time, Kind: e.Kind, ClientID: e.ClientID, Payload: payload}
		}
		hits = append(hits, h)
	}
	return hits, true
}

// onLine returns the places of sess that were not taken back.
func (sess *session) onLine() []skein.SeqRange {
	var rewound []skein.Event
	for e := range sess.shown(sess.head.Last) {
		if e.Kind == skein.KindRewound {
			rewound = append(rewound, e.Event)
		}
	}
	spans, _ := skein.OnLine(rewound, sess.head.Last) // they were stored, so they can be read
	return spans
}

// score is how much of text matches.
func score(m *skein.Matcher, text string) float64 {
	n := 1
	for _, s := range m.Find(text) {
		n += s.End - s.Start
	}
	return float64(n) / float64(100+len(text))
}

// best returns the best of hits, which are one session's.
func best(hits []skein.Hit) []skein.Hit {
	if len(hits) == 0 {
		return nil
	}
	top := slices.MinFunc(hits, better)
	top.Count = len(hits)
	return []skein.Hit{top}
}

// better compares by score, then the newest first.
func better(a, b skein.Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Time, a.Time), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Seq, b.Seq))
}
