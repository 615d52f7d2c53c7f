package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
)

// unsummed stands for events.sum where that is NULL.
const unsummed = -1

// sumOf returns events.sum of an event beside whose payload stands text.
func sumOf(e *skein.Event, text string) int64 { return int64(e.Sum(text)) }

// compare returns an error if an event is not what was stored. One without a
// checksum is from before there were any, and has its hash at least if it has a
// client ID; or it was deleted in the shell, which can make neither.
func compare(e *skein.Event, text string, sum int64, hash []byte) error {
	switch {
	case sum != unsummed && sum != sumOf(e, text), sum == unsummed && len(hash) > 0 && !bytes.Equal(hash, ledger.Hash(*e)):
		return skein.ErrSum
	}
	return nil
}

// How much is given its checksums in one transaction.
const (
	sumRows  = 200
	sumBytes = 1 << 20
)

// sumAll gives their checksums, and what the view items shows of them, to the
// events that are older than these.
func (c *core) sumAll(ctx context.Context) error {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := c.write(ctx, func(t *tx) (err error) {
			more, err = (&Store{core: c}).sumSome(t)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sumSome does so with some of them. Those that are damaged are left as they
// are: a checksum would bless them.
func (s *Store) sumSome(t *tx) (more bool, err error) {
	var at int64
	if more, err = t.one(`SELECT times FROM chores WHERE name = 'sums'`, nil, &at); err != nil || !more {
		return false, err
	}
	sums, items := map[int64]int64{}, map[int64]any{}
	size := 0
	more = false
	err = t.query(`SELECT `+eventColumns+`, e.id FROM events e WHERE e.id > ? ORDER BY e.id LIMIT ?`, []any{at, sumRows}, func(row []driver.Value) error {
		more = true
		at, _ = row[eventWidth].(int64)
		e, _, err := s.scanEvent(row[:eventWidth])
		if errors.Is(err, skein.ErrCorrupt) {
			return nil
		}
		if err != nil {
			return err
		}
		if is := itemsIn(e, row[roleColumn] != nil); is != nil {
			items[at] = is
		}
		if row[sumColumn] == nil {
			text, _ := row[textColumn].(string) // NULL is ""
			sums[at] = sumOf(&e, text)
		}
		if size += len(e.Payload); size > sumBytes {
			return errStop
		}
		return nil
	})
	if err = unstop(err); err != nil {
		return false, fmt.Errorf("events after %d: %w", at, err)
	}
	for id, sum := range sums {
		if _, _, err := t.exec(`UPDATE events SET sum = ? WHERE id = ?`, sum, id); err != nil {
			return false, err
		}
	}
	for id, is := range items {
		if _, _, err := t.exec(`UPDATE events SET items = ? WHERE id = ?`, is, id); err != nil {
			return false, err
		}
	}
	if !more {
		_, _, err = t.exec(`DELETE FROM chores WHERE name = 'sums'`)
		return false, err
	}
	_, _, err = t.exec(`UPDATE chores SET times = ? WHERE name = 'sums'`, at)
	return true, err
}
