package foreign

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/skein-dev/skein/internal/lines"
)

// Build creates a database at path from lines: those of a frame first, then rows in
// any order. It skips other lines and damaged rows. A row without a rowid gets the
// next one.
//
// The error wraps [os.ErrExist] if path exists; others are the readers', and SQLite's
// if the lines do not make a database. After an error, Build leaves nothing at path.
func Build(ctx context.Context, path string, rows ...io.Reader) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w", path, os.ErrExist)
	}
	db, err := sql.Open(driverName, dsn(filepath.ToSlash(path), "rwc"))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
				_ = os.Remove(path + suffix)
			}
		}
	}()
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	b := &dbBuilder{ctx: ctx, conn: c, inserts: map[string]*sql.Stmt{}}
	if err := guard(ctx, c, maxWritten); err != nil {
		return err
	}
	for _, r := range rows {
		if err := lines.Each(r, b.line); err != nil {
			return err
		}
	}
	return b.finish()
}

// A dbBuilder builds a database.
type dbBuilder struct {
	ctx      context.Context
	conn     *sql.Conn
	settings *pragmas
	objects  []schemaRow // created after the rows
	sequence []Row
	begun    bool
	inserts  map[string]*sql.Stmt
}

func (b *dbBuilder) line(rope lines.Rope) error {
	r, ok, err := ParseRope(rope)
	if err != nil {
		return fmt.Errorf("line %.60q: %w", rope.Gist(), err)
	}
	if ok {
		return b.row(r)
	}
	line := rope.Bytes()
	var in struct {
		Database *pragmas
		Schema   *schemaRow
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return fmt.Errorf("line %.60q: %w", line, err)
	}
	switch {
	case in.Database != nil:
		return b.set(*in.Database)
	case in.Schema != nil:
		return b.object(*in.Schema)
	}
	return nil
}

// objectIn returns the object in a line of a frame, and false for another line.
func objectIn(line []byte) (schemaRow, bool) {
	var in struct{ Schema *schemaRow }
	if json.Unmarshal(line, &in) != nil || in.Schema == nil {
		return schemaRow{}, false
	}
	return *in.Schema, true
}

func (b *dbBuilder) set(s pragmas) error {
	b.settings = &s
	if !plainWord().MatchString(s.Encoding) {
		return fmt.Errorf("encoding %q", s.Encoding)
	}
	for _, p := range []string{
		fmt.Sprintf("page_size = %d", s.PageSize), fmt.Sprintf("encoding = '%s'", s.Encoding),
		fmt.Sprintf("auto_vacuum = %d", s.AutoVacuum), fmt.Sprintf("user_version = %d", s.UserVersion),
		fmt.Sprintf("application_id = %d", s.ApplicationID),
	} {
		if err := b.exec("PRAGMA " + p); err != nil {
			return err
		}
	}
	return nil
}

var (
	plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9-]+$`) })
	creates   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)^\s*CREATE\s+(TABLE|UNIQUE\s+INDEX|INDEX|TRIGGER|VIRTUAL\s+TABLE)\b`)
	})
)

// object creates an ordinary table, and leaves objects that read rows for later.
func (b *dbBuilder) object(o schemaRow) error {
	switch {
	case strings.HasPrefix(strings.ToLower(o.Name), "sqlite_"):
		return nil // SQLite creates these itself
	case !creates().MatchString(o.SQL):
		return fmt.Errorf("schema of %s %s: %.60q", o.Type, o.Name, o.SQL)
	case ordinary().MatchString(o.SQL):
		return b.exec(o.SQL)
	}
	b.objects = append(b.objects, o)
	return nil
}

func (b *dbBuilder) row(r Row) error {
	switch {
	case r.Damage != "":
		return nil
	case r.Table == "sqlite_sequence":
		b.sequence = append(b.sequence, r)
		return nil
	case !b.begun:
		if err := b.exec("BEGIN"); err != nil {
			return err
		}
		b.begun = true
	}
	return b.insert(r)
}

func (b *dbBuilder) insert(r Row) error {
	names, args := columnsOf(r)
	query := "INSERT INTO main." + quote(r.Table) + " (" + strings.Join(names, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(args)-1) + ")"
	st := b.inserts[query]
	if st == nil {
		var err error
		if st, err = b.conn.PrepareContext(b.ctx, query); err != nil {
			return err
		}
		b.inserts[query] = st
	}
	if slices.ContainsFunc(args, func(v any) bool { text, _ := v.(string); return len(text) > hugeText }) {
		debug.FreeOSMemory() // SQLite is about to take as much, which the collector does not see
	}
	_, err := st.ExecContext(b.ctx, args...)
	return err
}

// hugeText is the length in bytes of a text before which garbage is collected.
const hugeText = 16 << 20

// columnsOf returns the columns of a row, quoted, and its values, with the rowid if
// no column is the rowid.
func columnsOf(r Row) (names []string, args []any) {
	hidden := map[string]bool{}
	for i, c := range r.Columns {
		names, args = append(names, quote(c)), append(args, asArg(r.Values[i]))
		hidden[strings.ToLower(c)] = true
	}
	if r.Rowid == nil {
		return names, args
	}
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !hidden[name] {
			return append([]string{name}, names...), append([]any{*r.Rowid}, args...)
		}
	}
	return names, args
}

// asArg returns a value as SQLite takes it.
func asArg(v Value) any {
	if text, ok := v.(lines.Rope); ok {
		b := text.Bytes()
		return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // nobody writes to it, and a copy could be of a long message
	}
	return v
}

// finish creates the objects that read rows, sets the counters of AUTOINCREMENT, and
// checks the full-text tables.
func (b *dbBuilder) finish() (err error) {
	for _, st := range b.inserts {
		err = errors.Join(err, st.Close())
	}
	if err != nil {
		return err
	}
	if !b.begun {
		if err := b.exec("BEGIN"); err != nil {
			return err
		}
	}
	for _, o := range b.objects {
		if err := b.exec(o.SQL); err != nil {
			return fmt.Errorf("%s %s: %w", o.Type, o.Name, err)
		}
		if fullText().MatchString(o.SQL) {
			name := quote(o.Name)
			if err := b.exec("INSERT INTO " + name + "(" + name + ") VALUES ('rebuild')"); err != nil {
				return fmt.Errorf("full-text table %s: %w", o.Name, err)
			}
			if err := b.exec("INSERT INTO " + name + "(" + name + ") VALUES ('integrity-check')"); err != nil {
				return fmt.Errorf("full-text table %s: %w", o.Name, err)
			}
		}
	}
	if len(b.sequence) > 0 {
		if err := b.sequences(); err != nil {
			return err
		}
	}
	if err := b.exec("COMMIT"); err != nil {
		return err
	}
	if b.settings != nil && strings.EqualFold(b.settings.Journal, "wal") {
		return b.exec("PRAGMA journal_mode = WAL")
	}
	return nil
}

func (b *dbBuilder) sequences() error {
	if err := b.exec("DELETE FROM sqlite_sequence"); err != nil {
		return err
	}
	for _, r := range b.sequence {
		names, args := columnsOf(r)
		q := "INSERT INTO sqlite_sequence (" + strings.Join(names, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(args)-1) + ")"
		if _, err := b.conn.ExecContext(b.ctx, q, args...); err != nil {
			return err
		}
	}
	return nil
}

func (b *dbBuilder) exec(query string) error {
	_, err := b.conn.ExecContext(b.ctx, query)
	return err
}
