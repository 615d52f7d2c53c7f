package postgres

import (
	"cmp"
	"context"
	"slices"
)

// ranked adds the hits of the index, best first, to those of events not indexed yet.
func (x *searcher) ranked(ctx context.Context) error {
	fresh, cut := x.hits, x.cutOff
	x.hits, x.cutOff = nil, false
	err := x.insist(ctx, x.best)
	x.cutOff = x.cutOff || cut
	x.join(fresh)
	return err
}

// best finds hits by the index, best first unless the query wants the newest, among the newest matching rows: as many as
// may be ranked.
func (x *searcher) best(q *conn) error {
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
func (x *searcher) check(q *conn, hits []hit) error {
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
func (x *searcher) checkTexts(q *conn, hits []*hit) error {
	at := make([]eventRef, 0, len(hits))
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

// join merges the fresh hits into the ranked ones. Their scores are unknown, so they
// get the mean score and come before ranked hits with the same.
func (x *searcher) join(fresh []hit) {
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

// firstOfEach returns the first hit of each session, with the sum of the counts of the
// session's hits.
func (x *searcher) firstOfEach(hits []hit) (first []hit) {
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

// group returns the session that h is grouped under; 0 if only one session is
// searched, because all that it shows counts as its own.
func (x *searcher) group(h hit) int64 {
	if x.shownIn != nil {
		return 0
	}
	return h.session
}
