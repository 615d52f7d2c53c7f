package copies

import (
	"database/sql/driver"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// Unfinished is the prefix of the name of an incomplete copy.
const Unfinished = ".skein-backup-"

// A Row is a row of the table copies.
type Row struct {
	Path  string
	Made  skein.Time
	Kind  inspect.CopyKind
	State string
}

// All returns the rows of the table copies, the newest first. The error is the driver's.
func All(c *engine.Conn) (all []Row, err error) {
	err = c.Query(`SELECT path, made, kind, state FROM copies ORDER BY made DESC, path`, nil, func(row []driver.Value) error {
		var n Row
		var made int64
		var kind string
		err := engine.Scan(row, []any{&n.Path, &made, &kind, &n.State})
		n.Made, n.Kind = skein.Time(made), inspect.CopyKind(kind)
		all = append(all, n)
		return err
	})
	return all, err
}

// Note records that a copy is being made. The error is the driver's.
func Note(c *engine.Conn, path string, kind inspect.CopyKind, at skein.Time) error {
	state, err := StateOf(c)
	if err != nil {
		return err
	}
	_, _, err = c.Exec(`INSERT INTO copies (path, made, kind, state) VALUES (?, ?, ?, ?)
		ON CONFLICT (path) DO UPDATE SET made = excluded.made, kind = excluded.kind, state = excluded.state`, path, int64(at), string(kind), state)
	return err
}

// Keep records the copies that were known to a store that is being replaced. The
// error is the driver's.
func Keep(c *engine.Conn, known []Row) error {
	for _, n := range known {
		if _, _, err := c.Exec(`INSERT OR IGNORE INTO copies (path, made, kind, state) VALUES (?, ?, ?, '')`, n.Path, int64(n.Made), string(n.Kind)); err != nil {
			return err
		}
	}
	return nil
}

// StateOf returns a text that differs once something was added or destroyed.
// The error is the driver's.
func StateOf(c *engine.Conn) (state string, err error) {
	_, err = c.One(`SELECT (SELECT coalesce(max(id), 0) FROM events) || ' events, ' || (SELECT count(*) FROM tombstones) || ' tombstones'`, nil, &state)
	return state, err
}

// Folder is where copies of the store at path are made by default.
func Folder(path string) string { return filepath.Join(filepath.Dir(path), "backups") }

// Besides returns the files in the places where copies of the store at path are made.
// The error is that of the system.
func Besides(path string) (all []string, err error) {
	dir, base := filepath.Dir(path), filepath.Base(path)
	for _, in := range []struct {
		dir  string
		mine func(name string) bool
	}{
		{Folder(path), func(name string) bool { return !strings.HasSuffix(name, ".lock") }},
		{dir, func(name string) bool {
			return strings.HasPrefix(name, base) && besideName().MatchString(name[len(base):]) || strings.HasPrefix(name, Unfinished)
		}},
	} {
		entries, err := os.ReadDir(in.dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if in.mine(e.Name()) && !e.IsDir() {
				all = append(all, filepath.Join(in.dir, e.Name()))
			}
		}
	}
	return all, nil
}

// besideName matches what follows the store's name in the name of a copy.
var besideName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.v\d+(-\d+)?\.bak(\.tmp)?$|^\.damaged-\d+(-wal)?$`)
})

// KindOf returns the kind of a copy that is not recorded, judging by its name.
func KindOf(path string) inspect.CopyKind {
	name := filepath.Base(path)
	switch {
	case strings.HasPrefix(name, "backup-"):
		return inspect.BackupCopy
	case strings.HasPrefix(name, "before-restore-"):
		return inspect.RestoredCopy
	case strings.Contains(name, ".damaged-"):
		return inspect.DamagedCopy
	case strings.HasSuffix(name, ".bak"):
		return inspect.MigrationCopy
	}
	return inspect.UnknownCopy
}

// Remove removes an incomplete copy, with what SQLite left beside it. The error is
// that of the system.
func Remove(name string) error {
	var errs []error
	for _, n := range []string{name, name + "-journal"} {
		if err := os.Remove(n); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
