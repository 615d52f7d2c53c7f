package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/skein-dev/skein/store/postgres/sqlstate"
)

// Each cluster has its own transaction IDs. In a database that was restored from a
// dump into another cluster, the journal's IDs are meaningless or in the future: no
// feed would yield its rows, and new events would seem to be indexed already. So
// indexed.journal names the cluster that the IDs belong to, and if that is not this
// one, the rows get new IDs, smaller than all others.

// clusterName identifies the cluster and the database, so that a copy in the same
// cluster has another name. arrive makes a name of 8 hex digits from it.
const clusterName = `SELECT c.system_identifier || ' ' || d.oid FROM pg_control_system() c, pg_database d WHERE d.datname = current_database()`

// arrive finds out which cluster this is, and makes sure that the journal has its
// transaction IDs.
func (c *core) arrive(ctx context.Context, o Options) error {
	s := &view{core: c}
	var text, journal string
	err := s.once(ctx, func(q *conn) error {
		p := q.pipe()
		p.One(nil, clusterName, nil, &text)
		p.One(nil, `SELECT journal FROM indexed`, nil, &journal)
		return p.Run()
	})
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(text))
	if c.cluster = hex.EncodeToString(sum[:4]); journal == c.cluster {
		return nil
	}
	if journal != "" && o.Notice != nil {
		o.Notice(fmt.Sprintf("renumbering events that were appended in another cluster, in %s", c.where))
	}
	err = s.write(ctx, func(t *tx) error { return t.renumber(c.cluster) })
	if sqlstate.Of(err) == sqlstate.ReadOnly {
		return nil // a program that can write does so
	}
	return err
}

// renumber gives the rows of a journal from another cluster the ID of a transaction
// before all others, and keeps their order.
func (t *tx) renumber(cluster string) error {
	if err := t.lockIndex(); err != nil {
		return err
	}
	var journal string
	var mark position
	p := t.pipe()
	p.One(nil, `SELECT journal FROM indexed`, nil, &journal)
	p.mark(&mark)
	if err := p.Run(); err != nil || journal == cluster {
		return err
	}
	p = t.pipe()
	if journal != "" {
		var before int32
		var within bool
		_, err := t.One(`SELECT count(*) FILTER (WHERE (xid, ordinal) < ($1::xid8, $2::int)), coalesce(bool_or((xid, ordinal) = ($1::xid8, $2::int)), false) FROM journal`,
			[]any{mark.xid, mark.ordinal}, &before, &within)
		if err != nil {
			return err
		}
		if mark = (position{1, before, mark.seq}); !within {
			mark.seq = 0
		}
		// The new ID differs from the old ones: a cluster's own begin at 3.
		p.Exec(`UPDATE journal j SET xid = '1', ordinal = w.k - 1, line = 0
			FROM (SELECT xid, ordinal, row_number() OVER (ORDER BY xid, ordinal) AS k FROM journal) w WHERE (j.xid, j.ordinal) = (w.xid, w.ordinal)`)
	}
	p.Exec(`UPDATE indexed SET journal = $1, xid = $2, ordinal = $3, seq = $4`, cluster, mark.xid, mark.ordinal, mark.seq)
	return p.Run()
}
