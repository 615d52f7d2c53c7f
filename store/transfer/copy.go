package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lenient"
)

const (
	maxEvents = 500     // in one append
	maxBytes  = 4 << 20 // of payloads, blobs or records in one append
	// idle is how long a feed may be silent that has not yielded all events
	// yet: a session may have been deleted meanwhile.
	idle = 10 * time.Second
)

// A Progress says how far a Copy or Send has come.
type Progress struct {
	Doing    string // for people: copying, comparing
	Done, Of int    // sessions
	Events   int    // that were stored so far
}

// Options say how to copy. The zero value is the usual case.
type Options struct {
	Users    map[skein.User]skein.User // the users whose sessions, files and tombstones are copied, and the users who get them; nil copies everybody's without a change of owner
	Progress func(Progress)            // called now and then; may be nil
}

func (o Options) tell(p Progress) {
	if o.Progress != nil {
		o.Progress(p)
	}
}

// Copy copies all sessions of one store to another, or those of some users, with
// their source files, blobs, bins and tombstones, but not their leases, and compares
// the stores. It skips what is damaged in the first one: the report says what.
// The second one may have other sessions too, and others may write to both meanwhile;
// what was copied already stays there, so that Copy can be run again after an
// interruption at any point.
//
// With Options.Users a session whose ID another session has in the second store gets
// another one there, and its key is not copied if another session of the user has it,
// as with [Send]; a whole store keeps its IDs and keys.
//
// The error wraps [skein.ErrConflict] if a session continued in the second store, or,
// when copying a whole store, is a different one there, [skein.ErrExists] if it is
// another user's there, [skein.ErrInvalid] if sessions of several users were to become
// one's, and [skein.ErrNotFound] if one of Options.Users has nothing in the first
// store; other errors are those of the stores. It is not an error that the stores
// differ in the end: the report says so.
func Copy(ctx context.Context, from, to skein.Store, o Options) (r Report, err error) {
	if len(o.Users) == 0 {
		return newCopier(from, to, to, o).copy(ctx)
	}
	becomes := map[skein.User]skein.User{}
	for _, u := range slices.Sorted(maps.Keys(o.Users)) {
		to := o.Users[u]
		if first, ok := becomes[to]; ok {
			return r, fmt.Errorf("user %s: %w: it would get the sessions of both %s and %s", to, skein.ErrInvalid, first, u)
		}
		becomes[to] = u
	}
	for _, u := range slices.Sorted(maps.Keys(o.Users)) {
		c := newCopier(from.As(u), to.As(o.Users[u]), to, o)
		c.only = u
		one, err := c.copy(ctx)
		if err != nil {
			return r, fmt.Errorf("user %s: %w", u, err)
		}
		r.add(one)
	}
	return r, nil
}

// newCopier returns a copier from one view to another, which is one of all.
func newCopier(from, to, all skein.Store, o Options) *copyRun {
	c := &copyRun{raw: from, o: o, stones: map[tombstoneKey]bool{}, keyless: map[skein.SessionID]string{}}
	c.blobs, c.files = map[skein.User]map[skein.Hash]bool{}, map[fileKey]*skein.SourceFile{}
	c.to, c.all, c.owners = to, all, o.Users
	c.sessions, c.routes, c.ours = map[skein.SessionID]*sourceSession{}, routes{}, map[skein.SessionID]bool{}
	return c
}

// copy is Copy of everything in the first store.
func (c *copyRun) copy(ctx context.Context) (Report, error) {
	c.from = lenient.Store(c.raw, func(id skein.SessionID, e *skein.DamagedError) {
		if k := c.sessions[id]; k != nil && e.Seq > k.Base { // otherwise it is another one's
			c.hurt(fmt.Sprintf("session %s: event %d", id, e.Seq))
		}
	})
	for _, step := range []func(context.Context) error{c.list, c.names, c.started, c.events, c.sourceFiles, c.bins, c.clear, c.tombstones} {
		if err := step(ctx); err != nil {
			return Report{}, err
		}
	}
	return c.compare(ctx)
}

// A copyRun is one run of Copy.
type copyRun struct {
	supplier
	raw     skein.Store // the first store, as it is
	o       Options
	keyless map[skein.SessionID]string // keys that other sessions have there
	pending int                        // sessions that the second store does not have in full
	stored  int                        // events
	batches []skein.Batch              // that wait to be stored
	size    int                        // bytes of them
	count   int                        // events of them
	stones  map[tombstoneKey]bool      // tombstones of the first store, as they are in the second
}

// sourceSession is what is known about a session of the first store.
type sourceSession struct {
	skein.Session
	have skein.Seq // the last seq that the second store has
}

func (k *sourceSession) whole() bool { return k.have >= k.Last }

// list reads the sessions of both stores.
func (c *copyRun) list(ctx context.Context) error {
	if err := c.something(ctx); err != nil {
		return err
	}
	order, found, err := listing(ctx, c.from)
	if err != nil {
		return err
	}
	c.order = order
	for id, s := range found {
		c.sessions[id] = &sourceSession{Session: s}
	}
	_, c.there, err = listing(ctx, c.to)
	return err
}

// listing returns all sessions of a store, those in the bin, too, and the order in
// which they are listed.
func listing(ctx context.Context, s skein.Store) (order []skein.SessionID, all map[skein.SessionID]skein.Session, err error) {
	all = map[skein.SessionID]skein.Session{}
	for _, bin := range []bool{false, true} {
		for x, err := range s.Sessions(ctx, skein.Filter{IncludeEmpty: true, Bin: bin}) {
			if err != nil {
				return nil, nil, err
			}
			if _, twice := all[x.ID]; !twice { // it was binned meanwhile
				order = append(order, x.ID)
			}
			all[x.ID] = x
		}
	}
	return order, all, nil
}

// started counts what is to be done, and checks the sessions that were begun.
func (c *copyRun) started(ctx context.Context) error {
	for _, k := range c.sessions {
		if !k.whole() {
			c.pending++
		}
		if err := c.goesOn(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// something checks that the user who was named has anything in the first store.
func (c *copyRun) something(ctx context.Context) error {
	if c.only == "" {
		return nil
	}
	for _, bin := range []bool{false, true} {
		for _, err := range c.from.Sessions(ctx, skein.Filter{IncludeEmpty: true, Bin: bin, Limit: 1}) {
			return err
		}
	}
	for _, err := range skein.SourcesOf(c.from).Files(ctx, "") {
		return err
	}
	return fmt.Errorf("no session or source file of this user: %w", skein.ErrNotFound)
}

// goesOn checks, if the second store has a part of k, that this is the beginning of k
// and not of something else.
func (c *copyRun) goesOn(ctx context.Context, k *sourceSession) error {
	if k.whole() || k.have <= k.Base {
		return nil
	}
	x, err := at(ctx, c.from, k.ID, k.have)
	if err == nil {
		x, err = c.given(k.ID, x)
	}
	if err != nil {
		return err
	}
	y, err := at(ctx, c.to, c.place(k.ID), k.have)
	if err == nil && compareEvents(x, y) != alike {
		err = &skein.ConflictError{Session: k.ID, Last: k.have}
	}
	return err
}

// at returns the event of a session at seq.
func at(ctx context.Context, s skein.Store, id skein.SessionID, seq skein.Seq) (skein.Event, error) {
	for e, err := range s.Events(ctx, id, seq-1) {
		return e, err
	}
	return skein.Event{}, fmt.Errorf("event %d of session %s %w", seq, id, skein.ErrNotFound)
}

// events copies the events that the second store lacks, in the order in which
// they were appended to the first.
func (c *copyRun) events(ctx context.Context) error {
	if c.pending == 0 {
		return nil
	}
	fed, stop := context.WithCancel(ctx)
	defer stop()
	silence := time.AfterFunc(idle, stop)
	defer silence.Stop()
	for f, err := range skein.FeedOf(c.from).Feed(fed, "") {
		if err != nil {
			return err
		}
		silence.Reset(idle)
		if err := c.event(ctx, f); err != nil {
			return err
		}
		if c.pending == 0 {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.flush(ctx)
}

// event handles an event of the feed.
func (c *copyRun) event(ctx context.Context, f skein.Fed) error {
	k := c.sessions[f.Session]
	if k == nil || f.Event.Kind == "" || f.Event.Seq <= max(k.have, k.Base) || f.Event.Seq > k.Last {
		return nil // it is there already, or was created after the listing
	}
	if f.Event.Kind == skein.KindCreated {
		if err := c.parents(ctx, k); err != nil {
			return err
		}
	}
	e, err := c.given(k.ID, begun(f.Event, &k.Session))
	if err != nil {
		return err
	}
	if e.Kind == skein.KindCreated {
		return c.create(ctx, k, e)
	}
	c.add(k.ID, e)
	c.has(k, e.Seq)
	if c.count >= maxEvents || c.size >= maxBytes {
		return c.flush(ctx)
	}
	return nil
}

// has notes that the second store has, or is about to get, a session's events up to
// seq.
func (c *copyRun) has(k *sourceSession, seq skein.Seq) {
	if k.have = seq; k.whole() {
		c.pending--
		c.o.tell(Progress{"copying", len(c.sessions) - c.pending, len(c.sessions), c.stored + c.count})
	}
}

// create stores the event that begins a session, by itself: its owner comes from the
// view, as the event may not name one, and its key may be taken.
func (c *copyRun) create(ctx context.Context, k *sourceSession, e skein.Event) error {
	if err := c.flush(ctx); err != nil {
		return err
	}
	if err := c.begin(ctx, k.User, skein.Batch{Session: k.ID, After: skein.Fresh, Events: []skein.Event{e}}); err != nil {
		return err
	}
	c.stored++
	c.has(k, e.Seq)
	return nil
}

// begin stores a batch that begins a session of u's.
func (c *copyRun) begin(ctx context.Context, u skein.User, b skein.Batch) error {
	bs, err := c.complete(ctx, u, b)
	if err != nil {
		return err
	}
	return c.put(ctx, c.to.As(c.whose(u)), bs)
}

// put stores batches. If keys of theirs are taken, it stores them one by one: keys may
// have changed hands, so a session that has one now goes to the bin, until all are in
// their final state. What another session of the user has stays that session's.
func (c *copyRun) put(ctx context.Context, to skein.Store, bs []skein.Batch) error {
	_, err := to.Append(ctx, bs...)
	if !errors.Is(err, skein.ErrExists) {
		return err
	}
	for _, b := range bs {
		if err := c.free(ctx, to, keysOf(b)); err != nil {
			return err
		}
		if c.only == "" {
			_, err = to.Append(ctx, b)
		} else {
			_, _, err = withoutTakenKeys(ctx, to, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// free puts those of our sessions that have one of these keys into the bin.
func (c *copyRun) free(ctx context.Context, to skein.Store, keys []string) error {
	for _, key := range keys {
		for s, err := range to.Sessions(ctx, skein.Filter{Key: key, IncludeEmpty: true}) {
			if err != nil {
				return err
			}
			if !c.ours[s.ID] {
				continue
			}
			if err := skein.LifecycleOf(c.to).Bin(ctx, s.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// add puts an event among those that wait.
func (c *copyRun) add(id skein.SessionID, e skein.Event) {
	if n := len(c.batches); n == 0 || c.batches[n-1].Session != id {
		c.batches = append(c.batches, skein.Batch{Session: id, After: e.Seq - 1})
	}
	b := &c.batches[len(c.batches)-1]
	b.Events = append(b.Events, e)
	c.size += len(e.Payload)
	c.count++
}

// flush stores what waits.
func (c *copyRun) flush(ctx context.Context) error {
	var all []skein.Batch
	for _, b := range c.batches {
		bs, err := c.complete(ctx, c.user(b.Session), b)
		if err != nil {
			return err
		}
		all = append(all, bs...)
	}
	if len(all) > 0 {
		if err := c.put(ctx, c.to, all); err != nil {
			return err
		}
	}
	c.stored += c.count
	c.batches, c.size, c.count = nil, 0, 0
	return nil
}

// bins puts into the bin the sessions that are in it in the first store, and takes out
// the others.
func (c *copyRun) bins(ctx context.Context) (err error) {
	if _, c.there, err = listing(ctx, c.to); err != nil {
		return err
	}
	for _, id := range c.order {
		s, ok := c.there[c.place(id)]
		switch was := c.sessions[id]; {
		case !ok: // the report will say so
		case was.Binned != 0 && s.Binned == 0:
			err = skein.LifecycleOf(c.to).Bin(ctx, s.ID)
		case was.Binned == 0 && s.Binned != 0:
			err = skein.LifecycleOf(c.to).Restore(ctx, s.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
