package postgres

import (
	"context"
	"math"
	"slices"

	"github.com/skein-dev/skein"
)

// ranked puts what the index has, best first, to what it does not have yet.
func (x *search) ranked(ctx context.Context) error {
	fresh, cut := x.hits, x.cutOff
	x.hits, x.cutOff = nil, false
	err := x.part(ctx, func(q *conn) error {
		done, err := x.often(q)
		if err != nil || done {
			return err
		}
		return x.best(q, false)
	})
	if err == nil && x.cutOff && len(x.hits) == 0 {
		// A word that is everywhere tells little, and to find all its rows takes
		// too long.
		x.cutOff = false
		err = x.insist(ctx, x.recent)
		x.cutOff = true
	}
	x.cutOff = x.cutOff || cut
	x.join(fresh)
	return err
}

// often finds the best of the newest rows that match, if rows that do are near
// each other: then to go back from the newest is faster than to find all.
func (x *search) often(q *conn) (done bool, err error) {
	if x.segs != nil {
		return false, nil
	}
	defer func() { x.after = 0 }()
	if x.after, err = x.newest(q, someRows); err != nil {
		return false, err
	}
	some, err := x.find(q, x.finder, oftenOfSome, true)
	if err != nil || len(some) < oftenOfSome {
		x.cutOff = false
		return false, err
	}
	if x.after, err = x.newest(q, x.rows(wordWork)); err != nil {
		return false, err
	}
	x.cutOff = false
	all, err := x.find(q, x.finder, x.rows(2*rankWork), true) // to find them is as much again
	if err != nil || !x.cutOff {
		return false, err
	}
	return true, x.check(q, all)
}

// recent finds the best of the newest rows, as many as may be looked at.
func (x *search) recent(q *conn) (err error) {
	defer func() { x.after = 0 }()
	if x.segs == nil {
		x.after, err = x.newest(q, x.rows(wordWork))
	}
	if err != nil {
		return err
	}
	return x.best(q, true)
}

// newest returns from when on there are fewer than so many rows.
func (x *search) newest(q *conn, rows int) (since int64, err error) {
	since = math.MinInt64
	cond, order, args := "", "-f.at", []any{rows - 1}
	if x.who != nil {
		cond, order, args = "WHERE f.user_id = $2", "f.at DESC", append(args, *x.who)
	}
	p := q.pipe()
	p.limit(x.until)
	p.query(`SELECT least(f.at, 9223372036854775806) + 1 FROM found f `+cond+` ORDER BY `+order+` LIMIT 1 OFFSET $1`, args, func(r row) error { return r.Scan(&since) })
	return since, p.run()
}

// best finds what matches by the index, best first.
func (x *search) best(q *conn, newest bool) error {
	all, err := x.find(q, x.finder, x.rows(rankWork), newest)
	if err != nil {
		return err
	}
	return x.check(q, all)
}

// find returns what the index finds, best first; the newest first among equals.
func (x *search) find(q *conn, by finder, most int, newest bool) (all []hit, err error) {
	w := x.conds("d")
	args := w.args
	since, until := x.times()
	if x.after != 0 {
		since = max(since, x.after)
	}
	var doubtful *string
	if by.doubtful != "" {
		doubtful = &by.doubtful
	}
	args = append(args, x.who, by.query, doubtful, by.odd, plain(string(x.q.Role)), x.q.Failed, since, until, x.inside(), most, newest)
	p := q.pipe()
	p.limit(x.until)
	p.query(`WITH c AS (SELECT user_id, n, seq, at, amends, score, sure FROM find(`+places(len(w.args), "text", "tsquery", "tsquery", "boolean", "text", "boolean", "bigint", "bigint", "bigint[]", "integer", "boolean")+`))
		SELECT (SELECT count(*) FROM c), m.user_id, m.n, m.seq, m.session, m.score, m.sure FROM (SELECT 1) one LEFT JOIN (
			SELECT e.user_id, e.n, e.seq, s.n AS session, e.score, e.sure FROM c e`+x.foundJoins()+w.sql()+`
			ORDER BY e.score DESC, e.at DESC, e.n DESC, e.seq DESC) m ON true`, args, func(r row) error {
		var found int
		var user *string
		var n, seq, session *int64
		var score *float32
		var sure *bool
		if err := r.Scan(&found, &user, &n, &seq, &session, &score, &sure); err != nil {
			return err
		}
		x.cutOff = x.cutOff || found == most
		if user != nil {
			h := hit{at: event{*user, *n, skein.Seq(*seq)}, session: *session, sure: *sure}
			h.Score = float64(*score)
			all = append(all, h)
		}
		return nil
	})
	return all, p.run()
}

// check takes those of hits that do match.
func (x *search) check(q *conn, hits []hit) error {
	var doubtful []*hit
	for i := range hits {
		if !hits[i].sure {
			doubtful = append(doubtful, &hits[i])
		}
	}
	var err error
	for chunk := range slices.Chunk(doubtful, 50) {
		if err = x.checkTexts(q, chunk); err == nil {
			err = x.spend(0)
		}
		if err != nil {
			break
		}
	}
	for _, h := range hits {
		if h.sure && !x.seen[h.at] {
			x.seen[h.at] = true
			x.hits = append(x.hits, h)
		}
	}
	return err
}

// checkTexts looks whether the texts of hits match.
func (x *search) checkTexts(q *conn, hits []*hit) error {
	at := make([]event, 0, len(hits))
	for _, h := range hits {
		at = append(at, h.at)
	}
	users, sessions, seqs := columns(at)
	p := q.pipe()
	p.limit(x.until)
	p.query(`SELECT w.k, f.text FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY w (user_id, n, seq, k)
		JOIN found f ON f.user_id = w.user_id AND f.n = w.n AND f.seq = w.seq`, []any{users, sessions, seqs}, func(r row) error {
		var k int
		var text string
		if err := r.Scan(&k, &text); err != nil {
			return err
		}
		hits[k-1].sure = x.matcher.MatchesText(text)
		return nil
	})
	return p.run()
}

// join puts the fresh hits among those that are ranked: nothing tells how good
// they are, so they come before those of less than the mean score.
func (x *search) join(fresh []hit) {
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
		all = x.firstOfEach(all)
	}
	x.hits = all[:min(len(all), x.limit)]
}

// firstOfEach returns the first hit of each session, with what all of them
// count.
func (x *search) firstOfEach(hits []hit) (first []hit) {
	at := map[int64]int{}
	for _, h := range hits {
		key := x.group(h)
		i, ok := at[key]
		if !ok {
			at[key] = len(first)
			h.Count = max(h.Count, 1)
			first = append(first, h)
			continue
		}
		first[i].Count += max(h.Count, 1)
	}
	return first
}

// group is what counts as one session: all that one shows, if only that is
// searched.
func (x *search) group(h hit) int64 {
	if x.shownIn != nil {
		return 0
	}
	return h.session
}
