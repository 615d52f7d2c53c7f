package opencode

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein/internal/foreign"
)

// moved returns the sessions of the folder that the program also has in a newer
// place: in a database or, if the folder is that of one project, in the folder that
// replaced it. The program continues with those.
//
// Errors are those of reading the data folder, or an existing database.
func (t *tree) moved(ctx context.Context) (map[string]bool, error) {
	ids := map[string]bool{}
	data := filepath.FromSlash(dataOf(filepath.ToSlash(t.path)))
	entries, err := os.ReadDir(data)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		at := filepath.Join(data, e.Name())
		if e.Type().IsRegular() && unit(filepath.ToSlash(at)) == filepath.ToSlash(at) {
			if err := inDatabase(ctx, at, ids); err != nil {
				return nil, err
			}
		}
	}
	if main := filepath.Join(data, folderName); main != filepath.Clean(t.path) {
		files, err := filepath.Glob(filepath.Join(escape(main), "session", "*", "ses_*.json"))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			ids[strings.TrimSuffix(filepath.Base(f), ".json")] = true
		}
	}
	return ids, nil
}

// inDatabase adds the sessions that the database at path has.
func inDatabase(ctx context.Context, at string, ids map[string]bool) (err error) {
	db, err := foreign.Open(ctx, at)
	if errors.Is(err, foreign.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if ours(db) == nil {
		return nil
	}
	return db.Rows(ctx, "session", "", func(r foreign.Row) error {
		ids[r.Text("id")] = true
		return nil
	})
}

// escape escapes a path for Glob.
func escape(name string) string {
	if os.PathSeparator == '\\' {
		return name // Glob has no escapes there
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(name)
}
