package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/pagefile"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// The index keeps the words of deleted text in its older segments until these
// are merged with the segment that records the deletion. So each deletion
// requires a merge of all segments. The table maintenance records it and its
// progress, because the merge runs in steps, which several processes may do in
// turns:
//
//	sweep    a merge is required; times grows with every deletion
//	merging  a merge has begun that removes what was deleted up to the
//	         sweep with these times; the row level says at which level of
//	         the index
//	merged   such a merge is over; free pages and log may still have the words
//
// A merge is never restarted before it is over, so it ends however much is
// appended and deleted meanwhile.

// How many pages of the index one step writes, adjusted so that it takes stepTime.
const (
	fewestPages = 16
	firstPages  = 32
	mostPages   = 2000

	stepTime = 50 * time.Millisecond
)

// owe records that something was deleted and the file must be swept.
func owe(t *txn.Tx) error {
	_, _, err := t.Exec(`INSERT INTO maintenance (name, times) VALUES ('sweep', 1) ON CONFLICT (name) DO UPDATE SET times = times + 1`)
	return err
}

// owed reports whether anything that was deleted may still be in the file.
func (c cleaner) owed(ctx context.Context) (owed bool, err error) {
	err = c.readers.Read(ctx, func(r *engine.Conn) error {
		var n int64
		owed, err = r.One(`SELECT times FROM maintenance WHERE name = 'sweep'`, nil, &n)
		return err
	})
	return owed, err
}

// mergeIndex removes deleted words from the index, step by step, until all are
// removed or ctx ends.
func (c cleaner) mergeIndex(ctx context.Context) error {
	pages := int64(firstPages)
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var took time.Duration
		err := c.disk.freeStep(ctx, func(t *txn.Tx) (err error) {
			start := time.Now()
			more, err = indexMerger{t}.mergeStep(pages)
			took = time.Since(start)
			return err
		})
		if err != nil {
			return err
		}
		switch {
		case took > stepTime || c.disk.tight.Load():
			pages = max(pages/2, fewestPages)
		case took < stepTime/3:
			pages = min(pages*2, mostPages)
		}
	}
	return nil
}

// An indexMerger merges the segments of the search index in a transaction.
type indexMerger struct{ *txn.Tx }

// mergeStep does one step of at most this many pages and reports whether there
// is more to do.
func (m indexMerger) mergeStep(pages int64) (more bool, err error) {
	var asked, begun, merged int64
	if _, err := m.One(`SELECT coalesce(max(CASE name WHEN 'sweep' THEN times END), 0), coalesce(max(CASE name WHEN 'merging' THEN times END), 0),
		coalesce(max(CASE name WHEN 'merged' THEN times END), 0) FROM maintenance WHERE name IN ('sweep', 'merging', 'merged')`, nil, &asked, &begun, &merged); err != nil {
		return false, err
	}
	switch {
	case begun == 0 && merged == asked:
		return false, nil
	case begun == 0:
		return true, m.beginMerge(asked, pages)
	}
	changed, err := m.merge(pages)
	if err != nil {
		return false, err
	}
	goes, err := m.mergeGoes()
	switch {
	case err != nil:
		return false, err
	case goes && !changed:
		return false, fmt.Errorf("search index: its merge makes no progress: %w", skein.ErrCorrupt)
	case goes:
		return true, nil
	}
	for _, q := range []string{
		`INSERT INTO maintenance (name, times) SELECT 'merged', times FROM maintenance WHERE name = 'merging' ON CONFLICT (name) DO UPDATE SET times = excluded.times`,
		`DELETE FROM maintenance WHERE name IN ('merging', 'level')`,
	} {
		if _, _, err := m.Exec(q); err != nil {
			return false, err
		}
	}
	return begun != asked, nil
}

// mergeGoes reports whether the current merge is not over yet.
func (m indexMerger) mergeGoes() (bool, error) {
	var level int64
	found, err := m.One(`SELECT times FROM maintenance WHERE name = 'level'`, nil, &level)
	if err != nil || !found {
		return false, err
	}
	levels, err := m.mergeLevels()
	return int(level) < len(levels) && levels[level], err
}

// mergeLevels reports, for each level of the index, whether a merge of its
// segments has begun and is not over.
func (m indexMerger) mergeLevels() ([]bool, error) {
	var block []byte
	if _, err := m.One(`SELECT block FROM words_data WHERE id = 10`, nil, &block); err != nil {
		return nil, err
	}
	levels, ok := mergeLevels(block)
	if !ok {
		return nil, fmt.Errorf("search index: its structure is %x: %w", block, skein.ErrCorrupt)
	}
	return levels, nil
}

// mergeLevels reads the structure record of an FTS5 index: 4 bytes of its
// configuration's version, then varints: the number of levels, the number of
// segments and the number of writes; for each level, how many segments are
// being merged and how many there are, and for each of these its number, first
// and last page. (SQLite's fts5_index.c, 3.53; a second version of the record
// is for tables of another kind.)
func mergeLevels(block []byte) (levels []bool, ok bool) {
	if len(block) < 4 {
		return nil, false
	}
	d := pagefile.Varints{B: block[4:]}
	n := d.Next()
	d.Next()
	d.Next()
	for range min(n, maxLevels) {
		merging, parts := d.Next(), d.Next()
		levels = append(levels, merging > 0)
		for range 3 * min(parts, maxParts) {
			d.Next()
		}
	}
	return levels, !d.Bad && n <= maxLevels
}

// FTS5 never has as many of either.
const (
	maxLevels = 64
	maxParts  = 2000
)

// beginMerge begins a merge of all segments into one. From then on, two
// segments of one size are enough for a merge: FTS5 otherwise waits for four,
// and new small segments would keep it from continuing the merge of all.
//
// See https://sqlite.org/fts5.html#the_merge_command.
func (m indexMerger) beginMerge(asked, pages int64) error {
	if _, _, err := m.Exec(`INSERT INTO words (words, rank) VALUES ('usermerge', 2)`); err != nil {
		return err
	}
	var texts int64
	if _, err := m.One(`SELECT EXISTS (SELECT 1 FROM texts)`, nil, &texts); err != nil {
		return err
	}
	act, args := m.merge, -pages
	if texts == 0 { // merging would read everything to write nothing, in one step
		act, args = m.forgetAll, 0
	}
	if _, err := act(args); err != nil {
		return err
	}
	if _, _, err := m.Exec(`INSERT INTO maintenance (name, times) VALUES ('merging', ?)`, asked); err != nil {
		return err
	}
	levels, err := m.mergeLevels()
	if err != nil {
		return err
	}
	for level := len(levels) - 1; level >= 0; level-- { // all segments were moved to the highest one
		if levels[level] {
			_, _, err := m.Exec(`INSERT INTO maintenance (name, times) VALUES ('level', ?)`, level)
			return err
		}
	}
	return nil // the merge is over already
}

// forgetAll empties the index.
func (m indexMerger) forgetAll(int64) (bool, error) {
	_, _, err := m.Exec(`INSERT INTO words (words) VALUES ('delete-all')`)
	return true, err
}

// merge merges some pages and reports whether there was anything to merge: if
// so, it changes at least two rows.
func (m indexMerger) merge(pages int64) (changed bool, err error) {
	var before, after int64
	if _, err := m.One(`SELECT total_changes()`, nil, &before); err != nil {
		return false, err
	}
	if _, _, err := m.Exec(`INSERT INTO words (words, rank) VALUES ('merge', ?)`, pages); err != nil {
		return false, err
	}
	_, err = m.One(`SELECT total_changes()`, nil, &after)
	return after-before >= 2, err
}

// settle records that what was merged is out of the free pages and the log, too.
func (m indexMerger) settle() error {
	for _, q := range []string{
		`DELETE FROM maintenance WHERE name = 'sweep' AND times = (SELECT times FROM maintenance WHERE name = 'merged')`,
		`DELETE FROM maintenance WHERE name = 'merged' AND NOT EXISTS (SELECT 1 FROM maintenance WHERE name = 'sweep')`,
	} {
		if _, _, err := m.Exec(q); err != nil {
			return err
		}
	}
	return nil
}

// purgeQueue reports whether words of deleted text are still in the file.
func (ex *exam) purgeQueue(area string) error {
	owed, err := cleaner{ex.s.core}.owed(ex.ctx)
	if err != nil || !owed {
		return err
	}
	return ex.Mend(inspect.Finding{Area: area, Level: inspect.Warning, Text: "words of deleted text are still in the search index, in free pages or in the log; each command removes some of them"},
		func() error { return cleaner{ex.s.core}.sweep(ex.ctx) })
}
