package postgres

import (
	"context"

	"github.com/skein-dev/skein"
)

// Size implements [skein.Lifecycle].
func (s lifecycle) Size(ctx context.Context, id skein.SessionID) (n int64, err error) {
	defer skein.Wrapf(&err, "postgres: size of %s", id)
	h, err := s.headOf(ctx, id)
	return h.bytes, err
}
