package hits

import (
	"fmt"
	"math"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/lexemes"
	"github.com/skein-dev/skein/store/postgres/wire"
)

const (
	someRows = 1000 // the newest rows: how many of them match gives the frequency
	fewRows  = 4    // if fewer match, all older ones are read at once
	slack    = 1.25 // how much longer a period is than it should need to be
	perTaken = 4    // rows that are looked at for each that may be taken,
	shorter  = 8    // if there are more, the period is made this many times shorter,
	maxShort = 4    // but no more often than this
)

// A period is the time from since, inclusive, to until, exclusive.
type period struct{ since, until int64 }

// length returns how long p is. Times come from clients, so the length may overflow
// an integer.
func (p period) length() float64 { return float64(p.until) - float64(p.since) }

// end returns the last part of p, of the given length.
func (p period) end(long float64) period {
	if since := float64(p.until) - long; since > float64(p.since) {
		p.since = max(p.since, min(int64(since), p.until-1))
	}
	return p
}

// back calls do with what the index finds, newest rows first, at most most of them.
// It goes back period by period, each long enough for about aim matching rows: so
// it reads few rows that are not used, however many match.
func (x *Searcher) back(q *wire.Conn, by lexemes.IndexQuery, aim, most int, do func([]hit) error) error {
	rest, now, err := x.periods(q)
	if err != nil || rest.since >= rest.until {
		return err
	}
	look := math.MaxInt32 // of one session's rows
	if x.segs == nil {
		look = int(min(perTaken*int64(most), math.MaxInt32))
	}
	for got, short := 0, 0; ; {
		hits, there, err := x.find(q, by, now, most-got, look)
		if err != nil {
			return err
		}
		if there == look && short < maxShort {
			now, short = now.end(now.length()/shorter), short+1
			continue
		}
		if err := do(hits); err != nil {
			return err
		}
		got += there
		long := now.length() * slack * float64(min(aim, most-got)) / float64(max(there, 1))
		aim *= 2 // do may not have used what it was given
		rest.until = now.since
		if done := rest.since >= rest.until; done || got >= most || there == look {
			x.cutOff = x.cutOff || !done || got > most || there == look
			return nil
		}
		if now = rest; there >= fewRows {
			now = rest.end(long)
		}
	}
}

// periods returns the period that has all rows to be searched, and the last part of
// it, which has some of them.
func (x *Searcher) periods(q *wire.Conn) (all, some period, err error) {
	var w wire.Where
	at, first, last := "-f.at", "", " DESC" // see found_all_by_time
	if x.who != nil {
		w.Add("f.user_id = ?", *x.who)
		at, first, last = "f.at", " DESC", ""
	}
	if since := int64(x.q.Since); since != 0 && x.who != nil {
		w.Add("f.at >= ?", since)
	} else if since != 0 {
		w.Add("-f.at <= ?", -max(since, -math.MaxInt64))
	}
	if until := int64(x.q.Until); until != 0 && x.who != nil {
		w.Add("f.at < ?", until)
	} else if until != 0 {
		w.Add("-f.at > ?", -max(until, -math.MaxInt64))
	}
	rows := `SELECT f.at FROM found f` + w.SQL() + ` ORDER BY ` + at
	n := 0
	p := q.Pipe()
	limit(p, x.until)
	p.One(nil, fmt.Sprintf(`SELECT count(*), coalesce(min(w.at), 0), coalesce(least(max(w.at), %d) + 1, 0), coalesce((%s%s LIMIT 1), 0) FROM (%s%s LIMIT %d) w`,
		math.MaxInt64-1, rows, last, rows, first, someRows), w.Args, &n, &some.since, &some.until, &all.since)
	if err = p.Run(); err != nil {
		return all, some, err
	}
	if all.until = some.until; n < someRows || x.segs != nil {
		some = all
	}
	return all, some, nil
}

// find returns what the index finds in a period: the newest matching rows, at most
// most of those looked at, which are at most look. there is how many these were.
func (x *Searcher) find(q *wire.Conn, by lexemes.IndexQuery, in period, most, look int) (all []hit, there int, err error) {
	w := x.conds("d")
	var doubtful *string
	if by.Doubtful != "" {
		doubtful = &by.Doubtful
	}
	var until *int64
	if in.until != math.MaxInt64 { // a row may have that very time
		until = &in.until
	}
	args := append(w.Args, x.who, by.Query, doubtful, by.Odd, columns.Plain(string(x.q.Role)), x.q.Failed, in.since, until, x.q.Until != 0, x.inside(), most, look)
	p := q.Pipe()
	limit(p, x.until)
	p.Query(`WITH c AS MATERIALIZED (SELECT user_id, n, seq, at, amends, score, sure, there FROM find(`+places(len(w.Args), "text", "tsquery", "tsquery", "boolean", "text", "boolean", "bigint", "bigint", "boolean", "bigint[]", "integer", "integer")+`))`+x.simple()+`
		SELECT coalesce((SELECT max(there) FROM c), 0), m.user_id, m.n, m.seq, m.session, m.score, m.sure FROM (SELECT 1) one LEFT JOIN (
			SELECT e.user_id, e.n, e.seq, e.at, s.n AS session, e.score, e.sure FROM c e JOIN simple s ON s.user_id = e.user_id AND s.n = e.n`+x.eventJoin()+w.SQL()+`
			UNION ALL SELECT e.user_id, e.n, e.seq, e.at, s.n AS session, e.score, e.sure
			FROM (SELECT c.user_id, c.n, c.seq, c.at, c.amends, c.score, c.sure FROM c WHERE NOT EXISTS (SELECT FROM simple s WHERE s.user_id = c.user_id AND s.n = c.n)) e`+x.foundJoins()+w.SQL()+`) m ON true
		ORDER BY m.at DESC, m.n DESC, m.seq DESC`, args, func(r wire.Row) error {
		var user *string
		var n, seq, session *int64
		var score *float32
		var sure *bool
		if err := r.Scan(&there, &user, &n, &seq, &session, &score, &sure); err != nil || user == nil {
			return err
		}
		h := hit{at: eventRef{*user, *n, skein.Seq(*seq)}, session: *session, sure: *sure}
		h.Score = float64(*score)
		all = append(all, h)
		return nil
	})
	return all, there, p.Run()
}
