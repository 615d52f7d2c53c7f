package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
)

// IDs are one space for all users of a store, and two machines may have made
// different sessions with one ID (skein append notes --create). So a session
// whose ID is taken in the second store gets another one there, always the same
// ones in the same order, and its first event says there which one it had. By
// that the way back finds the session, and other stores give it its own ID.

// otherNames is how many IDs besides its own a session is looked for by in any case;
// by more it is where all of these are others'.
const otherNames = 4

// mostNames is how many a session may have: a store that says of any ID that it is
// taken is not asked for ever.
const mostNames = 10_000

// nameMark is the member of a config that says which ID a session has in the
// store that it came from.
const nameMark = "skein_id"

// errTaken says that a session has the ID that cannot be seen: another user's.
var errTaken = fmt.Errorf("another session has this ID there: %w", skein.ErrExists)

// own returns the ID that x has where it was begun.
func (s *sender) own(ctx context.Context, x skein.Session) (skein.SessionID, error) {
	if !strings.Contains(string(x.ID), "~") {
		return x.ID, nil
	}
	e, err := at(ctx, s.from, x.ID, x.Base+1)
	if err != nil {
		return "", err
	}
	c, err := skein.Decode[skein.Created](e)
	return named(c.Config, x.ID), err
}

// named returns the ID that a config says, or id if it says none.
func named(config []byte, id skein.SessionID) skein.SessionID {
	var f fields
	var own skein.SessionID
	if json.Unmarshal(config, &f) == nil && json.Unmarshal(f[nameMark], &own) == nil && own.Check() == nil {
		return own
	}
	return id
}

// name returns the ID that x has in the second store, or, if it is not there,
// the first that is not known to be another's. b is where it goes, but for that.
func (s *sender) name(ctx context.Context, x skein.Session, r route, b bound) (own, to skein.SessionID, err error) {
	if own, err = s.own(ctx, x); err != nil {
		return "", "", err
	}
	for n := -1; n < otherNames || to == "" && n < mostNames; n++ {
		id := own
		if n >= 0 {
			id = own.Other(n)
		}
		is, there, err := s.at(ctx, id)
		if err != nil {
			return "", "", err
		}
		if !there {
			if to == "" && !s.taken[id] {
				to = id
			}
			continue
		}
		b.own, b.to = own, id
		if s.unchanged(x, is, b) {
			return own, id, nil
		}
		like, err := s.like(ctx, x, append(r, stretch{after: x.Base, to: id, shift: b.shift}), b, x.Base+1)
		if err != nil && !errors.Is(err, skein.ErrNotFound) {
			return "", "", err
		}
		if err == nil && like != unlike {
			return own, id, nil
		}
	}
	if to == "" {
		err = fmt.Errorf("session %s: %w, and so have all others that it may get", x.ID, errTaken)
	}
	return own, to, err
}

// mark returns the event that begins the session own as it stands in a session
// with the ID to: with the mark, or without, if that is its own.
func mark(e skein.Event, own, to skein.SessionID) (skein.Event, error) {
	var f, config fields
	if err := json.Unmarshal(e.Payload, &f); err != nil {
		return e, err
	}
	if f["config"] != nil {
		if err := json.Unmarshal(f["config"], &config); err != nil {
			if to == own {
				return e, nil //nolint:nilerr // it never had one
			}
			return e, fmt.Errorf("session %s: its config is no object, which it has to be to get another ID: %w", own, skein.ErrExists)
		}
	}
	switch {
	case to != own && config == nil:
		config = fields{nameMark: skein.MustJSON(own)}
	case to != own:
		config[nameMark] = skein.MustJSON(own)
	case config[nameMark] == nil:
		return e, nil
	default:
		delete(config, nameMark)
	}
	if f["config"] = skein.MustJSON(config); len(config) == 0 {
		delete(f, "config")
	}
	e.Payload = skein.MustJSON(f)
	return e, nil
}
