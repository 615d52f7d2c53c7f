package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/files"
	"github.com/skein-dev/skein/store/sqlite/pagefile"
	"github.com/skein-dev/skein/store/sqlite/schema"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// A Lost is what a salvage did not find of a session.
type Lost struct {
	Session skein.SessionID
	Events  []walk.Segment // seqs after From, up to and including To
}

// A salvage makes a new store from what can be read of a damaged file.
type salvage struct {
	from   *pagefile.File
	to     *Store
	tables []salvaged
	roots  map[uint32]string // table name by the root of its tree
	pages  map[string][]uint32
}

// A salvaged is a table that is copied row by row.
type salvaged struct {
	name    string
	insert  string
	columns []salvagedColumn
	rowid   int // column that is the rowid; -1 if there is none
	plain   bool
}

type salvagedColumn struct {
	name, kind string
	required   bool
}

// derived reports whether a table is rebuilt from the others, or records work
// to be done on such tables.
func derived(name string) bool {
	return strings.HasPrefix(name, "words") || strings.HasPrefix(name, "sqlite_") || name == "usage" || name == "usage_all" || name == "indexed" || name == "passages" || name == "edits" || name == "edits_fed" || name == "maintenance" || name == "rewound_ranges"
}

// develops reports whether the file is from a development build, as far as its
// header can be read (https://www.sqlite.org/fileformat2.html#application_id).
func develops(p *pagefile.File) bool {
	b := p.Page(1)
	if b == nil {
		return false
	}
	return slices.Contains(schema.DevelopmentIDs, int64(binary.BigEndian.Uint32(b[68:])))
}

// salvageInto fills the new store at to with all that can be read of the file
// at from, which no connection of this process has open, and returns what is
// lost. The new store records that the damaged file is kept at kept.
//
// The error wraps [skein.ErrCorrupt] if the file has no event that can be read.
func salvageInto(ctx context.Context, from, to, kept string, o Options) (lost []Lost, err error) {
	p, err := pagefile.Open(from)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if develops(p) { // its rows may look like those of this schema
		return nil, schema.ErrDevelopment
	}
	s, err := Open(ctx, to, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	x := &salvage{from: p, to: s, roots: map[uint32]string{}, pages: map[string][]uint32{}}
	if err := x.layout(ctx); err != nil {
		return nil, err
	}
	if err := x.sort(ctx); err != nil {
		return nil, err
	}
	s.noteCopy(ctx, kept, inspect.DamagedCopy)
	return x.fill(ctx)
}

// layout reads from the new file which tables there are. The damaged file says
// where their trees begin; if that cannot be read, they are assumed to begin
// where they do in the new one, because the same steps may have created both.
func (x *salvage) layout(ctx context.Context) error {
	err := x.to.readers.Read(ctx, func(c *engine.Conn) error {
		var tables []string
		err := c.Query(`SELECT type, name, rootpage, coalesce(sql, '') FROM sqlite_schema WHERE rootpage > 0 ORDER BY rootpage`, nil, func(row []driver.Value) error {
			var kind, name, sql string
			var root int64
			if err := engine.Scan(row, []any{&kind, &name, &root, &sql}); err != nil {
				return err
			}
			x.roots[uint32(root)] = name
			if kind == "table" {
				tables = append(tables, name)
				x.tables = append(x.tables, salvaged{name: name, rowid: -1, plain: strings.Contains(sql, "WITHOUT ROWID")})
			}
			return nil
		})
		for i := 0; i < len(tables) && err == nil; i++ {
			err = x.tables[i].describe(c)
		}
		return err
	})
	if said := x.from.Roots(); slices.Contains(slices.Collect(maps.Values(said)), "events") {
		x.roots = said
	}
	return err
}

func (t *salvaged) describe(c *engine.Conn) error {
	var names []string
	err := c.Query(`SELECT name, type, "notnull", pk FROM pragma_table_info(?)`, []any{t.name}, func(row []driver.Value) error {
		var name, kind string
		var required, key int64
		if err := engine.Scan(row, []any{&name, &kind, &required, &key}); err != nil {
			return err
		}
		if key == 1 && kind == "INTEGER" && !t.plain {
			t.rowid = len(t.columns)
		}
		t.columns = append(t.columns, salvagedColumn{name, kind, required == 1})
		names = append(names, name)
		return nil
	})
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ")
	verb := `INSERT OR IGNORE INTO `
	if t.name == "fences" { // a new store already has the table's only row
		verb = `INSERT OR REPLACE INTO `
	}
	t.insert = verb + t.name + ` (` + strings.Join(names, ", ") + `) VALUES (` + marks + `)`
	return err
}

// row returns the values of a row of t; ok is false if the cell is not such a row.
func (t *salvaged) row(c *pagefile.Cell) (row []any, ok bool) {
	if len(c.Values) != len(t.columns) {
		return nil, false
	}
	row = slices.Clone(c.Values)
	if t.rowid >= 0 {
		if row[t.rowid] != nil {
			return nil, false
		}
		row[t.rowid] = c.Rowid
	}
	for i, v := range row {
		col := &t.columns[i]
		ok := false
		switch v.(type) {
		case nil:
			ok = !col.required && i != t.rowid
		case int64:
			ok = col.kind == "INTEGER"
		case string:
			ok = col.kind == "TEXT"
		case []byte:
			ok = col.kind == "BLOB"
		}
		if !ok {
			return nil, false
		}
	}
	return row, true
}

// vote determines which tree is which table from the rows in it: in a file that
// VACUUM copied, the trees are not where they are in a new one.
func (x *salvage) vote(ctx context.Context) error {
	votes := map[uint32]map[string]int{}
	for n := uint32(3); n <= x.from.Count; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		root := x.from.Root(n)
		if root == 0 {
			continue
		}
		b := x.from.Page(n)
		if b == nil || b[0] != pagefile.TableLeaf {
			continue
		}
		if name := x.looksLike(n, b); name != "" {
			if votes[root] == nil {
				votes[root] = map[string]int{}
			}
			votes[root][name]++
		}
	}
	for root, names := range votes {
		most := ""
		for name, n := range names {
			if most == "" || n > names[most] || n == names[most] && name == x.roots[root] {
				most = name
			}
		}
		x.roots[root] = most
	}
	return nil
}

// sort determines which table each page belongs to.
func (x *salvage) sort(ctx context.Context) error {
	if err := x.vote(ctx); err != nil {
		return err
	}
	for n := uint32(3); n <= x.from.Count; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		kind, _ := x.from.Mapped(n)
		if pagefile.IsMap(n) || kind == pagefile.MapFree {
			continue
		}
		b := x.from.Page(n)
		if b == nil {
			continue
		}
		name := x.roots[x.from.Root(n)]
		if name == "" && b[0] == pagefile.TableLeaf {
			name = x.looksLike(n, b)
		}
		if name != "" {
			x.pages[name] = append(x.pages[name], n)
		}
	}
	return nil
}

// looksLike returns the table that the rows of a page without a known root
// belong to; "" if it may be one of several.
func (x *salvage) looksLike(n uint32, b []byte) string {
	cells, _ := x.from.Cells(n, b)
	found := ""
	for i := range x.tables {
		t := &x.tables[i]
		fits := len(cells) > 0 && !t.plain
		for k := range cells {
			_, ok := t.row(&cells[k])
			fits = fits && ok
		}
		if fits && found != "" {
			return ""
		}
		if fits {
			found = t.name
		}
	}
	return found
}

// each calls f with each row of a table that can be read.
func (x *salvage) each(ctx context.Context, t *salvaged, f func(row []any) error) error {
	for _, n := range x.pages[t.name] {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := x.from.Page(n)
		if b == nil || !t.plain && b[0] == 0x05 {
			continue
		}
		cells, bad := x.from.Cells(n, b)
		if bad && t.name == "events" {
			cells = append(cells, x.carve(n, b)...)
		}
		for i := range cells {
			if row, ok := t.row(&cells[i]); ok {
				if err := f(row); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// carve returns the events on a page whose header is damaged: everything that
// has the shape of an event and a checksum that matches.
func (x *salvage) carve(n uint32, b []byte) (all []pagefile.Cell) {
	t := x.table("events")
	for at := 8; at < pagefile.PageSize; at++ {
		c, ok := x.from.Cell(n, b, at, pagefile.TableLeaf)
		if !ok {
			continue
		}
		if row, ok := t.row(&c); ok && row[t.column("sum")] != nil && x.whole(row) {
			all = append(all, c)
		}
	}
	return all
}

func (x *salvage) table(name string) *salvaged {
	i := slices.IndexFunc(x.tables, func(t salvaged) bool { return t.name == name })
	return &x.tables[i]
}

// whole reports whether a row of events is what was stored.
func (x *salvage) whole(row []any) bool {
	t := x.table("events")
	var values []driver.Value
	for _, name := range []string{"seq", "at", "kind", "client", "payload", "text", "turn", "prev", "piece", "sum", "hash", "role"} { // as eventColumns
		values = append(values, row[t.column(name)])
	}
	_, _, err := columns.ScanEvent(x.to.pack, values)
	return err == nil
}

func (t *salvaged) column(name string) int {
	return slices.IndexFunc(t.columns, func(c salvagedColumn) bool { return c.name == name })
}

// fill writes all rows that were found.
func (x *salvage) fill(ctx context.Context) (lost []Lost, err error) {
	for _, name := range x.order() {
		t := x.table(name)
		err := x.to.change(ctx, func(tx *txn.Tx) error {
			put := func(row []any) error {
				_, _, err := tx.Exec(t.insert, row...)
				if code := engine.Code(err) & 0xff; code == engine.CodeConstraint {
					return nil
				}
				return err
			}
			if name != "events" {
				return x.each(ctx, t, put)
			}
			if err := x.each(ctx, t, func(row []any) error {
				if !x.whole(row) {
					return nil
				}
				return put(row)
			}); err != nil {
				return err
			}
			return x.each(ctx, t, func(row []any) error { // damaged events, where there is no better row
				if x.whole(row) || row[t.column("seq")].(int64) < 1 {
					return nil
				}
				return put(row)
			})
		})
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", name, err)
		}
	}
	if lost, err = x.complete(ctx); err != nil {
		return nil, err
	}
	return lost, x.to.indexAll(ctx)
}

// order returns the tables in the order in which they are filled: those that
// triggers read come first.
func (x *salvage) order() []string {
	first := []string{"sessions", "bases", "files", "records", "blobs", "events", "blob_refs", "charges"}
	for i := range x.tables {
		if name := x.tables[i].name; !slices.Contains(first, name) && !derived(name) {
			first = append(first, x.tables[i].name)
		}
	}
	return first
}

// A damagedFileError is the error of Open for a file that SQLite rejects. It is
// an [inspect.Salvager].
type damagedFileError struct {
	path string
	o    Options
	err  error
}

// Error implements error.
func (d *damagedFileError) Error() string { return d.err.Error() }

// Unwrap returns SQLite's error.
func (d *damagedFileError) Unwrap() error { return d.err }

// Salvage implements [inspect.Salvager].
func (d *damagedFileError) Salvage(ctx context.Context) iter.Seq2[inspect.Finding, error] {
	return func(yield func(inspect.Finding, error) bool) {
		found, err := d.salvage(ctx)
		for _, f := range found {
			if !yield(f, nil) {
				return
			}
		}
		skein.Wrapf(&err, "sqlite: salvage %s", d.path)
		if err != nil {
			yield(inspect.Finding{}, err)
		}
	}
}

func (d *damagedFileError) salvage(ctx context.Context) (found []inspect.Finding, err error) {
	path, err := filepath.EvalSymlinks(d.path) // the log is beside the file itself
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".salvage-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	to, before := filepath.Join(dir, "skein.db"), files.Written(path)
	kept, err := keptName(path)
	if err != nil {
		return nil, err
	}
	lost, err := salvageInto(ctx, path, to, kept, d.o)
	if err != nil {
		return nil, err
	}
	if files.Written(path) != before {
		return nil, fmt.Errorf("%w: another program writes to %s: stop it first", skein.ErrLocked, path)
	}
	// There is always a file at the path, so that nobody creates a new one.
	if err := os.Link(path, kept); err != nil {
		return nil, err
	}
	for _, end := range []string{"-wal", "-shm"} {
		if err := os.Rename(path+end, kept+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := os.Rename(to, path); err != nil {
		return nil, err
	}
	return lostFindings(lost, kept), nil
}

// keptName returns an unused name beside a file, for what is kept of it.
func keptName(path string) (string, error) {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.damaged-%d", path, n)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
	}
}

// lostFindings reports what a salvage lost, and where the damaged file is.
func lostFindings(lost []Lost, kept string) []inspect.Finding {
	all := []inspect.Finding{{Area: "file", Level: inspect.Damaged, Mendable: true, Mended: true, Text: "a new store was made of all that can be read; the damaged one is kept as " + kept}}
	for _, l := range lost {
		var ranges []string
		for _, r := range l.Events {
			text := fmt.Sprint(r.To)
			if r.From+1 < r.To {
				text = fmt.Sprintf("%d-%d", r.From+1, r.To)
			}
			ranges = append(ranges, text)
		}
		all = append(all, inspect.Finding{Area: "events", Level: inspect.Damaged, Session: l.Session, Text: "lost: " + strings.Join(ranges, ", ")})
	}
	return all
}

// errWritten says that others wrote to the file while it was being read.
var errWritten = errors.New("another program has written to it")

// rebuild replaces the file's content with what can be read of it. If others
// write to the file meanwhile, it starts over.
func (ex *exam) rebuild() (found []inspect.Finding, err error) {
	d, err := engine.Driver()
	if err != nil {
		return nil, err
	}
	watch, err := engine.Connect(d, engine.DSN(ex.s.path, "mode=ro"), "PRAGMA busy_timeout = 5000")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, watch.Close()) }()
	kept, err := keptName(ex.s.path)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(ex.s.path), ".salvage-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for try := range 5 {
		version := func() (v int64, err error) {
			_, err = watch.One(`PRAGMA data_version`, nil, &v)
			return v, err
		}
		before, err := version()
		if err != nil {
			return nil, err
		}
		if err := errors.Join(os.RemoveAll(kept), ex.s.copyPages(d, kept)); err != nil {
			return nil, err
		}
		to := filepath.Join(dir, fmt.Sprint("skein", try, ".db"))
		lost, err := salvageInto(ex.ctx, kept, to, kept, Options{Clock: ex.s.clock, steps: ex.s.steps})
		if err != nil {
			return nil, errors.Join(err, os.Remove(kept))
		}
		if after, err := version(); err != nil {
			return nil, err
		} else if after != before {
			continue
		}
		if err := ex.s.adopt(d, to, nil); err != nil {
			return nil, err
		}
		err = ex.s.replace(ex.ctx, d, to, func() error {
			if after, err := version(); err != nil || after == before {
				return err
			}
			return errWritten
		})
		if errors.Is(err, errWritten) {
			continue
		}
		return lostFindings(lost, kept), err
	}
	return nil, fmt.Errorf("%w: other programs keep writing to it: stop them first", skein.ErrLocked)
}
