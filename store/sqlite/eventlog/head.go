package eventlog

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// Retell sets the texts of h from its events, and all of it if it is lost.
// The error wraps [skein.ErrCorrupt] if an event cannot be read.
func Retell(c *engine.Conn, p *pack.Packer, h *columns.Head) error {
	segs, err := Segments(c, h.N, h.Last)
	if err != nil {
		return err
	}
	l := New(p, c, nil)
	if h.Lost {
		kind, prev, err := l.Place(segs.Of(h.Last), h.Last)
		if err != nil {
			return err
		}
		if h.Said = prev; kind == skein.KindSaid {
			h.Said = h.Last
		}
	}
	if err := h.Retell(l, segs); err != nil || !h.Lost {
		return err
	}
	h.Usage, err = UsageOf(c, h.N)
	return err
}

// UsageOf returns the usage of session n. The error is the driver's.
func UsageOf(c *engine.Conn, n int64) (skein.Usage, error) {
	return SumUsage(c, `usage WHERE session = ?`, n)
}

// SumUsage sums up rows of a table. The error is the driver's.
func SumUsage(c *engine.Conn, from string, args ...any) (u skein.Usage, err error) {
	_, err = c.One(selectUsage+from, args, &u.Input, &u.Output, &u.Reasoning, &u.CacheRead, &u.CacheWrite, &u.CacheHour, &u.Requests, &u.Reported)
	return u, err
}

const selectUsage = `SELECT coalesce(sum(input), 0), coalesce(sum(output), 0), coalesce(sum(reasoning), 0), coalesce(sum(cache_read), 0),
	coalesce(sum(cache_write), 0), coalesce(sum(cache_hour), 0), coalesce(sum(requests), 0), coalesce(sum(reported), 0) FROM `

// LiveEvent returns the event that e, whose row is id, makes live at its place:
// e itself, or, if e amends another event, what replaces that one, or nil if
// that one is gone. The error says that the amendment cannot be read.
func LiveEvent(c *engine.Conn, id int64, e skein.Event) (*skein.Event, error) {
	if e.Kind != skein.KindAmended {
		return &e, nil
	}
	a, err := skein.Decode[skein.Amended](e)
	if err != nil {
		return nil, err
	}
	var kind string
	found, err := c.One(`SELECT o.kind, o.at FROM events e JOIN events o ON o.session = e.session AND o.seq = e.amends WHERE e.id = ?`, []any{id}, &kind, (*int64)(&e.Time))
	if err != nil || !found {
		return nil, err
	}
	return &skein.Event{Seq: a.Seq, Time: e.Time, Kind: skein.Kind(kind), Payload: a.Payload}, nil
}
