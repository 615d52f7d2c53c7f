package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// findKeys is how many client IDs are looked for at once.
const findKeys = 1000

// Find implements [skein.Sources].
func (s sources) Find(ctx context.Context, keys []skein.ClientID) (found map[skein.ClientID]skein.Place, err error) {
	defer skein.Wrapf(&err, "postgres: find %d client IDs", len(keys))
	found = map[skein.ClientID]skein.Place{}
	var some []string
	for _, k := range keys {
		if k != "" && columns.Plain(string(k)) == string(k) {
			some = append(some, string(k))
		}
	}
	slices.Sort(some)
	for page := range slices.Chunk(slices.Compact(some), findKeys) {
		err := s.read(ctx, func(q *conn) error { return q.find(page, found) })
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// A soughtID is an event with a client ID that is looked for.
type soughtID struct {
	user string
	n    int64
	at   skein.Place
}

// findQuery returns the query for the events with client IDs. LATERAL and OFFSET
// make the planner use the index for each user.
func findQuery(u skein.User, keys []string) (sql string, args []any) {
	w := &wire.Where{Args: []any{keys}}
	users := usersOf(u, "events", w)
	return `SELECT e.client, e.user_id, e.n, s.id, e.seq FROM ` + users + ` u CROSS JOIN LATERAL (
			SELECT x.client, x.user_id, x.n, x.seq FROM events x WHERE x.user_id = u.user_id AND x.client = ANY ($1) AND x.imported OFFSET 0) e` +
		sessionOf("e") + ` WHERE ` + shown("e"), w.Args
}

// find puts the places of client IDs into found.
func (q *conn) find(keys []string, found map[skein.ClientID]skein.Place) error {
	all := map[skein.ClientID][]soughtID{}
	sql, args := findQuery(q.User, keys)
	err := q.Query(sql, args, func(r wire.Row) error {
		var k skein.ClientID
		var c soughtID
		err := r.Scan(&k, &c.user, &c.n, &c.at.Session, &c.at.Seq)
		all[k] = append(all[k], c)
		return err
	})
	if err != nil {
		return err
	}
	for k, of := range all {
		if len(of) > 1 {
			if err := q.byAge(of); err != nil {
				return err
			}
		}
		found[k] = of[0].at
	}
	return nil
}

// byAge sorts candidates by the order in which they were stored.
func (q *conn) byAge(of []soughtID) error {
	type age struct {
		xid     int64
		ordinal int
	}
	ages := map[soughtID]age{}
	p := q.pipe()
	for _, c := range of {
		p.Query(`SELECT j.xid::text::bigint, j.ordinal FROM journal j WHERE j.user_id = $1 AND j.n = $2 AND j.after < $3 AND j.upto >= $3`,
			[]any{c.user, c.n, int64(c.at.Seq)}, func(r wire.Row) error {
				var a age
				err := r.Scan(&a.xid, &a.ordinal)
				ages[c] = a
				return err
			})
	}
	if err := p.Run(); err != nil {
		return err
	}
	slices.SortFunc(of, func(a, b soughtID) int {
		x, y := ages[a], ages[b]
		return cmp.Or(cmp.Compare(x.xid, y.xid), cmp.Compare(x.ordinal, y.ordinal), cmp.Compare(a.n, b.n), cmp.Compare(a.at.Seq, b.at.Seq))
	})
	return nil
}
