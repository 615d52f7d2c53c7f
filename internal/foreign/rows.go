package foreign

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"unsafe"
)

// Rows calls yield with each row of a table: by rowid, or by the primary key if there
// is no rowid; by the column order first, if it is not "". What a damaged page hides
// is left out and reported by [DB.Damage].
//
// The error is yield's, ctx's, or says that there is no such table or column.
func (db *DB) Rows(ctx context.Context, table, order string, yield func(Row) error) error {
	t, ok := db.Table(table)
	switch {
	case !ok:
		return fmt.Errorf("no table %s", table)
	case order != "" && !t.Has(order):
		return fmt.Errorf("table %s has no column %s", table, order)
	}
	s := &scan{db: db, t: t, yield: yield, next: math.MinInt64}
	if t.rowid == "" || order != "" {
		by := t.key
		if order != "" {
			by = append([]string{order}, by...)
		}
		return s.whole(ctx, by)
	}
	s.ordered = true
	return s.byRowid(ctx)
}

// errDisorder says that pages refer to each other in a circle, or nearly so: a small
// file would have endless rows.
var errDisorder = errors.New("its rows are in disorder")

// A scan is one reading of a table.
type scan struct {
	db    *DB
	t     Table
	yield func(Row) error
	next  int64 // the first rowid that was not read yet
	done  bool  // there can be no further rowid

	ordered bool  // rows come in the order of their rowids
	inner   error // yield's
}

// columns returns the list of what is selected. An expression has no declared type,
// so no driver converts the stored value; a text cast to a blob has its bytes,
// whatever they are.
func (s *scan) columns() string {
	var list []string
	if s.t.rowid != "" {
		list = append(list, s.t.rowid)
	}
	for _, c := range s.t.Columns {
		q := quote(c)
		list = append(list, "typeof("+q+")")
		if strings.EqualFold(s.db.frame.Settings.Encoding, "UTF-8") {
			list = append(list, "CASE typeof("+q+") WHEN 'text' THEN CAST("+q+" AS BLOB) ELSE "+q+" END")
		} else {
			list = append(list, "CASE WHEN 1 THEN "+q+" END")
		}
	}
	return strings.Join(list, ", ")
}

func (s *scan) from() string { return " FROM main." + quote(s.t.Name) + " NOT INDEXED" }

// whole reads the table with one query, in the order of columns.
func (s *scan) whole(ctx context.Context, by []string) error {
	var list []string
	for _, c := range by {
		list = append(list, quote(c))
	}
	if s.t.rowid != "" {
		list = append(list, s.t.rowid)
	}
	from := s.from()
	if s.t.rowid == "" {
		from = " FROM main." + quote(s.t.Name)
	}
	err := s.read(ctx, "SELECT "+s.columns()+from+" WHERE "+s.fits()+" ORDER BY "+strings.Join(list, ", "))
	if err == nil {
		err = s.tooLong(ctx, from)
	}
	if s.inner == nil && ctx.Err() == nil && err != nil {
		s.db.harm("table %s: %v", s.t.Name, err)
		return nil
	}
	return err
}

// fits returns the condition for a row that is not too long to be read. It reads no
// values.
func (s *scan) fits() string {
	var sizes []string
	for _, c := range s.t.Columns {
		sizes = append(sizes, "coalesce(octet_length("+quote(c)+"), 0)")
	}
	return fmt.Sprintf("%s <= %d", strings.Join(sizes, " + "), MaxValue)
}

// tooLong yields the rows that do not fit, as damaged ones.
func (s *scan) tooLong(ctx context.Context, from string) (err error) {
	id := s.t.rowid
	if id == "" {
		id = "NULL"
	}
	rows, err := s.db.conn.QueryContext(ctx, "SELECT "+id+from+" WHERE NOT ("+s.fits()+")")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		r := Row{Table: s.t.Name, Damage: fmt.Sprintf("a value of more than %d bytes", MaxValue)}
		if err := rows.Scan(&r.Rowid); err != nil {
			return err
		}
		s.harm(r)
		if err := s.give(r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// harm reports a row that cannot be read.
func (s *scan) harm(r Row) {
	where := "a row"
	if r.Rowid != nil {
		where = fmt.Sprintf("row %d", *r.Rowid)
	}
	s.db.harm("table %s, %s: %s", s.t.Name, where, r.Damage)
}

// byRowid reads the table forward, and, if that ends at something that cannot be read,
// continues after it.
func (s *scan) byRowid(ctx context.Context) error {
	const maxHoles = 200
	for range maxHoles {
		// Not "> last": that searches for the last row first, whose page may be
		// the damaged one.
		err := s.read(ctx, "SELECT "+s.columns()+s.from()+s.onwards(s.next))
		if err == nil || s.done || s.inner != nil || ctx.Err() != nil {
			return err
		}
		more, err := s.skip(ctx, err)
		if !more || err != nil {
			return err
		}
	}
	s.db.harm("table %s: more than %d damaged places", s.t.Name, maxHoles)
	return nil
}

// onwards selects the rows from id on, in order.
func (s *scan) onwards(id int64) string {
	return fmt.Sprintf(" WHERE %s >= %d ORDER BY %s", s.t.rowid, id, s.t.rowid)
}

// passed records that a row was read.
func (s *scan) passed(id int64) {
	if s.done = id == math.MaxInt64; !s.done {
		s.next = id + 1
	}
}

// skip continues after a place that cannot be read.
func (s *scan) skip(ctx context.Context, why error) (more bool, err error) {
	if code(why) == codeTooBig {
		return s.skipRow(ctx)
	}
	next, ok := s.behind(ctx)
	if !ok {
		s.db.harm("table %s, from row %d on: %v", s.t.Name, s.first(), why)
		return false, ctx.Err()
	}
	s.db.harm("table %s, rows %d to %d: %v", s.t.Name, s.first(), next-1, why)
	s.next = next
	return true, nil
}

// first returns the first rowid that was not read, for people.
func (s *scan) first() int64 { return max(s.next, 0) }

// skipRow skips one row that is too long to be read.
func (s *scan) skipRow(ctx context.Context) (bool, error) {
	var id int64
	if err := s.db.conn.QueryRowContext(ctx, "SELECT "+s.t.rowid+s.from()+s.onwards(s.next)+" LIMIT 1").Scan(&id); err != nil {
		return false, err
	}
	r := Row{Table: s.t.Name, Rowid: &id, Damage: fmt.Sprintf("a value of more than %d bytes", MaxValue)}
	s.harm(r)
	s.passed(id)
	return !s.done, s.give(r)
}

// behind returns a rowid after a damaged place, from which on rows can be read again:
// by bisection between the last good row and the table's end.
func (s *scan) behind(ctx context.Context) (int64, bool) {
	var end int64
	if err := s.db.conn.QueryRowContext(ctx, "SELECT "+s.t.rowid+s.from()+" ORDER BY "+s.t.rowid+" DESC LIMIT 1").Scan(&end); err != nil || end <= s.next {
		return 0, false
	}
	bad, good := s.next, end
	if bad < 0 {
		bad = min(0, end-1)
	}
	for bad+1 < good && ctx.Err() == nil {
		mid := bad + (good-bad)/2
		var id int64
		if s.db.conn.QueryRowContext(ctx, "SELECT "+s.t.rowid+s.from()+s.onwards(mid)+" LIMIT 1").Scan(&id) != nil {
			bad = mid
		} else {
			good = mid
		}
	}
	return good, ctx.Err() == nil
}

// read runs a query and yields its rows.
func (s *scan) read(ctx context.Context, query string) (err error) {
	rows, err := s.db.conn.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	n := 2 * len(s.t.Columns)
	var id int64
	cells, at := make([]scanned, n), make([]any, 0, n+1)
	if s.t.rowid != "" {
		at = append(at, &id)
	}
	for i := range cells {
		at = append(at, &cells[i])
	}
	for rows.Next() {
		if err := rows.Scan(at...); err != nil {
			return err
		}
		if s.t.rowid != "" && s.ordered && id < s.next {
			return errDisorder
		}
		r := Row{Table: s.t.Name, Columns: s.t.Columns, Values: make([]Value, n/2)}
		for i := range r.Values {
			r.Values[i] = typed(cells[2*i].value, cells[2*i+1].value)
		}
		if s.t.rowid != "" {
			rowid := id
			r.Rowid = &rowid
			s.passed(id)
		}
		if err := s.give(r); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *scan) give(r Row) error {
	s.inner = s.yield(r)
	return s.inner
}

// A scanned value is what a driver returns for a column. Bytes are not copied as by [sql.Rows.Scan]:
// both drivers allocate them for each row.
type scanned struct{ value any }

// Scan implements [sql.Scanner]; there are no errors.
func (c *scanned) Scan(value any) error {
	c.value = value
	return nil
}

// typed returns a cell as the type that SQLite says it has.
func typed(kind, cell any) Value {
	name, ok := kind.(string)
	if b, is := kind.([]byte); is && !ok {
		name = string(b)
	}
	switch v := cell.(type) {
	case []byte:
		if name == "text" {
			return unsafe.String(unsafe.SliceData(v), len(v)) //nolint:gosec // nobody writes to it: see scanned
		}
		if v == nil && name == "blob" {
			return []byte{}
		}
		return v
	case nil:
		switch name { // nil for an empty value, with some drivers
		case "text":
			return ""
		case "blob":
			return []byte{}
		}
	}
	return cell
}
