package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"math"
	"slices"
	"time"
)

// Where many share a store, what is everywhere in the sessions of others may be
// rare in those that are looked through. So the index is asked only for where
// their events lie: an event's ID is its place in the index.

const (
	ownPage = 200 // sessions that are looked through at a time
	ownGap  = 128 // IDs of others that are gone by rather than asked anew behind them
	ownLook = 256 // matches whose events are looked up at a time
)

const (
	askQuery   = `SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC`
	spansQuery = `SELECT s.n, s.last - s.base, coalesce((SELECT id FROM events WHERE session = s.n ORDER BY seq LIMIT 1), 0),
		coalesce((SELECT id FROM events WHERE session = s.n ORDER BY seq DESC LIMIT 1), 0) FROM sessions s NOT INDEXED`
	idsQuery = `SELECT id FROM events INDEXED BY events_by_seq WHERE session = ? ORDER BY seq`
)

// A span is events whose IDs follow one another, none of another session.
type span struct{ first, last int64 }

// ofSome reports whether only some sessions are looked through, as their rows say.
func (x *search) ofSome() bool { return len(x.of.conds) > 0 && !x.moved }

// recentOf finds what matches in some sessions where the newest matches of all
// are not in enough of them: the newest sessions first. If that is all of it, and
// all is shown, nothing is cut off.
func (x *search) recentOf(c *conn, expr string) error {
	newest, whole := x.hits, false
	x.hits = nil
	cut, err := x.limited(c, x.until, func() (err error) {
		whole, err = x.goThrough(c, expr)
		return err
	})
	if x.cutOff = cut || !whole; x.cutOff {
		x.hits = append(x.hits, newest...)
	}
	slices.SortFunc(x.hits, func(a, b hit) int { return cmp.Compare(b.id, a.id) })
	x.hits = slices.CompactFunc(x.hits, func(a, b hit) bool { return a.id == b.id })
	x.cutOff = x.cutOff || x.shown() > x.limit
	return err
}

// shown is how many of the hits there would be to show if there was no limit.
func (x *search) shown() int {
	if x.q.Each {
		return len(x.hits)
	}
	return len(firstOfEach(x.hits))
}

// goThrough adds what matches to the hits, page by page of the sessions, and
// reports whether it came to the end.
func (x *search) goThrough(c *conn, expr string) (whole bool, err error) {
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

// ask adds what the index finds in spans that are near each other, the newest
// first.
func (x *search) ask(c *conn, expr string, in []span) error {
	for at := len(in) - 1; at >= 0 && len(x.hits) < recentMatches; {
		var part []match
		upto := in[at].last
		err := c.query(askQuery, []any{expr, in[0].first, upto}, func(row []driver.Value) error {
			var m match
			if err := scan(row, []any{&m.id}); err != nil {
				return err
			}
			x.looked++
			for at > 0 && m.id < in[at].first {
				at--
			}
			if m.id <= in[at].last {
				part = append(part, m)
			}
			if len(part) == ownLook {
				return errStop
			}
			return x.late()
		})
		if err = unstop(err); err != nil {
			return err
		}
		found, err := x.lookUp(c, part)
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
		if len(part) < ownLook {
			return nil
		}
		in[at].last = part[ownLook-1].id - 1
		if in[at].last < in[at].first {
			at--
		}
		in = in[:at+1]
	}
	return nil
}

// spans returns where the events lie of the next sessions that were begun before
// number before, in order, and the number to go on from; 0 if there are none.
func (x *search) spans(c *conn, before int64) (all []span, next int64, err error) {
	w := where{conds: slices.Clone(x.of.conds), args: slices.Clone(x.of.args)}
	w.add("s.n < ?", before)
	type strand struct {
		span
		n, events int64
	}
	var page []strand
	err = c.query(spansQuery+w.sql()+` ORDER BY s.n DESC LIMIT ?`, append(w.args, ownPage), func(row []driver.Value) error {
		var s strand
		err := scan(row, []any{&s.n, &s.events, &s.first, &s.last})
		page, next = append(page, s), s.n
		return cmp.Or(err, x.late())
	})
	for _, s := range page {
		switch {
		case err != nil:
			return nil, 0, err
		case s.last == 0: // it has none
		case s.last-s.first+1 == s.events:
			all = append(all, s.span)
		default:
			err = x.spansOf(c, s.n, &all)
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	return all, next, err
}

// spansOf adds where the events of one session lie that has others between its
// own.
func (x *search) spansOf(c *conn, n int64, all *[]span) error {
	own := len(*all)
	return c.query(idsQuery, []any{n}, func(row []driver.Value) error {
		var id int64
		if err := scan(row, []any{&id}); err != nil {
			return err
		}
		if k := len(*all); k > own && (*all)[k-1].last == id-1 {
			(*all)[k-1].last = id
			return nil
		}
		*all = append(*all, span{id, id})
		return x.late()
	})
}

// late is an error when the deadline has come: a driver may interrupt no more
// than the first row.
func (x *search) late() error {
	if time.Now().After(x.until) {
		return context.DeadlineExceeded
	}
	return nil
}
