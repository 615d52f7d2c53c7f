package wire

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/store/postgres/schema"
)

// A Row is what a query's function is called with: Scan it, and keep nothing else.
type Row = pgx.CollectableRow

// A Conn is a connection in a transaction with the store's role and user. The
// transaction begins in the same round trip as its first statement. A Conn is for
// one goroutine at a time.
type Conn struct {
	Ctx   context.Context
	User  skein.User
	Share *room.Share // accounts for the memory of a reader; nil without a room

	pg    *pgxpool.Conn
	pool  *Connections
	begin string // the statement that begins the transaction; "" if it is a single round trip
	set   string // used instead of SetRole in a transaction that writes; else ""
	begun bool
}

// SetRole sets the role and the user for the rest of the transaction. It turns off
// JIT: the planner's cost estimates for a search would call for it, but compiling
// takes a thousand times as long as running the search.
const SetRole = `SELECT set_config('role', $1, true), set_config('skein.user', $2, true), set_config('jit', 'off', true)`

// setDurable is SetRole for a transaction that writes. A commit is on disk,
// whatever the server's default is. The server ends a transaction whose program
// was stopped midway. Before anything is written, it checks that the tables still
// have schema version $3: a migration waits for such transactions, and they wait
// for a migration ([schema.Steps.Migrate]).
const setDurable = `SELECT CASE WHEN (SELECT m.version FROM skein_version m) = $3 THEN true ELSE other_schema() END, set_config('role', $1, true), set_config('skein.user', $2, true),
	set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true),
	set_config('idle_in_transaction_session_timeout', '60s', true)`

// setWriter is setDurable for a transaction that may wait for locks.
const setWriter = setDurable + `, set_config('lock_timeout', '20s', true)`

// SetPut is setDurable for the usual appends, whose statement has one plan for all
// arguments. They share a transaction, so they wait only a moment for a lock on
// one of their sessions.
const SetPut = setDurable + `, set_config('lock_timeout', '500ms', true), set_config('plan_cache_mode', 'force_generic_plan', true)`

// RoleOf returns the role of a user's transactions; of those of all users for "".
func RoleOf(u skein.User) string {
	if u == "" {
		return schema.RoleAll
	}
	return schema.RoleUser
}

// A Pipe is statements that are sent to the server in one round trip. A statement's
// function is called when its result arrives, in the order of the statements; after
// one fails, the rest are not run. Make a Pipe with [Conn.Pipe] and send it with Run.
type Pipe struct {
	Conn *Conn
	b    pgx.Batch
}

// Pipe returns an empty pipe.
func (q *Conn) Pipe() *Pipe {
	p := &Pipe{Conn: q}
	if !q.begun {
		if q.begin != "" {
			p.b.Queue(q.begin)
		}
		if q.set == "" {
			p.Become(q.User)
		} else {
			p.b.Queue(q.set, RoleOf(q.User), string(q.User), q.pool.steps.Version())
		}
	}
	return p
}

// Become adds a statement that continues the transaction as another user.
func (p *Pipe) Become(u skein.User) {
	p.Conn.User = u
	p.b.Queue(SetRole, RoleOf(u), string(u))
}

// Query adds a statement; f is called for each row of its result.
func (p *Pipe) Query(sql string, args []any, f func(Row) error) {
	p.b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := f(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// One adds a statement. The first row of its result is scanned into dest, and
// *found says whether there was a row; found may be nil.
func (p *Pipe) One(found *bool, sql string, args []any, dest ...any) {
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

// Exec adds a statement without a result.
func (p *Pipe) Exec(sql string, args ...any) { p.b.Queue(sql, args...) }

// Run sends the statements and calls the functions. The error is the first of the
// server's and theirs.
func (p *Pipe) Run() error {
	p.Conn.begun = true
	return p.Conn.pg.SendBatch(p.Conn.Ctx, &p.b).Close()
}

// Commit sends the statements and the COMMIT in one round trip. From here on, the
// caller's ctx has no effect. The error wraps [skein.ErrUnknown] if the answer was
// lost.
func (p *Pipe) Commit() error {
	if err := p.Conn.Ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.Conn.Ctx), OwnTime)
	defer cancel()
	p.b.Queue("COMMIT")
	p.Conn.begun = true
	if err := p.Conn.pg.SendBatch(ctx, &p.b).Close(); err != nil {
		return ClassifyCommit(err)
	}
	p.Conn.begun = false
	return nil
}

// Finish sends the statements of a connection made by [Connections.Put], and commits. The
// error is that of Commit.
func (p *Pipe) Finish() error {
	if p.Conn.begin == "" {
		return ClassifyCommit(p.Run())
	}
	return p.Commit()
}

// Usable reports whether the transaction can continue.
func (q *Conn) Usable() bool { return q.pg.Conn().PgConn().TxStatus() == 'T' }

// Query runs f for each row of the result of sql. The error is the server's or f's.
func (q *Conn) Query(sql string, args []any, f func(Row) error) error {
	p := q.Pipe()
	p.Query(sql, args, f)
	return p.Run()
}

// One scans the first row of the result of sql into dest; found is false if the
// result is empty. The error is the server's.
func (q *Conn) One(sql string, args []any, dest ...any) (found bool, err error) {
	p := q.Pipe()
	p.One(&found, sql, args, dest...)
	return found, p.Run()
}

// Exec runs sql and returns how many rows it changed. The error is the server's.
func (q *Conn) Exec(sql string, args ...any) (n int64, err error) {
	p := q.Pipe()
	p.b.Queue(sql, args...).Exec(func(t pgconn.CommandTag) error {
		n = t.RowsAffected()
		return nil
	})
	return n, p.Run()
}

// ErrStop ends a query early.
var ErrStop = errors.New("stop")

// Unstop returns err, or nil for [ErrStop].
func Unstop(err error) error {
	if errors.Is(err, ErrStop) {
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

// Hold reserves the memory that a row takes, for its reader. The error is
// [room.ErrFull].
func (q *Conn) Hold(r Row) error {
	if q.Share == nil {
		return nil
	}
	n := 0
	for _, v := range r.RawValues() {
		n += len(v)
	}
	return q.Share.Try(int64(n))
}

// Rollback ends the transaction. If that fails, it closes the connection, which
// also ends it.
func (q *Conn) Rollback() {
	if !q.begun || q.begin == "" || q.pg.Conn().IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(q.Ctx), OwnTime)
	defer cancel()
	if _, err := q.pg.Exec(ctx, "ROLLBACK"); err != nil {
		_ = q.pg.Conn().Close(ctx) // it is unusable now
	}
}
