package postgres

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/postgres/schema"
	"github.com/skein-dev/skein/store/postgres/wire"
)

var _ inspect.Examiner = (*Store)(nil)

// Examine implements [inspect.Examiner]. It reads everything that the view includes,
// page by page, each in a short transaction; others can write meanwhile.
func (s inspection) Examine(ctx context.Context, x inspect.Examination) iter.Seq2[inspect.Finding, error] {
	return inspect.Run(ctx, x, "postgres: examine "+s.core.where, func(e *inspect.Exam) {
		ex := &exam{Exam: e, s: s.store(), ctx: ctx}
		ex.Area("postgres", ex.version)
		ex.Area("rights", ex.rights)
		ex.Whole("heads", ex.heads)
		ex.Whole("events", ex.events)
		ex.Whole("records", ex.records)
		ex.Whole("usage", ex.usage)
		ex.Quick("index", func(area string) error { return ex.Lag(area, ex.s, time.Now()) })
		ex.Whole("index", ex.index)
		ex.Whole("blobs", ex.blobs)
		ex.Area("maintenance", ex.maintenance)
		ex.Area("leases", func(area string) error {
			return ex.Leases(area, ex.s.Sessions(ctx, skein.Filter{IncludeEmpty: true}))
		})
	})
}

// An exam is one call of Examine.
type exam struct {
	*inspect.Exam
	s   *Store
	ctx context.Context
}

// rows runs f for each row of the result of sql, in a transaction of its own.
func (ex *exam) rows(sql string, args []any, f func(wire.Row) error) error {
	return ex.s.ask(ex.ctx, sql, args, f)
}

func (ex *exam) version(area string) error {
	var v string
	var schema int
	err := ex.rows(`SELECT current_setting('server_version')`, nil, func(r wire.Row) error { return r.Scan(&v) })
	if err == nil {
		err = ex.s.pool.QueryRow(ex.ctx, `SELECT version FROM skein_version`).Scan(&schema)
	}
	ex.Fine(area, "PostgreSQL %s, schema %d, %s", v, schema, ex.s.core.where)
	return err
}

// rights reports which other roles can read the database, or can make functions that
// skein's statements would call.
func (ex *exam) rights(area string) error {
	pg, err := ex.s.pool.Wait(ex.ctx)
	if err != nil {
		return err
	}
	defer pg.Release()
	warnings, err := schema.Warnings(ex.ctx, pg.Conn())
	for _, text := range warnings {
		ex.Find(inspect.Finding{Area: area, Level: inspect.Warning, Text: text})
	}
	if err == nil {
		ex.Fine(area, "no other role can read the database or create functions in it")
	}
	return err
}

// maintenance reports what maintenance still has to do.
func (ex *exam) maintenance(area string) error {
	var sessions, files, scrubs int64
	var since *time.Time
	err := ex.rows(`SELECT (SELECT count(*) FROM purge_queue), (SELECT count(*) FROM files WHERE format = ''), (SELECT count(*) FROM scrubs), (SELECT min(alive) FROM scrubs)`, nil, func(r wire.Row) error {
		return r.Scan(&sessions, &files, &scrubs, &since)
	})
	if err != nil {
		return err
	}
	if sessions+files+scrubs > 0 {
		text := fmt.Sprintf("still to do: purge %d sessions and %d files, finish %d scrubs; any process that has the store open does this in the background", sessions, files, scrubs)
		return ex.Mend(inspect.Finding{Area: area, Level: inspect.Warning, Text: text}, ex.maintain)
	}
	ex.Fine(area, "nothing is left to do")
	return nil
}

// maintain does the maintenance that is due, and waits for other processes that are
// doing it.
func (ex *exam) maintain() error {
	for {
		if err := ex.s.maintain(ex.ctx); err != nil {
			return err
		}
		left := 0
		err := ex.s.write(ex.ctx, func(t *tx) error {
			_, err := t.One(`SELECT (SELECT count(*) FROM (SELECT FROM purge_queue FOR UPDATE) d) + (SELECT count(*) FROM (SELECT FROM files WHERE format = '' FOR UPDATE) f)`, nil, &left)
			return err
		})
		if err != nil || left == 0 {
			return err
		}
	}
}
