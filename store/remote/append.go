package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/api"
	"github.com/skein-dev/skein/server/door"
)

// Append implements [skein.Store].
func (s *Store) Append(ctx context.Context, batches ...skein.Batch) (_ []skein.Receipt, err error) {
	defer skein.Wrapf(&err, "remote: append")
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	body, err := bodyOf(batches)
	if err != nil {
		return nil, err
	}
	open := false // an earlier try may have been stored
	for try := 1; ; try++ {
		got, err := s.append(ctx, body, len(batches))
		if err == nil {
			return got, nil
		}
		unknown := errors.Is(err, skein.ErrUnknown)
		if open && !unknown && !settles(err) {
			err = fmt.Errorf("%w: %w", skein.ErrUnknown, err)
		}
		open = open || unknown
		again := refused(err) && !open || open && !settles(err) && repeatable(batches)
		if !again || try == tries || !wait(ctx, try, err) {
			return nil, err
		}
	}
}

// append sends batches once.
func (v *view) append(ctx context.Context, body []byte, n int) ([]skein.Receipt, error) {
	r, err := v.send(ctx, "/v1/append", body)
	if err != nil {
		return nil, err
	}
	var answer api.Receipts
	if err := v.answer(r, &answer); err != nil {
		return nil, lost(err)
	}
	if len(answer.Receipts) != n {
		return nil, lost(fmt.Errorf("%w: %d receipts for %d batches", ErrVersion, len(answer.Receipts), n))
	}
	out := make([]skein.Receipt, n)
	for i, r := range answer.Receipts {
		out[i] = skein.Receipt(r)
	}
	return out, nil
}

// settles reports whether err, from a request that was sent again, means that no try
// was stored: the store checked, and would have found its client IDs.
func settles(err error) bool {
	for _, is := range []error{
		skein.ErrConflict, skein.ErrMismatch, skein.ErrLocked, skein.ErrFenced, skein.ErrDeleted, skein.ErrExists, skein.ErrInvalid, skein.ErrNotFound,
	} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// repeatable reports whether it is safe to store batches twice: the store
// deduplicates each event. Records of files may have moved on meanwhile.
func repeatable(batches []skein.Batch) bool {
	for _, b := range batches {
		if b.Import != nil {
			return false
		}
		for _, e := range b.Events {
			if e.ClientID == "" {
				return false
			}
		}
	}
	return true
}

// bodyOf returns batches as they are sent.
//
// The error wraps [skein.ErrInvalid]: no store accepts what JSON would change.
func bodyOf(batches []skein.Batch) ([]byte, error) {
	out := []byte(`{"batches":[`)
	for i, b := range batches {
		if err := sendable(b); err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = api.AppendBatch(out, b)
	}
	out = append(out, "]}"...)
	if len(out) > door.MaxBatches {
		return nil, fmt.Errorf("%w: an append of %d bytes: at most %d go over HTTP", skein.ErrInvalid, len(out), door.MaxBatches)
	}
	return out, nil
}

func sendable(b skein.Batch) error {
	texts := []string{string(b.Session)}
	for i, e := range b.Events {
		switch _, err := e.Time.MarshalText(); {
		case err != nil:
			return fmt.Errorf("event %d of %s: %w", i, b.Session, err)
		case len(e.Payload) > skein.MaxPayload:
			return fmt.Errorf("event %d of %s: payload of %d bytes: %w", i, b.Session, len(e.Payload), skein.ErrInvalid)
		case !json.Valid(e.Payload):
			return fmt.Errorf("event %d of %s: payload is not JSON: %w", i, b.Session, skein.ErrInvalid)
		}
		texts = append(texts, string(e.Kind), string(e.ClientID))
	}
	if b.Import != nil {
		f := &b.Import.File
		texts = append(texts, f.Format, f.Path, f.ID, string(f.Session), string(f.CopyOf), string(f.Head))
		for _, r := range b.Import.Records {
			texts = append(texts, string(r.Key))
		}
	}
	for _, t := range texts {
		if !utf8.ValidString(t) {
			return fmt.Errorf("%q: not valid UTF-8: %w", t, skein.ErrInvalid)
		}
	}
	return nil
}
