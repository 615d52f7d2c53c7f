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

// Once makes an operation idempotent: embed it in the operation's input. Events
// that are stored get client IDs made from the user and the key, so the store
// itself remembers: after a restart, and for all servers on it.
type Once struct {
	Key string `header:"Idempotency-Key" maxLength:"200" doc:"the same key and body again is done once, and answered as the first time; another body is 422"`
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
	if o.Key != "" && (errors.Is(err, skein.ErrConflict) || errors.Is(err, skein.ErrMismatch)) {
		err = begunBy(ctx, store, id, e.ClientID)
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
