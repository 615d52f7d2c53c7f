package foreign

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Rows calls yield with each row of a table: by rowid, or by the primary key
// where there is none; by column first, if order names one. What a damaged
// page hides is left out and said by Damage.
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
	s := &scan{db: db, t: t, yield: yield, last: math.MinInt64}
	if t.rowid == "" || order != "" {
		by := t.key
		if order != "" {
			by = append([]string{order}, by...)
		}
		return s.whole(ctx, by)
	}
	return s.byRowid(ctx)
}

// A scan is one reading of a table.
type scan struct {
	db    *DB
	t     Table
	yield func(Row) error
	last  int64 // rowid that was read last
	some  bool
	inner error // yield's
}

// columns is the list of what is selected. An expression has no declared type,
// so no driver makes another value of it than is stored; a text as a blob has
// its bytes, whatever they are.
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

// whole reads the table in one go, in the order of columns.
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
	err := s.read(ctx, "SELECT "+s.columns()+from+" ORDER BY "+strings.Join(list, ", "))
	if s.inner == nil && ctx.Err() == nil && err != nil {
		s.db.harm("table %s: %v", s.t.Name, err)
		return nil
	}
	return err
}

// byRowid reads the table forwards, and where that ends at something that
// cannot be read, what lies behind it.
func (s *scan) byRowid(ctx context.Context) error {
	const maxHoles = 200
	for range maxHoles {
		q := "SELECT " + s.columns() + s.from()
		if s.some {
			q += fmt.Sprintf(" WHERE %s > %d", s.t.rowid, s.last)
		}
		err := s.read(ctx, q+" ORDER BY "+s.t.rowid)
		if err == nil || s.inner != nil || ctx.Err() != nil {
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

// skip goes on behind a place that cannot be read.
func (s *scan) skip(ctx context.Context, why error) (more bool, err error) {
	if code(why) == codeTooBig {
		return s.skipRow(ctx, why)
	}
	s.db.harm("table %s, behind row %d: %v", s.t.Name, s.last, why)
	next, ok := s.behind(ctx)
	if !ok {
		return false, ctx.Err()
	}
	s.last, s.some = next-1, true
	return true, nil
}

// skipRow passes over one row that is too long to be read.
func (s *scan) skipRow(ctx context.Context, why error) (bool, error) {
	var id int64
	q := fmt.Sprintf("SELECT %s%s", s.t.rowid, s.from())
	if s.some {
		q += fmt.Sprintf(" WHERE %s > %d", s.t.rowid, s.last)
	}
	if err := s.db.conn.QueryRowContext(ctx, q+" ORDER BY "+s.t.rowid+" LIMIT 1").Scan(&id); err != nil {
		return false, err
	}
	what := fmt.Sprintf("a value of more than %d bytes", MaxValue)
	s.db.harm("table %s, row %d: %s", s.t.Name, id, what)
	s.last, s.some = id, true
	return true, s.give(Row{Table: s.t.Name, Rowid: &id, Damage: what})
}

// behind returns the first rowid that can be read again behind a damaged
// place: by halving what lies between the last good row and the table's end.
func (s *scan) behind(ctx context.Context) (int64, bool) {
	var end int64
	if err := s.db.conn.QueryRowContext(ctx, "SELECT "+s.t.rowid+s.from()+" ORDER BY "+s.t.rowid+" DESC LIMIT 1").Scan(&end); err != nil || s.some && end <= s.last {
		return 0, false
	}
	low, high := s.last, end // nothing behind low is known to be good; high is
	if !s.some {
		low = min(0, end-1)
	}
	for low+1 < high && ctx.Err() == nil {
		mid := low + (high-low)/2
		var id int64
		err := s.db.conn.QueryRowContext(ctx, fmt.Sprintf("SELECT %s%s WHERE %s >= %d ORDER BY %s LIMIT 1", s.t.rowid, s.from(), s.t.rowid, mid, s.t.rowid)).Scan(&id)
		if err != nil {
			low = mid
		} else {
			high = mid
		}
	}
	return high, true
}

// read runs a query and gives its rows.
func (s *scan) read(ctx context.Context, query string) (err error) {
	rows, err := s.db.conn.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	n := 2 * len(s.t.Columns)
	var id int64
	cells, at := make([]any, n), make([]any, 0, n+1)
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
		r := Row{Table: s.t.Name, Columns: s.t.Columns, Values: make([]Value, n/2)}
		for i := range r.Values {
			r.Values[i] = typed(cells[2*i], cells[2*i+1])
		}
		if s.t.rowid != "" {
			rowid := id
			r.Rowid, s.last, s.some = &rowid, id, true
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

// typed returns a cell as what SQLite says that it is.
func typed(kind, cell any) Value {
	name, ok := kind.(string)
	if b, is := kind.([]byte); is && !ok {
		name = string(b)
	}
	switch v := cell.(type) {
	case []byte:
		if name == "text" {
			return string(v)
		}
		if v == nil && name == "blob" {
			return []byte{}
		}
		return v
	case nil:
		switch name { // an empty one, to some drivers
		case "text":
			return ""
		case "blob":
			return []byte{}
		}
	}
	return cell
}
