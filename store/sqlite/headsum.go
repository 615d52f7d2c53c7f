package sqlite

import (
	"database/sql/driver"
	"slices"

	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// heads looks for rows whose texts are not what was stored, and restores them
// from the events.
func (ex *exam) heads(area string) error {
	var bad []columns.Head
	err := ex.read(func(c *engine.Conn) error {
		err := c.Query(`SELECT `+columns.HeadColumns+` FROM sessions s ORDER BY s.n`, nil, func(row []driver.Value) error {
			h, err := columns.ScanHead(row)
			if h.Altered {
				bad = append(bad, h)
			}
			return err
		})
		for i := range bad {
			if err == nil {
				err = eventlog.Retell(c, ex.s.pack, &bad[i])
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	for h := range slices.Values(bad) {
		err := ex.Altered(area, &h.Session, func() error {
			return ex.s.write(ex.ctx, func(t *txn.Tx) error {
				t.Forget()
				was, err := t.Head(h.ID)
				if err != nil || !was.Altered || was.Damaged {
					return err
				}
				now := was
				now.Altered, now.Lost = false, false
				t.Touch(h.ID)
				return t.PutHead(&was, &now)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
