package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
	"github.com/skein-dev/skein/store/stream"
)

const fileColumns = `f.format, f.path, f.session, f.id, f.copy_of, f.size, f.mtime, f.inode, f."offset", f.records, f.damaged, f.head, f.state, f.n, f.user_id`

// A sourceFile is the row of a source file.
type sourceFile struct {
	skein.SourceFile
	n    int64
	user skein.User
}

func scanFile(r wire.Row) (f sourceFile, err error) {
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
func usersOf(u skein.User, table string, w *wire.Where) string {
	if u != "" {
		w.Args = append(w.Args, string(u))
		return fmt.Sprintf(`(SELECT $%d::text AS user_id)`, len(w.Args))
	}
	return fmt.Sprintf(`(WITH RECURSIVE u (user_id) AS (
		SELECT min(x.user_id) FROM %[1]s x
		UNION ALL SELECT (SELECT min(x.user_id) FROM %[1]s x WHERE x.user_id > u.user_id) FROM u WHERE u.user_id IS NOT NULL)
		SELECT user_id FROM u WHERE user_id IS NOT NULL)`, table)
}

// fileQuery returns the query for a file; if several users have it, for that of the
// first user by name.
func fileQuery(u skein.User, format, path string) (sql string, args []any) {
	w := &wire.Where{}
	users := usersOf(u, "files", w)
	w.Add("f.path_hash = sha256(?)", []byte(path))
	w.Add("f.format = ?", format)
	w.Conds = append(w.Conds, "f.user_id = u.user_id", "f.format <> ''")
	// LATERAL and OFFSET make the planner use the index for each user.
	return `SELECT ` + fileColumns + ` FROM ` + users + ` u CROSS JOIN LATERAL (SELECT ` + fileColumns + ` FROM files f` + w.SQL() + ` OFFSET 0) f ORDER BY u.user_id LIMIT 1`, w.Args
}

// file returns what is known of a file.
//
// The error wraps [skein.ErrNotFound] if there is no such file.
func (q *conn) file(format, path string) (f sourceFile, err error) {
	found := false
	if columns.Plain(format) == format {
		sql, args := fileQuery(q.User, format, path)
		err = q.Query(sql, args, func(r wire.Row) error {
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
	err = s.once(ctx, func(q *conn) error {
		x, err := q.file(format, path)
		f = x.SourceFile
		return err
	})
	return f, err
}

// Files implements [skein.Sources].
func (s sources) Files(ctx context.Context, format string) iter.Seq2[skein.SourceFile, error] {
	return stream.Pages(ctx, sourceFile{}, func(at *sourceFile) (page []skein.SourceFile, more bool, err error) {
		defer skein.Wrapf(&err, "postgres: files of format %q", format)
		rows, err := s.filePage(ctx, format, *at)
		page, more = pageOf(rows, at)
		return page, more, err
	})
}

// pageOf returns the files of a page of rows, and moves at behind them; more is false
// if the page is the last.
func pageOf(rows []sourceFile, at *sourceFile) (page []skein.SourceFile, more bool) {
	for _, f := range rows {
		page = append(page, f.SourceFile)
		*at = f
	}
	return page, len(rows) == wire.PageRows
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
	if columns.Plain(format) != format {
		return nil, nil
	}
	w := &wire.Where{}
	if s.user != "" {
		w.Add("f.user_id = ?", string(s.user))
	}
	order, from := s.filesOrder()
	w.Add(from+" AND (f.path, f.format, f.user_id) > (?::bytea, ?::text, ?::text)",
		[]byte(last.Path), []byte(last.Path), last.Format, string(last.user))
	if w.Conds = append(w.Conds, "f.format <> ''"); format != "" {
		w.Add("f.format = ?", format)
	}
	w.Args = append(w.Args, wire.PageRows)
	err = s.ask(ctx, `SELECT `+fileColumns+` FROM files f`+w.SQL()+order+fmt.Sprintf(` LIMIT $%d`, len(w.Args)), w.Args, func(r wire.Row) error {
		f, err := scanFile(r)
		page = append(page, f)
		return err
	})
	return page, err
}

// Records implements [skein.Sources].
func (s sources) Records(ctx context.Context, format, path string, from int) iter.Seq2[skein.Record, error] {
	return stream.Records(ctx, from, func(from int) (page []skein.Record, err error) {
		defer skein.Wrapf(&err, "postgres: records of %s", path)
		return s.recordPage(ctx, format, path, from)
	})
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
		_, err = q.One(`SELECT r.number, r.count, r.raw FROM records r WHERE r.user_id = $1 AND r.file = $2 AND r.number <= $3 ORDER BY r.number DESC LIMIT 1`,
			[]any{string(f.user), f.n, from}, &first, &count, &raw)
		if err == nil && from >= first+count {
			_, err = q.One(`SELECT min(r.number) FROM records r WHERE r.user_id = $1 AND r.file = $2 AND r.number > $3`, []any{string(f.user), f.n, from}, &next)
		}
		return err
	})
	if err == nil && next != nil {
		err = &skein.DamagedRecordsError{First: from, Last: *next - 1, Err: errors.New("their row is missing")}
	}
	if err != nil || from >= first+count {
		return nil, err
	}
	all, err := s.pack.OpenWhole(first, count, raw)
	if err != nil {
		return nil, &skein.DamagedRecordsError{First: from, Last: first + count - 1, Err: err}
	}
	return all[from-first:], nil
}

// FilesNamed implements [skein.Sources].
func (s sources) FilesNamed(ctx context.Context, part string) iter.Seq2[skein.SourceFile, error] {
	return stream.Pages(ctx, sourceFile{}, func(at *sourceFile) (page []skein.SourceFile, more bool, err error) {
		if columns.Plain(part) != part {
			return nil, false, nil // no ID has it
		}
		defer skein.Wrapf(&err, "postgres: files named %q", part)
		rows, err := s.namedPage(ctx, part, *at)
		page, more = pageOf(rows, at)
		return page, more, err
	})
}

// namedPage returns the next files of FilesNamed after last.
func (s sources) namedPage(ctx context.Context, part string, last sourceFile) (page []sourceFile, err error) {
	w := &wire.Where{}
	if s.user != "" {
		w.Add("f.user_id = ?", string(s.user))
	}
	n := utf8.RuneCountInString(part)
	w.Add("f.id <> f.session AND f.format <> '' AND (left(f.id, ?) = ? OR right(f.id, ?) = ?)", n, part, n, part)
	w.Add("(f.path, f.format, f.user_id) > (?::bytea, ?::text, ?::text)", []byte(last.Path), last.Format, string(last.user))
	order, _ := s.filesOrder()
	w.Args = append(w.Args, wire.PageRows)
	err = s.ask(ctx, `SELECT `+fileColumns+` FROM files f`+w.SQL()+order+fmt.Sprintf(` LIMIT $%d`, len(w.Args)), w.Args, func(r wire.Row) error {
		f, err := scanFile(r)
		page = append(page, f)
		return err
	})
	return page, err
}
