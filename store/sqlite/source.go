package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
	"github.com/skein-dev/skein/store/stream"
)

// Find implements [skein.Sources].
func (s *sources) Find(ctx context.Context, keys []skein.ClientID) (found map[skein.ClientID]skein.Place, err error) {
	defer skein.Wrapf(&err, "sqlite: find %d client IDs", len(keys))
	found = map[skein.ClientID]skein.Place{}
	err = s.read(ctx, func(c *engine.Conn) error {
		owners, err := eventlog.FindOwners(c)
		if err != nil {
			return err
		}
		return c.Query(`SELECT e.client, s.id, e.seq FROM json_each(?1) k CROSS JOIN events e INDEXED BY events_by_client ON e.client = k.value`+owners.Join+` CROSS JOIN sessions s ON s.n = `+owners.Owner+`
			WHERE `+owners.Shown+` AND e.imported = 1 AND (?2 = '' OR s.user_id = ?2) ORDER BY e.id DESC`,
			[]any{string(skein.MustJSON(keys)), string(s.user)}, func(row []driver.Value) error {
				var client, id string
				var seq int64
				err := engine.Scan(row, []any{&client, &id, &seq})
				found[skein.ClientID(client)] = skein.Place{Session: skein.SessionID(id), Seq: skein.Seq(seq)} // the first one stays
				return err
			})
	})
	return found, err
}

const selectFile = `SELECT f.format, f.path, f.session, f.id, f.copy_of, f.size, f.mtime, f.inode, f.offset, f.records, f.damaged, f.head, f.state, f.n, f.user_id FROM files f `

func scanFile(row []driver.Value) (f skein.SourceFile, n int64, err error) {
	var session, copyOf, head, user string
	var inode, records, damaged int64
	err = engine.Scan(row, []any{&f.Format, &f.Path, &session, &f.ID, &copyOf, &f.Size, &f.Mtime, &inode, &f.Offset, &records, &damaged, &head, &f.State, &n, &user})
	f.Session, f.CopyOf, f.Head = skein.SessionID(session), skein.SessionID(copyOf), skein.Hash(head)
	f.Inode, f.Records, f.Damaged = uint64(inode), int(records), int(damaged)
	if len(f.State) == 0 {
		f.State = nil
	}
	return f, n, err
}

// file returns what is recorded about a file, and its number.
func (s *sources) file(c *engine.Conn, format, path string) (f skein.SourceFile, n int64, err error) {
	found := false
	err = c.Query(selectFile+`WHERE f.path = ?1 AND f.format = ?2 AND (?3 = '' OR f.user_id = ?3) ORDER BY f.user_id LIMIT 1`,
		[]any{path, format, string(s.user)}, func(row []driver.Value) error {
			found = true
			f, n, err = scanFile(row)
			return err
		})
	if err == nil && !found {
		err = fmt.Errorf("file %s of format %q %w", path, format, skein.ErrNotFound)
	}
	return f, n, err
}

// File implements [skein.Sources].
func (s *sources) File(ctx context.Context, format, path string) (f skein.SourceFile, err error) {
	defer skein.Wrapf(&err, "sqlite: file %s", path)
	err = s.read(ctx, func(c *engine.Conn) error {
		f, _, err = s.file(c, format, path)
		return err
	})
	return f, err
}

// Files implements [skein.Sources].
func (s *sources) Files(ctx context.Context, format string) iter.Seq2[skein.SourceFile, error] {
	start := [3]any{"", "", ""} // path, format, user
	return stream.Pages(ctx, start, func(at *[3]any) (page []skein.SourceFile, more bool, err error) {
		defer skein.Wrapf(&err, "sqlite: files of format %q", format)
		page, err = s.filePage(ctx, format, at)
		return page, len(page) > 0, err
	})
}

// filePage returns the next files after last, and advances it.
func (s *sources) filePage(ctx context.Context, format string, last *[3]any) (page []skein.SourceFile, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		return c.Query(selectFile+`WHERE (f.path, f.format, f.user_id) > (?1, ?2, ?3) AND f.format <> '' AND (?4 = '' OR f.format = ?4) AND (?5 = '' OR f.user_id = ?5)
			ORDER BY f.path, f.format, f.user_id LIMIT 256`, append(last[:], format, string(s.user)), func(row []driver.Value) error {
			f, _, err := scanFile(row)
			page = append(page, f)
			last[0], last[1], last[2] = f.Path, f.Format, row[len(row)-1]
			return err
		})
	})
	return page, err
}

// Records implements [skein.Sources].
func (s *sources) Records(ctx context.Context, format, path string, from int) iter.Seq2[skein.Record, error] {
	return stream.Records(ctx, from, func(from int) (page []skein.Record, err error) {
		defer skein.Wrapf(&err, "sqlite: records of %s", path)
		return s.recordPage(ctx, format, path, from)
	})
}

// recordPage returns the records of one block from number from on, or no
// records at the end. The error is a [skein.DamagedRecordsError] if the first
// one cannot be read.
func (s *sources) recordPage(ctx context.Context, format, path string, from int) (page []skein.Record, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		_, n, err := s.file(c, format, path)
		if err != nil {
			return err
		}
		first, count, stored, err := blockOf(c, n, from)
		if err == nil && stored == nil {
			err = recordGap(c, n, from)
		}
		if err != nil || stored == nil {
			return err
		}
		all, bad, err := legible(s.pack, c, first, stored, noChange)
		if errors.Is(err, skein.ErrCorrupt) {
			return &skein.DamagedRecordsError{First: from, Last: first + count - 1, Err: err}
		}
		if err != nil || from-first >= len(all) {
			return err
		}
		whole := from - first
		for whole < len(all) && bad[whole] == nil {
			whole++
		}
		if page = all[from-first : whole]; len(page) == 0 {
			err = firstBad(bad, first, from-first)
		}
		return err
	})
	return page, err
}

// recordGap returns a [skein.DamagedRecordsError] if file n has no record with this
// number, but has a later one.
func recordGap(c *engine.Conn, n int64, record int) error {
	var next int64
	found, err := c.One(`SELECT n FROM records WHERE n > ? AND n < ? ORDER BY n LIMIT 1`, []any{n*columns.RecordsPerFile + int64(record), (n + 1) * columns.RecordsPerFile}, &next)
	if err != nil || !found {
		return err
	}
	return &skein.DamagedRecordsError{First: record, Last: int(next-n*columns.RecordsPerFile) - 1, Err: errors.New("their row is missing")}
}
