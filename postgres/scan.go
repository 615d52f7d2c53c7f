package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// fetchRows is how many rows a scan looks at in one round trip.
const fetchRows = 200

// fresh takes what matches among the events that are not indexed yet, the
// newest first.
func (x *search) fresh(q *conn) error {
	w := where{conds: slices.Clone(x.where.conds), args: slices.Clone(x.where.args)}
	mine := ""
	if x.who != nil {
		w.add("j.user_id = ?", *x.who)
	}
	if x.shownIn != nil {
		w.add("j.n = ANY (?::bigint[])", x.inside())
	}
	w.add(behindMark)
	sql := `SELECT e.user_id, e.n, e.seq, s.n, e.kind, e.payload, coalesce((SELECT o.kind FROM events o WHERE o.user_id = e.user_id AND o.n = e.n AND o.seq = e.amends), '')
		FROM journal j JOIN events e ON e.user_id = j.user_id AND e.n = j.n AND e.seq > j.after AND e.seq <= j.upto
			AND ((j.xid, j.ordinal, e.seq) > ((SELECT xid FROM indexed), (SELECT ordinal FROM indexed), (SELECT seq FROM indexed)))` + mine + joins + w.sql() + `
		ORDER BY j.xid DESC, j.ordinal DESC, e.seq DESC`
	return x.fetch(q, "fresh", sql, w.args, func(r row) error {
		h := hit{sure: true}
		var kind, aimed skein.Kind
		var payload []byte
		if err := r.Scan(&h.at.user, &h.at.n, &h.at.seq, &h.session, &kind, &payload, &aimed); err != nil {
			return err
		}
		f, ok := textOf(skein.Event{Kind: kind, Payload: payload}, aimed)
		if !ok || !x.matcher.MatchesText(f.Text) {
			return nil
		}
		h.text = f.Text
		return x.take(h)
	})
}

// scan goes through what the index has, the newest first, and takes what
// matches, until it has enough or the deadline comes. It serves what the words
// cannot: substrings, regular expressions, conditions without words.
func (x *search) scan(q *conn) error {
	if pieces := piecesOf(&x.q); len(pieces) > 0 {
		return x.byPieces(q, pieces)
	}
	texts := x.q.Substring != "" || x.q.Regex != "" || len(x.q.Terms) > 0
	name, text := "scanned", "''"
	if texts {
		name, text = "texts", "f.text"
	}
	for i, s := range x.stretches() {
		w := where{conds: slices.Clone(x.where.conds), args: slices.Clone(x.where.args)}
		if s.cond != "" {
			w.add(s.cond, s.args...)
		}
		sql := `SELECT e.user_id, e.n, e.seq, s.n, ` + text + ` FROM found f JOIN events e ON e.user_id = f.user_id AND e.n = f.n AND e.seq = f.seq` +
			joins + w.sql() + ` ORDER BY ` + s.order
		err := x.fetch(q, fmt.Sprint(name, min(i, 1)), sql, w.args, func(r row) error {
			h := hit{sure: true}
			var text string
			if err := r.Scan(&h.at.user, &h.at.n, &h.at.seq, &h.session, &text); err != nil {
				return err
			}
			if texts && !x.matcher.MatchesText(text) {
				return nil
			}
			return x.take(h)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A stretch is rows of found that are looked through one after the other.
type stretch struct {
	cond  string // besides the search's own conditions
	args  []any
	order string
}

// stretches returns what a scan goes through, the newest first.
func (x *search) stretches() (all []stretch) {
	if x.shownIn != nil {
		for _, seg := range x.segs {
			all = append(all, stretch{"f.user_id = ? AND f.n = ? AND f.seq > ? AND f.seq <= ?", []any{*x.who, seg.session, int64(seg.from), int64(seg.to)}, "f.seq DESC"})
		}
		return all
	}
	s := stretch{order: "f.at DESC, f.n DESC, f.seq DESC"}
	if x.who != nil {
		s.cond, s.args = "f.user_id = ?", []any{*x.who}
	}
	if x.q.Since != 0 {
		s.cond, s.args = strings.TrimPrefix(s.cond+" AND f.at >= ?", " AND "), append(s.args, int64(x.q.Since))
	}
	return []stretch{s}
}

// byPieces is scan where trigrams tell which texts may match.
func (x *search) byPieces(q *conn, pieces []string) error {
	w := x.where
	since, until := x.times()
	args := append(slices.Clone(w.args), x.who, pieces, since, until, x.inside(), mostFound)
	p := q.pipe()
	p.limit(x.until)
	var all []hit
	found := 0
	p.query(`WITH c AS (SELECT * FROM find(`+places(len(w.args), "text", "", "", "text[]", "bigint", "bigint", "bigint[]", "integer", "")+`))
		SELECT (SELECT count(*) FROM c), m.* FROM (SELECT 1) one LEFT JOIN (
			SELECT e.user_id, e.n, e.seq, s.n AS session FROM c JOIN events e ON e.user_id = c.user_id AND e.n = c.n AND e.seq = c.seq`+joins+w.sql()+`
			ORDER BY e.at DESC, e.n DESC, e.seq DESC) m ON true`, args, func(r row) error {
		var user *string
		var n, seq, session *int64
		if err := r.Scan(&found, &user, &n, &seq, &session); err != nil {
			return err
		}
		if user != nil {
			all = append(all, hit{at: event{*user, *n, seqOf(*seq)}, session: *session})
		}
		return nil
	})
	if err := p.run(); err != nil {
		return err
	}
	for chunk := range slices.Chunk(all, 100) {
		if err := x.late(); err != nil {
			return err
		}
		which := make([]int, len(chunk))
		for i := range which {
			which[i] = i
		}
		if err := x.checkTexts(q, chunk, which); err != nil {
			return err
		}
		for _, h := range chunk {
			if !h.sure {
				continue
			}
			if err := x.take(h); err != nil {
				return unstop(err)
			}
		}
	}
	x.cutOff = x.cutOff || found == mostFound
	return nil
}

// take adds a hit of a scan; errStop says that there are enough.
func (x *search) take(h hit) error {
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
		return errStop
	}
	x.seen[h.at] = true
	h.Count = 1
	x.hits = append(x.hits, h)
	return nil
}

// fetch runs f for each row of the answer to sql, some at a time, until f says
// errStop or the deadline comes. Joins go from row to row, in the order that is
// asked for, so that the first are there at once. Cursors of one name have the
// same columns.
func (x *search) fetch(q *conn, name, sql string, args []any, f func(row) error) error {
	p := q.pipe()
	p.exec(`SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_sort', 'off', true)`)
	p.limit(x.until)
	p.exec(`DECLARE `+name+` NO SCROLL CURSOR FOR `+sql, args...)
	for rows := 20; ; rows = fetchRows {
		n := 0
		p.query(fmt.Sprintf(`FETCH %d FROM `+name, rows), nil, func(r row) error {
			n++
			return f(r)
		})
		if err := p.run(); err != nil {
			return unstop(err)
		}
		if n < rows {
			break
		}
		if err := x.late(); err != nil {
			return err
		}
		p = q.pipe()
		p.limit(x.until)
	}
	_, err := q.exec(`CLOSE ` + name)
	return err
}
