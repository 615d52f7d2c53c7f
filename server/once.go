package server

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
)

// Once makes an operation idempotent: embed it in the operation's input. Events
// that are stored get client IDs made from the user and the key, so the store
// itself remembers: after a restart, and for all servers on it.
type Once struct {
	Key string `header:"Idempotency-Key" maxLength:"200" doc:"a request with the same key and body is performed once and gets the same answer; with another body, 422"`
}

// sum hashes the user who asks and the strings, each separately.
func sum(ctx context.Context, what ...string) []byte {
	h := sha256.New()
	for _, s := range append([]string{string(owner(ctx))}, what...) {
		fmt.Fprintf(h, "%d:%s,", len(s), s)
	}
	return h.Sum(nil)
}

// owner returns who owns what the visitor creates.
func owner(ctx context.Context) skein.User {
	if u := door.From(ctx).User; u != "" {
		return u
	}
	return skein.Local
}

// clientID returns the client ID for the event of an operation with the key; ""
// without a key.
func (o Once) clientID(ctx context.Context) skein.ClientID {
	if o.Key == "" {
		return ""
	}
	return skein.ClientID("once:" + base64.RawURLEncoding.EncodeToString(sum(ctx, "event", o.Key)))
}

// session returns the ID for the session that an operation with the key begins:
// a UUID of version 8 (RFC 9562), because its bits come from a hash.
func (o Once) session(ctx context.Context) skein.SessionID {
	b := sum(ctx, "session", o.Key)[:16]
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	h := hex.EncodeToString(b)
	return skein.SessionID(strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-"))
}

// begin begins session id; if that is "", the session that the key stands for,
// or a new one without a key. what is the whole request: if the same request
// was made with the same key before, the answer is the session that was begun
// then.
func (a *service) begin(ctx context.Context, id skein.SessionID, c skein.Created, o Once, what any) (skein.Session, error) {
	e := skein.NewEvent(skein.KindCreated, skein.At(a.Now()), c)
	if o.Key != "" {
		e.ClientID = skein.ClientID("once:" + base64.RawURLEncoding.EncodeToString(sum(ctx, "created", o.Key, string(skein.MustJSON(what)))))
	}
	switch {
	case id != "":
	case o.Key != "":
		id = o.session(ctx)
	default:
		id = skein.NewSessionID(a.Now())
	}
	store := door.From(ctx).Store
	_, err := store.Append(ctx, skein.Batch{Session: id, After: skein.Fresh, Events: []skein.Event{e}})
	conflict := errors.Is(err, skein.ErrConflict)
	switch {
	case o.Key != "" && (conflict || errors.Is(err, skein.ErrMismatch)):
		err = begunBy(ctx, store, id, e.ClientID)
	case conflict:
		err = fmt.Errorf("session %s %w", id, skein.ErrExists)
	}
	if err != nil {
		return skein.Session{}, err
	}
	return store.Session(ctx, id)
}

// begunBy returns an error if session id was not begun by the event with that
// client ID.
func begunBy(ctx context.Context, store skein.Store, id skein.SessionID, client skein.ClientID) error {
	s, err := store.Session(ctx, id)
	if err != nil {
		return err
	}
	for e, err := range store.Events(ctx, id, s.Base) {
		if err != nil || e.ClientID == client {
			return err
		}
		break
	}
	return fmt.Errorf("session %s: %w", id, skein.ErrMismatch)
}

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
