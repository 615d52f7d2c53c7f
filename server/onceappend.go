package server

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"sync"

	"github.com/skein-dev/skein"
)

// nowhere is a seq at which no session ends: a batch after it is never stored,
// and succeeds only if all of it is stored already.
const nowhere skein.Seq = 1 << 52

// append stores a batch once for its key. Events without a client ID get one
// from the key. The store compares an event only with the stored event of the
// same client ID, so a batch and a longer one that begins with it could be
// taken for the same: the first event's ID says whether it is the only one, and
// those of the others contain a hash of all.
//
// The error wraps [skein.ErrMismatch] if the key stands for another body; other
// errors are those of [skein.Store.Append].
func (o Once) append(ctx context.Context, s skein.Store, b skein.Batch, q *queues) ([]skein.Receipt, error) {
	var unnamed []int
	for i := range b.Events {
		if b.Events[i].ClientID == "" {
			unnamed = append(unnamed, i)
		}
	}
	if o.Key == "" || len(unnamed) == 0 {
		return s.Append(ctx, b)
	}
	n := o.name(ctx, b.Events, unnamed)
	if b.After != 0 {
		return o.compared(ctx, s, b, n)
	}
	// Another body may come at the same moment: what was looked up is valid
	// only until the session grows.
	for before := skein.Seq(0); ; before = b.After {
		var err error
		if b.After, err = end(ctx, s, b.Session); err != nil {
			return nil, err
		}
		got, err := o.compared(ctx, s, b, n)
		if !errors.Is(err, skein.ErrConflict) || b.After == before {
			return got, err
		}
		if before == 0 {
			defer q.enter(b.Session)()
		}
	}
}

// queues let the writers to a session that lost an optimistic check wait for
// each other, so that they do not overtake each other again and again.
type queues struct{ of [256]sync.Mutex }

// enter waits for the session's turn, and returns what ends that turn.
func (q *queues) enter(id skein.SessionID) (leave func()) {
	h := fnv.New32a()
	h.Write([]byte(id)) //nolint:errcheck // it cannot fail
	m := &q.of[h.Sum32()%uint32(len(q.of))]
	m.Lock()
	return m.Unlock
}

// end returns where a session ends; [skein.Fresh] if it does not exist.
func end(ctx context.Context, s skein.Store, id skein.SessionID) (skein.Seq, error) {
	one, err := s.Session(ctx, id)
	if errors.Is(err, skein.ErrNotFound) {
		return skein.Fresh, nil
	}
	return one.Last, err
}

// compared stores a batch whose events were named, unless the session already
// has a different batch of the key.
func (o Once) compared(ctx context.Context, s skein.Store, b skein.Batch, n named) ([]skein.Receipt, error) {
	if err := o.unused(ctx, s, b.Session, n.other); err != nil {
		return nil, err
	}
	look := b
	look.After, look.Blobs = nowhere, nil
	if got, err := s.Append(ctx, look); err == nil || errors.Is(err, skein.ErrMismatch) {
		return got, err
	}
	if n.many {
		look.Events = b.Events[n.first : n.first+1]
		if _, err := s.Append(ctx, look); err == nil || errors.Is(err, skein.ErrMismatch) {
			return nil, o.other(b.Session)
		}
	}
	return s.Append(ctx, b)
}

// named is the client IDs that the key gave to events of a body.
type named struct {
	first int            // index of the first event that was named
	many  bool           // it is not the only event that was named
	other skein.ClientID // the client ID of the first event if many were the opposite
}

// name gives client IDs to the events at these indexes.
func (o Once) name(ctx context.Context, evs []skein.Event, unnamed []int) named {
	id := o.clientID(ctx)
	one, many := id+"/one", id+"/many"
	first := unnamed[0]
	if len(unnamed) == 1 {
		evs[first].ClientID = one
		return named{first, false, many}
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
	return named{first, true, one}
}

// unused returns an error if the session has an event with that client ID.
func (o Once) unused(ctx context.Context, s skein.Store, id skein.SessionID, client skein.ClientID) error {
	e := skein.NewEvent(skein.KindNoted, 1, skein.Noted{Name: "is it there?"})
	e.ClientID = client
	_, err := s.Append(ctx, skein.Batch{Session: id, After: nowhere, Events: []skein.Event{e}})
	if err == nil || errors.Is(err, skein.ErrMismatch) {
		return o.other(id)
	}
	return nil // the append reports any other error
}

func (o Once) other(id skein.SessionID) error {
	return fmt.Errorf("session %s: Idempotency-Key %q: %w", id, o.Key, skein.ErrMismatch)
}
