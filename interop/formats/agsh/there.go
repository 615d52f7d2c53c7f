package agsh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
)

// there describes the database that a session is written to.
type there struct {
	columns map[string][]string     // by table
	rows    map[string]*foreign.Row // of sessions, by ID
}

// lookAt returns what the database at path has or, if it does not exist, what a new
// one will have.
func lookAt(ctx context.Context, path string) (t there, err error) {
	t = there{rows: map[string]*foreign.Row{}, columns: map[string][]string{
		"sessions": {"id", "created_at", "updated_at", "locked_by", "metadata"},
		"messages": {"session_id", "role", "content", "created_at"},
	}}
	db, err := foreign.Open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if ours(db) == nil {
		return t, fmt.Errorf("%w: database %s belongs to another program", skein.ErrInvalid, path)
	}
	for _, table := range db.Tables() {
		t.columns[table.Name] = table.Columns
	}
	return t, db.Rows(ctx, "sessions", "", func(r foreign.Row) error {
		t.rows[r.Text("id")] = &r
		return nil
	})
}

// repairs reports whether the program knows rows that replace others: since 0.38,
// which a column shows.
func (t there) repairs() bool { return slices.Contains(t.columns["sessions"], "additional_roots_json") }

// values are the values of a row's columns.
type values map[string]foreign.Value

// row returns a row of a table with the values that the table has columns for.
func (t there) row(table string, vs values) foreign.Row {
	r := foreign.Row{Table: table}
	for _, c := range t.columns[table] {
		if v, ok := vs[c]; ok {
			r.Columns, r.Values = append(r.Columns, c), append(r.Values, v)
		}
	}
	return r
}
