package server

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
)

// Once is for operations that may be sent again: embed it in what they take.
// What they store gets client IDs that are made of the user and the key, so
// the store remembers: after a restart, and for all servers on it.
type Once struct {
	Key string `header:"Idempotency-Key" maxLength:"200" doc:"the same key and body again is done once, and answered as the first time; another body is 422"`
}

// sum hashes the user who asks and what is said, each apart.
func sum(ctx context.Context, what ...string) []byte {
	h := sha256.New()
	for _, s := range append([]string{string(owner(ctx))}, what...) {
		fmt.Fprintf(h, "%d:%s,", len(s), s)
	}
	return h.Sum(nil)
}

// owner is who owns what the visitor makes.
func owner(ctx context.Context) skein.User {
	if u := door.From(ctx).User; u != "" {
		return u
	}
	return skein.Local
}

// clientID is that of the event that an operation with the key stores; "" if
// there is no key.
func (o Once) clientID(ctx context.Context) skein.ClientID {
	if o.Key == "" {
		return ""
	}
	return skein.ClientID("once:" + base64.RawURLEncoding.EncodeToString(sum(ctx, "event", o.Key)))
}

// session is the ID of the session that an operation with the key begins: a
// UUID of version 8 (RFC 9562), for its bits are those of a hash.
func (o Once) session(ctx context.Context) skein.SessionID {
	b := sum(ctx, "session", o.Key)[:16]
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	h := hex.EncodeToString(b)
	return skein.SessionID(strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-"))
}

// begin begins session id, or the one that the key stands for if that is "",
// or a new one if there is no key either. what is all that was asked for: if it
// was asked for with the same key before, it is answered with what was begun
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
	if o.Key != "" && (errors.Is(err, skein.ErrConflict) || errors.Is(err, skein.ErrMismatch)) {
		err = begunBy(ctx, store, id, e.ClientID)
	}
	if err != nil {
		return skein.Session{}, err
	}
	return store.Session(ctx, id)
}

// begunBy reports that session id was not begun by the event with that client
// ID.
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
