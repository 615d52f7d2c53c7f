package foreign

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein/internal/lines"
)

// ErrDiffers says that a row is not as expected.
var ErrDiffers = errors.New("another row is there")

// Merge writes rows to the database at path itself, in one transaction that waits up
// to five seconds for others. The rows of was must be in the database unchanged, and
// rows may change them; those of them that are in gone are deleted. If another row
// already exists, it must be the same. Missing tables are created; the settings in a
// frame, and rows of sqlite_sequence, are skipped. The database's own triggers run.
//
// The error wraps [ErrDiffers]; others are the readers' and SQLite's. After an error,
// nothing has changed.
func Merge(ctx context.Context, path string, was, gone []io.Reader, rows ...io.Reader) (err error) {
	db, err := sql.Open(driverName, dsn(filepath.ToSlash(path), "rw"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	m := &merger{dbBuilder{ctx: ctx, conn: c, inserts: map[string]*sql.Stmt{}}, map[string]bool{}}
	if err := guard(ctx, c, maxWritten); err != nil {
		return err
	}
	for _, q := range []string{"PRAGMA busy_timeout = 5000", "BEGIN IMMEDIATE"} {
		if err := m.exec(q); err != nil {
			return err
		}
	}
	defer func() {
		if err != nil {
			_, back := c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
			err = errors.Join(err, back)
		}
	}()
	for _, take := range []struct {
		from []io.Reader
		line func(lines.Rope) error
	}{{was, m.stands}, {gone, m.remove}, {rows, m.merge}} {
		for _, r := range take.from {
			if err := lines.Each(r, take.line); err != nil {
				return err
			}
		}
	}
	for _, st := range m.inserts {
		err = errors.Join(err, st.Close())
	}
	if err != nil {
		return err
	}
	return m.exec("COMMIT")
}

type merger struct {
	dbBuilder
	known map[string]bool // rows that may change
}

// stands checks that a row is in the database unchanged.
func (m *merger) stands(line lines.Rope) error {
	r, ok, err := ParseRope(line)
	if err != nil || !ok || r.Rowid == nil || r.Damage != "" || r.Table == "sqlite_sequence" {
		return err
	}
	m.known[fmt.Sprint(r.Table, *r.Rowid)] = true
	same, there, err := m.same(r)
	if err == nil && (!same || !there) {
		err = fmt.Errorf("table %s, row %d: %w", r.Table, *r.Rowid, ErrDiffers)
	}
	return err
}

// remove deletes a row that is in the database unchanged.
func (m *merger) remove(line lines.Rope) error {
	r, ok, err := ParseRope(line)
	switch {
	case err != nil:
		return err
	case !ok || r.Rowid == nil || !m.known[fmt.Sprint(r.Table, *r.Rowid)]:
		return fmt.Errorf("line %.60q: %w", line.Gist(), ErrDiffers)
	}
	_, err = m.conn.ExecContext(m.ctx, "DELETE FROM main."+quote(r.Table)+" WHERE "+rowidName(r)+" = ?", *r.Rowid)
	return err
}

func (m *merger) merge(line lines.Rope) error {
	r, ok, err := ParseRope(line)
	switch {
	case err != nil:
		return err
	case !ok:
		return m.frame(line.Bytes())
	case r.Damage != "" || r.Table == "sqlite_sequence":
		return nil
	case r.Rowid == nil:
		return m.insert(r)
	}
	same, there, err := m.same(r)
	switch {
	case err != nil || same:
		return err
	case !there:
		return m.insert(r)
	case m.known[fmt.Sprint(r.Table, *r.Rowid)]:
		return m.update(r)
	}
	return fmt.Errorf("table %s, row %d: %w", r.Table, *r.Rowid, ErrDiffers)
}

// frame creates what the database does not have.
func (m *merger) frame(line []byte) error {
	o, ok := objectIn(line)
	if !ok || strings.HasPrefix(strings.ToLower(o.Name), "sqlite_") {
		return nil
	}
	var n int
	if err := m.conn.QueryRowContext(m.ctx, "SELECT count(*) FROM sqlite_schema WHERE name = ?", o.Name).Scan(&n); err != nil || n > 0 {
		return err
	}
	if !creates().MatchString(o.SQL) {
		return fmt.Errorf("schema of %s %s: %.60q", o.Type, o.Name, o.SQL)
	}
	return m.exec(o.SQL)
}

// same reports whether a row exists, and whether it has these values.
func (m *merger) same(r Row) (same, there bool, err error) {
	names, args := columnsOf(Row{Columns: r.Columns, Values: r.Values})
	var tests []string
	for _, n := range names {
		tests = append(tests, n+" IS ?")
	}
	q := "SELECT " + strings.Join(tests, " AND ") + " FROM main." + quote(r.Table) + " WHERE " + rowidName(r) + " = ?"
	err = m.conn.QueryRowContext(m.ctx, q, append(args, *r.Rowid)...).Scan(&same)
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	return same, true, err
}

func (m *merger) update(r Row) error {
	names, args := columnsOf(Row{Columns: r.Columns, Values: r.Values})
	q := "UPDATE main." + quote(r.Table) + " SET " + strings.Join(names, " = ?, ") + " = ? WHERE " + rowidName(r) + " = ?"
	_, err := m.conn.ExecContext(m.ctx, q, append(args, *r.Rowid)...)
	return err
}

// rowidName returns a name for the rowid that no column has.
func rowidName(r Row) string {
	names, _ := columnsOf(Row{Columns: r.Columns, Values: make([]Value, len(r.Columns)), Rowid: r.Rowid})
	if len(names) > len(r.Columns) {
		return names[0]
	}
	return "rowid"
}
