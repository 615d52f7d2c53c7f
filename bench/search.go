package main

import (
	"context"
	"fmt"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/bench/gen"
)

// asStore is the statement with which the store ranks: the index, joined with
// events and sessions, grouped, limited.
const asStore = `SELECT e.id, e.session, e.seq, e.turn, coalesce(e.role, ''), e.at, s.id, min(m.score) AS best, count(*)
	FROM (SELECT rowid AS id, rank AS score FROM words WHERE words MATCH ?) m
	CROSS JOIN events e ON e.id = m.id CROSS JOIN sessions s ON s.n = e.session
	WHERE s.binned = 0 GROUP BY e.session ORDER BY best, e.id DESC LIMIT 20`

// search measures a search for one word of medium frequency.
func (e *fixture) search(ctx context.Context, s skein.Store, dir string) error {
	word := gen.NewWords(1).Rank(middling)
	ask := func() error {
		res, err := s.Search(ctx, skein.Query{Terms: []skein.Term{{Words: []string{word}}}, Deadline: 5 * time.Second})
		if err == nil && (len(res.Hits) != 20 || res.CutOff) {
			err = fmt.Errorf("search %q: %d hits, cut off %t, want 20", word, len(res.Hits), res.CutOff)
		}
		return err
	}
	var ours, theirs series
	for range rounds {
		o, err := repeat(20, ask)
		if err != nil {
			return err
		}
		t, err := e.ask(dir, 20, 20, asStore, `"`+word+`"`)
		if err != nil {
			return err
		}
		ours, theirs = append(ours, o...), append(theirs, t...)
	}
	n, err := e.count(dir, `SELECT count(*) FROM words WHERE words MATCH ?`, `"`+word+`"`)
	if err != nil {
		return err
	}
	o, t := ours.median().Seconds(), theirs.median().Seconds()
	e.add(row{
		fmt.Sprintf("search for one word that %d of %d messages have", n, e.size.sessions*e.size.perOne), short(ours.median()),
		"bare driver, same statement " + short(theirs.median()), ratio(o, t), "1.3", holds(o <= 1.3*t),
	})
	return nil
}

func (e *fixture) count(dir, query string, args ...any) (n int, err error) {
	db, err := bare(dir)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return n, db.QueryRow(query, args...).Scan(&n)
}
