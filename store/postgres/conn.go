package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/skein-dev/skein/internal/room"
)

// Roles: the one to whom row security shows a user's rows, and the one to whom
// it shows all.
const (
	roleUser = "skein_user"
	roleAll  = "skein_all"
)

// A row is what a query's function gets: Scan it, and keep nothing else of it.
type row = pgx.CollectableRow

// A conn is a connection in a transaction of the store's role and user. The
// transaction begins with its first statement, in the same round trip. It is
// one goroutine's.
type conn struct {
	ctx   context.Context
	pg    *pgxpool.Conn
	s     *Store
	share *room.Share // that holds what a reader keeps; nil without a room
	begin string      // the statement that begins it; "" for one that ends with the first round trip
	set   string      // what takes the place of setRole, in one that writes; "" in others
	begun bool
}

// setRole makes what follows in the transaction that of a role and a user. To
// compile a search, which its costs as they are guessed call for, takes a
// thousand times as long as to run it.
const setRole = `SELECT set_config('role', $1, true), set_config('skein.user', $2, true), set_config('jit', 'off', true)`

// setDurable does so for a transaction that writes. What is committed is on disk,
// whatever the server's default is. Nobody waits for ever for one whose program was
// stopped in the midst of it. Before it writes, it looks whether the tables still
// are those of schema version $3: who brings them to another one waits for it, and
// it waits for that (takeSteps).
const setDurable = `SELECT CASE WHEN (SELECT m.version FROM skein_schema m) = $3 THEN true ELSE other_schema() END, set_config('role', $1, true), set_config('skein.user', $2, true),
	set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true),
	set_config('idle_in_transaction_session_timeout', '60s', true)`

// setWriter is setDurable for a transaction that may wait for others' locks.
const setWriter = setDurable + `, set_config('lock_timeout', '20s', true)`

// setPut is setDurable for the usual appends, whose statement has one plan for all
// arguments. They share a transaction, so that they wait only a moment for who has
// one of their sessions.
const setPut = setDurable + `, set_config('lock_timeout', '500ms', true), set_config('plan_cache_mode', 'force_generic_plan', true)`

func (s *Store) role() string {
	if s.user == "" {
		return roleAll
	}
	return roleUser
}

// A pipe is statements that go to the server in one round trip. A function
// that is given with one is called when its answer comes, in their order; after
// one that failed none is run. Make one with conn.pipe, end it with run.
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

// query adds a statement; f is called for each row of its answer.
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

// one adds a statement of whose answer the first row is scanned into dest, and
// *found says whether there is one; found may be nil.
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

// exec adds a statement without an answer.
func (p *pipe) exec(sql string, args ...any) { p.b.Queue(sql, args...) }

// run sends the statements and calls the functions.
func (p *pipe) run() error {
	p.q.begun = true
	return p.q.pg.SendBatch(p.q.ctx, &p.b).Close()
}

// commit sends the statements and the end of the transaction in one round trip.
// From here on the caller's ctx stops nothing. The error wraps
// [skein.ErrUnknown] if the answer was lost.
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

// usable reports whether the transaction can go on.
func (q *conn) usable() bool { return q.pg.Conn().PgConn().TxStatus() == 'T' }

// query runs f for each row of the answer to sql.
func (q *conn) query(sql string, args []any, f func(row) error) error {
	p := q.pipe()
	p.query(sql, args, f)
	return p.run()
}

// one scans the first row of the answer to sql into dest; found is false if
// there is none.
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

// The beginnings of transactions. A reader sees one state of the database, and
// holds it for as short as it can.
const (
	beginRead  = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`
	beginWrite = `BEGIN ISOLATION LEVEL READ COMMITTED`
	beginFeed  = `BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY` // for the journal's edge
)

// read runs f on one state of the database, in a short transaction.
func (s *Store) read(ctx context.Context, f func(*conn) error) error {
	return s.roomy(ctx, beginRead, f)
}

// roomy is with for what may be long. It may run f again, if that has to wait: for
// its turn, or for room.
func (s *Store) roomy(ctx context.Context, begin string, f func(*conn) error) error {
	return s.turns.Read(ctx, func(ctx context.Context) error {
		return s.with(ctx, begin, func(q *conn) error {
			q.share = room.Of(ctx)
			return f(q)
		})
	})
}

// Those who share a [room.Room] read large sessions few at once.
const (
	largeFrom   = 8 << 20 // bytes of a session that may have something long
	largeAtOnce = 2
)

// large returns what [room.Turn] does if a session may have something long.
func (q *conn) large(h *head) error {
	if q.share == nil || h.bytes < largeFrom && h.Parent == nil { // nobody knows how much it shows of the parent
		return nil
	}
	return room.Turn(q.ctx)
}

// hold holds what a row takes, for whoever reads it. The error is [room.ErrFull].
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
// of its answer.
func (s *Store) ask(ctx context.Context, sql string, args []any, f func(row) error) error {
	return s.with(ctx, "", func(q *conn) error { return q.query(sql, args, f) })
}

// with runs f on a connection, in a transaction that is rolled back after it.
func (s *Store) with(ctx context.Context, begin string, f func(*conn) error) error {
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

// rollback ends the transaction. Where that fails the connection is closed,
// which does so too.
func (q *conn) rollback() {
	if !q.begun || q.begin == "" || q.pg.Conn().IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(q.ctx), ownTime)
	defer cancel()
	if _, err := q.pg.Exec(ctx, "ROLLBACK"); err != nil {
		_ = q.pg.Conn().Close(ctx) // it is of no use any more
	}
}
