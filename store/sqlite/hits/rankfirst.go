package hits

import (
	"cmp"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
)

// An indexRow is a row of the index that matches the words.
type indexRow struct {
	id    int64
	score float64 // lower is better
}

const firstLook = 128 // matches whose events are looked up first; then four times as many

// ranges returns which parts of the index to search, the newest first.
func (x *searchScope) ranges(c *engine.Conn) (all []idRange, err error) {
	if x.shownIn == nil {
		return []idRange{{0, math.MaxInt64}}, nil
	}
	for _, seg := range x.segs {
		var in idRange
		if in.first, in.last, err = eventlog.IDs(c, seg); err != nil {
			return nil, err
		}
		all = append(all, in)
	}
	return all, nil
}

// newest returns the IDs that the index finds for the words, the newest first:
// as many as may be ranked, and the ranges that they cover completely. more
// says that there may be more.
func (x *Searcher) newest(c *engine.Conn, expr string) (ids []int64, in []idRange, more bool, err error) {
	all, err := x.ranges(c)
	if err != nil {
		return nil, nil, false, err
	}
	for _, r := range all {
		err := c.Query(`SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC`, []any{expr, r.first, r.last}, func(row []driver.Value) error {
			var id int64
			if err := engine.Scan(row, []any{&id}); err != nil {
				return err
			}
			ids = append(ids, id)
			return x.spend(matchWork)
		})
		if more = errors.Is(err, errSpent); more {
			return ids, append(in, idRange{ids[len(ids)-1], r.last}), true, nil
		}
		if err != nil {
			return nil, nil, false, err
		}
		in = append(in, r)
	}
	return ids, in, false, nil
}

// rankedIn returns what the index finds in the given ranges, best first.
func (x *Searcher) rankedIn(c *engine.Conn, expr string, in []idRange) (all []indexRow, err error) {
	for _, r := range in {
		err := c.Query(`SELECT rowid, rank FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?`, []any{expr, r.first, r.last}, func(row []driver.Value) error {
			var m indexRow
			err := engine.Scan(row, []any{&m.id, &m.score})
			all = append(all, m)
			return cmp.Or(err, x.budget.Err())
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b indexRow) int { return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(b.id, a.id)) })
	return all, nil
}

// inOrder returns what the index finds in the given ranges, which are ids, in the
// order in which the query asks for it.
func (x *Searcher) inOrder(c *engine.Conn, expr string, ids []int64, in []idRange) (all []indexRow, err error) {
	if !x.q.Newest {
		return x.rankedIn(c, expr, in)
	}
	for _, id := range ids {
		all = append(all, indexRow{id: id})
	}
	return all, nil
}

// rankFirst finds the best of the rows that the index finds in the given
// ranges: it puts them in order, and looks up the events of the best until there are
// enough. Most rows of a frequent word are never looked up.
func (x *Searcher) rankFirst(c *engine.Conn, expr string, ids []int64, in []idRange) error {
	all, err := x.inOrder(c, expr, ids, in)
	if err != nil {
		return err
	}
	seen := map[int64]int{}
	for n := firstLook; len(all) > 0 && len(x.hits) < x.limit; n *= 4 {
		k := min(n, len(all))
		found, err := x.lookUp(c, all[:k])
		if err == nil {
			found, err = x.checked(c, found)
		}
		if err != nil {
			return err
		}
		for _, h := range found {
			h.expr = expr
			i, again := seen[h.session]
			switch {
			case again && !x.q.Each:
				h.Count = x.hits[i].Count + 1
				if !h.better(x.hits[i]) {
					x.hits[i].Count = h.Count
					continue
				}
				x.hits[i] = h
			case len(x.hits) < x.limit:
				h.Count = 1
				seen[h.session] = len(x.hits)
				x.hits = append(x.hits, h)
			}
		}
		all = all[k:]
	}
	if x.q.Each || len(all) == 0 {
		return nil
	}
	if len(prefixes(x.q.Terms)) > 0 {
		x.partial = true
		return nil
	}
	slices.Sort(ids)
	return x.count(c, ids)
}

// lookUp returns the hits of those matches that satisfy the conditions, in the
// same order.
func (x *Searcher) lookUp(c *engine.Conn, matches []indexRow) ([]hit, error) {
	if len(matches) == 0 {
		return nil, nil
	}
	ids, at := make([]int64, len(matches)), make(map[int64]int, len(matches))
	for i, m := range matches {
		ids[i], at[m.id] = m.id, i
	}
	q := `SELECT ` + x.hitColumns() + ` FROM json_each(?) m CROSS JOIN events e ON e.id = m.value` + x.owners + x.where.SQL()
	args, err := x.listed(ids)
	if err != nil {
		return nil, err
	}
	var found []hit
	err = c.Query(q, args, func(row []driver.Value) error {
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

// better reports whether a represents a session better than b, which is as good
// a match: a message before a title, an earlier one before a later one.
func (a hit) better(b hit) bool {
	if a.Score != b.Score {
		return false
	}
	if said := a.Role != ""; said != (b.Role != "") {
		return said
	}
	return a.Seq < b.Seq
}

// count sets the count of each hit to the number of the events ids, which are
// in order, that are in its session.
func (x *Searcher) count(c *engine.Conn, ids []int64) error {
	at := make(map[int64]int, len(x.hits))
	for i, h := range x.hits {
		at[h.session] = i
		x.hits[i].Count = 0
	}
	if x.shownIn == nil && !x.moved {
		var err error
		if ids, err = x.near(c, ids); err != nil {
			return err
		}
	}
	args, err := x.listed(ids)
	if err != nil {
		return err
	}
	q := `SELECT s.n, count(*) FROM json_each(?) m CROSS JOIN events e ON e.id = m.value` + x.owners + x.where.SQL() + ` GROUP BY s.n`
	return c.Query(q, args, func(row []driver.Value) error {
		var session, n int64
		err := engine.Scan(row, []any{&session, &n})
		if x.shownIn != nil {
			session = x.shownIn.N
		}
		if i, ok := at[session]; ok {
			x.hits[i].Count += int(n)
		}
		return err
	})
}

// near returns those of ids, which are in order, that are between the first and
// the last event of a segment that a hit's session shows.
func (x *Searcher) near(c *engine.Conn, ids []int64) (near []int64, err error) {
	for _, h := range x.hits {
		segs, err := eventlog.Segments(c, h.session, math.MaxInt64)
		if err != nil {
			return nil, err
		}
		for _, seg := range segs {
			first, last, err := eventlog.IDs(c, seg)
			if err != nil {
				return nil, err
			}
			from, _ := slices.BinarySearch(ids, first)
			to, _ := slices.BinarySearch(ids, last+1)
			near = append(near, ids[from:max(from, to)]...)
		}
	}
	slices.Sort(near)
	return slices.Compact(near), nil
}

// listed returns the arguments of a query over the events ids.
func (x *searchScope) listed(ids []int64) ([]any, error) {
	list, err := json.Marshal(ids)
	return append([]any{string(list)}, x.where.Args...), err
}
