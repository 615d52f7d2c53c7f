package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/skein-dev/skein/internal/walk"
)

// A match is a row of the index that has the words.
type match struct {
	id    int64
	score float64 // less is better
}

const firstLook = 128 // matches whose events are looked up at first; then four times as many

// rankFirst finds the best rows of all sessions: it ranks what the index has,
// and looks up the events of the best until there are enough. Most rows of a
// word that is not rare are never looked up.
func (x *search) rankFirst(c *conn, expr string) error {
	var all []match
	err := c.query(`SELECT rowid, rank FROM words WHERE words MATCH ?`, []any{expr}, func(row []driver.Value) error {
		if time.Now().After(x.until) { // a driver may interrupt no more than the first row
			return context.DeadlineExceeded
		}
		var m match
		err := scan(row, []any{&m.id, &m.score})
		all = append(all, m)
		return err
	})
	if err != nil {
		return err
	}
	ids := make([]int64, len(all))
	for i, m := range all {
		ids[i] = m.id
	}
	slices.Sort(ids)
	slices.SortFunc(all, func(a, b match) int { return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(b.id, a.id)) })
	seen := map[int64]int{}
	for n := firstLook; len(all) > 0 && len(x.hits) < x.limit; n *= 4 {
		k := min(n, len(all))
		found, err := x.lookUp(c, all[:k])
		if err != nil {
			return err
		}
		for _, h := range found {
			h.expr = expr
			i, again := seen[h.session]
			switch {
			case again && !x.q.Each:
				if h.better(x.hits[i]) {
					x.hits[i] = h
				}
			case len(x.hits) < x.limit:
				seen[h.session] = len(x.hits)
				x.hits = append(x.hits, h)
			}
		}
		all = all[k:]
	}
	if x.q.Each {
		return nil
	}
	return x.count(c, ids)
}

// lookUp returns the hits of those matches that fulfil the conditions, in the
// same order.
func (x *search) lookUp(c *conn, matches []match) ([]hit, error) {
	if len(matches) == 0 {
		return nil, nil
	}
	ids, at := make([]int64, len(matches)), make(map[int64]int, len(matches))
	for i, m := range matches {
		ids[i], at[m.id] = m.id, i
	}
	q := `SELECT ` + hitColumns + ` FROM json_each(?) m CROSS JOIN events e ON e.id = m.value` + x.owners + x.where.sql()
	args, err := x.listed(ids)
	if err != nil {
		return nil, err
	}
	var found []hit
	err = c.query(q, args, func(row []driver.Value) error {
		if time.Now().After(x.until) {
			return context.DeadlineExceeded
		}
		h, err := x.scanHit(row)
		if err == nil {
			h.Score = -matches[at[h.id]].score
		}
		found = append(found, h)
		return err
	})
	slices.SortFunc(found, func(a, b hit) int { return at[a.id] - at[b.id] })
	return found, err
}

// better reports whether a shows a session better than b, which is as good a
// match: what was said before a title, the first before others.
func (a hit) better(b hit) bool {
	if a.Score != b.Score {
		return false
	}
	if said := a.Role != ""; said != (b.Role != "") {
		return said
	}
	return a.Seq < b.Seq
}

// count says of each hit how many of the events ids, which are in order, are in
// its session. They lie between the session's first and its last.
func (x *search) count(c *conn, ids []int64) error {
	at := make(map[int64]int, len(x.hits))
	var near []int64
	for i, h := range x.hits {
		at[h.session] = i
		first, last, err := c.ids(walk.Segment{Session: h.session, From: 0, To: math.MaxInt64})
		if err != nil {
			return err
		}
		from, _ := slices.BinarySearch(ids, first)
		to, _ := slices.BinarySearch(ids, last+1)
		near = append(near, ids[from:max(from, to)]...)
	}
	slices.Sort(near)
	args, err := x.listed(slices.Compact(near))
	if err != nil {
		return err
	}
	q := `SELECT s.n, count(*) FROM json_each(?) m CROSS JOIN events e ON e.id = m.value` + x.owners + x.where.sql() + ` GROUP BY s.n`
	return c.query(q, args, func(row []driver.Value) error {
		var session, n int64
		err := scan(row, []any{&session, &n})
		if i, ok := at[session]; ok {
			x.hits[i].Count = int(n)
		}
		return err
	})
}

// listed returns the arguments of a query over the events ids.
func (x *search) listed(ids []int64) ([]any, error) {
	list, err := json.Marshal(ids)
	return append([]any{string(list)}, x.where.args...), err
}
