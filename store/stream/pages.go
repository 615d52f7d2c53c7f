package stream

import (
	"context"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
)

// Pages yields what next returns, page by page, until there is no more. at is where the
// next page begins, first at start; next moves it. The memory that next takes of the
// [room.Room] in ctx is given back after the page.
func Pages[P, T any](ctx context.Context, start P, next func(at *P) (page []T, more bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		share := room.Of(ctx)
		for at := start; ; {
			was := share.Used()
			page, more, err := next(&at)
			took := share.Used() - was
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, x := range page {
				if !yield(x, nil) {
					return
				}
			}
			share.Give(took)
			if !more {
				return
			}
		}
	}
}

// Events is Pages for the events of a session after a seq. page returns the next ones; no
// events at the end.
func Events(ctx context.Context, after skein.Seq, page func(after skein.Seq) ([]skein.Event, error)) iter.Seq2[skein.Event, error] {
	return Pages(ctx, after, func(at *skein.Seq) ([]skein.Event, bool, error) {
		events, err := page(*at)
		if len(events) > 0 {
			*at = events[len(events)-1].Seq
		}
		return events, len(events) > 0, err
	})
}

// Records is Pages for source records from a number on. page returns the next ones; no
// records at the end.
func Records(ctx context.Context, from int, page func(from int) ([]skein.Record, error)) iter.Seq2[skein.Record, error] {
	return Pages(ctx, max(0, from), func(at *int) ([]skein.Record, bool, error) {
		records, err := page(*at)
		if len(records) > 0 {
			*at = records[len(records)-1].N + 1
		}
		return records, len(records) > 0, err
	})
}

// Sessions is Pages for the sessions of f in order. page returns the next ones, at most
// size of them, and the one to continue after; nil if there are no more. A page may be
// empty although more sessions follow. No page has more than most.
func Sessions(ctx context.Context, f skein.Filter, most int, page func(f skein.Filter, size int) (page []skein.Session, last *skein.Session, err error)) iter.Seq2[skein.Session, error] {
	type listPlace struct {
		after *skein.Session
		left  int
	}
	return Pages(ctx, listPlace{f.Before, f.Limit}, func(at *listPlace) ([]skein.Session, bool, error) {
		size := most
		if f.Limit > 0 {
			size = min(size, at.left)
		}
		g := f
		g.Before = at.after
		sessions, last, err := page(g, size)
		at.after, at.left = last, at.left-len(sessions)
		return sessions, last != nil && (f.Limit <= 0 || at.left > 0), err
	})
}
