package hits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/lexemes"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// fetchRows is how many rows a scan fetches in one round trip.
const fetchRows = 200

// mostPieces is how many rows that may match are checked, newest first.
const mostPieces = 10_000

// fresh adds the hits among the events that are not indexed yet, newest first.
func (x *Searcher) fresh(q *wire.Conn) error {
	w := x.conds("e")
	x.narrow(&w)
	if x.who != nil {
		w.Add("j.user_id = ?", *x.who)
	}
	if x.shownIn != nil {
		w.Add("j.n = ANY (?::bigint[])", x.inside())
	}
	w.Add(Waiting)
	sql := `SELECT ` + columns.Event + `, e.user_id, e.n, s.n, coalesce((SELECT o.kind FROM events o WHERE o.user_id = e.user_id AND o.n = e.n AND o.seq = e.amends), '')
		FROM journal j JOIN events e ON e.user_id = j.user_id AND e.n = j.n AND e.seq > j.after AND e.seq <= j.upto
			AND ((j.xid, j.ordinal, e.seq) > ((SELECT xid FROM indexed), (SELECT ordinal FROM indexed), (SELECT seq FROM indexed)))` + x.joins() + w.SQL() + `
		ORDER BY j.xid DESC, j.ordinal DESC, e.seq DESC`
	return x.fetch(q, "fresh", sql, w.Args, func(r wire.Row) error {
		h := hit{sure: true}
		var aimed skein.Kind
		e, _, err := columns.ScanEvent(r, &h.at.user, &h.at.n, &h.session, &aimed)
		if bad := (*skein.DamagedError)(nil); errors.As(err, &bad) {
			return nil
		}
		if err != nil {
			return err
		}
		h.at.seq = e.Seq
		f, ok := TextOf(e, aimed)
		if !ok || !x.matcher.MatchesText(f.Text) {
			return x.spend(0)
		}
		h.text = f.Text
		return x.take(h)
	})
}

// scanned finds what the words of the index cannot: substrings, regular expressions,
// conditions without words.
func (x *Searcher) scanned(ctx context.Context) error {
	by, all := lexemes.ByPieces(&x.q)
	if all {
		before, cut := len(x.hits), x.cutOff
		err := x.part(ctx, func(q *wire.Conn) error { return x.pick(q, by) })
		if err != nil || !x.cutOff || cut || len(x.hits) > before {
			return err
		}
		x.cutOff = false // the pieces are everywhere: then the newest texts have them too
	}
	err := x.insist(ctx, x.scan)
	if err == nil && x.cutOff && !all && by.Query != "" && len(x.hits) < x.limit {
		// The index knows some of the hits that were not reached.
		err = x.part(ctx, func(q *wire.Conn) error { return x.pick(q, by) })
		x.cutOff = true
	}
	return err
}

// scan goes through what is indexed, newest first, and adds hits until it has enough
// or the budget is spent.
func (x *Searcher) scan(q *wire.Conn) error {
	texts := x.q.Substring != "" || x.q.Regex != "" || len(x.q.Terms) > 0
	name, text := "scanned", "''"
	if texts {
		name, text = "texts", "e.text"
	}
	for _, s := range x.stretches() {
		w := x.conds("d")
		x.narrow(&w)
		if s.cond != "" {
			w.Add(s.cond, s.args...)
		}
		sql := `SELECT e.user_id, e.n, e.seq, s.n, ` + text + ` FROM found e` + x.foundJoins() + w.SQL() + ` ORDER BY ` + s.order
		err := x.fetch(q, name, sql, w.Args, func(r wire.Row) error {
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

// pick is scan of the texts that the index names.
func (x *Searcher) pick(q *wire.Conn, by lexemes.IndexQuery) error {
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
	if errors.Is(err, wire.ErrStop) { // there are enough
		x.cutOff = cut
	}
	return wire.Unstop(err)
}

// fetch runs f for each row of the result of sql, some at a time, until f returns
// wire.ErrStop or the budget is spent. Only nested loops are used for joins, in the
// requested order, so that the first rows come at once. Cursors of one name have the
// same columns.
func (x *Searcher) fetch(q *wire.Conn, name, sql string, args []any, f func(wire.Row) error) error {
	p := q.Pipe()
	p.Exec(`SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_sort', 'off', true),
		set_config('bytea_output', 'hex', true)`) // what a cursor yields is text
	limit(p, x.until)
	p.Exec(`DECLARE `+name+` NO SCROLL CURSOR FOR `+sql, args...)
	for rows := 20; ; rows = fetchRows {
		n := 0
		p.Query(fmt.Sprintf(`FETCH %d FROM `+name, rows), nil, func(r wire.Row) error {
			n++
			return f(r)
		})
		if err := p.Run(); err != nil {
			return err // ErrStop ends the transaction, and the cursor with it
		}
		if n < rows {
			break
		}
		if err := x.spend(time.Duration(n) * rowWork); err != nil {
			return err
		}
		p = q.Pipe()
		limit(p, x.until)
	}
	_, err := q.Exec(`CLOSE ` + name)
	return err
}
