package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

// eventWork is the work of matching one event, without its text.
const eventWork = time.Microsecond

// Search implements [skein.Store].
func (s searches) Search(ctx context.Context, q skein.Query) (r skein.Results, err error) {
	defer skein.Wrapf(&err, "memory: search")
	m, err := search.NewMatcher(q)
	if err != nil {
		return r, err
	}
	if err := s.enter(ctx); err != nil {
		return r, err
	}
	defer s.mu.Unlock()
	budget := search.NewBudget(ctx, q.Deadline)
	m = m.Within(budget)
	first := s.tellers()
	for _, sess := range s.newestFirst() {
		h := &sess.head
		if !s.sees(h.User) || h.Binned != 0 || q.Session != "" && q.Session != h.ID {
			continue
		}
		hits, whole := sess.search(m, &q, budget, func(t *shownEvent) bool {
			switch {
			case t.rewound && !q.Rewound:
				return false
			case q.Session != "":
				return true
			case first == nil:
				return t.e.Seq > sess.from
			}
			return first[t.version] == sess
		})
		if !q.Each {
			hits = best(hits)
		}
		r.Hits = append(r.Hits, hits...)
		if r.CutOff = !whole; r.CutOff {
			break
		}
	}
	for i := range r.Hits {
		if q.Newest {
			r.Hits[i].Score = 0
		}
	}
	slices.SortFunc(r.Hits, better)
	r.Hits = r.Hits[:min(len(r.Hits), q.MostHits())]
	size := 0
	for i := range r.Hits {
		if q.Each && size > skein.MaxWhole { // as in stores that must read them
			r.Hits, r.CutOff = r.Hits[:i], true
			break
		}
		if e := r.Hits[i].Event; e != nil {
			size += len(e.Payload)
		}
	}
	if err := budget.Err(); err != nil {
		return skein.Results{}, err
	}
	return r, nil
}

// newestFirst returns all sessions, the most recently updated first.
func (s searches) newestFirst() []*session {
	return slices.SortedFunc(maps.Values(s.sessions), func(a, b *session) int {
		return cmp.Or(cmp.Compare(b.head.Updated, a.head.Updated), cmp.Compare(a.head.ID, b.head.ID))
	})
}

// A version is an event and the event that amended it, nil if there is none.
type version struct{ e, by *event }

// shownEvent is an event as a session shows it.
type shownEvent struct {
	version
	facts   *skein.Facts // as it was amended
	payload []byte
	rewound bool
}

// tells returns the events that sess shows and that were not withdrawn, in order.
func (sess *session) tells() (all []shownEvent) {
	by := map[skein.Seq]*event{}
	for e := range sess.shown(sess.head.Last) {
		switch a := e.facts.Amended; {
		case a == nil:
		case e.now == nil && !a.Withdrawn: // the original payload is restored
			delete(by, a.Seq)
		default:
			by[a.Seq] = e
		}
	}
	stands := sess.onLine()
	for e := range sess.shown(sess.head.Last) {
		t := shownEvent{version: version{e, by[e.Seq]}, facts: &e.facts, payload: e.Payload}
		t.rewound = e.Kind == skein.KindSaid && !slices.ContainsFunc(stands, func(r skein.SeqRange) bool { return r.From < e.Seq && e.Seq <= r.To })
		if t.by != nil {
			t.facts, t.payload = t.by.now, t.by.facts.Amended.Payload
		}
		if t.facts != nil {
			all = append(all, t)
		}
	}
	return all
}

// tellers returns the session in which each event is found: the one that has it if
// it is live there, else the first fork in which it is live; if it was taken back
// everywhere, the one that has it, else the first fork. It is nil if there are no
// forks.
func (s searches) tellers() map[version]*session {
	var all []*session
	forks := false
	for _, sess := range s.sessions {
		if s.sees(sess.head.User) && sess.head.Binned == 0 {
			all, forks = append(all, sess), forks || sess.base != nil
		}
	}
	if !forks {
		return nil
	}
	slices.SortFunc(all, func(a, b *session) int { return cmp.Compare(a.order, b.order) })
	first, rank := map[version]*session{}, map[version]int{}
	for _, sess := range all {
		for _, t := range sess.tells() {
			bad := 0
			if t.rewound {
				bad += 2
			}
			if t.e.Seq <= sess.from {
				bad++
			}
			if n, ok := rank[t.version]; !ok || bad < n {
				first[t.version], rank[t.version] = sess, bad
			}
		}
	}
	return first
}

// search returns the events of sess that are wanted and match, the newest first,
// and whether the budget was enough for all events.
func (sess *session) search(m *search.Matcher, q *skein.Query, b *search.Budget, wanted func(*shownEvent) bool) (hits []skein.Hit, whole bool) {
	for _, t := range slices.Backward(sess.tells()) {
		if !wanted(&t) {
			continue
		}
		if b.Spent() {
			return hits, false
		}
		b.Spend(eventWork)
		if !m.Matches(&sess.head.Session, t.e.Event, t.facts) {
			if b.Spent() { // perhaps in the middle of the text
				return hits, false
			}
			continue
		}
		e := &t.e.Event
		h := skein.Hit{
			Session: sess.head.ID, Seq: e.Seq, Turn: t.e.added.Turn, Role: t.facts.Role, Time: e.Time,
			Score: score(m, t.facts.Text), Snippet: m.Snippet(t.facts.Text), Rewound: t.rewound,
		}
		if q.Whole {
			h.Event = &skein.Event{Seq: e.Seq, Time: e.Time, Kind: e.Kind, ClientID: e.ClientID, Payload: t.payload}
		}
		hits = append(hits, h)
	}
	return hits, true
}

// onLine returns the ranges of sess that were not taken back.
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

// score returns how much of text matches.
func score(m *search.Matcher, text string) float64 {
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

// better compares by score, then by time, the newest first.
func better(a, b skein.Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Time, a.Time), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Seq, b.Seq))
}
