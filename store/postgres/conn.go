package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/skein-dev/skein/internal/room"
)

// The roles: row security shows roleUser one user's rows, and roleAll all rows.
const (
	roleUser = "skein_user"
	roleAll  = "skein_all"
)

// A row is what a query's function is called with: Scan it, and keep nothing else.
type row = pgx.CollectableRow

// A conn is a connection in a transaction with the store's role and user. The
// transaction begins in the same round trip as its first statement. A conn is for
// one goroutine at a time.
type conn struct {
	ctx   context.Context
	pg    *pgxpool.Conn
	s     *view
	share *room.Share // accounts for the memory of a reader; nil without a room
	begin string      // the statement that begins the transaction; "" if it is a single round trip
	set   string      // used instead of setRole in a transaction that writes; else ""
	begun bool
}

// setRole sets the role and the user for the rest of the transaction. It turns off
// JIT: the planner's cost estimates for a search would call for it, but compiling
// takes a thousand times as long as running the search.
const setRole = `SELECT set_config('role', $1, true), set_config('skein.user', $2, true), set_config('jit', 'off', true)`

// setDurable is setRole for a transaction that writes. A commit is on disk,
// whatever the server's default is. The server ends a transaction whose program
// was stopped midway. Before anything is written, it checks that the tables still
// have schema version $3: a migration waits for such transactions, and they wait
// for a migration (schema.take).
const setDurable = `SELECT CASE WHEN (SELECT m.version FROM skein_version m) = $3 THEN true ELSE other_schema() END, set_config('role', $1, true), set_config('skein.user', $2, true),
	set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true),
	set_config('idle_in_transaction_session_timeout', '60s', true)`

// setWriter is setDurable for a transaction that may wait for locks.
const setWriter = setDurable + `, set_config('lock_timeout', '20s', true)`

// setPut is setDurable for the usual appends, whose statement has one plan for all
// arguments. They share a transaction, so they wait only a moment for a lock on
// one of their sessions.
const setPut = setDurable + `, set_config('lock_timeout', '500ms', true), set_config('plan_cache_mode', 'force_generic_plan', true)`

func (s *view) role() string {
	if s.user == "" {
		return roleAll
	}
	return roleUser
}

// A pipe is statements that are sent to the server in one round trip. A statement's
// function is called when its result arrives, in the order of the statements; after
// one fails, the rest are not run. Make a pipe with conn.pipe and send it with run.
type pipe struct {
	q *conn
	b pgx.Batch
}

func (q *conn) pipe() *pipe {
	p := &pipe{q: q}
	if !q.begun {
		if q.begin != "" {
			p.b.Queue(q.begin)
		}
		if q.set == "" {
			p.b.Queue(setRole, q.s.role(), string(q.s.user))
		} else {
			p.b.Queue(q.set, q.s.role(), string(q.s.user), q.s.steps.version())
		}
	}
	return p
}

// query adds a statement; f is called for each row of its result.
func (p *pipe) query(sql string, args []any, f func(row) error) {
	p.b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := f(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// one adds a statement. The first row of its result is scanned into dest, and
// *found says whether there was a row; found may be nil.
func (p *pipe) one(found *bool, sql string, args []any, dest ...any) {
	p.b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		is := rows.Next()
		if found != nil {
			*found = is
		}
		if !is {
			return rows.Err()
		}
		return rows.Scan(dest...)
	})
}

// exec adds a statement without a result.
func (p *pipe) exec(sql string, args ...any) { p.b.Queue(sql, args...) }

// run sends the statements and calls the functions.
func (p *pipe) run() error {
	p.q.begun = true
	return p.q.pg.SendBatch(p.q.ctx, &p.b).Close()
}

// commit sends the statements and the COMMIT in one round trip. From here on, the
// caller's ctx has no effect. The error wraps [skein.ErrUnknown] if the answer was
// lost.
func (p *pipe) commit() error {
	if err := p.q.ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.q.ctx), ownTime)
	defer cancel()
	p.b.Queue("COMMIT")
	p.q.begun = true
	if err := p.q.pg.SendBatch(ctx, &p.b).Close(); err != nil {
		return classifyCommit(err)
	}
	p.q.begun = false
	return nil
}

// usable reports whether the transaction can continue.
func (q *conn) usable() bool { return q.pg.Conn().PgConn().TxStatus() == 'T' }

// query runs f for each row of the result of sql.
func (q *conn) query(sql string, args []any, f func(row) error) error {
	p := q.pipe()
	p.query(sql, args, f)
	return p.run()
}

// one scans the first row of the result of sql into dest; found is false if the
// result is empty.
func (q *conn) one(sql string, args []any, dest ...any) (found bool, err error) {
	p := q.pipe()
	p.one(&found, sql, args, dest...)
	return found, p.run()
}

// exec runs sql and returns how many rows it changed.
func (q *conn) exec(sql string, args ...any) (n int64, err error) {
	p := q.pipe()
	p.b.Queue(sql, args...).Exec(func(t pgTag) error {
		n = t.RowsAffected()
		return nil
	})
	return n, p.run()
}

// errStop ends a query early.
var errStop = errors.New("stop")

func unstop(err error) error {
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// The statements that begin transactions. A reader sees one snapshot of the
// database, and holds it as briefly as it can.
const (
	beginRead  = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`
	beginWrite = `BEGIN ISOLATION LEVEL READ COMMITTED`
	beginFeed  = `BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY` // for the journal's edge
)

// read runs f on one snapshot of the database, in a short transaction.
func (s *view) read(ctx context.Context, f func(*conn) error) error {
	return s.roomy(ctx, beginRead, f)
}

// roomy is with for reads that may need much memory. It may run f again if f has
// to wait for its turn or for room.
func (s *view) roomy(ctx context.Context, begin string, f func(*conn) error) error {
	return s.turns.Read(ctx, func(ctx context.Context) error {
		return s.with(ctx, begin, func(q *conn) error {
			q.share = room.Of(ctx)
			return f(q)
		})
	})
}

// Readers that share a [room.Room] read only a few large sessions at once.
const (
	largeFrom   = 8 << 20 // bytes from which a session counts as large
	largeAtOnce = 2
)

// large calls [room.Turn] if the session may be large. The error is that of
// [room.Turn].
func (q *conn) large(h *head) error {
	if q.share == nil || h.bytes < largeFrom && h.Parent == nil { // how much a fork shows of its parent is not known
		return nil
	}
	return room.Turn(q.ctx)
}

// hold reserves the memory that a row takes, for its reader. The error is
// [room.ErrFull].
func (q *conn) hold(r row) error {
	if q.share == nil {
		return nil
	}
	n := 0
	for _, v := range r.RawValues() {
		n += len(v)
	}
	return q.share.Try(int64(n))
}

// ask runs one statement by itself, in one round trip; f is called for each row
// of its result.
func (s *view) ask(ctx context.Context, sql string, args []any, f func(row) error) error {
	return s.with(ctx, "", func(q *conn) error { return q.query(sql, args, f) })
}

// with runs f on a connection, in a transaction that is rolled back afterward.
func (s *view) with(ctx context.Context, begin string, f func(*conn) error) error {
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	pg, err := s.acquire(ctx)
	if err != nil {
		return classify(err)
	}
	defer pg.Release()
	q := &conn{ctx: ctx, pg: pg, s: s, begin: begin}
	err = unstop(f(q))
	q.rollback()
	return classify(err)
}

// rollback ends the transaction. If that fails, it closes the connection, which
// also ends it.
func (q *conn) rollback() {
	if !q.begun || q.begin == "" || q.pg.Conn().IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(q.ctx), ownTime)
	defer cancel()
	if _, err := q.pg.Exec(ctx, "ROLLBACK"); err != nil {
		_ = q.pg.Conn().Close(ctx) // it is unusable now
	}
}
