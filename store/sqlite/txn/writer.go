package txn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// The most work that one transaction does: others, in other processes too, wait
// while it runs.
const (
	groupJobs = 256
	groupTime = 40 * time.Millisecond
)

// A Writer runs one write transaction at a time. Its goroutine takes the jobs
// that have queued up, runs them in one transaction, and answers them after the
// commit. A caller who finds nobody writing or waiting runs the transaction
// itself, because switching goroutines twice costs a tenth of a durable append.
type Writer struct {
	mu      sync.Mutex // held during a transaction; it guards what follows, except channels
	conn    *engine.Conn
	jobs    chan *job
	urgent  chan *job // jobs run alone between two groups
	spare   chan *job // jobs run alone when nothing else waits
	stopped chan struct{}
	heads   *heads
	of      Hooks
	pages   int64       // what SQLite was told of writerConfig.logPages last
	stuck   atomic.Bool // its patience ran out, and nothing was written since
	version int64       // PRAGMA data_version: others' commits change it
	size    int64       // how many pages the file has since the last commit
}

// Hooks are what a writer needs to know of its store, and what it calls.
type Hooks struct {
	Pack     *pack.Packer
	Changed  func([]skein.SessionID)                     // called after each commit that changed sessions
	Blocked  func(time.Duration) error                   // returns who kept it from writing for so long
	InPlace  func() error                                // returns an error if the file is no longer the one that was opened
	LogPages *atomic.Int64                               // how many pages the log may have before a commit checkpoints it; 0 is SQLite's default
	MarkLog  func(*engine.Conn) (kept func(), err error) // called first in each transaction, and kept once it is committed
	Fits     func(was, is int64) error                   // returns an error if the disk has no room for a commit that changes the file's pages from was to is
	Schema   *atomic.Int64                               // set to the file's user_version, as the last transaction found it
	Patience time.Duration                               // how long it waits for another process that is writing
}

// A job is what one caller wants done in a transaction.
type job struct {
	ctx   context.Context
	run   func(*Tx) error
	done  chan error // gets the one answer
	since time.Time  // when it was submitted
}

// NewWriter returns a writer that writes by conn.
func NewWriter(conn *engine.Conn, of Hooks) *Writer {
	w := &Writer{
		conn: conn, of: of, jobs: make(chan *job, 4*groupJobs), urgent: make(chan *job), spare: make(chan *job), stopped: make(chan struct{}), heads: newHeads(),
	}
	go w.loop()
	return w
}

func newJob(ctx context.Context, f func(*Tx) error) *job {
	return &job{ctx: ctx, run: f, done: make(chan error, 1), since: time.Now()}
}

// Do runs f in a transaction. A nil error means that it was committed. The end
// of ctx may keep f from starting, but never prevents the commit. The error is that of
// ctx, f, Hooks.InPlace or Hooks.Blocked, or one that [engine.Classify] returns; it
// wraps [skein.ErrUnknown] if the commit may be on the disk.
func (w *Writer) Do(ctx context.Context, f func(*Tx) error) error {
	if len(w.jobs) > 0 || !w.mu.TryLock() {
		return w.put(ctx, w.jobs, f)
	}
	defer w.mu.Unlock()
	j := newJob(ctx, f)
	w.commit([]*job{j})
	return <-j.done
}

// Between is [Writer.Do] for work that nobody waits for but that must not wait forever
// either: it runs alone after the group that is being committed. The
// error is that of Do.
func (w *Writer) Between(ctx context.Context, f func(*Tx) error) error {
	return w.put(ctx, w.urgent, f)
}

// After is [Writer.Do] for work that nobody waits for: it runs alone when no other job
// waits. The error is that of Do.
func (w *Writer) After(ctx context.Context, f func(*Tx) error) error { return w.put(ctx, w.spare, f) }

func (w *Writer) put(ctx context.Context, queue chan *job, f func(*Tx) error) error {
	j := newJob(ctx, f)
	select {
	case queue <- j:
	case <-ctx.Done():
		return ctx.Err()
	}
	return <-j.done
}

// Alone runs f while no transaction runs, and returns its error.
func (w *Writer) Alone(f func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return f()
}

// IsStuck reports whether the writer's patience ran out, and nothing was written since.
func (w *Writer) IsStuck() bool { return w.stuck.Load() }

// Close closes the connection of a writer that was stopped. The error is the
// driver's.
func (w *Writer) Close() error { return w.conn.Close() }

// Stop ends the writer after the waiting jobs. No more jobs may be submitted.
func (w *Writer) Stop() {
	close(w.jobs)
	<-w.stopped
}

func (w *Writer) loop() {
	defer close(w.stopped)
	var group []*job
	for {
		j, alone, ok := w.next()
		if !ok {
			return
		}
		w.mu.Lock()
		group = append(group[:0], j)
		if !alone {
			group = w.fill(group)
		}
		w.commitAll(group)
		select {
		case j := <-w.urgent:
			w.commitAll([]*job{j})
		default:
		}
		w.mu.Unlock()
	}
}

// commitAll runs the jobs of group in as many transactions as necessary.
func (w *Writer) commitAll(group []*job) {
	for len(group) > 0 {
		group = group[w.commit(group):]
	}
}

// next waits for a job; it returns one that must run alone only if no other waits.
func (w *Writer) next() (j *job, alone, ok bool) {
	select {
	case j, ok = <-w.jobs:
		return j, false, ok
	default:
	}
	select {
	case j, ok = <-w.jobs:
		return j, false, ok
	case j = <-w.urgent:
	case j = <-w.spare:
	}
	return j, true, true
}

// fill adds the jobs that are already waiting to group.
func (w *Writer) fill(group []*job) []*job {
	for len(group) < groupJobs {
		select {
		case j, ok := <-w.jobs:
			if !ok {
				return group
			}
			group = append(group, j)
		default:
			return group
		}
	}
	return group
}

// commit runs the first jobs of group, at least one, in a transaction, answers
// them, and returns how many there were.
func (w *Writer) commit(group []*job) int {
	err := w.begin(group)
	marked := func() {}
	if err == nil {
		if err = w.of.InPlace(); err == nil {
			marked, err = w.of.MarkLog(w.conn)
		}
		if err != nil {
			err = errors.Join(err, w.rollback())
		}
	}
	if err != nil {
		answer(group, func(i int) error { return errors.Join(group[i].ctx.Err(), engine.Classify(err)) })
		return len(group)
	}
	start := time.Now()
	t := &Tx{Conn: w.conn, Now: skein.At(start), pack: w.of.Pack, heads: w.heads}
	errs := make([]error, 0, len(group))
	alone := len(group) == 1
	var fatal error
	for _, j := range group {
		if len(errs) > 0 && time.Since(start) > groupTime {
			break
		}
		var err error
		if err, fatal = t.runJob(j, alone); fatal != nil {
			break
		}
		errs = append(errs, err)
	}
	if fatal == nil && alone && errs[0] != nil {
		fatal = errs[0]
	}
	var size int64
	if fatal == nil {
		size, fatal = w.fits()
	}
	if fatal != nil {
		t.rolledBack(w.rollback())
		// One job's error can end the whole transaction. Then all jobs are run
		// again, each alone, so that only that one fails.
		if !alone {
			for i := range group {
				w.commit(group[i : i+1])
			}
			return len(group)
		}
		group[0].done <- engine.Classify(fatal)
		return 1
	}
	// Overwriting a log from its start takes half as long as appending to a longer one.
	if most := w.of.LogPages.Load(); most != w.pages {
		if err := w.exec0("PRAGMA wal_autocheckpoint = " + strconv.FormatInt(most, 10)); err == nil {
			w.pages = most
		}
	}
	if err := w.exec0("COMMIT"); err != nil {
		t.rolledBack(w.rollback())
		answer(group[:len(errs)], func(i int) error {
			if errs[i] != nil {
				return errs[i]
			}
			return engine.ClassifyCommit(err)
		})
		return len(errs)
	}
	gone := w.of.InPlace() // if it is not, what was committed may be gone with the file
	if gone != nil {
		gone = fmt.Errorf("%w: %w", skein.ErrUnknown, gone)
	}
	marked()
	w.size = size
	w.heads.keep()
	for _, f := range t.after {
		f()
	}
	if len(t.changed) > 0 {
		w.of.Changed(t.changed)
	}
	answer(group[:len(errs)], func(i int) error { return cmp.Or(errs[i], gone) })
	return len(errs)
}

// fits returns how many pages the file has after the transaction, and the error of
// Hooks.Fits.
func (w *Writer) fits() (size int64, err error) {
	if _, err := w.conn.One("PRAGMA page_count", nil, &size); err != nil {
		return 0, err
	}
	return size, w.of.Fits(w.size, size)
}

func answer(group []*job, err func(int) error) {
	for i, j := range group {
		j.done <- err(i)
	}
}

func (w *Writer) exec0(sql string) error {
	_, _, err := w.conn.Exec(sql)
	return err
}

func (w *Writer) rollback() error {
	if err := w.exec0("ROLLBACK"); err != nil && engine.Code(err) != engine.CodeError {
		return err
	}
	return nil
}

// leastPatience is the least time that a job waits for another process, even if
// it has already waited long for its turn.
const leastPatience = time.Second

// begin begins a transaction. It waits while others write, as long as a caller
// in group still wants it. If nobody commits anything, its patience runs out: a
// process that was stopped in the middle of a transaction keeps it forever.
func (w *Writer) begin(group []*job) error {
	wanted := func(j *job) bool { return j.ctx.Err() == nil }
	until := time.Now().Add(min(leastPatience, w.of.Patience))
	if end := group[0].since.Add(w.of.Patience); end.After(until) {
		until = end
	}
	for seen := w.version; ; {
		if !slices.ContainsFunc(group, wanted) {
			return group[0].ctx.Err()
		}
		err := w.exec0("BEGIN IMMEDIATE")
		if err == nil {
			break
		}
		if !engine.Busy(err) { // otherwise the busy timeout has passed: try again
			return err
		}
		var v int64
		if _, err := w.conn.One("PRAGMA data_version", nil, &v); err == nil && v != seen {
			seen, until = v, time.Now().Add(w.of.Patience) // many processes write: its turn will come
		}
		if time.Now().After(until) {
			w.stuck.Store(true)
			return w.of.Blocked(time.Since(group[0].since))
		}
	}
	w.stuck.Store(false)
	var v int64
	if _, err := w.conn.One("PRAGMA data_version", nil, &v); err != nil {
		return errors.Join(err, w.rollback())
	}
	if v == w.version {
		return nil
	}
	var schema, size int64 // nobody else can change them without changing v
	for pragma, to := range map[string]*int64{"PRAGMA user_version": &schema, "PRAGMA page_count": &size} {
		if _, err := w.conn.One(pragma, nil, to); err != nil {
			return errors.Join(err, w.rollback())
		}
	}
	w.of.Schema.Store(schema)
	w.heads.clear()
	w.version, w.size = v, size
	return nil
}
