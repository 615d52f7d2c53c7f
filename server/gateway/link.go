package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// linked is the beginning of the tag of a linked session.
const linked = "link:"

// Find returns the session of the place with this key: the session that is
// linked to it, otherwise the one that has the key. u is the owner.
//
// The error wraps [skein.ErrNotFound] if there is none yet, or is the Store's.
func Find(ctx context.Context, s skein.Store, u skein.User, key string) (skein.Session, error) {
	for _, f := range []skein.Filter{{Tag: linked + key}, {Key: key}} {
		f.User, f.IncludeEmpty, f.Limit = u, true, 1
		for found, err := range s.Sessions(ctx, f) {
			return found, err
		}
	}
	return skein.Session{}, fmt.Errorf("key %q %w: no message has come under it yet", key, skein.ErrNotFound)
}

// Link joins the place with this key to session id, and removes the link to any
// other session. at is the time. The errors are those of [skein.Store].Append.
func Link(ctx context.Context, s skein.Store, u skein.User, key string, id skein.SessionID, at skein.Time) (err error) {
	defer skein.Wrapf(&err, "gateway: link %s to %s", key, id)
	if err := Check(key); err != nil {
		return err
	}
	to, err := s.Session(ctx, id)
	if err != nil {
		return err
	}
	if err := retag(ctx, s, to, at, linked+key, put); err != nil {
		return err
	}
	return unlink(ctx, s, u, key, id, at)
}

// Unlink removes the link between the place with this key and its session. The
// error wraps [skein.ErrNotFound] if there is no link; others are the Store's.
func Unlink(ctx context.Context, s skein.Store, u skein.User, key string, at skein.Time) (err error) {
	defer skein.Wrapf(&err, "gateway: unlink %s", key)
	for _, err := range s.Sessions(ctx, skein.Filter{User: u, Tag: linked + key, IncludeEmpty: true, Limit: 1}) {
		if err != nil {
			return err
		}
		return unlink(ctx, s, u, key, "", at)
	}
	return fmt.Errorf("%w: %q is not linked to a session", skein.ErrNotFound, key)
}

// unlink removes the tag from all sessions but one.
func unlink(ctx context.Context, s skein.Store, u skein.User, key string, but skein.SessionID, at skein.Time) error {
	var old []skein.Session
	for found, err := range s.Sessions(ctx, skein.Filter{User: u, Tag: linked + key, IncludeEmpty: true}) {
		if err != nil {
			return err
		}
		if found.ID != but {
			old = append(old, found)
		}
	}
	for _, o := range old {
		if err := retag(ctx, s, o, at, linked+key, drop); err != nil {
			return err
		}
	}
	return nil
}

// Check returns what is wrong with the key of a place. The error wraps
// [skein.ErrInvalid].
func Check(key string) error {
	surface, rest, _ := strings.Cut(key, ":")
	bad := func(r rune) bool { return r <= ' ' || r == ',' || r == 0x7f }
	if surface == "" || rest == "" || strings.ContainsFunc(key, bad) || len(key) > skein.MaxIDLen-len(":1795230386350") {
		return fmt.Errorf("%w key %q: want SURFACE:PLACE, such as telegram:my_bot:4711", skein.ErrInvalid, key)
	}
	return nil
}

// A change says whether to add a tag or to remove it.
type change int

const (
	put change = iota
	drop
)

// retag changes one tag of a session. If another program changes the session
// meanwhile, it tries again.
func retag(ctx context.Context, s skein.Store, of skein.Session, at skein.Time, tag string, c change) error {
	for {
		if slices.Contains(of.Tags, tag) == (c == put) {
			return nil
		}
		tags := slices.DeleteFunc(slices.Clone(of.Tags), func(t string) bool { return t == tag })
		if c == put {
			tags = append(tags, tag)
		}
		e := skein.NewEvent(skein.KindChanged, at, skein.Changed{Tags: &tags})
		_, err := s.Append(ctx, skein.Batch{Session: of.ID, After: of.Last, Events: []skein.Event{e}})
		if !errors.Is(err, skein.ErrConflict) {
			return err
		}
		if of, err = s.Session(ctx, of.ID); err != nil {
			return err
		}
	}
}
