package sqlite

import (
	"context"
	"database/sql/driver"
	"slices"
	"time"

	"github.com/skein-dev/skein"
)

// ranked finds what the index has, best first, then what waits for the index.
func (x *search) ranked(c *conn, expr string) error {
	fresh, err := x.fresh(c)
	if err != nil {
		return err
	}
	start := len(x.hits)
	late := x.cutOff
	cut, err := x.limited(c, x.until, func() error { return x.best(c, expr) })
	if resultCode(err)&0xff == codeCorrupt {
		x.hits = nil
		return x.scan(c, 0) // the index is damaged: what it is made of is not
	}
	if err != nil {
		return err
	}
	if cut {
		x.hits = x.hits[:start]
		x.until = time.Now().Add(x.q.Deadline)
		if err := x.recent(c, expr); err != nil {
			return err
		}
		x.cutOff = x.cutOff || late
	}
	x.join(fresh)
	return nil
}

// fresh returns what matches among the events that are not indexed yet.
func (x *search) fresh(c *conn) ([]hit, error) {
	var upto int64
	if _, err := c.one(`SELECT upto FROM indexed`, nil, &upto); err != nil {
		return nil, err
	}
	err := x.scan(c, upto)
	fresh := x.hits
	x.hits = nil
	return fresh, err
}

// best finds the best rows by rank: of each session the best one, unless each
// is asked for.
func (x *search) best(c *conn, expr string) error {
	if ps := prefixes(x.q.Terms); len(ps) > 0 {
		return x.verified(c, expr, ps)
	}
	if x.shownIn == nil && !x.moved {
		return x.rankFirst(c, expr)
	}
	q := `SELECT ` + hitColumns + `, m.score, 0 FROM (SELECT rowid AS id, rank AS score FROM words WHERE words MATCH ?) m
		CROSS JOIN events e ON e.id = m.id` + x.owners + x.where.sql() + `
		ORDER BY m.score, e.id DESC LIMIT ?`
	if !x.q.Each {
		q = `SELECT ` + hitColumns + `, min(m.score) AS best, count(*) FROM (SELECT rowid AS id, rank AS score FROM words WHERE words MATCH ?) m
			CROSS JOIN events e ON e.id = m.id` + x.owners + x.where.sql() + `
			GROUP BY ` + x.group() + ` ORDER BY best, e.id DESC LIMIT ?`
	}
	return x.collect(c, q, expr, x.limit)
}

// verified is best where the index finds more than was asked for: rows are
// checked, the best first, until there are enough.
func (x *search) verified(c *conn, expr string, prefixes []skein.Term) error {
	m, err := skein.Query{Terms: prefixes}.Matcher()
	if err != nil {
		return err
	}
	q := `SELECT ` + hitColumns + `, m.score, coalesce(e.text, '') FROM (SELECT rowid AS id, rank AS score FROM words WHERE words MATCH ?) m
		CROSS JOIN events e ON e.id = m.id` + x.owners + x.where.sql() + `
		ORDER BY m.score, e.id DESC`
	seen := map[int64]int{}
	return unstop(c.query(q, append([]any{expr}, x.where.args...), func(row []driver.Value) error {
		if time.Now().After(x.until) {
			return context.DeadlineExceeded
		}
		var rank float64
		var text string
		h, err := x.scanHit(row, &rank, &text)
		if err != nil || !m.MatchesText(text) {
			return err
		}
		h.Score, h.expr = -rank, expr
		return x.take(h, seen)
	}))
}

// recent finds the newest rows, without a rank: a word that is everywhere
// tells little, and to rank all its rows takes too long.
func (x *search) recent(c *conn, expr string) error {
	q := `SELECT ` + hitColumns + `, 0.0, 0 FROM (SELECT rowid AS id FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ` + recentLimit + `) m
		CROSS JOIN events e ON e.id = m.id` + x.owners + x.where.sql() + `
		ORDER BY e.id DESC LIMIT ?`
	x.cutOff = true
	var err error
	if x.shownIn != nil {
		err = x.recentWithin(c, expr)
	} else {
		_, err = x.limited(c, x.until, func() error { return x.collect(c, q, expr, recentMatches) })
	}
	if err == nil {
		x.hits, err = x.checked(c, x.hits)
	}
	if err == nil && x.ofSome() && x.shown() < x.limit {
		err = x.recentOf(c, expr)
	}
	if !x.q.Each {
		x.hits = firstOfEach(x.hits)
	}
	x.hits = x.hits[:min(len(x.hits), x.limit)]
	return err
}

// checked returns those of hits that match where the index finds more than was
// asked for.
func (x *search) checked(c *conn, hits []hit) (sure []hit, err error) {
	ps := prefixes(x.q.Terms)
	if len(ps) == 0 {
		return hits, nil
	}
	m, err := skein.Query{Terms: ps}.Matcher()
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		var text string
		if _, err := c.one(`SELECT coalesce(text, '') FROM events WHERE id = ?`, []any{h.id}, &text); err != nil {
			return nil, err
		}
		if m.MatchesText(text) {
			sure = append(sure, h)
		}
	}
	return sure, nil
}

// group is what counts as one session: all that one shows, if only that is
// searched.
func (x *search) group() string {
	if x.shownIn != nil {
		return "''"
	}
	return "s.n"
}

const recentLimit = "2000" // recentMatches

func (x *search) collect(c *conn, q, expr string, limit int) error {
	return x.gather(c, q, expr, append(append([]any{expr}, x.where.args...), limit))
}

// gather adds what a query of the index yields to the hits.
func (x *search) gather(c *conn, q, expr string, args []any) error {
	return c.query(q, args, func(row []driver.Value) error {
		var rank float64
		var count int64
		h, err := x.scanHit(row, &rank, &count)
		h.Score, h.Count, h.expr = -rank, int(count), expr
		x.hits = append(x.hits, h)
		return err
	})
}

// join puts the fresh hits among those that are ranked: nothing tells how good
// they are, so they come before those of less than the mean score.
func (x *search) join(fresh []hit) {
	if len(fresh) == 0 {
		return
	}
	mean := 0.0
	for _, h := range x.hits {
		mean += h.Score / float64(len(x.hits))
	}
	for i := range fresh {
		fresh[i].Score = mean
	}
	all := append(fresh, x.hits...)
	slices.SortStableFunc(all, func(a, b hit) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	if !x.q.Each {
		all = firstOfEach(all)
	}
	x.hits = all[:min(len(all), x.limit)]
}

// firstOfEach returns the first hit of each session, with what all of them
// count.
func firstOfEach(hits []hit) (first []hit) {
	at := map[int64]int{}
	for _, h := range hits {
		i, ok := at[h.session]
		if !ok {
			at[h.session] = len(first)
			h.Count = max(h.Count, 1)
			first = append(first, h)
			continue
		}
		first[i].Count += max(h.Count, 1)
	}
	return first
}
