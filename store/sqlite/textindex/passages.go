package textindex

import (
	"time"

	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/hits"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// A long text is indexed in passages, which are rows of their own in the index. Their
// numbers are below 0, so that what looks for the rows of events does not find them.
// As the words that are searched may be in different passages, each phrase is looked
// for by itself. An event after indexed.upto may have the first of its passages.

// One transaction indexes passages for passagesFor, or those in partOfText bytes.
const (
	passagesFor = 40 * time.Millisecond
	partOfText  = 4 << 20
)

// feedPassages indexes the next passages of a long text, for about passagesFor, and
// reports whether these were the last. It reads only a part of the text: the
// passages in that, from the start of one, are those in the whole.
func feedPassages(t *txn.Tx, event int64) (done bool, err error) {
	var part string
	var start, size, have, row int64
	if _, err := t.One(`SELECT CAST(substr(CAST(e.text AS BLOB), l.start + 1, ?1) AS TEXT), l.start, octet_length(e.text), l.have, l.row
		FROM (SELECT coalesce(max(start), 0) AS start, count(*) AS have, coalesce(max(id) + 1, -?2 * ?3) AS row FROM passages WHERE event = ?2) l
		JOIN events e ON e.id = ?2`, []any{partOfText, event, hits.PassageRows}, &part, &start, &size, &have, &row); err != nil {
		return false, err
	}
	begun, whole, some := time.Now(), start+int64(len(part)) == size, false
	for p := range search.Passages(part) {
		switch {
		case p.Start == 0 && have > 0:
			continue // it is the last that is indexed
		case p.End == len(part) && !whole, some && time.Since(begun) > passagesFor:
			return false, nil
		}
		some = true // at least one, however busy the machine is
		passage := part[p.Start:p.End]
		extra := engine.OrNull(search.Extra(passage))
		if _, _, err := t.Exec(`INSERT INTO passages (id, event, start, size, extra) VALUES (?, ?, ?, ?, ?)`, row, event, start+int64(p.Start), len(passage), extra); err != nil {
			return false, err
		}
		if _, _, err := t.Exec(`INSERT INTO words (rowid, text, extra) VALUES (?, ?, ?)`, row, passage, extra); err != nil {
			return false, err
		}
		row++
	}
	return true, nil
}

// ChangeText runs an update of an event's text, and indexes the new text. A trigger
// takes the old one out of the index, but cannot divide the new one into passages. The
// error is the driver's.
func ChangeText(t *txn.Tx, event int64, update string, args ...any) error {
	if _, _, err := t.Exec(`UPDATE events SET text = NULL, extra = NULL WHERE id = ?`, event); err != nil {
		return err
	}
	if _, _, err := t.Exec(update, args...); err != nil {
		return err
	}
	var size int64
	indexed, err := t.One(`SELECT octet_length(text) FROM events WHERE id = ? AND text IS NOT NULL AND id <= (SELECT upto FROM indexed)`, []any{event}, &size)
	if err != nil || !indexed {
		return err
	}
	if size > search.LongText {
		for done := false; !done && err == nil; {
			done, err = feedPassages(t, event)
		}
		return err
	}
	_, _, err = t.Exec(`INSERT INTO words (rowid, text, extra) SELECT id, text, extra FROM events WHERE id = ?`, event)
	return err
}
