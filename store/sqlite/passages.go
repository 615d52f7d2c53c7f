package sqlite

import (
	"database/sql/driver"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// A long text is indexed in passages, which are rows of their own in the index. Their
// numbers are below 0, so that what looks for the rows of events does not find them.
// As the words that are searched may be in different passages, each phrase is looked
// for by itself. An event after indexed.upto may have the first of its passages.

// passageRows is how many rows of the index one event may have.
const passageRows = 1024

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
		JOIN events e ON e.id = ?2`, []any{partOfText, event, passageRows}, &part, &start, &size, &have, &row); err != nil {
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

// changeText runs an update of an event's text, and indexes the new text. A trigger
// takes the old one out of the index, but cannot divide the new one into passages.
func changeText(t *txn.Tx, event int64, update string, args ...any) error {
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

// longMatches maps the events in whose passages something was found to one of these.
type longMatches map[int64]foundPassage

type foundPassage struct {
	row  int64  // of the index
	expr string // what was found in it
}

// long finds the matches among long texts. Like those of a scan, they have no score.
func (x *searcher) long(c *engine.Conn) error {
	var upto int64
	if some, err := c.One(`SELECT upto FROM indexed WHERE EXISTS (SELECT 1 FROM passages)`, nil, &upto); err != nil || !some {
		return err
	}
	ranges, err := x.ranges(c)
	if err != nil || len(ranges) == 0 {
		return err
	}
	in := idRange{first: math.MaxInt64}
	for _, r := range ranges {
		in = idRange{min(in.first, r.first), max(in.last, min(r.last, upto))}
	}
	all, err := x.longOf(c, &in)
	if err != nil || len(all) == 0 {
		return err
	}
	var rows []indexRow
	for _, event := range slices.Backward(slices.Sorted(maps.Keys(all))) {
		if event >= in.first {
			rows = append(rows, indexRow{id: event})
		}
	}
	if x.hits, err = x.lookUp(c, rows); err == nil {
		x.hits, err = x.checked(c, x.hits)
	}
	for i := range x.hits {
		h := &x.hits[i]
		h.expr, h.passage, h.Count = all[h.id].expr, all[h.id].row, 1
	}
	return err
}

// longOf returns the long texts in a range that have the words of the query. Of those
// before in.first, which it raises if the budget is spent, it may return too many.
func (x *searcher) longOf(c *engine.Conn, in *idRange) (all longMatches, err error) {
	first := true
	for _, not := range []bool{false, true} {
		for _, t := range x.q.Terms {
			if t.Not != not {
				continue
			}
			some, asked, err := x.longTerm(c, t, in)
			switch {
			case err != nil:
				return nil, err
			case !asked:
			case not:
				maps.DeleteFunc(all, func(event int64, _ foundPassage) bool { _, has := some[event]; return has })
			case first:
				all, first = some, false
			default:
				maps.DeleteFunc(all, func(event int64, _ foundPassage) bool { _, has := some[event]; return !has })
			}
		}
	}
	return all, nil
}

// longTerm returns the long texts that have a term: all phrases of one of its ways.
// asked is false if it has no words.
func (x *searcher) longTerm(c *engine.Conn, t skein.Term, in *idRange) (some longMatches, asked bool, err error) {
	some = longMatches{}
	ways := search.Phrases(t)
	for _, way := range ways {
		var here longMatches
		for i, p := range way {
			found, err := x.longPhrase(c, p, in)
			if err != nil {
				return nil, false, err
			}
			if i > 0 {
				maps.DeleteFunc(found, func(event int64, _ foundPassage) bool { _, has := here[event]; return !has })
			}
			here = found
		}
		maps.Copy(some, here)
	}
	return some, len(ways) > 0, nil
}

// longPhrase returns the long texts that have a phrase, in one of their passages. If
// the budget is spent, the older ones are cut off.
func (x *searcher) longPhrase(c *engine.Conn, p search.Phrase, in *idRange) (longMatches, error) {
	x.allow(c.Context())
	some, expr := longMatches{}, phraseExpr(p)
	first, last := -in.last*passageRows, (1-in.first)*passageRows-1
	err := c.Query(`SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid`, []any{expr, first, last}, func(row []driver.Value) error {
		var at int64
		if err := engine.Scan(row, []any{&at}); err != nil {
			return err
		}
		event := (passageRows - 1 - at) / passageRows
		if _, again := some[event]; !again {
			some[event] = foundPassage{at, expr}
		}
		err := x.spend(placeWork)
		if errors.Is(err, errSpent) {
			in.first = event
		}
		return err
	})
	return some, x.cut(err)
}

// passageOf returns the passage of a long text that has what matches.
func (h *hit) passageOf(c *engine.Conn, text string) (string, error) {
	var start, size int64
	found, err := c.One(`SELECT start, size FROM passages WHERE id = ?`, []any{h.passage}, &start, &size)
	if err != nil || !found || start+size > int64(len(text)) { // it was changed meanwhile
		return text, err
	}
	return text[start : start+size], nil
}
