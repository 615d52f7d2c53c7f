package opencode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
)

// there describes the database that a session is written to.
type there struct {
	made     bool                // it exists
	columns  map[string][]string // by table
	projects map[string]string   // ID → folder
	model    askedOf             // that the newest session with one has; zero if none has
}

// lookAt returns what the database at path has or, if it does not exist, what a new
// one will have.
func lookAt(ctx context.Context, at string) (t *there, err error) {
	t = &there{columns: newColumns(), projects: map[string]string{}}
	db, err := foreign.Open(ctx, at)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if ours(db) == nil {
		return t, fmt.Errorf("%w: database %s belongs to another program", skein.ErrInvalid, at)
	}
	t.made = true
	clear(t.columns)
	for _, table := range db.Tables() {
		t.columns[table.Name] = table.Columns
	}
	if _, ok := db.Table("project"); !ok {
		return t, fmt.Errorf("%w: database %s has no projects", skein.ErrInvalid, at)
	}
	err = db.Rows(ctx, "project", "", func(r foreign.Row) error {
		t.projects[r.Text("id")] = r.Text("worktree")
		return nil
	})
	if _, ok := db.Table("session"); err != nil || !ok {
		return t, err
	}
	newest := int64(-1)
	return t, db.Rows(ctx, "session", "", func(r foreign.Row) error {
		var m modelRef
		if at := r.Int("time_updated"); at > newest && json.Unmarshal([]byte(r.Text("model")), &m) == nil && m.ID != "" {
			newest, t.model = at, askedOf{m.Provider, m.ID}
		}
		return nil
	})
}

// project returns the project that a folder belongs to: the known one whose folder
// contains it, else the global one.
func (t *there) project(folder string) (id string, known bool) {
	const elsewhere = "global"
	id, best := elsewhere, -1
	folder = slashed(folder)
	for p, at := range t.projects {
		at = slashed(at)
		if p == elsewhere || at == "" || at == "/" || folder != at && !strings.HasPrefix(folder, at+"/") {
			continue
		}
		if len(at) > best || len(at) == best && p < id {
			id, best = p, len(at)
		}
	}
	_, known = t.projects[id]
	return id, known
}

func slashed(folder string) string {
	if folder == "" {
		return ""
	}
	return path.Clean(strings.ReplaceAll(folder, `\`, "/"))
}

// values are the values of a row's columns.
type values map[string]foreign.Value

// row returns a row of a table with the values that the table has columns for.
func (t *there) row(table string, vs values) (r foreign.Row) {
	r.Table = table
	for _, c := range t.columns[table] {
		if v, ok := vs[c]; ok {
			r.Columns, r.Values = append(r.Columns, c), append(r.Values, v)
		}
	}
	return r
}
