package memory

import (
	"context"

	"github.com/skein-dev/skein"
)

// Window implements [skein.Store].
func (s reads) Window(ctx context.Context, id skein.SessionID, n int) (events []skein.Event, err error) {
	defer skein.Wrapf(&err, "memory: window of %s", id)
	for e, err := range s.Events(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}
