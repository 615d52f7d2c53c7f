package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/lenient"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// mostGiven is the limit above which IDs are not believed: a damaged row may
// have any.
const mostGiven = 1 << 53

// given returns the greatest event ID that the damaged store says it has assigned,
// even if that event was deleted or is lost. None of these IDs is assigned again: a
// reader of the feed continues after the greatest ID it has seen.
func (x *salvage) given(ctx context.Context) (most int64, err error) {
	t := x.table("indexed")
	err = x.each(ctx, t, func(row []any) error {
		for _, name := range []string{"upto", "gone"} {
			if id, ok := row[t.column(name)].(int64); ok && id < mostGiven {
				most = max(most, id)
			}
		}
		return nil
	})
	return most, err
}

// complete adds what is missing among the rows that were found: session rows,
// events in the place of lost ones, and what is derived from events. It returns
// what is lost.
func (x *salvage) complete(ctx context.Context) (lost []Lost, err error) {
	given, err := x.given(ctx)
	if err != nil {
		return nil, err
	}
	var again []skein.SessionID // sessions whose rows are rebuilt from their events
	err = x.to.change(ctx, func(t *txn.Tx) (err error) {
		if _, _, err := t.Exec(`UPDATE indexed SET gone = ?`, given); err != nil {
			return err
		}
		t.Forget()
		if again, err = x.nameless(t); err != nil {
			return err
		}
		if err := x.bases(t); err != nil {
			return err
		}
		if lost, err = x.gaps(t); err != nil {
			return err
		}
		if err := x.follow(t); err != nil {
			return err
		}
		// The table rewound_ranges is not among those that are copied.
		if _, _, err := t.Exec(`INSERT OR IGNORE INTO maintenance (name, times) SELECT 'recount ' || n, 1 FROM (
			SELECT session AS n FROM events INDEXED BY events_rewound WHERE kind = 'rewound' UNION SELECT session FROM bases)`); err != nil {
			return err
		}
		_, _, err = t.Exec(`UPDATE indexed SET upto = 0, gone = max(gone, (SELECT coalesce(max(id), 0) FROM events))`)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, id := range again {
		if err := x.refill(ctx, id); err != nil {
			return nil, err
		}
	}
	if err := (cleaner{x.to.core}).recountAll(ctx); err != nil {
		return nil, err
	}
	var n int64
	err = x.to.readers.Read(ctx, func(c *engine.Conn) error {
		_, err := c.One(`SELECT count(*) FROM events`, nil, &n)
		return err
	})
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: no events in it", skein.ErrCorrupt)
	}
	return lost, err
}

// nameless makes rows for sessions of which only events were found. Their IDs
// are in an index, too.
func (x *salvage) nameless(t *txn.Tx) (made []skein.SessionID, err error) {
	ids := map[int64]string{}
	for _, n := range x.pages["sqlite_autoindex_sessions_1"] {
		cells, _ := x.from.Cells(n, x.from.Page(n))
		for _, c := range cells {
			if len(c.Values) == 2 {
				id, isText := c.Values[0].(string)
				n, isNumber := c.Values[1].(int64)
				if isText && isNumber && skein.SessionID(id).Check() == nil {
					ids[n] = id
				}
			}
		}
	}
	type orphan struct{ n, last int64 }
	var all []orphan
	err = t.Query(`SELECT e.session, max(e.seq) FROM events e WHERE e.session NOT IN (SELECT n FROM sessions) AND e.session NOT IN (SELECT session FROM purge_queue) GROUP BY e.session`, nil, func(row []driver.Value) error {
		var o orphan
		err := engine.Scan(row, []any{&o.n, &o.last})
		all = append(all, o)
		return err
	})
	for _, o := range all {
		id := ids[o.n]
		if id == "" {
			id = fmt.Sprintf("salvaged-%d", o.n)
		}
		if err == nil {
			_, _, err = t.Exec(`INSERT INTO sessions (n, id, user_id, last) VALUES (?, ?, ?, ?)`, o.n, id, string(skein.Local), o.last)
			made = append(made, skein.SessionID(id))
		}
	}
	return made, err
}

// bases restores lost rows that say whose events a fork shows.
func (x *salvage) bases(t *txn.Tx) error {
	return x.eachCreated(t, func(h *columns.Head, c *skein.Created) error {
		if !c.Parent.IsFork() {
			return nil
		}
		_, _, err := t.Exec(`INSERT INTO bases (session, base, upto) SELECT ?1, s.n, ?3 FROM sessions s WHERE s.id = ?2 AND s.n <> ?1
			AND NOT EXISTS (SELECT 1 FROM bases WHERE session = ?1) AND NOT EXISTS (SELECT 1 FROM events WHERE session = ?1 AND seq <= ?3)`,
			h.N, string(c.Parent.Session), int64(c.Parent.Seq))
		return err
	})
}

// eachCreated calls f with the newest created event of each session.
func (x *salvage) eachCreated(t *txn.Tx, f func(*columns.Head, *skein.Created) error) error {
	type begun struct {
		h columns.Head
		c skein.Created
	}
	var all []begun
	err := t.Query(`SELECT `+columns.EventColumns+`, s.n FROM sessions s JOIN events e ON e.session = s.n AND e.seq = (SELECT max(seq) FROM events WHERE session = s.n AND kind = 'created')`, nil, func(row []driver.Value) error {
		e, _, err := columns.ScanEvent(x.to.pack, row[:columns.EventWidth])
		if err != nil {
			return nil //nolint:nilerr // it is damaged, and said to be elsewhere
		}
		b := begun{}
		b.h.N, _ = row[columns.EventWidth].(int64)
		if b.c, err = skein.Decode[skein.Created](e); err == nil {
			all = append(all, b)
		}
		return nil
	})
	for i := range all {
		if err == nil {
			err = f(&all[i].h, &all[i].c)
		}
	}
	return err
}

// mostLost is the most events that may be lost at the end of a session: if its
// row claims more, the row is what is damaged.
const mostLost = 1 << 20

// gaps puts an event that says so in each place whose event is lost.
func (x *salvage) gaps(t *txn.Tx) (lost []Lost, err error) {
	type length struct {
		n, last, upto int64
		id            string
	}
	var all []length
	err = t.Query(`SELECT s.n, max(s.last, coalesce(max(e.seq), 0)), coalesce(b.upto, 0), s.id FROM sessions s LEFT JOIN events e ON e.session = s.n LEFT JOIN bases b ON b.session = s.n
		GROUP BY s.n HAVING count(e.id) <> max(s.last, coalesce(max(e.seq), 0)) - coalesce(b.upto, 0)`, nil, func(row []driver.Value) error {
		var l length
		err := engine.Scan(row, []any{&l.n, &l.last, &l.upto, &l.id})
		all = append(all, l)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		one, err := x.fillGaps(t, l.n, l.upto, l.last, skein.SessionID(l.id))
		if err != nil {
			return nil, err
		}
		if len(one.Events) > 0 {
			lost = append(lost, one)
		}
		if _, _, err := t.Exec(`INSERT OR IGNORE INTO maintenance (name, times) VALUES (?, 1)`, recountName(l.n)); err != nil {
			return nil, err
		}
	}
	return lost, nil
}

func (x *salvage) fillGaps(t *txn.Tx, n, upto, last int64, id skein.SessionID) (lost Lost, err error) {
	lost.Session = id
	type gap struct{ from, to, said int64 }
	var gaps []gap
	at, said := upto, int64(0)
	err = t.Query(`SELECT seq, kind FROM events WHERE session = ? AND seq > ? ORDER BY seq`, []any{n, upto}, func(row []driver.Value) error {
		var seq int64
		var kind string
		err := engine.Scan(row, []any{&seq, &kind})
		if seq > at+1 {
			gaps = append(gaps, gap{at, seq - 1, said})
		}
		if at = seq; kind == string(skein.KindSaid) {
			said = seq
		}
		return err
	})
	if err != nil {
		return lost, err
	}
	if last > at && last-at <= mostLost {
		gaps = append(gaps, gap{at, last, said})
		at = last
	}
	for _, g := range gaps {
		lost.Events = append(lost.Events, walk.Segment{Session: n, From: skein.Seq(g.from), To: skein.Seq(g.to)})
		for seq := g.from + 1; seq <= g.to; seq++ {
			if err := x.putLost(t, n, seq, g.said, id, seq == upto+1); err != nil {
				return lost, err
			}
		}
	}
	_, _, err = t.Exec(`UPDATE sessions SET last = ? WHERE n = ?`, at, n)
	return lost, err
}

// putLost puts an event in the place of a lost one. The first one of a session
// must create the session.
func (x *salvage) putLost(t *txn.Tx, n, seq, said int64, id skein.SessionID, first bool) error {
	e := skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: skein.NoteLost, Level: "error", Data: skein.MustJSON("the event in this place was lost when the store was damaged")})
	if first {
		h, err := t.Head(id)
		if err != nil {
			return err
		}
		e = skein.NewEvent(skein.KindCreated, 0, skein.Created{
			Key: h.Key, User: h.User, Surface: h.Surface, Project: h.Project, Cwd: h.Cwd, Checkout: h.Checkout.Known(), Agent: h.Agent,
			Provider: h.Provider, Model: h.Model, Profile: h.Profile, Parent: h.Parent, Origin: h.Origin,
		})
	}
	e.Seq = skein.Seq(seq)
	next, err := t.NextID()
	if err != nil {
		return err
	}
	_, _, err = t.Exec(`INSERT INTO events (id, session, seq, kind, at, turn, ordinal, prev, piece, failed, imported, payload, sum) VALUES (?, ?, ?, ?, 0, 0, 0, ?, 0, 0, 0, ?, ?)`,
		next, n, seq, string(e.Kind), said, []byte(e.Payload), columns.Sum(&e, ""))
	return err
}

// follow restores the lost references to blobs and charges that are derived
// from events.
func (x *salvage) follow(t *txn.Tx) error {
	for after, more := int64(0), true; more; {
		var page []eventFacts
		var err error
		if page, after, more, err = factsAfter(t.Conn, x.to.pack, after); err != nil {
			return err
		}
		for _, p := range page {
			if err := x.followOne(t, p.id, p.session, &p.Facts); err != nil {
				return err
			}
		}
	}
	return nil
}

// eventFacts are the facts of an event; id and session are numbers of rows.
type eventFacts struct {
	skein.Facts
	id, session int64
}

// factsAfter returns those of the next 256 events after one that refer to blobs or have a
// charge; last is the last of the 256, and more is false if there is none. Damaged events,
// which are reported elsewhere, have no facts.
func factsAfter(c *engine.Conn, p *pack.Packer, after int64) (page []eventFacts, last int64, more bool, err error) {
	err = c.Query(`SELECT `+columns.EventColumns+`, e.id, e.session FROM events e WHERE e.id > ? ORDER BY e.id LIMIT 256`, []any{after}, func(row []driver.Value) error {
		more = true
		after, _ = row[columns.EventWidth].(int64)
		e, _, err := columns.ScanEvent(p, row[:columns.EventWidth])
		if err != nil {
			return nil //nolint:nilerr // it is damaged, and said to be elsewhere
		}
		if f, err := skein.FactsOf(e); err == nil && (len(f.Blobs) > 0 || f.Charge != nil) {
			session, _ := row[columns.EventWidth+1].(int64)
			page = append(page, eventFacts{f, after, session})
		}
		return nil
	})
	return page, after, more, err
}

func (x *salvage) followOne(t *txn.Tx, id, session int64, f *skein.Facts) error {
	if err := putRefs(t, id, f.Blobs); err != nil {
		return err
	}
	if f.Charge == nil {
		return nil
	}
	var user string
	there, err := t.One(`SELECT c.user_id FROM charges c WHERE c.event = ?1 OR (?2 <> '' AND c.request = ?2)`, []any{id, f.Charge.Request}, &user)
	if err != nil || there {
		return err
	}
	if _, err := t.One(`SELECT user_id FROM sessions WHERE n = ?`, []any{session}, &user); err != nil {
		return err
	}
	h := columns.Head{N: session}
	h.User = skein.User(user)
	a := skein.Added{Tier: f.Charge.Tier, Charge: f.Charge.Usage}
	if a.Charge.Reported > 0 {
		a.Recorded = a.Charge
	}
	return putCharge(t, &h, id, f.Charge, &a)
}

// refill rebuilds the row of a session from its events.
func (x *salvage) refill(ctx context.Context, id skein.SessionID) error {
	sum := skein.NewTally(id)
	for e, err := range lenient.Store(x.to, nil).Events(ctx, id, 0) {
		if err == nil {
			_, err = sum.Add(e)
		}
		if err != nil {
			break // an incomplete row is better than none
		}
	}
	return x.to.change(ctx, func(t *txn.Tx) error {
		h, err := t.Head(id)
		if err != nil {
			return err
		}
		was := h
		h.Session = sum.Session()
		h.Last, h.User = max(h.Last, was.Last), orLocal(h.User)
		if _, err := t.One(`SELECT coalesce(max(seq), 0) FROM events WHERE session = ? AND kind = 'said'`, []any{h.N}, (*int64)(&h.Said)); err != nil {
			return err
		}
		if has, err := keyTaken(t, &h); err != nil || has {
			h.Key = ""
		}
		segs, err := headSegments(t, &h)
		if err != nil {
			return err
		}
		x, err := walk.Undone(eventlog.New(x.to.pack, t.Conn, nil), segs, h.Last)
		if err == nil {
			err = putGaps(t, h.N, nil, x.Gaps)
		}
		if err != nil {
			return err
		}
		return t.PutHead(&was, &h)
	})
}

func orLocal(u skein.User) skein.User {
	if u == "" {
		return skein.Local
	}
	return u
}
