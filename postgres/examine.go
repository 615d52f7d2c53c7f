package postgres

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/skein-dev/skein"
)

var _ skein.Examiner = (*Store)(nil)

// Examine implements [skein.Examiner]. It reads everything of the view's, page
// by page, each in a short transaction; others write meanwhile.
func (s *Store) Examine(ctx context.Context, x skein.Examination) iter.Seq2[skein.Finding, error] {
	return func(yield func(skein.Finding, error) bool) {
		ex := &exam{s: s, ctx: ctx, repair: x.Repair, yield: yield}
		err := ex.run()
		skein.Wrapf(&err, "postgres: examine %s", s.core.where)
		if err != nil && !ex.stopped {
			yield(skein.Finding{}, err)
		}
	}
}

// An exam is one call of Examine.
type exam struct {
	s       *Store
	ctx     context.Context
	repair  bool
	yield   func(skein.Finding, error) bool
	stopped bool
	bad     int // findings that are not fine in this area
}

func (ex *exam) run() error {
	for _, area := range []struct {
		name string
		look func(area string) error
	}{
		{"postgres", ex.version},
		{"rights", ex.rights},
		{"heads", ex.heads},
		{"events", ex.events},
		{"records", ex.records},
		{"usage", ex.usage},
		{"index", ex.index},
		{"blobs", ex.blobs},
		{"chores", ex.chores},
		{"leases", ex.leases},
	} {
		ex.bad = 0
		err := area.look(area.name)
		switch {
		case ex.stopped:
			return nil
		case ex.ctx.Err() != nil:
			return ex.ctx.Err()
		case err != nil:
			ex.damage(area.name, "", "cannot be read: "+err.Error())
		}
		if ex.stopped {
			return nil
		}
	}
	return nil
}

func (ex *exam) find(f skein.Finding) {
	if f.Level != skein.Fine {
		ex.bad++
	}
	if !ex.stopped && !ex.yield(f, nil) {
		ex.stopped = true
	}
}

// fine says that an area is whole, unless something else was said of it.
func (ex *exam) fine(area, format string, args ...any) {
	if ex.bad == 0 {
		ex.find(skein.Finding{Area: area, Level: skein.Fine, Text: fmt.Sprintf(format, args...)})
	}
}

func (ex *exam) damage(area string, id skein.SessionID, text string) {
	ex.find(skein.Finding{Area: area, Level: skein.Damaged, Session: id, Text: text})
}

// mend says what is wrong and, if asked to repair, does fix.
func (ex *exam) mend(f skein.Finding, fix func() error) error {
	f.Mendable = true
	if ex.repair {
		if err := fix(); err != nil {
			return err
		}
		f.Mended = true
	}
	ex.find(f)
	return nil
}

// rows runs f for each row of the answer to sql, in a transaction of its own.
func (ex *exam) rows(sql string, args []any, f func(row) error) error {
	return ex.s.ask(ex.ctx, sql, args, f)
}

func (ex *exam) version(area string) error {
	var v string
	var schema int
	err := ex.rows(`SELECT current_setting('server_version')`, nil, func(r row) error { return r.Scan(&v) })
	if err == nil {
		err = ex.s.pool.QueryRow(ex.ctx, `SELECT version FROM skein_meta`).Scan(&schema)
	}
	ex.fine(area, "PostgreSQL %s, schema %d, %s", v, schema, ex.s.core.where)
	return err
}

// chores says what is being taken away.
func (ex *exam) chores(area string) error {
	var sessions, files, scrubs int64
	var since *time.Time
	err := ex.rows(`SELECT (SELECT count(*) FROM doomed), (SELECT count(*) FROM files WHERE format = ''), (SELECT count(*) FROM scrubs), (SELECT min(alive) FROM scrubs)`, nil, func(r row) error {
		return r.Scan(&sessions, &files, &scrubs, &since)
	})
	if err != nil {
		return err
	}
	if sessions+files+scrubs > 0 {
		text := fmt.Sprintf("what %d sessions and %d files had that were deleted is yet to be taken away, %d scrubs are to be finished; any process that has the store open does so", sessions, files, scrubs)
		return ex.mend(skein.Finding{Area: area, Level: skein.Warning, Text: text}, ex.doChores)
	}
	ex.fine(area, "nothing is left to be done")
	return nil
}

// doChores takes away what is to be taken away, and waits for others that are
// at it.
func (ex *exam) doChores() error {
	for {
		if err := ex.s.doChores(ex.ctx); err != nil {
			return err
		}
		left := 0
		err := ex.s.write(ex.ctx, func(t *tx) error {
			_, err := t.one(`SELECT (SELECT count(*) FROM (SELECT FROM doomed FOR UPDATE) d) + (SELECT count(*) FROM (SELECT FROM files WHERE format = '' FOR UPDATE) f)`, nil, &left)
			return err
		})
		if err != nil || left == 0 {
			return err
		}
	}
}

// leases says which sessions are in use.
func (ex *exam) leases(area string) error {
	held := 0
	for sess, err := range ex.s.Sessions(ex.ctx, skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			return err
		}
		if sess.LockedBy != "" {
			held++
			ex.find(skein.Finding{Area: area, Level: skein.Fine, Session: sess.ID, Text: "in use by " + sess.LockedBy})
		}
	}
	if held == 0 {
		ex.fine(area, "no session is in use")
	}
	return nil
}
