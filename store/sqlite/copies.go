package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/copies"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

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
		seen[n.Path] = true
		c := inspect.Copy{Path: n.Path, Kind: n.Kind, Made: n.Made, Gone: true}
		if st, err := os.Stat(n.Path); err == nil {
			c.Gone, c.Size = false, st.Size()
		}
		all = append(all, c)
	}
	found, err := copies.Besides(s.path)
	if err != nil {
		return nil, err
	}
	for _, path := range found {
		st, err := os.Stat(path)
		if err != nil || seen[path] || !st.Mode().IsRegular() {
			continue // it was removed meanwhile
		}
		all = append(all, inspect.Copy{Path: path, Kind: copies.KindOf(path), Made: skein.At(st.ModTime()), Size: st.Size()})
	}
	slices.SortFunc(all, func(a, b inspect.Copy) int { return cmp.Or(cmp.Compare(b.Made, a.Made), cmp.Compare(a.Path, b.Path)) })
	return all, nil
}

// notedCopies returns the rows of the table copies, the newest first.
func (s *backupMaker) notedCopies(ctx context.Context) (all []copies.Row, err error) {
	err = s.read(ctx, func(r *engine.Conn) error {
		all, err = copies.All(r)
		return err
	})
	return all, err
}

// noteCopy records that a copy is being made. If that fails, it only sends a
// notice: a store that is damaged, or on a full disk, must be copied too.
func (s *backupMaker) noteCopy(ctx context.Context, path string, kind inspect.CopyKind) {
	err := s.change(ctx, func(t *txn.Tx) error { return copies.Note(t.Conn, path, kind, skein.At(s.clock())) })
	if err != nil && ctx.Err() == nil && s.notice != nil {
		s.notice(fmt.Sprintf("the copy %s could not be recorded, so a scrub will not name it: %s", path, skein.Reason(err)))
	}
}

// forgetCopy removes the record of a copy.
func (s *backupMaker) forgetCopy(path string) {
	_ = s.change(context.Background(), func(t *txn.Tx) error { //nolint:errcheck // then it is called gone
		_, _, err := t.Exec(`DELETE FROM copies WHERE path = ?`, path)
		return err
	})
}
