package textindex

import (
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/pagefile"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// FTS5 never has as many of either.
const (
	maxLevels = 64
	maxParts  = 2000
)

// A SegmentMerger merges the segments of the search index in a transaction.
type SegmentMerger struct{ *txn.Tx }

// MergeStep does one step of at most this many pages and reports whether there
// is more to do. The error wraps [skein.ErrCorrupt] if the index is damaged.
func (m SegmentMerger) MergeStep(pages int64) (more bool, err error) {
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
func (m SegmentMerger) mergeGoes() (bool, error) {
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
func (m SegmentMerger) mergeLevels() ([]bool, error) {
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

// beginMerge begins a merge of all segments into one. From then on, two
// segments of one size are enough for a merge: FTS5 otherwise waits for four,
// and new small segments would keep it from continuing the merge of all.
//
// See https://sqlite.org/fts5.html#the_merge_command.
func (m SegmentMerger) beginMerge(asked, pages int64) error {
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
func (m SegmentMerger) forgetAll(int64) (bool, error) {
	_, _, err := m.Exec(`INSERT INTO words (words) VALUES ('delete-all')`)
	return true, err
}

// merge merges some pages and reports whether there was anything to merge: if
// so, it changes at least two rows.
func (m SegmentMerger) merge(pages int64) (changed bool, err error) {
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

// Settle records that what was merged is out of the free pages and the log, too.
// The error is the driver's.
func (m SegmentMerger) Settle() error {
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
