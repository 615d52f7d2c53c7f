package interop

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/reconcile"
)

// A copier takes the records of a file that so far only repeats another's.
type copier struct {
	t        *target
	places   map[skein.ClientID]skein.Place // of the records up to ahead
	ahead    int
	window   int
	follow   follower
	n        int                           // copies
	last     skein.Place                   // of the last one
	furthest map[skein.SessionID]skein.Seq // last event that is shared with each session
	held     []heldBack
	bytes    int // of held
	twins    twins
	judged   map[skein.SessionID]bool // whose age was compared with this one's
}

// heldBack is a floating record that waits for the session.
type heldBack struct {
	rec     skein.Record
	line    int
	items   []Item
	indexes []int // of the items' ordinals
}

// So much is held back; more makes a session of the file.
const (
	maxHeldBytes   = 4 << 20
	maxHeldRecords = 2000
)

func newCopier(t *target) *copier {
	return &copier{t: t, window: 4, follow: follower{store: t.im.store}, furthest: map[skein.SessionID]skein.Seq{}, twins: twins{t: t}, judged: map[skein.SessionID]bool{}}
}

// lookAhead asks the store where the events of the next records stand. It asks
// for few at first: most files are no copies, which their first record shows.
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

// take takes a record: as a copy, as one that is held back, or as the first of
// the file's own, which ends the copier.
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
			if err := c.checkElder(ctx, r, places); err != nil {
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
	c.t.w.old = min(c.t.w.old, rec.N) // what follows was stored as copies, and is none
	if err := c.own(ctx, rec.Key); err != nil {
		return err
	}
	_, err := c.t.emit(ctx, rec.Key, site{n: rec.N, line: r.line}, r.made.Items)
	return err
}

func (c *copier) hold(rec *skein.Record, line int, items []Item) {
	h := heldBack{rec: *rec, line: line, items: items}
	for i, it := range items {
		h.indexes = append(h.indexes, c.t.thread(it.Session).add(reconcile.ClientID(rec.Key, i, len(items)), 0))
	}
	c.held = append(c.held, h)
	c.bytes += len(rec.Raw)
	rec.Events = 0
}

// share notes where the items of a copy stand.
func (c *copier) share(key skein.ClientID, items []Item, places []skein.Place) {
	for i, it := range items {
		p, th := places[i], c.t.thread(it.Session)
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

// own ends the copying: it creates the session and appends what was held back.
func (c *copier) own(ctx context.Context, key skein.ClientID) error {
	defer c.follow.close()
	t := c.t
	if err := t.begin(ctx, t.main, key); err != nil {
		return err
	}
	t.copies = nil
	for _, h := range c.held {
		for i, it := range h.items {
			th := t.thread(it.Session)
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
// no copy.
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
