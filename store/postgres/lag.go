package postgres

import (
	"context"
	"strconv"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
)

var _ inspect.IndexLag = (*Store)(nil)

// countUpTo is the most appends that Lag counts.
const countUpTo = 10_000

// Lag implements [inspect.IndexLag].
func (s inspection) Lag(ctx context.Context) (l inspect.Lag, err error) {
	defer skein.Wrapf(&err, "postgres: lag of the index")
	all := &view{core: s.core}
	var since *time.Time
	err = all.ask(ctx, `SELECT coalesce(sum(w.events), 0), min(w.stored) FROM (
			SELECT j.upto - CASE WHEN (j.xid, j.ordinal) = ((SELECT xid FROM indexed), (SELECT ordinal FROM indexed)) THEN greatest(j.after, (SELECT seq FROM indexed)) ELSE j.after END AS events, j.stored
			FROM journal j WHERE `+behindMark+` ORDER BY j.xid, j.ordinal LIMIT `+strconv.Itoa(countUpTo)+`) w`, nil, func(r row) error {
		return r.Scan(&l.Events, &since)
	})
	if l.Events > 0 && since != nil {
		l.Since = skein.At(*since)
	}
	return l, err
}
