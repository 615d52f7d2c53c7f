package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// A blobKey names a blob; users share none.
type blobKey struct {
	user skein.User
	hash skein.Hash
}

type blob struct {
	data []byte
	refs int // by events
}

// Blob implements [skein.Store].
func (s *Store) Blob(ctx context.Context, id skein.SessionID, h skein.Hash) (_ []byte, err error) {
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

// takeBlobs counts that e refers to its blobs.
//
// The error wraps [skein.ErrInvalid] if one is not there.
func (t *tx) takeBlobs(sess *session, e *event) error {
	for _, h := range e.blobs() {
		k := blobKey{sess.head.User, h}
		if t.blobs[k] == nil {
			data, ok := t.brought[h]
			if !ok {
				return fmt.Errorf("%w event: blob %s is neither with it nor in the store", skein.ErrInvalid, h)
			}
			t.blobs[k] = &blob{data: slices.Clone(data)}
		}
		t.blobs[k].refs++
		t.undo = append(t.undo, func() { t.dropBlob(k) })
	}
	return nil
}

// dropBlob takes back one reference.
func (s *Store) dropBlob(k blobKey) {
	b := s.blobs[k]
	if b.refs--; b.refs == 0 {
		delete(s.blobs, k)
	}
}
