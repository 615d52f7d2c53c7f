package postgres

import (
	"context"
	"errors"
	"iter"

	"github.com/skein-dev/skein"
)

// FilesNamed implements [skein.Namer].
func (s *Store) FilesNamed(ctx context.Context, part string) iter.Seq2[skein.SourceFile, error] {
	return func(yield func(skein.SourceFile, error) bool) { yield(skein.SourceFile{}, errors.New("not built yet")) }
}
