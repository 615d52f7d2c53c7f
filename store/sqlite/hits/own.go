package hits

import (
	"cmp"
	"database/sql/driver"
	"math"
	"slices"

	"github.com/skein-dev/skein/store/sqlite/engine"
)

// In a store that many share, a word that is frequent in other users' sessions may be
// rare in those that are searched. So the index is searched only in the ranges that
// have the events of these: an event's ID is its place in the index.

const (
	ownPage = 200 // sessions that are searched at a time
	ownGap  = 64  // the most IDs of other events that are read rather than skipped by a new query
	ownLook = 512 // places of the index that are looked at at a time
	ownFar  = 1024
)

const (
	askQuery   = `SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid`
	spansQuery = `SELECT s.n, s.last - s.base, coalesce((SELECT id FROM events WHERE session = s.n ORDER BY seq LIMIT 1), 0),
		coalesce((SELECT id FROM events WHERE session = s.n ORDER BY seq DESC LIMIT 1), 0) FROM sessions s NOT INDEXED`
	idsQuery = `SELECT id FROM events INDEXED BY events_by_seq WHERE session = ? ORDER BY seq`
)

// An idRange is a range of the index, by event IDs. A range of one session has
// no events of others in it.
type idRange struct{ first, last int64 }

// ofSome reports whether only some sessions are searched, judging by their rows.
func (x *searchScope) ofSome() bool { return len(x.of.Conds) > 0 && !x.moved }

// An ownSearch finds matches in some sessions, without a rank.
type ownSearch struct{ *Searcher }

// recent finds the newest matches in some sessions, without a rank: first among the
// newest matches of the whole index, and if that is not enough, session by session.
func (x ownSearch) recent(c *engine.Conn, expr string, ids []int64) error {
	some := make([]indexRow, min(len(ids), recentMatches))
	for i := range some {
		some[i].id = ids[i]
	}
	newest, err := x.lookUp(c, some)
	if err == nil {
		newest, err = x.checked(c, newest)
	}
	if err != nil {
		return err
	}
	for i := range newest {
		newest[i].expr = expr
	}
	x.hits, x.cutOff = newest, true
	if x.shown() < x.limit {
		err = x.recentOf(c, expr)
	}
	if !x.q.Each {
		x.hits = firstOfEach(x.hits)
	}
	x.hits = x.hits[:min(len(x.hits), x.limit)]
	return err
}

// recentOf finds the matches in some sessions, the newest sessions first, if
// the newest matches of all are not in enough of them. If it finds all of them,
// and all are shown, nothing is cut off.
func (x ownSearch) recentOf(c *engine.Conn, expr string) error {
	newest := x.hits
	x.hits = nil
	x.allow(c.Context())
	whole, err := x.goThrough(c, expr)
	if err = x.cut(err); err != nil {
		return err
	}
	if !whole {
		x.hits = append(x.hits, newest...)
	}
	slices.SortFunc(x.hits, func(a, b hit) int { return cmp.Compare(b.id, a.id) })
	x.hits = slices.CompactFunc(x.hits, func(a, b hit) bool { return a.id == b.id })
	x.cutOff = !whole || x.shown() > x.limit
	if !x.cutOff && (x.q.Origin != "" || x.q.Project != "") {
		// An event that is live only in a fork may belong to a parent of
		// another project.
		var n int64
		x.cutOff, err = c.One(`SELECT session FROM bases LIMIT 1`, nil, &n)
	}
	return err
}

// shown returns how many of the hits would be shown if there were no limit.
func (x ownSearch) shown() int {
	if x.q.Each {
		return len(x.hits)
	}
	return len(firstOfEach(x.hits))
}

// goThrough adds the matches to the hits, page by page of the sessions, and
// reports whether it reached the end.
func (x ownSearch) goThrough(c *engine.Conn, expr string) (whole bool, err error) {
	for before := int64(math.MaxInt64); ; {
		page, next, err := x.spans(c, before)
		if err != nil || next == 0 {
			return err == nil, err
		}
		for end := len(page); end > 0; {
			from := end - 1
			for from > 0 && page[from].first-page[from-1].last <= ownGap {
				from--
			}
			if err := x.ask(c, expr, page[from:end]); err != nil || len(x.hits) >= recentMatches {
				return false, err
			}
			end = from
		}
		before = next
	}
}

// ask adds the matches that the index finds in ranges that are near each other,
// the newest first.
func (x ownSearch) ask(c *engine.Conn, expr string, in []idRange) error {
	first, last := in[0].first, in[len(in)-1].last
	for last >= first && len(x.hits) < recentMatches {
		ids, err := x.places(c, expr, first, last)
		if err != nil || len(ids) == 0 {
			return err
		}
		last = ids[len(ids)-1] - 1
		found, err := x.lookUp(c, within(in, ids))
		if err == nil {
			found, err = x.checked(c, found)
		}
		if err != nil {
			return err
		}
		for _, h := range found {
			h.expr = expr
			x.hits = append(x.hits, h)
		}
	}
	return nil
}

// places returns the places from first to last at which the index finds the
// words, the newest first: all of them if the range is short, because reading
// the index backward takes some time to start; otherwise some.
func (x ownSearch) places(c *engine.Conn, expr string, first, last int64) (ids []int64, err error) {
	query, far := askQuery, last-first >= ownFar
	if far {
		query += ` DESC`
	}
	err = c.Query(query, []any{expr, first, last}, func(row []driver.Value) error {
		var id int64
		if err := engine.Scan(row, []any{&id}); err != nil {
			return err
		}
		ids = append(ids, id)
		if far && len(ids) == ownLook {
			return engine.ErrStop
		}
		return x.spend(placeWork)
	})
	if !far {
		slices.Reverse(ids)
	}
	x.looked += len(ids)
	return ids, engine.Unstop(err)
}

// within returns those of ids, which are in order, the newest first, that are
// in the ranges in.
func within(in []idRange, ids []int64) (some []indexRow) {
	at := len(in) - 1
	for _, id := range ids {
		for at > 0 && id < in[at].first {
			at--
		}
		if id >= in[at].first && id <= in[at].last {
			some = append(some, indexRow{id: id})
		}
	}
	return some
}

// spans returns the ranges with the events of the next sessions that began
// before the one with number before, in order, and the number to continue from;
// 0 if there are no more.
func (x ownSearch) spans(c *engine.Conn, before int64) (all []idRange, next int64, err error) {
	w := engine.Where{Conds: slices.Clone(x.of.Conds), Args: slices.Clone(x.of.Args)}
	w.Add("s.n < ?", before)
	type ownedRange struct {
		idRange
		n, events int64
	}
	var page []ownedRange
	err = c.Query(spansQuery+w.SQL()+` ORDER BY s.n DESC LIMIT ?`, append(w.Args, ownPage), func(row []driver.Value) error {
		var s ownedRange
		err := engine.Scan(row, []any{&s.n, &s.events, &s.first, &s.last})
		page, next = append(page, s), s.n
		return cmp.Or(err, x.spend(rowWork))
	})
	for _, s := range page {
		switch {
		case err != nil:
			return nil, 0, err
		case s.last == 0: // it has no events
		case s.last-s.first+1 == s.events:
			all = append(all, s.idRange)
		default:
			err = x.spansOf(c, s.n, &all)
		}
	}
	slices.SortFunc(all, func(a, b idRange) int { return cmp.Compare(a.first, b.first) })
	return all, next, err
}

// spansOf adds the ranges with the events of a session that has other sessions'
// events between its own.
func (x ownSearch) spansOf(c *engine.Conn, n int64, all *[]idRange) error {
	own := len(*all)
	return c.Query(idsQuery, []any{n}, func(row []driver.Value) error {
		var id int64
		if err := engine.Scan(row, []any{&id}); err != nil {
			return err
		}
		if k := len(*all); k > own && (*all)[k-1].last == id-1 {
			(*all)[k-1].last = id
			return nil
		}
		*all = append(*all, idRange{id, id})
		return x.spend(placeWork)
	})
}
