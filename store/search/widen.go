package search

import (
	"context"
	"iter"
	"time"

	"github.com/skein-dev/skein"
)

const (
	widenBy = 4         // times the work of the search before: all together do a third more than the last
	widest  = time.Hour // of work; longer than anybody waits
)

// A Searchable is the part of a [Store] that searches.
type Searchable interface {
	Search(ctx context.Context, q skein.Query) (skein.Results, error)
}

// Widen searches for as long as somebody waits: first as far as q.Deadline goes,
// then, as long as that is not all there is to look at, four times as far, up to
// most; 0 is an hour. It yields what each search found. What comes later was
// chosen among more, and may leave out what came before.
//
// The error is the store's, or the one of ctx; it comes last.
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

// FindSome is [Widen] for who waits for one answer: it returns what the first
// search found that found something, or the last one.
//
// The error is the store's, or the one of ctx.
func FindSome(ctx context.Context, s Searchable, q skein.Query, most time.Duration) (r skein.Results, err error) {
	for r, err = range Widen(ctx, s, q, most) {
		if err != nil || len(r.Hits) > 0 {
			break
		}
	}
	return r, err
}
