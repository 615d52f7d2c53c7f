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
		keys, size, err := keysOf(t, p, id, row[:columns.EventWidth])
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
func keysOf(t *txn.Tx, p *pack.Packer, id int64, row []driver.Value) (keys []edits.IndexKey, size int, err error) {
	e, _, err := columns.ScanEvent(p, row)
	if bad := (*skein.DamagedError)(nil); errors.As(err, &bad) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	live, err := eventlog.LiveEvent(t.Conn, id, e)
	if err != nil || live == nil {
		return nil, len(e.Payload), err
	}
	var m skein.Message
	if json.Unmarshal(live.Payload, &m) == nil {
		keys = edits.KeysOf(&m)
	}
	return keys, len(e.Payload), nil
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
