package hits

import (
	"cmp"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
)

// scan goes through the events with IDs greater than upto, the newest first,
// and takes those whose text matches, until it has enough or the budget is
// spent. It finds what no index can: substrings, regular expressions,
// conditions without words, events that wait for the index.
func (x *Searcher) scan(c *engine.Conn, upto int64) error {
	all, err := x.stretches(c, upto)
	if err != nil {
		return err
	}
	seen := map[int64]int{}
	for _, s := range all {
		if err := x.through(c, s, seen); err != nil {
			return x.cut(engine.Unstop(err))
		}
	}
	return nil
}

// scanStep is how many places of a range one statement looks at: a statement
// that finds nothing does not return until it has finished.
const scanStep = 1000

// through takes the matches in one range; errStop says that there are enough.
func (x *Searcher) through(c *engine.Conn, s scanRange, seen map[int64]int) error {
	w := engine.Where{Conds: slices.Concat(s.where.Conds, x.where.Conds), Args: slices.Concat(s.where.Args, x.where.Args)}
	w.Add("(e.text IS NOT NULL OR e.failed = 1)")
	w.Add(s.place + " > ? AND " + s.place + " <= ?")
	q := `SELECT ` + x.hitColumns() + `, coalesce(e.text, '') FROM ` + s.from + x.owners + w.SQL() + ` ORDER BY ` + s.place + ` DESC`
	for to := s.last; to > s.after; to -= scanStep {
		from := max(s.after, to-scanStep)
		err := c.Query(q, append(slices.Clone(w.Args), from, to), func(row []driver.Value) error {
			var text string
			h, err := x.scanHit(row, &text)
			if err != nil {
				return err
			}
			err = x.spend(rowWork)
			if x.matcher.MatchesText(text) {
				return cmp.Or(x.take(h, seen), err)
			}
			return cmp.Or(err, x.spend(0))
		})
		if err != nil {
			return err
		}
		if err := x.spend(time.Duration(to-from) * filterWork); err != nil && from > s.after {
			return err
		}
	}
	return nil
}

// take adds a hit of a scan; errStop says that there are enough.
func (x *Searcher) take(h hit, seen map[int64]int) error {
	if i, ok := seen[h.session]; ok && !x.q.Each {
		x.hits[i].Count++
		return nil
	}
	if len(x.hits) == x.limit {
		x.partial = true
		return engine.ErrStop
	}
	seen[h.session] = len(x.hits)
	h.Count = 1
	x.hits = append(x.hits, h)
	return nil
}

// results reads the texts of the hits for their snippets.
func (x *Searcher) results(c *engine.Conn) (r skein.Results, err error) {
	r.CutOff = x.cutOff
	whole := 0
	for _, h := range x.hits {
		if x.partial {
			h.Count = 0
		}
		if x.q.Each && whole > skein.MaxWhole {
			r.CutOff = true
			break
		}
		err := c.Query(columns.SelectEvent+`WHERE e.id = ?`, []any{h.id}, func(row []driver.Value) error { // no row: deleted meanwhile
			text, _ := row[columns.TextColumn].(string) // NULL is ""
			e, _, err := columns.ScanEvent(x.view.Pack, row)
			var bad *skein.DamagedError
			if errors.As(err, &bad) {
				h.Snippet, err = bad.Error(), nil
			} else if err == nil {
				h.Snippet, err = x.snippet(c, h, text)
			}
			if err == nil && bad == nil && x.q.Whole {
				h.Event, err = eventlog.LiveEvent(c, h.id, e)
				whole += len(e.Payload)
			}
			r.Hits = append(r.Hits, h.Hit)
			return err
		})
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// snippet returns some words of text around the match. If the index found a
// word by its stem, the index provides the snippet.
func (x *Searcher) snippet(c *engine.Conn, h hit, text string) (string, error) {
	if h.passage != 0 {
		var err error
		if text, err = h.passageOf(c, text); err != nil {
			return "", err
		}
	}
	if h.expr == "" || len(x.matcher.Find(text)) > 0 {
		return x.matcher.Snippet(text), nil
	}
	var s string
	found, err := c.One(`SELECT snippet(words, 0, char(2), char(3), '…', 24) FROM words WHERE words MATCH ? AND rowid = ?`, []any{h.expr, cmp.Or(h.passage, h.id)}, &s)
	switch {
	case errors.Is(err, skein.ErrCorrupt):
		return x.matcher.Snippet(text), nil
	case err != nil:
		return "", err
	case !found:
		return x.matcher.Snippet(text), nil
	}
	if strings.ContainsAny(text, skein.Mark+skein.EndMark) {
		return x.matcher.Snippet(text), nil // marks in the text would be taken for the snippet's
	}
	return s, nil
}
