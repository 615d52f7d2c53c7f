package hits

import (
	"database/sql/driver"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// PassageRows is how many rows of the index one event may have.
const PassageRows = 1024

// A longSearch finds the matches among long texts.
type longSearch struct{ *Searcher }

// longMatches maps the events in whose passages something was found to one of these.
type longMatches map[int64]foundPassage

type foundPassage struct {
	row  int64  // of the index
	expr string // what was found in it
}

// find finds the matches among long texts. Like those of a scan, they have no score.
func (x longSearch) find(c *engine.Conn) error {
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
	all, err := x.texts(c, &in)
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

// texts returns the long texts in a range that have the words of the query. Of those
// before in.first, which it raises if the budget is spent, it may return too many.
func (x longSearch) texts(c *engine.Conn, in *idRange) (all longMatches, err error) {
	first := true
	for _, not := range []bool{false, true} {
		for _, t := range x.q.Terms {
			if t.Not != not {
				continue
			}
			some, asked, err := x.term(c, t, in)
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

// term returns the long texts that have a term: all phrases of one of its ways.
// asked is false if it has no words.
func (x longSearch) term(c *engine.Conn, t skein.Term, in *idRange) (some longMatches, asked bool, err error) {
	some = longMatches{}
	ways := search.Phrases(t)
	for _, way := range ways {
		var here longMatches
		for i, p := range way {
			found, err := x.phrase(c, p, in)
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

// phrase returns the long texts that have a phrase, in one of their passages. If
// the budget is spent, the older ones are cut off.
func (x longSearch) phrase(c *engine.Conn, p search.Phrase, in *idRange) (longMatches, error) {
	x.allow(c.Context())
	some, expr := longMatches{}, phraseExpr(p)
	first, last := -in.last*PassageRows, (1-in.first)*PassageRows-1
	err := c.Query(`SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid`, []any{expr, first, last}, func(row []driver.Value) error {
		var at int64
		if err := engine.Scan(row, []any{&at}); err != nil {
			return err
		}
		event := (PassageRows - 1 - at) / PassageRows
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
