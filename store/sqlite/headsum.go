package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// retell sets the texts of h from its events, and all of it if it is lost.
func retell(c *engine.Conn, p *pack.Packer, h *head) error {
	segs, err := segments(c, h.n, h.Last)
	if err != nil {
		return err
	}
	l := newWalker(p, c, nil)
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
	h.Usage, err = usageOf(c, h.n)
	return err
}

// Own implements [ledger.TextLog].
func (w liveQueries) Own(seg walk.Segment, do func(e skein.Event, piece bool) error) error {
	for after := seg.From; after < seg.To; {
		at := after
		err := w.conn.Query(selectEvent+`WHERE e.session = ? AND e.seq > ? AND e.seq <= ? ORDER BY e.seq LIMIT ?`, []any{seg.Session, int64(after), int64(seg.To), pageRows}, func(row []driver.Value) error {
			e, said, err := rowEvent(w.pack, row)
			if bad := (*skein.DamagedError)(nil); errors.As(err, &bad) {
				e, err = bad.Placeholder(), nil
			}
			if err != nil {
				return err
			}
			after = e.Seq
			return do(e, said.piece)
		})
		if err != nil {
			return err
		}
		if at == after {
			return fmt.Errorf("event %d: %w", after+1, skein.ErrCorrupt)
		}
	}
	return nil
}

// heads looks for rows whose texts are not what was stored, and restores them
// from the events.
func (ex *exam) heads(area string) error {
	var bad []head
	err := ex.read(func(c *engine.Conn) error {
		err := c.Query(`SELECT `+headColumns+` FROM sessions s ORDER BY s.n`, nil, func(row []driver.Value) error {
			h, err := headScan(row)
			if h.Altered {
				bad = append(bad, h)
			}
			return err
		})
		for i := range bad {
			if err == nil {
				err = retell(c, ex.s.pack, &bad[i])
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	for h := range slices.Values(bad) {
		err := ex.Altered(area, &h.Session, func() error {
			return ex.s.write(ex.ctx, func(t *tx) error {
				t.heads.clear()
				was, err := t.head(h.ID)
				if err != nil || !was.Altered || was.Damaged {
					return err
				}
				now := was
				now.Altered, now.Lost = false, false
				t.changed = append(t.changed, h.ID)
				return t.putHead(&was, &now)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
