package postgres

import (
	"context"
	"errors"
	"iter"

	"github.com/skein-dev/skein"
)

// Find implements [skein.Store].
func (s *Store) Find(ctx context.Context, keys []skein.ClientID) (map[skein.ClientID]skein.Place, error) {
	return nil, errors.New("not built yet")
}

// File implements [skein.Store].
func (s *Store) File(ctx context.Context, format, path string) (skein.SourceFile, error) {
	return skein.SourceFile{}, errors.New("not built yet")
}

// Files implements [skein.Store].
func (s *Store) Files(ctx context.Context, format string) iter.Seq2[skein.SourceFile, error] {
	return func(yield func(skein.SourceFile, error) bool) { yield(skein.SourceFile{}, errors.New("not built yet")) }
}

// Records implements [skein.Store].
func (s *Store) Records(ctx context.Context, format, path string, n int) iter.Seq2[skein.Record, error] {
	return func(yield func(skein.Record, error) bool) { yield(skein.Record{}, errors.New("not built yet")) }
}
