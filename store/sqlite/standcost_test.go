package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// A counter counts the statements that a connection runs, and the rows that
// they return.
type counter struct {
	driver.Conn
	n int
}

func (c *counter) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	return countedStmt{s, c}, err
}

func (c *counter) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

type countedStmt struct {
	driver.Stmt
	c *counter
}

func (s countedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.c.n++
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (s countedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.c.n++
	rows, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	return countedRows{rows, s.c}, err
}

type countedRows struct {
	driver.Rows
	c *counter
}

func (r countedRows) Next(dest []driver.Value) error {
	r.c.n++
	return r.Rows.Next(dest)
}

// The cost of an append, a rewind and a withdrawal does not grow with what was
// withdrawn before.
func TestWhatWasWithdrawnCostsNothingLater(t *testing.T) {
	cost := func(withdrawn int) (all []int) {
		s, err := Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		s.maintenance.close()
		s.index.close() // it uses the same connection
		piece := func(id string) skein.Event {
			return skein.Say(1, skein.Message{ID: id, Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("piece")}})
		}
		withdraw := func(seq int) skein.Event {
			return skein.NewEvent(skein.KindAmended, 1, skein.Amended{Seq: skein.Seq(seq), Withdrawn: true})
		}
		evs := []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}
		for i := range withdrawn {
			evs = append(evs, skein.Say(1, skein.UserSays(fmt.Sprint("prompt ", i))), piece(fmt.Sprint("m", i)), withdraw(2+4*i), withdraw(3+4*i))
		}
		add := func(evs ...skein.Event) {
			t.Helper()
			if _, err := skein.Add(t.Context(), s, "a", evs...); err != nil {
				t.Fatal(err)
			}
		}
		add(append(evs, skein.Say(1, skein.UserSays("one")), piece("p"), skein.Say(1, skein.UserSays("two")))...)
		c := &counter{}
		if err := s.change(t.Context(), func(t *txn.Tx) error {
			t.Wrap(func(raw driver.Conn) driver.Conn {
				c.Conn = raw
				return c
			})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		last := 1 + 4*withdrawn + 3
		for _, e := range []skein.Event{
			skein.Say(1, skein.UserSays("three")), piece("p"), withdraw(last), skein.NewEvent(skein.KindRewound, 1, skein.Rewound{To: skein.Seq(last - 1)}),
			withdraw(last - 2), skein.NewEvent(skein.KindAmended, 1, skein.Amended{Seq: skein.Seq(last - 2), Payload: skein.MustJSON(skein.UserSays("uno"))}),
		} {
			c.n = 0
			add(e)
			all = append(all, c.n)
		}
		if got, err := s.Session(t.Context(), "a"); err != nil || got.Messages != 2 || got.First != "uno" || got.LastPrompt != "uno" {
			t.Errorf("Session has %d messages from %q to %q, %v; want 2 from uno to uno", got.Messages, got.First, got.LastPrompt, err)
		}
		return all
	}
	few, many := cost(3), cost(300)
	for i, n := range few {
		if many[i] > n+2 { // one page more
			t.Errorf("append %d runs statements and reads rows %v times after 600 messages were withdrawn, %v times after 6", i, many, few)
			return
		}
	}
}
