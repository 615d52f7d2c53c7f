package search

import (
	"context"
	"iter"
	"time"

	"github.com/skein-dev/skein"
)

const (
	widenBy = 4         // times the work of the search before: all searches do a third more than the last
	widest  = time.Hour // of work: longer than anybody waits
)

// A Searchable is the part of a [Store] that searches.
type Searchable interface {
	Search(ctx context.Context, q skein.Query) (skein.Results, error)
}

// Widen searches for as long as the caller ranges: first with q.Deadline, then, until
// everything was searched, with four times the deadline of the search before, up to
// most; 0 is an hour. It yields what each search found. Later results were chosen
// among more, and may leave out earlier ones.
//
// The error is the store's, or that of ctx; it comes last.
func Widen(ctx context.Context, s Searchable, q skein.Query, most time.Duration) iter.Seq2[skein.Results, error] {
	return func(yield func(skein.Results, error) bool) {
		if q.Deadline <= 0 {
			q.Deadline = usualWork
		}
		if most <= 0 {
			most = widest
		}
		for {
			q.Deadline = min(q.Deadline, most)
			r, err := s.Search(ctx, q)
			if !yield(r, err) || err != nil || !r.CutOff || q.Deadline == most {
				return
			}
			q.Deadline *= widenBy
		}
	}
}

// FindSome is [Widen] for a caller that needs one answer: it returns the results of
// the first search that found something, else those of the last.
//
// The error is the store's, or that of ctx.
func FindSome(ctx context.Context, s Searchable, q skein.Query, most time.Duration) (r skein.Results, err error) {
	for r, err = range Widen(ctx, s, q, most) {
		if err != nil || len(r.Hits) > 0 {
			break
		}
	}
	return r, err
}
