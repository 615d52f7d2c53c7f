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
// ones in the same order, and its first event there records the original ID. By
// that the session is found on the way back, and other stores give it its own ID.

// otherNames is how many IDs besides its own a session is always looked for under; more
// are tried only if other sessions have all of these.
const otherNames = 4

// mostNames is how many IDs are tried at most, in case a store says that every ID is
// taken.
const mostNames = 10_000

// nameMark is the member of a config that records a session's ID in the store that it
// came from.
const nameMark = "skein_id"

// errTaken says that the ID belongs to a session that cannot be seen: another user's.
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

// named returns the ID in a config's mark, or id if it has none.
func named(config []byte, id skein.SessionID) skein.SessionID {
	var f fields
	var own skein.SessionID
	if json.Unmarshal(config, &f) == nil && json.Unmarshal(f[nameMark], &own) == nil && own.Check() == nil {
		return own
	}
	return id
}

// An occupant is what has an ID in the second store.
type occupant int

const (
	free    occupant = iota // nothing known
	another                 // another session
	itself                  // the session being looked for
)

// pick returns the ID that a session, whose own ID is own, has in the second store or
// else the first free one of those that it may get.
func pick(own skein.SessionID, look func(skein.SessionID) (occupant, error)) (to skein.SessionID, err error) {
	for n := -1; n < otherNames || to == "" && n < mostNames; n++ {
		id := own
		if n >= 0 {
			id = own.Other(n)
		}
		is, err := look(id)
		switch {
		case err != nil:
			return "", err
		case is == itself:
			return id, nil
		case is == free && to == "":
			to = id
		}
	}
	if to == "" {
		err = fmt.Errorf("session %s: %w, and so have all IDs that it could get instead", own, errTaken)
	}
	return to, err
}

// name returns the ID that x has where it was begun, and the one that it has or is to
// have in the second store. b is where it goes, apart from the ID.
func (s *sender) name(ctx context.Context, x skein.Session, r eventMap, b relocation) (own, to skein.SessionID, err error) {
	if own, err = s.own(ctx, x); err != nil {
		return "", "", err
	}
	to, err = pick(own, func(id skein.SessionID) (occupant, error) {
		is, there, err := s.at(ctx, id)
		switch {
		case err != nil:
			return another, err
		case !there && s.taken[id]:
			return another, nil
		case !there:
			return free, nil
		}
		b.own, b.to = own, id
		if s.unchanged(x, is, b) {
			return itself, nil
		}
		like, err := s.like(ctx, x, append(r, stretch{after: x.Base, to: id, shift: b.shift}), b, x.Base+1)
		if errors.Is(err, skein.ErrNotFound) {
			return another, nil
		}
		if err != nil || like == unlike {
			return another, err
		}
		return itself, nil
	})
	return own, to, err
}

// mark returns the event that begins the session own as stored in a session with the
// ID to: with the mark, or without it if to is its own ID.
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
			return e, fmt.Errorf("session %s: its config is not a JSON object, so the session cannot get another ID: %w", own, skein.ErrExists)
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
