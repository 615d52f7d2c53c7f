package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/skein-dev/skein"
)

// How many hits and how much time a search takes that does not say.
const (
	defaultLimit    = 20
	defaultDeadline = 150 * time.Millisecond
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
	over, looked := time.Now().Add(cmp.Or(q.Deadline, defaultDeadline)), false
	for _, sess := range s.sessions {
		h := &sess.head
		if !s.sees(h.User) || h.Binned != 0 || q.Session != "" && q.Session != h.ID {
			continue
		}
		if looked && time.Now().After(over) {
			r.CutOff = true
			break
		}
		looked = true
		from := sess.from + 1
		if q.Session != "" {
			from = 1
		}
		hits := sess.search(m, from)
		if !q.Each {
			hits = best(hits)
		}
		r.Hits = append(r.Hits, hits...)
	}
	slices.SortFunc(r.Hits, better)
	r.Hits = r.Hits[:min(len(r.Hits), max(0, cmp.Or(q.Limit, defaultLimit)))]
	return r, nil
}

// search returns the events that sess shows from a place on and that match.
func (sess *session) search(m *skein.Matcher, from skein.Seq) (hits []skein.Hit) {
	now := map[skein.Seq]*skein.Facts{}
	for e := range sess.shown(sess.head.Last) {
		if a := e.facts.Amended; a != nil && (e.now != nil || a.Withdrawn) {
			now[a.Seq] = e.now
		}
	}
	for e := range sess.shown(sess.head.Last) {
		f := &e.facts
		if a, ok := now[e.Seq]; ok {
			f = a
		}
		if e.Seq < from || f == nil || !m.Matches(&sess.head, e.Event, f) {
			continue
		}
		hits = append(hits, skein.Hit{
			Session: sess.head.ID, Seq: e.Seq, Turn: e.added.Turn, Role: f.Role, Time: e.Time,
			Score: score(m, f.Text), Snippet: m.Snippet(f.Text),
		})
	}
	return hits
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
