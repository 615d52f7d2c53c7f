package server

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"

	"github.com/skein-dev/skein"
)

// nowhere is a place where no session ends: a batch with it stores nothing, and
// is answered only if all of it is stored.
const nowhere skein.Seq = 1 << 52

// append stores a batch once for its key. Its events that have no client ID get
// one of the key's. The store compares an event with the one of the same ID, so
// two bodies of different lengths could go for one where they begin alike: the
// first event's ID says whether it is the only one, and the others' have a hash
// of all.
//
// The error wraps [skein.ErrMismatch] if the key stands for another body; others
// as [skein.Store.Append].
func (o Once) append(ctx context.Context, s skein.Store, b skein.Batch) ([]skein.Receipt, error) {
	var unnamed []int
	for i := range b.Events {
		if b.Events[i].ClientID == "" {
			unnamed = append(unnamed, i)
		}
	}
	if o.Key == "" || len(unnamed) == 0 {
		return s.Append(ctx, b)
	}
	first, all := o.name(ctx, b.Events, unnamed)
	if err := o.unused(ctx, s, b.Session, all); err != nil {
		return nil, err
	}
	look := b
	look.After, look.Blobs = nowhere, nil
	if got, err := s.Append(ctx, look); err == nil || errors.Is(err, skein.ErrMismatch) {
		return got, err
	}
	if len(unnamed) > 1 {
		look.Events = b.Events[first : first+1]
		if _, err := s.Append(ctx, look); err == nil || errors.Is(err, skein.ErrMismatch) {
			return nil, o.other(b.Session)
		}
	}
	return s.Append(ctx, b)
}

// name gives the events at these places IDs. It returns the place of the first,
// and the ID that it would have if its number were another.
func (o Once) name(ctx context.Context, evs []skein.Event, unnamed []int) (first int, other skein.ClientID) {
	id := o.clientID(ctx)
	one, many := id+"/one", id+"/many"
	first = unnamed[0]
	if len(unnamed) == 1 {
		evs[first].ClientID = one
		return first, many
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d.", len(evs))
	for _, i := range unnamed {
		fmt.Fprintf(h, "%d:%d:%s,%d:", i, len(evs[i].Kind), evs[i].Kind, len(evs[i].Payload))
		h.Write(evs[i].Payload)
	}
	rest := id + "/" + skein.ClientID(base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12])) + "/"
	for n, i := range unnamed {
		evs[i].ClientID = rest + skein.ClientID(strconv.Itoa(n))
	}
	evs[first].ClientID = many
	return first, one
}

// unused reports it if the session has an event with that client ID.
func (o Once) unused(ctx context.Context, s skein.Store, id skein.SessionID, client skein.ClientID) error {
	e := skein.NewEvent(skein.KindNoted, 1, skein.Noted{Name: "is it there?"})
	e.ClientID = client
	_, err := s.Append(ctx, skein.Batch{Session: id, After: nowhere, Events: []skein.Event{e}})
	if err == nil || errors.Is(err, skein.ErrMismatch) {
		return o.other(id)
	}
	return nil // whatever else is wrong, the append says
}

func (o Once) other(id skein.SessionID) error {
	return fmt.Errorf("session %s: Idempotency-Key %q: %w", id, o.Key, skein.ErrMismatch)
}
