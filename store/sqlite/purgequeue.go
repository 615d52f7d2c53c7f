package sqlite

import (
	"context"
	"time"

	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/textindex"
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
			more, err = textindex.SegmentMerger{Tx: t}.MergeStep(pages)
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

// purgeQueue reports whether words of deleted text are still in the file.
func (ex *exam) purgeQueue(area string) error {
	owed, err := cleaner{ex.s.core}.owed(ex.ctx)
	if err != nil || !owed {
		return err
	}
	return ex.Mend(inspect.Finding{Area: area, Level: inspect.Warning, Text: "words of deleted text are still in the search index, in free pages or in the log; each command removes some of them"},
		func() error { return cleaner{ex.s.core}.sweep(ex.ctx) })
}
