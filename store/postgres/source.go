package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/skein-dev/skein"
)

const fileColumns = `f.format, f.path, f.session, f.id, f.copy_of, f.size, f.mtime, f.inode, f."offset", f.records, f.damaged, f.head, f.state, f.n, f.user_id`

// A sourceFile is the row of a source file.
type sourceFile struct {
	skein.SourceFile
	n    int64
	user skein.User
}

func scanFile(r row) (f sourceFile, err error) {
	var path []byte
	var inode int64
	err = r.Scan(&f.Format, &path, &f.Session, &f.ID, &f.CopyOf, &f.Size, &f.Mtime, &inode, &f.Offset, &f.Records, &f.Damaged, &f.Head, &f.State, &f.n, &f.user)
	f.Path, f.Inode = string(path), uint64(inode) //nolint:gosec // the column stores the same bits
	if len(f.State) == 0 {
		f.State = nil
	}
	return f, err
}

// usersOf returns a query for the users that have rows in table, by name: the view's
// user, or all; user_id must be the first column of one of the table's indexes. The
// store of all users queries each user's rows as a view does, because the indexes
// support only that.
func (s *view) usersOf(table string, w *where) string {
	if s.user != "" {
		w.args = append(w.args, string(s.user))
		return fmt.Sprintf(`(SELECT $%d::text AS user_id)`, len(w.args))
	}
	return fmt.Sprintf(`(WITH RECURSIVE u (user_id) AS (
		SELECT min(x.user_id) FROM %[1]s x
		UNION ALL SELECT (SELECT min(x.user_id) FROM %[1]s x WHERE x.user_id > u.user_id) FROM u WHERE u.user_id IS NOT NULL)
		SELECT user_id FROM u WHERE user_id IS NOT NULL)`, table)
}

// fileQuery returns the query for a file; if several users have it, for that of the
// first user by name.
func (s *view) fileQuery(format, path string) (sql string, args []any) {
	w := &where{}
	users := s.usersOf("files", w)
	w.add("f.path_hash = sha256(?)", []byte(path))
	w.add("f.format = ?", format)
	w.conds = append(w.conds, "f.user_id = u.user_id", "f.format <> ''")
	// LATERAL and OFFSET make the planner use the index for each user.
	return `SELECT ` + fileColumns + ` FROM ` + users + ` u CROSS JOIN LATERAL (SELECT ` + fileColumns + ` FROM files f` + w.sql() + ` OFFSET 0) f ORDER BY u.user_id LIMIT 1`, w.args
}

// file returns what is known of a file.
//
// The error wraps [skein.ErrNotFound] if there is no such file.
func (q *conn) file(format, path string) (f sourceFile, err error) {
	found := false
	if plain(format) == format {
		sql, args := q.s.fileQuery(format, path)
		err = q.query(sql, args, func(r row) error {
			found = true
			f, err = scanFile(r)
			return err
		})
	}
	if err == nil && !found {
		err = fmt.Errorf("file %s of format %q %w", path, format, skein.ErrNotFound)
	}
	return f, err
}

// File implements [skein.Sources].
func (s sources) File(ctx context.Context, format, path string) (f skein.SourceFile, err error) {
	defer skein.Wrapf(&err, "postgres: file %s", path)
	err = s.with(ctx, "", func(q *conn) error {
		x, err := q.file(format, path)
		f = x.SourceFile
		return err
	})
	return f, err
}

// Files implements [skein.Sources].
func (s sources) Files(ctx context.Context, format string) iter.Seq2[skein.SourceFile, error] {
	return func(yield func(skein.SourceFile, error) bool) {
		for last := (sourceFile{}); ; {
			page, err := s.filePage(ctx, format, last)
			if err != nil {
				skein.Wrapf(&err, "postgres: files of format %q", format)
				yield(skein.SourceFile{}, err)
				return
			}
			for _, f := range page {
				if !yield(f.SourceFile, nil) {
					return
				}
			}
			if len(page) < pageRows {
				return
			}
			last = page[len(page)-1]
		}
	}
}

// filesOrder returns the order of Files, and a condition for where to begin. The index
// has only the beginning of the path. The files of all users have an index of their
// own.
func (s sources) filesOrder() (order, from string) {
	head := `f.path_head`
	if s.user == "" {
		head = `(f.path_head || ''::bytea)`
	}
	return ` ORDER BY ` + head + `, f.path, f.format, f.user_id`, head + ` >= substring(?::bytea FROM 1 FOR 1000)`
}

// filePage returns the next files after last.
func (s sources) filePage(ctx context.Context, format string, last sourceFile) (page []sourceFile, err error) {
	if plain(format) != format {
		return nil, nil
	}
	w := &where{}
	if s.user != "" {
		w.add("f.user_id = ?", string(s.user))
	}
	order, from := s.filesOrder()
	w.add(from+" AND (f.path, f.format, f.user_id) > (?::bytea, ?::text, ?::text)",
		[]byte(last.Path), []byte(last.Path), last.Format, string(last.user))
	if w.conds = append(w.conds, "f.format <> ''"); format != "" {
		w.add("f.format = ?", format)
	}
	w.args = append(w.args, pageRows)
	err = s.ask(ctx, `SELECT `+fileColumns+` FROM files f`+w.sql()+order+fmt.Sprintf(` LIMIT $%d`, len(w.args)), w.args, func(r row) error {
		f, err := scanFile(r)
		page = append(page, f)
		return err
	})
	return page, err
}

// Records implements [skein.Sources].
func (s sources) Records(ctx context.Context, format, path string, from int) iter.Seq2[skein.Record, error] {
	return func(yield func(skein.Record, error) bool) {
		for next := max(0, from); ; {
			page, err := s.recordPage(ctx, format, path, next)
			if err != nil {
				skein.Wrapf(&err, "postgres: records of %s", path)
				yield(skein.Record{}, err)
				return
			}
			for _, r := range page {
				if !yield(r, nil) {
					return
				}
			}
			if len(page) == 0 {
				return
			}
			next = page[len(page)-1].N + 1
		}
	}
}

// recordPage returns the records of one block, beginning with number from; no records
// at the end. The error is a [skein.DamagedRecordsError] if they cannot be read.
func (s sources) recordPage(ctx context.Context, format, path string, from int) (page []skein.Record, err error) {
	var first, count int
	var next *int
	var raw []byte
	err = s.read(ctx, func(q *conn) error {
		f, err := q.file(format, path)
		if err != nil {
			return err
		}
		_, err = q.one(`SELECT r.number, r.count, r.raw FROM records r WHERE r.user_id = $1 AND r.file = $2 AND r.number <= $3 ORDER BY r.number DESC LIMIT 1`,
			[]any{string(f.user), f.n, from}, &first, &count, &raw)
		if err == nil && from >= first+count {
			_, err = q.one(`SELECT min(r.number) FROM records r WHERE r.user_id = $1 AND r.file = $2 AND r.number > $3`, []any{string(f.user), f.n, from}, &next)
		}
		return err
	})
	if err == nil && next != nil {
		err = &skein.DamagedRecordsError{First: from, Last: *next - 1, Err: errors.New("their row is missing")}
	}
	if err != nil || from >= first+count {
		return nil, err
	}
	all, err := s.pack.openBlock(first, count, raw)
	if err != nil {
		return nil, &skein.DamagedRecordsError{First: from, Last: first + count - 1, Err: err}
	}
	return all[from-first:], nil
}
