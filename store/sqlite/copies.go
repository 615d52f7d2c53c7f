package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// unfinished is the prefix of the name of an incomplete copy.
const unfinished = ".skein-backup-"

// A copyRow is a row of the table copies.
type copyRow struct {
	path  string
	made  skein.Time
	kind  inspect.CopyKind
	state string
}

// Copies implements [inspect.Backups]. It returns the copies that are recorded,
// and the files in the places where copies are made, which may be from an
// earlier version or from another store beside this one.
func (s *backupMaker) Copies(ctx context.Context) (all []inspect.Copy, err error) {
	defer skein.Wrapf(&err, "sqlite: copies of %s", s.path)
	known, err := s.notedCopies(ctx)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, n := range known {
		seen[n.path] = true
		c := inspect.Copy{Path: n.path, Kind: n.kind, Made: n.made, Gone: true}
		if st, err := os.Stat(n.path); err == nil {
			c.Gone, c.Size = false, st.Size()
		}
		all = append(all, c)
	}
	found, err := besides(s.path)
	if err != nil {
		return nil, err
	}
	for _, path := range found {
		st, err := os.Stat(path)
		if err != nil || seen[path] || !st.Mode().IsRegular() {
			continue // it was removed meanwhile
		}
		all = append(all, inspect.Copy{Path: path, Kind: kindOf(path), Made: skein.At(st.ModTime()), Size: st.Size()})
	}
	slices.SortFunc(all, func(a, b inspect.Copy) int { return cmp.Or(cmp.Compare(b.Made, a.Made), cmp.Compare(a.Path, b.Path)) })
	return all, nil
}

// backupFolder is where copies of the store at path are made by default.
func backupFolder(path string) string { return filepath.Join(filepath.Dir(path), "backups") }

// besides returns the files in the places where copies of the store at path are made.
func besides(path string) (all []string, err error) {
	dir, base := filepath.Dir(path), filepath.Base(path)
	for _, in := range []struct {
		dir  string
		mine func(name string) bool
	}{
		{backupFolder(path), func(name string) bool { return !strings.HasSuffix(name, ".lock") }},
		{dir, func(name string) bool {
			return strings.HasPrefix(name, base) && besideName().MatchString(name[len(base):]) || strings.HasPrefix(name, unfinished)
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

// kindOf returns the kind of a copy that is not recorded, judging by its name.
func kindOf(path string) inspect.CopyKind {
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

// notedCopies returns the rows of the table copies, the newest first.
func (s *backupMaker) notedCopies(ctx context.Context) (all []copyRow, err error) {
	err = s.read(ctx, func(r *engine.Conn) error {
		all, err = copiesIn(r)
		return err
	})
	return all, err
}

func copiesIn(c *engine.Conn) (all []copyRow, err error) {
	err = c.Query(`SELECT path, made, kind, state FROM copies ORDER BY made DESC, path`, nil, func(row []driver.Value) error {
		var n copyRow
		var made int64
		var kind string
		err := engine.Scan(row, []any{&n.path, &made, &kind, &n.state})
		n.made, n.kind = skein.Time(made), inspect.CopyKind(kind)
		all = append(all, n)
		return err
	})
	return all, err
}

// noteCopy records that a copy is being made. If that fails, it only sends a
// notice: a store that is damaged, or on a full disk, must be copied too.
func (s *backupMaker) noteCopy(ctx context.Context, path string, kind inspect.CopyKind) {
	err := s.change(ctx, func(t *txn.Tx) error { return noteCopy(t.Conn, path, kind, skein.At(s.clock())) })
	if err != nil && ctx.Err() == nil && s.notice != nil {
		s.notice(fmt.Sprintf("the copy %s could not be recorded, so a scrub will not name it: %v", path, err))
	}
}

func noteCopy(c *engine.Conn, path string, kind inspect.CopyKind, at skein.Time) error {
	state, err := stateOf(c)
	if err != nil {
		return err
	}
	_, _, err = c.Exec(`INSERT INTO copies (path, made, kind, state) VALUES (?, ?, ?, ?)
		ON CONFLICT (path) DO UPDATE SET made = excluded.made, kind = excluded.kind, state = excluded.state`, path, int64(at), string(kind), state)
	return err
}

// forgetCopy removes the record of a copy.
func (s *backupMaker) forgetCopy(path string) {
	_ = s.change(context.Background(), func(t *txn.Tx) error { //nolint:errcheck // then it is called gone
		_, _, err := t.Exec(`DELETE FROM copies WHERE path = ?`, path)
		return err
	})
}

// keepCopies records the copies that were known to a store that is being replaced.
func keepCopies(c *engine.Conn, known []copyRow) error {
	for _, n := range known {
		if _, _, err := c.Exec(`INSERT OR IGNORE INTO copies (path, made, kind, state) VALUES (?, ?, ?, '')`, n.path, int64(n.made), string(n.kind)); err != nil {
			return err
		}
	}
	return nil
}

// stateOf returns a text that differs once something was added or destroyed.
func stateOf(c *engine.Conn) (state string, err error) {
	_, err = c.One(`SELECT (SELECT coalesce(max(id), 0) FROM events) || ' events, ' || (SELECT count(*) FROM tombstones) || ' tombstones'`, nil, &state)
	return state, err
}
