package foreign

import (
	"context"
	"errors"
	"fmt"
)

// A Mark changes when a row of a table of keys and values does: a program that writes
// a value again gives its row another rowid, or the value another length, or both.
type Mark struct {
	Key   string
	Rowid int64
	Size  int64 // bytes of the value
}

// A Shelf is a table of keys and values of which only some are read, such as a few of
// many gigabytes. The keys are texts with an index of their own.
type Shelf struct {
	Table, Key, Value string // names of the table and its columns
}

// Marks calls yield with each key from first on that is less than end, in
// order, without reading the values.
//
// The error is yield's, ctx's, or says that there is no such table. [DB.Damage]
// reports what a damaged page hides.
func (db *DB) Marks(ctx context.Context, s Shelf, first, end string, yield func(Mark) error) error {
	t, err := db.shelf(s)
	if err != nil {
		return err
	}
	key := quote(s.Key)
	query := "SELECT CAST(" + key + " AS TEXT), " + t.rowid + ", octet_length(" + quote(s.Value) + ") FROM main." + quote(t.Name) +
		" WHERE " + key + " >= ? AND " + key + " < ? ORDER BY " + key
	rows, err := db.conn.QueryContext(ctx, query, first, end)
	if err != nil {
		return db.shelfDamage(ctx, s, first, err)
	}
	defer rows.Close()
	for last := ""; rows.Next(); {
		var m Mark
		var size *int64
		if err := rows.Scan(&m.Key, &m.Rowid, &size); err != nil {
			return db.shelfDamage(ctx, s, first, err)
		}
		if m.Key <= last && last != "" {
			return db.shelfDamage(ctx, s, m.Key, errDisorder)
		}
		last = m.Key
		if size != nil {
			m.Size = *size
		}
		if err := yield(m); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return db.shelfDamage(ctx, s, first, err)
	}
	return nil
}

// At returns the row that has a mark, and false if it cannot be read. A row with a
// value that is longer than [MaxValue] is a damaged row.
//
// The error is ctx's, or says that there is no such table.
func (db *DB) At(ctx context.Context, s Shelf, m Mark) (r Row, ok bool, err error) {
	t, err := db.shelf(s)
	if err != nil {
		return r, false, err
	}
	if m.Size > MaxValue {
		return Row{Table: s.Table, Rowid: &m.Rowid, Damage: fmt.Sprintf("%s: a value of %d bytes, at most %d are read", m.Key, m.Size, MaxValue)}, true, nil
	}
	found := errors.New("found")
	sc := &scan{db: db, t: t, yield: func(row Row) error { r, ok = row, true; return found }}
	err = sc.read(ctx, "SELECT "+sc.columns()+sc.from()+fmt.Sprintf(" WHERE %s = %d", t.rowid, m.Rowid))
	switch {
	case ok:
		return r, true, nil
	case err != nil:
		return r, false, db.shelfDamage(ctx, s, m.Key, err)
	}
	return r, false, nil
}

// shelf returns the table of s, if it has the columns of a shelf.
func (db *DB) shelf(s Shelf) (Table, error) {
	t, ok := db.Table(s.Table)
	if !ok || !t.Has(s.Key, s.Value) || t.rowid == "" {
		return t, fmt.Errorf("no table %s with %s and %s", s.Table, s.Key, s.Value)
	}
	return t, nil
}

// shelfDamage records what could not be read; only ctx's end is an error.
func (db *DB) shelfDamage(ctx context.Context, s Shelf, key string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	db.harm("table %s, %s: %v", s.Table, key, err)
	return nil
}
