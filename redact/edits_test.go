package redact

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/store/memory"
)

// An indexedStore has an index of edits, which finds one message with a secret.
type indexedStore struct{ skein.Store }

func (i indexedStore) Unwrap() skein.Store { return i.Store }

func (indexedStore) Edits(context.Context, []edits.IndexKey) iter.Seq2[skein.Hit, error] {
	return func(yield func(skein.Hit, error) bool) { yield(skein.Hit{Event: &skein.Event{}}, nil) }
}

// The index of edits gives whole messages, so it cannot be asked through a covered store.
func TestEditsAreNotFoundThroughACover(t *testing.T) {
	for name, s := range map[string]skein.Store{"Cover": New().Cover(indexedStore{memory.New()}), "Veil": New().Veil(indexedStore{memory.New()})} {
		index, ok := skein.PartOf[edits.Index](s)
		if !ok {
			continue
		}
		for h, err := range index.Edits(t.Context(), nil) {
			if !errors.Is(err, edits.ErrBehind) {
				t.Errorf("Edits through a %s yields %+v, %v, want %v", name, h, err, edits.ErrBehind)
			}
		}
	}
}
