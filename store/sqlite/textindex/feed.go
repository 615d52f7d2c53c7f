package textindex

import (
	"database/sql/driver"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// What one transaction indexes at most.
const (
	FeedRows  = 500       // events
	FeedBytes = 384 << 10 // of text; takes roughly 40 ms
	BusyBytes = 192 << 10 // the same while other jobs wait
)

// Extra returns what a search finds in an event besides its text: a string,
// or nil if there is nothing, or if the text is long: then its passages have it.
func Extra(f *skein.Facts) any {
	if len(f.Text) > search.LongText {
		return nil
	}
	return engine.OrNull(search.Extra(f.Text))
}

// Feed indexes the next events in the order in which they were stored: at most bytes
// of text, but at least one event, and a long text by itself. Index and watermark are
// committed together. The error is the driver's.
func Feed(t *txn.Tx, bytes int64) (rows int, more bool, err error) {
	var upto, last int64
	if _, err := t.One(`SELECT upto FROM indexed`, nil, &upto); err != nil {
		return 0, false, err
	}
	size, long := int64(0), false
	err = t.Query(`SELECT id, coalesce(octet_length(text), 0), coalesce(octet_length(extra), 0) FROM events WHERE id > ? ORDER BY id LIMIT ?`,
		[]any{upto, FeedRows}, func(row []driver.Value) error {
			var id, text, extra int64
			if err := engine.Scan(row, []any{&id, &text, &extra}); err != nil {
				return err
			}
			if size += text + extra; long || rows > 0 && (size > bytes || text > search.LongText) {
				more = true
				return engine.ErrStop
			}
			rows++
			last, long = id, text > search.LongText
			return nil
		})
	if err = engine.Unstop(err); err != nil || rows == 0 {
		return 0, false, err
	}
	columns.CollectFor(size)
	if long {
		done, err := feedPassages(t, last)
		if err != nil || !done {
			return 0, true, err
		}
	} else {
		_, _, err = t.Exec(`INSERT INTO words (rowid, text, extra) SELECT id, text, extra FROM events WHERE id > ? AND id <= ? AND text IS NOT NULL`, upto, last)
	}
	if err != nil {
		return 0, false, err
	}
	_, _, err = t.Exec(`UPDATE indexed SET upto = ?`, last)
	return rows, more || rows == FeedRows, err
}

// ForgetIndex empties the index, to be rebuilt. The error is the driver's.
func ForgetIndex(t *txn.Tx) error {
	for _, q := range []string{`UPDATE indexed SET upto = 0`, `DELETE FROM passages`} {
		if _, _, err := t.Exec(q); err != nil {
			return err
		}
	}
	_, err := SegmentMerger{t}.forgetAll(0)
	return err
}
