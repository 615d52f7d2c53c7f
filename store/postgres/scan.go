package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/skein-dev/skein"
)

// fetchRows is how many rows a scan fetches in one round trip.
const fetchRows = 200

// mostPieces is how many rows that may match are checked, newest first.
const mostPieces = 10_000

// fresh adds the hits among the events that are not indexed yet, newest first.
func (x *searcher) fresh(q *conn) error {
	w := x.conds("e")
	x.narrow(&w)
	if x.who != nil {
		w.add("j.user_id = ?", *x.who)
	}
	if x.shownIn != nil {
		w.add("j.n = ANY (?::bigint[])", x.inside())
	}
	w.add(behindMark)
	sql := `SELECT ` + eventColumns + `, e.user_id, e.n, s.n, coalesce((SELECT o.kind FROM events o WHERE o.user_id = e.user_id AND o.n = e.n AND o.seq = e.amends), '')
		FROM journal j JOIN events e ON e.user_id = j.user_id AND e.n = j.n AND e.seq > j.after AND e.seq <= j.upto
			AND ((j.xid, j.ordinal, e.seq) > ((SELECT xid FROM indexed), (SELECT ordinal FROM indexed), (SELECT seq FROM indexed)))` + x.joins() + w.sql() + `
		ORDER BY j.xid DESC, j.ordinal DESC, e.seq DESC`
	return x.fetch(q, "fresh", sql, w.args, func(r row) error {
		h := hit{sure: true}
		var aimed skein.Kind
		e, _, err := scanEvent(r, &h.at.user, &h.at.n, &h.session, &aimed)
		if bad := (*skein.DamagedError)(nil); errors.As(err, &bad) {
			return nil
		}
		if err != nil {
			return err
		}
		h.at.seq = e.Seq
		f, ok := textOf(e, aimed)
		if !ok || !x.matcher.MatchesText(f.Text) {
			return x.spend(0)
		}
		h.text = f.Text
		return x.take(h)
	})
}

// scanned finds what the words of the index cannot: substrings, regular expressions,
// conditions without words.
func (x *searcher) scanned(ctx context.Context) error {
	by, all := byPieces(&x.q)
	if all {
		before, cut := len(x.hits), x.cutOff
		err := x.part(ctx, func(q *conn) error { return x.pick(q, by) })
		if err != nil || !x.cutOff || cut || len(x.hits) > before {
			return err
		}
		x.cutOff = false // the pieces are everywhere: then the newest texts have them too
	}
	err := x.insist(ctx, x.scan)
	if err == nil && x.cutOff && !all && by.query != "" && len(x.hits) < x.limit {
		// The index knows some of the hits that were not reached.
		err = x.part(ctx, func(q *conn) error { return x.pick(q, by) })
		x.cutOff = true
	}
	return err
}

// scan goes through what is indexed, newest first, and adds hits until it has enough
// or the budget is spent.
func (x *searcher) scan(q *conn) error {
	texts := x.q.Substring != "" || x.q.Regex != "" || len(x.q.Terms) > 0
	name, text := "scanned", "''"
	if texts {
		name, text = "texts", "e.text"
	}
	for _, s := range x.stretches() {
		w := x.conds("d")
		x.narrow(&w)
		if s.cond != "" {
			w.add(s.cond, s.args...)
		}
		sql := `SELECT e.user_id, e.n, e.seq, s.n, ` + text + ` FROM found e` + x.foundJoins() + w.sql() + ` ORDER BY ` + s.order
		err := x.fetch(q, name, sql, w.args, func(r row) error {
			h := hit{sure: true}
			var text string
			if err := r.Scan(&h.at.user, &h.at.n, &h.at.seq, &h.session, &text); err != nil {
				return err
			}
			if texts && !x.matcher.MatchesText(text) {
				return x.spend(0)
			}
			return x.take(h)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A scanRange is rows of found that are scanned in order.
type scanRange struct {
	cond  string // besides the search's own conditions
	args  []any
	order string
}

// stretches returns the ranges that a scan goes through, newest first.
func (x *searcher) stretches() (all []scanRange) {
	switch {
	case x.shownIn != nil:
	case x.who != nil:
		return []scanRange{{order: "e.at DESC, e.n DESC, e.seq DESC"}}
	default:
		return []scanRange{{order: "-e.at, e.n, e.seq"}} // see found_all_by_time
	}
	for _, seg := range x.segs {
		all = append(all, scanRange{"e.n = ? AND e.seq > ? AND e.seq <= ?", []any{seg.Session, int64(seg.From), int64(seg.To)}, "e.seq DESC"})
	}
	return all
}

// pick is scan of the texts that the index names.
func (x *searcher) pick(q *conn, by indexQuery) error {
	cut := x.cutOff
	err := x.back(q, by, fetchRows, mostPieces, func(all []hit) error {
		doubtful := make([]*hit, 0, len(all))
		for i := range all {
			doubtful = append(doubtful, &all[i])
		}
		for chunk := range slices.Chunk(doubtful, 100) {
			if err := x.checkTexts(q, chunk); err != nil {
				return err
			}
			for _, h := range chunk {
				if !h.sure {
					continue
				}
				h.Score = 0 // the rank of its words means nothing here
				if err := x.take(*h); err != nil {
					return err
				}
			}
			if err := x.spend(0); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errStop) { // there are enough
		x.cutOff = cut
	}
	return unstop(err)
}

// take adds a hit of a scan. The error is errStop if there are enough.
func (x *searcher) take(h hit) error {
	if x.seen[h.at] {
		return nil
	}
	if !x.q.Each {
		for i := range x.hits {
			if x.group(x.hits[i]) == x.group(h) {
				x.seen[h.at] = true
				x.hits[i].Count++
				return nil
			}
		}
	}
	if len(x.hits) == x.limit {
		x.partial = true
		return errStop
	}
	x.seen[h.at] = true
	h.Count = 1
	x.hits = append(x.hits, h)
	return nil
}

// fetch runs f for each row of the result of sql, some at a time, until f returns
// errStop or the budget is spent. Only nested loops are used for joins, in the
// requested order, so that the first rows come at once. Cursors of one name have the
// same columns.
func (x *searcher) fetch(q *conn, name, sql string, args []any, f func(row) error) error {
	p := q.pipe()
	p.exec(`SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_sort', 'off', true),
		set_config('bytea_output', 'hex', true)`) // what a cursor yields is text
	p.limit(x.until)
	p.exec(`DECLARE `+name+` NO SCROLL CURSOR FOR `+sql, args...)
	for rows := 20; ; rows = fetchRows {
		n := 0
		p.query(fmt.Sprintf(`FETCH %d FROM `+name, rows), nil, func(r row) error {
			n++
			return f(r)
		})
		if err := p.run(); err != nil {
			return err // errStop ends the transaction, and the cursor with it
		}
		if n < rows {
			break
		}
		if err := x.spend(time.Duration(n) * rowWork); err != nil {
			return err
		}
		p = q.pipe()
		p.limit(x.until)
	}
	_, err := q.exec(`CLOSE ` + name)
	return err
}
