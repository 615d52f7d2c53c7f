package postgres

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// Size implements [skein.Sizer].
func (s *Store) Size(ctx context.Context, id skein.SessionID) (int64, error) {
	return 0, errors.New("not built yet")
}
