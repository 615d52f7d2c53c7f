package memory

import (
	"context"
	"iter"

	"github.com/skein-dev/skein"
)

// Watch implements [skein.Store].
func (s reads) Watch(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return func(yield func(skein.Event, error) bool) {
		var first *session
		for ctx.Err() == nil {
			sess, evs, changed, err := s.events(ctx, id, after)
			if err == nil && first != nil && first != sess {
				err = skein.ErrNotFound // the session was deleted and another began with its ID
			}
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				each([]skein.Event{}, err, "memory: watch", yield)
				return
			}
			first = sess
			for _, e := range evs {
				if !yield(e, nil) {
					return
				}
				after = e.Seq
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}
}
