package textindex

import (
	"database/sql/driver"
	"encoding/json"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// editIDs is how many events one transaction goes through at most to feed the index of
// edits. It takes as many bytes as one that indexes texts; putting in a key takes as long
// as keyBytes of them.
const (
	editIDs  = 5000
	keyBytes = 200
)

// editing is the condition on an event e that its calls may change files.
const editing = ` AND e.role = 'assistant' AND e.tools IS NOT NULL`

// FeedEdits puts the next events into the index of edits, in the order in which they were
// stored: at most bytes of them, but at least one. It reports whether there are more. Index
// and watermark are committed together. The error is the driver's.
func FeedEdits(t *txn.Tx, p *pack.Packer, bytes int) (more bool, err error) {
	var upto, last int64
	if _, err := t.One(`SELECT upto, (SELECT coalesce(max(id), 0) FROM events) FROM edits_fed`, nil, &upto, &last); err != nil || last <= upto {
		return false, err
	}
	if last > upto+editIDs {
		last, more = upto+editIDs, true
	}
	err = eachEdits(t, p, `WHERE e.id > ? AND e.id <= ?`+editing+` ORDER BY e.id`, []any{upto, last}, func(event int64, size int) error {
		if bytes -= size; bytes < 0 {
			last, more = event, true
			return engine.ErrStop
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	_, _, err = t.Exec(`UPDATE edits_fed SET upto = ?`, last)
	return more, err
}

// eachEdits puts the events that a query finds into the index of edits, and tells then of
// each, with its size in bytes and those that its keys count for.
func eachEdits(t *txn.Tx, p *pack.Packer, where string, args []any, then func(event int64, size int) error) error {
	err := t.Query(`SELECT `+columns.EventColumns+`, e.id FROM events e `+where, args, func(row []driver.Value) error {
		var id int64
		if err := engine.Scan(row[columns.EventWidth:], []any{&id}); err != nil {
			return err
		}
		keys, size, err := keysOf(t.Conn, p, id, row[:columns.EventWidth])
		if err != nil {
			return err
		}
		if len(keys) > 0 {
			list, err := json.Marshal(keys)
			if err != nil {
				return err
			}
			if _, _, err := t.Exec(`INSERT OR IGNORE INTO edits (key, event) SELECT value, ? FROM json_each(?)`, id, string(list)); err != nil {
				return err
			}
		}
		return then(id, size+keyBytes*len(keys))
	})
	return engine.Unstop(err)
}

// keysOf returns the keys of what is live in an event's place, and the size of the event.
// A damaged one has no keys.
func keysOf(c *engine.Conn, p *pack.Packer, id int64, row []driver.Value) (keys []edits.IndexKey, size int, err error) {
	e, live, err := liveOf(c, p, id, row)
	if err != nil || live == nil {
		return nil, len(e.Payload), err
	}
	return keysIn(live), len(e.Payload), nil
}

// liveOf returns an event, and what is live in its place: nil if it was withdrawn or is
// damaged.
func liveOf(c *engine.Conn, p *pack.Packer, id int64, row []driver.Value) (e skein.Event, live *skein.Event, err error) {
	e, _, err = columns.ScanEvent(p, row)
	if bad := (*skein.DamagedError)(nil); errors.As(err, &bad) {
		return skein.Event{}, nil, nil
	}
	if err != nil {
		return e, nil, err
	}
	live, err = eventlog.LiveEvent(c, id, e)
	return e, live, err
}

func keysIn(e *skein.Event) []edits.IndexKey {
	var m skein.Message
	if json.Unmarshal(e.Payload, &m) != nil {
		return nil
	}
	return edits.KeysOf(&m)
}

// WrongEdits calls wrong with those of the next events, most at most, for which the index
// of edits lacks a key, or has one that is not theirs. It returns the last that it looked
// at; after if there are no more. The error is wrong's or the driver's.
func WrongEdits(c *engine.Conn, p *pack.Packer, after, most int64, wrong func(event int64) error) (last int64, err error) {
	if _, err := c.One(`SELECT max(min(upto, ? + ?), ?) FROM edits_fed`, []any{after, most, after}, &last); err != nil || last == after {
		return after, err
	}
	err = c.Query(`SELECT `+columns.EventColumns+`, e.id FROM events e WHERE e.id > ? AND e.id <= ?`+editing+` ORDER BY e.id`, []any{after, last}, func(row []driver.Value) error {
		var id int64
		if err := engine.Scan(row[columns.EventWidth:], []any{&id}); err != nil {
			return err
		}
		if misfits, err := misfit(c, p, id, row[:columns.EventWidth]); err != nil || !misfits {
			return err
		}
		return wrong(id)
	})
	if err != nil {
		return last, err
	}
	return last, c.Query(`SELECT DISTINCT d.event FROM edits d WHERE d.event > ? AND d.event <= ? AND NOT EXISTS (SELECT 1 FROM events e WHERE e.id = d.event`+editing+`)`, []any{after, last}, func(row []driver.Value) error {
		var id int64
		if err := engine.Scan(row, []any{&id}); err != nil {
			return err
		}
		return wrong(id)
	})
}

// misfit reports whether the index of edits lacks a key of an event, or has one that it
// never had: those that it had before it was amended may still be there.
func misfit(c *engine.Conn, p *pack.Packer, id int64, row []driver.Value) (bool, error) {
	e, live, err := liveOf(c, p, id, row)
	if err != nil || e.Seq == 0 { // damaged
		return false, err
	}
	needs, may := map[edits.IndexKey]bool{}, map[edits.IndexKey]bool{}
	for _, k := range keysIn(&e) {
		may[k] = true
	}
	if live != nil {
		for _, k := range keysIn(live) {
			needs[k], may[k] = true, true
		}
	}
	strange := false
	err = c.Query(`SELECT key FROM edits WHERE event = ?`, []any{id}, func(row []driver.Value) error {
		var key int64
		err := engine.Scan(row, []any{&key})
		delete(needs, edits.IndexKey(key))
		strange = strange || !may[edits.IndexKey(key)]
		return err
	})
	return strange || len(needs) > 0, err
}

// MendEdits makes what the index of edits has for an event anew, if the event has been put
// in. The error is the driver's.
func MendEdits(t *txn.Tx, p *pack.Packer, event int64) error {
	if _, _, err := t.Exec(`DELETE FROM edits WHERE event = ?`, event); err != nil {
		return err
	}
	return PutEdits(t, p, event)
}

// PutEdits puts an event whose payload has changed into the index of edits again, if it
// was there. A trigger has taken it out. The error is the driver's.
func PutEdits(t *txn.Tx, p *pack.Packer, event int64) error {
	return eachEdits(t, p, `WHERE e.id = ? AND e.id <= (SELECT upto FROM edits_fed)`+editing, []any{event}, func(int64, int) error { return nil })
}

// ForgetEdits empties the index of edits, to be rebuilt. The error is the driver's.
func ForgetEdits(t *txn.Tx) error {
	for _, q := range []string{`UPDATE edits_fed SET upto = 0`, `DELETE FROM edits`} {
		if _, _, err := t.Exec(q); err != nil {
			return err
		}
	}
	return nil
}
