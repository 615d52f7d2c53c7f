package hits

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
)

// Edits passes to yield the messages in v whose calls have any of these keys and that a
// search with [skein.Query].Rewound would find, the newest first, each with its event;
// not those that are damaged. It reads some at a time, so that they need not be in memory
// at once, until yield returns false. The error is that of ctx or of the pool.
func Edits(ctx context.Context, readers *engine.Pool, v View, keys []edits.IndexKey, yield func(skein.Hit) bool) error {
	x, err := New(v, skein.Query{Rewound: true})
	if err != nil {
		return err
	}
	list, err := json.Marshal(edits.Asked(keys))
	if err != nil {
		return err
	}
	var found []hit
	err = readers.Read(ctx, func(c *engine.Conn) error {
		if _, err := x.conditions(c); err != nil {
			return err
		}
		var rows []indexRow
		err := c.Query(`SELECT DISTINCT d.event FROM json_each(?) k CROSS JOIN edits d ON d.key = k.value ORDER BY d.event DESC`, []any{string(list)}, func(row []driver.Value) error {
			var one indexRow
			err := engine.Scan(row, []any{&one.id})
			rows = append(rows, one)
			return err
		})
		if err == nil {
			found, err = x.lookUp(c, rows)
		}
		return err
	})
	for len(found) > 0 && err == nil {
		var page []hit
		err = readers.Read(ctx, func(c *engine.Conn) error {
			page, found, err = x.page(c, found)
			return err
		})
		for i := range page {
			if page[i].Event != nil && !yield(page[i].Hit) {
				return err
			}
		}
	}
	return err
}

// page reads the events of the first hits, and returns these and the others.
func (x *Searcher) page(c *engine.Conn, all []hit) (page, rest []hit, err error) {
	for size := 0; len(page) < len(all) && size <= skein.MaxWhole; {
		h := all[len(page)]
		err := c.Query(columns.SelectEvent+`WHERE e.id = ?`, []any{h.id}, func(row []driver.Value) error { // no row: deleted meanwhile
			e, _, err := columns.ScanEvent(x.view.Pack, row)
			if bad := (*skein.DamagedError)(nil); errors.As(err, &bad) {
				return nil
			}
			if err == nil {
				h.Event, err = eventlog.LiveEvent(c, h.id, e)
				size += len(e.Payload)
			}
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		page = append(page, h)
	}
	return page, slices.Clone(all[len(page):]), nil
}
