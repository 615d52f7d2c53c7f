package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/skein-dev/skein"
)

// Acquire implements [skein.Store].
func (s *Store) Acquire(ctx context.Context, id skein.SessionID, r skein.LeaseRequest) (skein.Lease, error) {
	return skein.Lease{}, errors.New("not built yet")
}

// Renew implements [skein.Store].
func (s *Store) Renew(ctx context.Context, l skein.Lease, ttl time.Duration) (skein.Lease, error) {
	return skein.Lease{}, errors.New("not built yet")
}

// Release implements [skein.Store].
func (s *Store) Release(ctx context.Context, l skein.Lease) error {
	return errors.New("not built yet")
}
