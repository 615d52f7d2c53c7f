package hits

import (
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/postgres/schema"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// opened returns access to a database with empty tables.
func opened(t *testing.T, dsn string) wire.Principal {
	t.Helper()
	cfg, err := wire.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := schema.All()
	if err != nil {
		t.Fatal(err)
	}
	c, err := wire.NewConnections(t.Context(), cfg, steps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := c.Prepare(t.Context(), func(int) {}); err != nil {
		t.Fatal(err)
	}
	return wire.Principal{Connections: c, Enter: func() (func(), error) { return func() {}, nil }}
}

// A word that many messages have costs no more than one that some have: a search looks
// at the newest, as many as may be ranked, and few others.
func TestSearchLooksAtFewOfManyMatches(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := opened(t, dsn)
	err := s.Write(t.Context(), func(x *wire.Tx) error {
		_, err := x.Exec(`INSERT INTO found (user_id, n, seq, at, role, failed, odd, text, words)
			SELECT u, 1, seq, seq * 1000, 'user', false, false, w, to_tsvector('simple', w) FROM generate_series(1, 20000) seq, unnest(ARRAY['ann', 'bob']) u,
				LATERAL (SELECT CASE WHEN seq % 3 = 0 THEN 'usual ' ELSE '' END || CASE WHEN seq % 50 = 0 THEN 'seldom ' ELSE '' END || repeat('x', 900) AS w) x`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, dsn, `VACUUM ANALYZE found`)
	ann := "ann"
	for _, c := range []struct {
		word string
		who  *string
		cut  bool
	}{{"usual", &ann, true}, {"usual", nil, true}, {"seldom", &ann, true}, {"seldom", nil, true}, {"nowhere", &ann, false}, {"nowhere", nil, false}} {
		x, err := New(s, skein.Query{Terms: []skein.Term{{Words: []string{c.word}}}, Deadline: shortest}, nil)
		if err != nil {
			t.Fatal(err)
		}
		x.who, x.until = c.who, time.Now().Add(time.Minute)
		most := x.rows(rankWork)
		var before, after int64
		err = s.Read(t.Context(), func(q *wire.Conn) error {
			const fetched = `SELECT pg_stat_get_xact_tuples_fetched('found'::regclass)`
			if _, err := q.One(fetched, nil, &before); err != nil {
				return err
			}
			if err := x.best(q); err != nil {
				return err
			}
			_, err := q.One(fetched, nil, &after)
			return err
		})
		if err != nil || x.cutOff != c.cut {
			t.Errorf("search of %v for %q: cut off %v, %v, want %v", c.who, c.word, x.cutOff, err, c.cut)
		}
		if got := after - before; got > int64(someRows+2*perTaken*most) {
			t.Errorf("search of %v for %q looks at %d rows to rank %d", c.who, c.word, got, most)
		}
	}
}
