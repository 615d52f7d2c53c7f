package engine

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// A Conn is one connection, for one goroutine at a time. It calls the driver
// directly: what database/sql does for each statement costs a fifth of a
// durable append. Statements are prepared once and kept.
type Conn struct {
	ctx   context.Context // of the running statement, which its end interrupts
	raw   driver.Conn
	stmts map[string]driver.Stmt
	args  []driver.NamedValue
	age   int // the pool's age when it was opened
}

// Connect opens a connection and runs pragmas on it. Like those of the methods of
// [Conn], the error is the driver's: see [Classify].
func Connect(d driver.Driver, dsn string, pragmas ...string) (*Conn, error) {
	raw, err := d.Open(dsn)
	if err != nil {
		return nil, err
	}
	c := &Conn{ctx: context.Background(), raw: raw, stmts: map[string]driver.Stmt{}}
	for _, p := range pragmas {
		if err := c.Script(p); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// Close closes the connection. The error is the driver's.
func (c *Conn) Close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// Context returns the context whose end interrupts the running statement.
func (c *Conn) Context() context.Context { return c.ctx }

// Until runs f and returns its error; meanwhile, the end of ctx interrupts the
// running statement (see [ReadError]).
func (c *Conn) Until(ctx context.Context, f func() error) error {
	c.ctx = ctx
	defer func() { c.ctx = context.Background() }()
	return f()
}

// Wrap replaces the driver's connection with what f makes of it, and forgets the
// statements that are prepared. Tests use it to watch what the driver is asked for.
func (c *Conn) Wrap(f func(driver.Conn) driver.Conn) {
	c.raw, c.stmts = f(c.raw), map[string]driver.Stmt{}
}

// good reports whether the connection can be used again.
func (c *Conn) good() bool {
	v, ok := c.raw.(driver.Validator)
	return !ok || v.IsValid()
}

// stmt returns the prepared statement of a query, which must be constant text:
// it is kept until the connection is closed.
func (c *Conn) stmt(query string) (driver.Stmt, error) {
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	s, err := c.raw.(driver.ConnPrepareContext).PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	c.stmts[query] = s
	return s, nil
}

// named returns args as a driver takes them: int64, float64, string, []byte,
// nil. The result is valid until the next call.
func (c *Conn) named(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		switch v := a.(type) {
		case int:
			a = int64(v)
		case bool:
			a = flag(v)
		case *string:
			a = *v
		case *int64:
			a = *v
		case []byte:
			if v == nil {
				a = nil
			}
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

// flag returns b as an SQL value.
func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Exec runs a statement and returns the rowid of the last insert and how many
// rows it changed. The error is the driver's.
func (c *Conn) Exec(query string, args ...any) (id, rows int64, err error) {
	s, err := c.stmt(query)
	if err != nil {
		return 0, 0, err
	}
	r, err := s.(driver.StmtExecContext).ExecContext(c.ctx, c.named(args))
	if err != nil {
		return 0, 0, err
	}
	if id, err = r.LastInsertId(); err != nil {
		return 0, 0, err
	}
	rows, err = r.RowsAffected()
	return id, rows, err
}

// Script runs one or more statements, which are not kept. The error is the
// driver's.
func (c *Conn) Script(query string) error {
	_, err := c.raw.(driver.ExecerContext).ExecContext(c.ctx, query, nil)
	return err
}

// Query runs a SELECT and calls f with each row. The values are int64, float64,
// string, []byte or nil; f may keep them, but not the slice. The error is f's or the
// driver's.
func (c *Conn) Query(query string, args []any, f func(row []driver.Value) error) (err error) {
	s, err := c.stmt(query)
	if err != nil {
		return err
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(c.ctx, c.named(args))
	if err != nil {
		return err
	}
	defer func() {
		if cerr := rows.Close(); err == nil {
			err = cerr
		}
	}()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := f(row); err != nil {
			return err
		}
	}
}

// One runs a SELECT of at most one row, scans it into dest (pointers to int64,
// float64, string or []byte; NULL leaves the zero value) and reports whether
// there was a row. The error is that of [Conn.Query] or of [Scan].
func (c *Conn) One(query string, args []any, dest ...any) (found bool, err error) {
	err = c.Query(query, args, func(row []driver.Value) error {
		found = true
		return Scan(row, dest)
	})
	return found, err
}

// Scan copies the values of a row to dest, as [Conn.One] does. The error says which
// column has another type.
func Scan(row []driver.Value, dest []any) error {
	if len(row) != len(dest) {
		return fmt.Errorf("row of %d columns, want %d", len(row), len(dest))
	}
	for i, v := range row {
		ok := false
		switch d := dest[i].(type) {
		case *int64:
			*d, ok = v.(int64)
		case *float64:
			*d, ok = v.(float64)
		case *string:
			*d, ok = v.(string)
		case *[]byte:
			*d, ok = v.([]byte)
		}
		if !ok && v != nil {
			return fmt.Errorf("column %d: %T, want %T", i, v, dest[i])
		}
	}
	return nil
}

// ErrStop, returned by the function that a query calls, ends the query early.
var ErrStop = errors.New("stop")

// Unstop returns err, or nil if it is [ErrStop].
func Unstop(err error) error {
	if errors.Is(err, ErrStop) {
		return nil
	}
	return err
}
