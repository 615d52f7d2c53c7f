package postgres

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/store/ledger"
)

// A Store keeps sessions in a PostgreSQL database. Make one with [Open].
type Store struct {
	*core
	user skein.User // whose view it is; "" for everybody's
	view bool       // closing it does nothing
	in   bool       // it is a call's own, which was let in: what that calls is too
}

var _ skein.FullStore = (*Store)(nil)

// core is what all views of a store share.
type core struct {
	echo
	pool     *pgxpool.Pool
	where    string // host and database, for people
	heads    *heads
	pack     *packer
	puts     putSQL
	beginPut string // what begins the transaction of the usual append, where it cannot do without
	lines    *queues
	lanes    *groupCommit
	keeper   *heartbeat
	quotas   *quotas
	turns    *room.Semaphore // of those who read what may be long

	steps schema // of this version

	retries atomic.Int64 // transactions of appends that were run again
	slow    atomic.Int64 // appends that had to look first

	mu     sync.Mutex
	closed bool            // no call gets in any more
	ending chan struct{}   // closed with it
	calls  sync.WaitGroup  // those that are in
	gone   chan struct{}   // closed when all is given back
	life   context.Context // done with ending: of what runs in the background
	stop   context.CancelFunc
}

// Options say how to open a store. The zero value is the usual case.
type Options struct {
	Notice func(string) // told, for people, of what takes long, such as a migration; nil for nobody

	steps schema // nil: this version's. Tests add steps to it, as a later version will
}

// Open opens the store at an address such as postgres://user@host:5432/skein,
// or host=… dbname=…; what it lacks is taken from the PG… variables and the
// files of libpq. pool_max_conns=N in it says how many connections there may
// be; 16 if it does not. An empty database gets skein's tables.
//
// The error wraps [skein.ErrNewer] if the tables are some later version's,
// which are left untouched, and [skein.ErrInvalid] if the address is none. No
// error has the password in it. Once a newer version has migrated the tables
// meanwhile, what writes returns an error wrapping [skein.ErrNewer].
func Open(ctx context.Context, dsn string, o Options) (_ *Store, err error) {
	cfg, err := parse(dsn)
	if err == nil && o.steps == nil {
		o.steps, err = schemaSteps()
	}
	if err != nil {
		return nil, err
	}
	where := address(cfg.ConnConfig)
	defer skein.Wrapf(&err, "postgres: open %s", where)
	heads := newHeads()
	cfg.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		rs, err := c.PgConn().Exec(ctx, whichServer).ReadAll() // in one round trip
		if err == nil {
			heads.servedBy(string(bytes.Join(rs[0].Rows[0], nil)))
		}
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	c := &core{pool: pool, where: where, steps: o.steps, heads: heads, puts: newPutSQL(), lines: newQueues(), lanes: newGroupCommit(cfg.MaxConns), quotas: newQuotas(), turns: room.NewSemaphore(largeAtOnce), ending: make(chan struct{}), gone: make(chan struct{})}
	c.life, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	if c.pack, err = newPacker(); err == nil {
		err = c.migrate(ctx, o)
	}
	if err == nil {
		err = c.arrive(ctx, o)
	}
	if err != nil {
		c.stop()
		pool.Close()
		return nil, classify(err)
	}
	s := &Store{core: c}
	c.keeper = newHeartbeat(s)
	c.begin()
	return s, nil
}

// As implements [skein.Store].
func (s *Store) As(u skein.User) skein.Store { return &Store{core: s.core, user: u, view: true} }

// sees reports whether the view has what is u's.
func (s *Store) sees(u skein.User) bool { return ledger.View(s.user).Sees(u) }

// owner returns whose a new thing is that does not say.
func (s *Store) owner() skein.User { return ledger.View(s.user).Owner() }
