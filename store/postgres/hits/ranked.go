package hits

import (
	"cmp"
	"context"
	"slices"

	"github.com/skein-dev/skein/store/postgres/wire"
)

// ranked adds the hits of the index, best first, to those of events not indexed yet.
func (x *Searcher) ranked(ctx context.Context) error {
	fresh, cut := x.hits, x.cutOff
	x.hits, x.cutOff = nil, false
	err := x.insist(ctx, x.best)
	x.cutOff = x.cutOff || cut
	x.merge(fresh)
	return err
}

// best finds hits by the index, best first unless the query wants the newest, among the newest matching rows: as many as
// may be ranked.
func (x *Searcher) best(q *wire.Conn) error {
	most := x.rows(rankWork)
	var all []hit
	err := x.back(q, x.finder, most, most, func(hits []hit) error {
		all = append(all, hits...)
		return nil
	})
	if err != nil {
		return err
	}
	if x.q.Newest {
		for i := range all {
			all[i].Score = 0
		}
	}
	slices.SortStableFunc(all, func(a, b hit) int { return cmp.Compare(b.Score, a.Score) })
	return x.check(q, all)
}

// check adds those of hits that do match.
func (x *Searcher) check(q *wire.Conn, hits []hit) error {
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

// checkTexts checks whether the texts of hits match.
func (x *Searcher) checkTexts(q *wire.Conn, hits []*hit) error {
	at := make([]eventRef, 0, len(hits))
	for _, h := range hits {
		at = append(at, h.at)
	}
	users, sessions, seqs := refColumns(at)
	p := q.Pipe()
	limit(p, x.until)
	p.Query(`SELECT w.k, f.text FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY w (user_id, n, seq, k)
		JOIN found f ON f.user_id = w.user_id AND f.n = w.n AND f.seq = w.seq`, []any{users, sessions, seqs}, func(r wire.Row) error {
		var k int
		var text string
		if err := r.Scan(&k, &text); err != nil {
			return err
		}
		hits[k-1].sure = x.matcher.MatchesText(text)
		return nil
	})
	return p.Run()
}
