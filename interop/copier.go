package interop

import (
	"context"
	"iter"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/reconcile"
)

// A copier takes the records of a file as long as they only repeat another file's.
type copier struct {
	t          *target
	places     map[skein.ClientID]skein.Place // where the events of the records up to ahead are
	ahead      int
	window     int
	follow     follower
	n          int                           // copies
	last       skein.Place                   // of the last one
	furthest   map[skein.SessionID]skein.Seq // the last event that is shared with each session
	held       []heldBack
	bytes      int // of held
	duplicates duplicates
	judged     map[skein.SessionID]bool // sessions whose age was compared with this one's
}

// heldBack is a floating record that waits for the session.
type heldBack struct {
	rec     skein.Record
	line    int
	items   []Item
	indexes []int // of the items' ordinals
}

// At most this much is held back; more makes a session of the file.
const (
	maxHeldBytes   = 4 << 20
	maxHeldRecords = 2000
)

func newCopier(t *target) *copier {
	return &copier{t: t, window: 4, follow: follower{store: t.im.store}, furthest: map[skein.SessionID]skein.Seq{}, duplicates: duplicates{t: t}, judged: map[skein.SessionID]bool{}}
}

// lookAhead asks the store where the events of the next records are. It asks for few
// at first: most files are not copies, as their first record shows.
func (c *copier) lookAhead(ctx context.Context, rs []read) error {
	if rs[0].rec.N < c.ahead {
		return nil
	}
	rs = rs[:min(c.window, len(rs))]
	c.window, c.ahead = min(2*c.window, 256), rs[len(rs)-1].rec.N+1
	var keys []skein.ClientID
	for _, r := range rs {
		if len(r.made.Items) > 0 {
			keys = append(keys, reconcile.Candidates(bounded(r.made.Key, r.rec.Raw))...)
			if r.made.CopyKey != "" {
				keys = append(keys, reconcile.Candidates(bounded(r.made.CopyKey, r.rec.Raw))...)
			}
		}
	}
	c.places = nil
	if len(keys) == 0 {
		return nil
	}
	var err error
	c.places, err = skein.SourcesOf(c.t.im.store).Find(ctx, keys)
	return err
}

// take takes a record: as a copy, as one to hold back, or as the first one that
// only this file has, which ends the copier.
func (c *copier) take(ctx context.Context, rec *skein.Record, r read) error {
	for _, key := range []skein.ClientID{r.made.CopyKey, rec.Key} {
		if key == "" {
			continue
		}
		places, err := c.match(ctx, bounded(key, r.rec.Raw), r.made.Items)
		if err != nil {
			return err
		}
		if places != nil {
			if err := c.checkOriginal(ctx, r, places); err != nil {
				return err
			}
			rec.Key, rec.Copy = key, true
			c.share(key, r.made.Items, places)
			return nil
		}
	}
	if r.made.Floating && c.bytes < maxHeldBytes && len(c.held) < maxHeldRecords {
		c.hold(rec, r.line, r.made.Items)
		return nil
	}
	c.t.w.old = min(c.t.w.old, rec.N) // what follows was stored as copies, but is not
	if err := c.own(ctx, rec.Key); err != nil {
		return err
	}
	_, err := c.t.emit(ctx, rec.Key, site{n: rec.N, line: r.line}, r.made.Items)
	return err
}

func (c *copier) hold(rec *skein.Record, line int, items []Item) {
	h := heldBack{rec: *rec, line: line, items: items}
	for i, it := range items {
		h.indexes = append(h.indexes, c.t.session(it.Session).add(reconcile.ClientID(rec.Key, i, len(items)), 0))
	}
	c.held = append(c.held, h)
	c.bytes += len(rec.Raw)
	rec.Events = 0
}

// share notes where the items of a copy are.
func (c *copier) share(key skein.ClientID, items []Item, places []skein.Place) {
	for i, it := range items {
		p, th := places[i], c.t.session(it.Session)
		th.add(reconcile.ClientID(key, i, len(items)), p.Seq)
		if it.Session == "" {
			c.last = p
			c.furthest[p.Session] = max(c.furthest[p.Session], p.Seq)
		} else {
			th.id, th.begun, th.shared = p.Session, true, true
		}
	}
	c.n++
}

// own creates the session and queues what was held back. The copier ends with it.
func (c *copier) own(ctx context.Context, key skein.ClientID) error {
	defer c.follow.close()
	t := c.t
	if err := t.begin(ctx, t.main, key); err != nil {
		return err
	}
	t.copies = nil
	for _, h := range c.held {
		for i, it := range h.items {
			th := t.session(it.Session)
			if err := t.begin(ctx, th, h.rec.Key); err != nil {
				return err
			}
			e, err := t.place(ctx, th, it)
			if err != nil {
				return err
			}
			e.ClientID = reconcile.ClientID(h.rec.Key, i, len(h.items))
			th.reconcile(e, it.Blobs, h.indexes[i], site{n: h.rec.N, line: h.line})
		}
		h.rec.Events = len(h.items)
		t.revise(h.rec)
	}
	return nil
}

// match returns where the items of a record are stored already, and nil if it is
// not a copy.
func (c *copier) match(ctx context.Context, key skein.ClientID, items []Item) ([]skein.Place, error) {
	var at []skein.Place
	for _, id := range reconcile.Candidates(key) {
		if p, ok := c.places[id]; ok {
			at = append(at, p)
		}
	}
	events := make([]skein.Event, len(items))
	for i, it := range items {
		events[i] = it.Event
	}
	return reconcile.SameAs(events, at, func(p skein.Place) (skein.Event, error) { return c.follow.event(ctx, p) })
}

// fork returns the parent of a file that was a copy so far: the session that shows
// all that was copied, if there is one, up to the last event that is shared. rewind
// is where the copy itself ends, if that is earlier; else 0.
func (c *copier) fork(ctx context.Context) (p *skein.Parent, rewind skein.Seq, err error) {
	p = &skein.Parent{Session: c.last.Session, Seq: c.furthest[c.last.Session], Why: skein.Fork}
	for id, seq := range c.furthest {
		if id == p.Session || seq < c.last.Seq {
			continue
		}
		shows, err := c.shows(ctx, id, c.last)
		if err != nil {
			return nil, 0, err
		}
		if shows && seq > p.Seq {
			p.Session, p.Seq = id, seq
		}
	}
	if c.last.Seq < p.Seq {
		rewind = c.last.Seq
	}
	return p, rewind, nil
}

// shows reports whether session id shows, as a fork, the event at p.
func (c *copier) shows(ctx context.Context, id skein.SessionID, p skein.Place) (bool, error) {
	for range 100 {
		s, err := c.t.im.store.Session(ctx, id)
		if err != nil || s.Base < p.Seq || s.Parent == nil {
			return false, err
		}
		if id = s.Parent.Session; id == p.Session {
			return true, nil
		}
	}
	return false, nil
}

// revise queues an earlier record once more, as it is now.
func (t *target) revise(rec skein.Record) {
	i, found := slices.BinarySearchFunc(t.records, rec.N, func(r skein.Record, n int) int { return r.N - n })
	if found {
		t.records[i] = rec
		return
	}
	t.revised = append(t.revised, rec)
}

// A follower reads single events of the store, cheaply if each comes soon after
// the one before.
type follower struct {
	store skein.Store
	id    skein.SessionID
	got   skein.Event
	next  func() (skein.Event, error, bool)
	stop  func()
}

// near is how many events are skipped by reading rather than by a new query.
const near = 64

// event returns the event at p.
func (f *follower) event(ctx context.Context, p skein.Place) (skein.Event, error) {
	if f.next == nil || f.id != p.Session || p.Seq < f.got.Seq || p.Seq > f.got.Seq+near {
		f.close()
		f.id, f.got = p.Session, skein.Event{}
		f.next, f.stop = iter.Pull2(f.store.Events(ctx, p.Session, p.Seq-1))
	}
	for f.got.Seq < p.Seq {
		e, err, ok := f.next()
		if err != nil {
			return skein.Event{}, err
		}
		if !ok {
			return skein.Event{}, nil
		}
		f.got = e
	}
	return f.got, nil
}

func (f *follower) close() {
	if f.stop != nil {
		f.stop()
	}
	f.next, f.stop = nil, nil
}
