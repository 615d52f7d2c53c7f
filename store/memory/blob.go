package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// A blobKey names a blob. Users do not share blobs.
type blobKey struct {
	user skein.User
	hash skein.Hash
}

type blob struct {
	data []byte
	refs int // by events
}

// Blob implements [skein.Store].
func (s reads) Blob(ctx context.Context, id skein.SessionID, h skein.Hash) (_ []byte, err error) {
	defer skein.Wrapf(&err, "memory: blob %s", h)
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	sess, err := s.look(id)
	if err != nil {
		return nil, err
	}
	for e := range sess.shown(sess.head.Last) {
		if slices.Contains(e.blobs(), h) {
			return slices.Clone(s.blobs[blobKey{sess.head.User, h}].data), nil
		}
	}
	return nil, fmt.Errorf("session %s: %w", id, skein.ErrNotFound)
}

// blobs returns the blobs that e refers to.
func (e *event) blobs() []skein.Hash {
	if e.now != nil {
		return e.now.Blobs
	}
	return e.facts.Blobs
}

// dropBlob removes one reference.
func (d *data) dropBlob(k blobKey) {
	b := d.blobs[k]
	if b.refs--; b.refs == 0 {
		delete(d.blobs, k)
	}
}
