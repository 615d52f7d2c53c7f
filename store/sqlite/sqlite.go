package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/files"
	"github.com/skein-dev/skein/store/sqlite/host"
	"github.com/skein-dev/skein/store/sqlite/schema"
	"github.com/skein-dev/skein/store/sqlite/txn"
	"github.com/skein-dev/skein/store/stream"
)

// A Store keeps sessions in a SQLite file. Make one with [Open].
type Store struct {
	*view
	reads
	searches
	lifecycle
	leases
	sources
	feeds
	backupMaker
	audits
	sharing
	isView bool // closing it does nothing
}

// A view is what one user sees of a store: the base of each part of a [Store].
type view struct {
	*core
	user skein.User // "" for everybody's
}

// The parts of a Store, by the subject of their methods.
type (
	reads       struct{ *view } // sessions and events
	searches    struct{ *view } // what was said anywhere
	lifecycle   struct{ *view } // [skein.Lifecycle], and the tombstones
	leases      struct{ *view } // [skein.Leases]
	sources     struct{ *view } // [skein.Sources]
	feeds       struct{ *view } // [skein.Feed], and the index that follows it
	backupMaker struct{ *view } // [inspect.Backups]
	audits      struct{ *view } // [accounts.AuditTrail]
	sharing     struct{ *view } // [accounts.Shares]
)

// newStore returns the store of core c as a user sees it.
func newStore(c *core, user skein.User) *Store {
	v := &view{c, user}
	return &Store{
		v, reads{v}, searches{v}, lifecycle{v}, leases{v}, sources{v}, feeds{v}, backupMaker{v}, audits{v}, sharing{v}, false,
	}
}

var (
	_ skein.FullStore = (*Store)(nil)
	_ skein.Sweeper   = (*Store)(nil)
)

// core is what all views of a store share.
type core struct {
	path        string
	steps       schema.Steps // schema of this version
	paths       *files.Paths
	notice      func(string) // Options.Notice
	patience    time.Duration
	writer      *txn.Writer // nil as long as nothing can be written
	readers     *engine.Pool
	turns       *room.Semaphore // for readers of what may be long
	index       *indexer        // nil if nothing can be written
	maintenance *maintenance    // nil if nothing can be written
	disk        *diskRoom
	waited      lookback
	catching    sync.WaitGroup // searches that are updating the index
	pack        *pack.Packer
	wakers      *stream.Wakers
	locks       *host.Locks
	clock       func() time.Time
	closeFor    time.Duration

	reopening
	closing
}

// reopening is the state of a store that may not be opened for writing yet.
type reopening struct {
	opening  sync.RWMutex // held while the store is opened for writing later; it guards:
	readOnly error        // why nothing can be written; nil if it can
	mode     string       // how the file is opened to be read
	tried    time.Time    // when opening it for writing was last tried
	schema   atomic.Int64 // the file's user_version when last read; 0: nothing was written yet
}

// closing is the state of a store that may be about to close.
type closing struct {
	mu     sync.Mutex
	closed bool           // no more calls are admitted
	ending chan struct{}  // closed when closed is set
	calls  sync.WaitGroup // calls in progress
	gone   chan struct{}  // closed when everything is released
	err    error          // of Close; set before gone is closed
}

// Options say how to open a store. The zero value is the usual case.
type Options struct {
	Notice func(string)     // called with messages for people: work that takes long, such as a migration and where its copy is, or a file that is gone; nil for none
	Clock  func() time.Time // the store's clock, for leases and marks; nil is time.Now

	// Patience is how long a write waits for another process that is in the
	// middle of one, before it fails with an error that wraps [skein.ErrLocked]
	// and says which process that is; 0 is 10 seconds.
	Patience time.Duration

	steps schema.Steps // nil: this version's. Tests add steps, as a later version will
}

// patience is the default of Options.Patience: a hundred times what any of
// skein's transactions takes.
const patience = 10 * time.Second

// readConns is how many connections can read at once.
const readConns = 8

// Open opens the store in the named file, creating the file and its folder if
// need be. A file that cannot be written to is opened for reading; calls that
// write then return an error wrapping [skein.ErrReadOnly], or [skein.ErrFull]
// if the disk has no room for what SQLite needs to write.
//
// The error wraps [skein.ErrNewer] if the file is from a later version (it is left
// untouched), [skein.ErrCorrupt] (as an [inspect.Salvager]) or [skein.ErrInvalid]
// if it is not a skein store, and [skein.ErrReplaced] if the log beside it belongs
// to another file, or to one that is gone. Later calls also return an error wrapping [skein.ErrReplaced]
// while the file, or its log, is not the one that was opened. Once a newer version
// has migrated the file, calls that write return an error wrapping
// [skein.ErrNewer], and so do calls that read after that.
func Open(ctx context.Context, name string, o Options) (_ *Store, err error) {
	defer skein.Wrapf(&err, "sqlite: open %s", name)
	engine.PrepareDriver()
	if name, err = filepath.Abs(name); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Patience <= 0 {
		o.Patience = patience
	}
	if o.steps == nil {
		if o.steps, err = schema.All(); err != nil {
			return nil, err
		}
	}
	d, err := engine.Driver()
	if err != nil {
		return nil, err
	}
	c := &core{path: name, steps: o.steps, notice: o.Notice, clock: o.Clock, locks: host.NewLocks(name), closeFor: closeFor, patience: o.Patience, closing: closing{ending: make(chan struct{}), gone: make(chan struct{})}}
	if c.pack, err = pack.New(); err != nil {
		return nil, err
	}
	c.disk, c.wakers = &diskRoom{core: c}, newWakers(c)
	if err := c.connect(ctx, d, o); err != nil {
		if err = errors.Join(err, c.abandon()); errors.Is(err, skein.ErrCorrupt) {
			err = &damagedFileError{name, o, err}
		}
		return nil, err
	}
	return newStore(c, ""), nil
}

func (c *core) connect(ctx context.Context, d driver.Driver, o Options) error {
	if err := files.Plain(c.path); err != nil && errors.Is(err, skein.ErrInvalid) {
		return err
	}
	if err := host.MayRead(c.path); err != nil {
		return err
	}
	c.paths = files.New(c.path)
	if err := c.paths.OwnLog(); err != nil {
		return err
	}
	if err := files.Make(c.path); err != nil && !errors.Is(err, os.ErrPermission) && !host.ReadOnlyFS(err) {
		return err
	}
	c.turns = room.NewSemaphore(largeAtOnce)
	c.readers = engine.NewPool(readConns, c.inPlace, c.dialReader)
	if err := c.openFiles(ctx, d, o); err != nil {
		return err
	}
	if err := c.readers.Read(ctx, func(*engine.Conn) error { return nil }); err != nil {
		return err
	}
	if c.writer == nil {
		return c.paths.Settle(1) // SQLite may not need a log, and remove it
	}
	c.work()
	return nil
}

// openFiles opens the file for writing, or determines how it can be read.
func (c *core) openFiles(ctx context.Context, d driver.Driver, o Options) error {
	w, err := schema.OpenWriter(ctx, d, c.path, o.steps, o.Notice)
	switch {
	case errors.Is(err, skein.ErrReadOnly), errors.Is(err, skein.ErrFull):
		mode, merr := schema.ReadOnlyMode(d, c.path, c.steps)
		if _, lerr := os.Lstat(c.path); errors.Is(lerr, fs.ErrNotExist) {
			return err // there is nothing to read
		}
		if merr != nil {
			return merr
		}
		c.readOnly, c.mode, c.tried = err, mode, time.Now()
		if c.paths.ReadWithOthers(); mode == engine.Immutable {
			c.paths.ReadAlone()
		}
		return nil
	case err != nil:
		return err
	}
	c.paths.ReadWithOthers()
	if err := errors.Join(c.paths.Settle(len(c.paths.Names)), c.paths.Compare(w)); err != nil {
		return errors.Join(err, w.Close())
	}
	c.paths.WritePair()
	c.writer = txn.NewWriter(w, txn.Hooks{
		Pack: c.pack, Patience: o.Patience, Changed: c.wake, Blocked: func(d time.Duration) error { return host.BlockedBy(c.path, d) },
		InPlace: c.inPlace, MarkLog: c.paths.MarkLog, LogPages: &c.disk.logPages, Fits: c.disk.fits, Schema: &c.schema,
	})
	c.readOnly, c.mode = nil, writingMode
	return nil
}

// inPlace checks the paths and the store's ID and schema. The first failure
// sends a notice and wakes the watchers, who would otherwise wait in vain.
func (c *core) inPlace() error {
	err := c.paths.Check()
	if errors.Is(err, files.ErrLogCame) { // the disk was full at first: now it is read as others write it
		_ = c.reopen(context.Background()) //nolint:errcheck // what it could not mend is looked at again
		err = c.paths.Check()
	}
	if err == nil {
		err = cmp.Or(c.paths.SameStore(), c.steps.Same(c.schema.Load()))
	}
	if lost := err != nil; c.paths.Lost.Load() != lost && c.paths.Lost.CompareAndSwap(!lost, lost) && lost {
		if c.notice != nil {
			c.notice(fmt.Sprintf("%s: %v; nothing is stored or read until the file is back or the program is restarted", c.path, err))
		}
		c.wakers.WakeAll()
	}
	return err
}

// dialReader connects for reading. A file of an earlier schema that cannot be written to
// is read as it is.
func (c *core) dialReader() (*engine.Conn, error) {
	mode := c.readMode()
	conn, err := c.dial(mode, "PRAGMA busy_timeout = 5000", "PRAGMA cache_size = -16000", "PRAGMA mmap_size = 0", "PRAGMA query_only = 1", "PRAGMA trusted_schema = 0")
	if err != nil || mode == writingMode {
		return conn, err
	}
	v, err := schema.FileVersion(conn)
	if script, _ := c.steps.Substitutes(v); err == nil && script != "" {
		err = conn.Script("PRAGMA query_only = 0; PRAGMA temp_store = MEMORY; " + script + "PRAGMA query_only = 1")
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// writingMode is the mode in which a file is opened that can be written to.
const writingMode = "mode=rw"

// dial opens a connection to the file, which must be the one that the store has
// opened: closing the last connection to another file would apply the log beside it.
func (c *core) dial(mode string, pragmas ...string) (*engine.Conn, error) {
	if err := c.paths.Check(); err != nil {
		return nil, err
	}
	d, err := engine.Driver()
	if err != nil {
		return nil, err
	}
	conn, err := engine.Connect(d, engine.DSN(c.path, mode), pragmas...)
	if err != nil {
		return nil, err
	}
	if err := c.paths.Check(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// readMode returns how the file is opened to be read.
func (c *core) readMode() string {
	c.opening.RLock()
	defer c.opening.RUnlock()
	return c.mode
}

// work starts the background work of a store that can be written to.
func (c *core) work() {
	c.maintenance = newMaintenance(c)
	c.index = newIndexer(c)
}

// As implements [skein.Store].
func (s *Store) As(u skein.User) skein.Store {
	x := newStore(s.core, u)
	x.isView = true
	return x
}

// sees reports whether the view includes what belongs to u.
func (s *view) sees(u skein.User) bool { return ledger.View(s.user).Sees(u) }

// owner returns the owner of a new object that does not name one.
func (s *view) owner() skein.User { return ledger.View(s.user).Owner() }

// write runs f in a transaction; if it returns nil, the transaction is committed.
func (c *core) write(ctx context.Context, f func(*txn.Tx) error) error {
	if err := c.unwritable(ctx); err != nil {
		return err
	}
	return c.writer.Do(ctx, f)
}

// change is write as a complete call: it enters and leaves the store.
func (c *core) change(ctx context.Context, f func(*txn.Tx) error) error {
	leave, err := c.enter()
	if err != nil {
		return err
	}
	defer leave()
	return c.write(ctx, f)
}
