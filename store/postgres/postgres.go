package postgres

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/postgres/schema"
	"github.com/skein-dev/skein/store/postgres/users"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// A Store keeps sessions in a PostgreSQL database. Make one with [Open].
type Store struct {
	*view
	appends
	reads
	searches
	feeds
	leases
	lifecycle
	sources
	users.Registry
	users.ShareRegistry
	inspection
}

// What a store does, by subject.
type (
	appends    struct{ *view } // writing events
	reads      struct{ *view } // sessions, events and usage
	searches   struct{ *view } // words
	feeds      struct{ *view } // the events of all sessions, as they come
	leases     struct{ *view } // who may write
	lifecycle  struct{ *view } // what removes sessions and words
	sources    struct{ *view } // what was imported, and from where
	inspection struct{ *view } // whether all is well
)

// store returns the store that a view shows.
func (v *view) store() *Store {
	return &Store{v, appends{v}, reads{v}, searches{v}, feeds{v}, leases{v}, lifecycle{v}, sources{v}, users.Registry{Principal: v.principal()}, users.ShareRegistry{Principal: v.principal()}, inspection{v}}
}

// A view is the store as the owner of some of its sessions sees it.
type view struct {
	*core
	user skein.User // "" for all users
	part bool       // Close does nothing
	in   bool       // made by inside, for a call that has entered: enter always succeeds
}

var _ skein.FullStore = (*Store)(nil)

// core is what all views of a store share.
type core struct {
	echo
	pool   *wire.Connections
	where  string // host and database, for people
	heads  *heads
	pack   *pack.Compressor
	puts   putSQL
	lines  *queues
	lanes  *groupCommit
	keeper *heartbeat
	quotas *quotas

	retries atomic.Int64 // append transactions that were retried
	slow    atomic.Int64 // appends that had to read first

	mu     sync.Mutex
	closed bool            // no more calls may enter
	ending chan struct{}   // closed when closed is set
	calls  sync.WaitGroup  // calls under way
	gone   chan struct{}   // closed when all resources are released
	life   context.Context // for background work; canceled when ending is closed
	stop   context.CancelFunc
}

// Options are the settings of a store. The zero value is the usual case.
type Options struct {
	Notice func(string) // called with a text for people before slow work, such as a migration; may be nil

	steps schema.Steps  // nil: this version's. Tests add steps, as a later version would
	first time.Duration // until the first maintenance that nobody asks for; 0: choresFirst
}

// Open opens the store at an address such as postgres://user@host:5432/skein,
// or host=… dbname=…; missing parts are taken from the PG… variables and the
// files of libpq. pool_max_conns=N in the address limits the number of
// connections; the default is 16. In an empty database, Open makes skein's tables.
//
// The error wraps [skein.ErrNewer] if a later version made the tables, which are
// left untouched, and [skein.ErrInvalid] if the address is invalid. No error
// contains the password. If a newer version migrates the tables while the store
// is open, calls that write return an error wrapping [skein.ErrNewer].
func Open(ctx context.Context, dsn string, o Options) (_ *Store, err error) {
	cfg, err := wire.Parse(dsn)
	if err == nil && o.steps == nil {
		o.steps, err = schema.All()
	}
	if err != nil {
		return nil, err
	}
	where := wire.Address(cfg.ConnConfig)
	defer skein.Wrapf(&err, "postgres: open %s", where)
	heads := newHeads()
	cfg.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		rs, err := c.PgConn().Exec(ctx, whichServer).ReadAll() // in one round trip
		if err == nil {
			heads.servedBy(string(bytes.Join(rs[0].Rows[0], nil)))
		}
		return err
	}
	pool, err := wire.NewConnections(ctx, cfg, o.steps)
	if err != nil {
		return nil, err
	}
	c := &core{pool: pool, where: where, heads: heads, puts: newPutSQL(), lines: newQueues(), lanes: newGroupCommit(cfg.MaxConns), quotas: newQuotas(), ending: make(chan struct{}), gone: make(chan struct{})}
	c.life, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	if c.pack, err = pack.NewCompressor(); err == nil {
		err = pool.Prepare(ctx, func(version int) {
			if o.Notice != nil {
				o.Notice(fmt.Sprintf("making skein's tables, version %d, in %s", version, where))
			}
		})
	}
	if err == nil {
		err = c.arrive(ctx, o)
	}
	if err != nil {
		c.stop()
		pool.Close()
		return nil, wire.Classify(err)
	}
	s := (&view{core: c}).store()
	c.keeper = newHeartbeat(s.leases)
	c.begin(cmp.Or(o.first, choresFirst))
	return s, nil
}

// As implements [skein.Store].
func (s *Store) As(u skein.User) skein.Store {
	return (&view{core: s.core, user: u, part: true}).store()
}

// sees reports whether the view includes the sessions of u.
func (s *view) sees(u skein.User) bool { return ledger.View(s.user).Sees(u) }

// owner returns the owner of something new that does not name one.
func (s *view) owner() skein.User { return ledger.View(s.user).Owner() }
