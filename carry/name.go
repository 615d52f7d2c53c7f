package carry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// otherNames is how many IDs a session may have besides its own.
const otherNames = 4

// nameMark is the member of a config that says which ID a session has in the
// store that it came from.
const nameMark = "skein_id"

// errTaken says that a session has the ID that cannot be seen: another user's.
var errTaken = fmt.Errorf("another session has this ID there: %w", skein.ErrExists)

// names returns the IDs that x may have in the second store, its own first.
func (s *sender) names(ctx context.Context, x skein.Session) ([]skein.SessionID, error) {
	own := x.ID
	if strings.Contains(string(x.ID), "~") {
		e, err := at(ctx, s.from, x.ID, x.Base+1)
		if err != nil {
			return nil, err
		}
		c, err := skein.Decode[skein.Created](e)
		if err != nil {
			return nil, err
		}
		own = named(c.Config, own)
	}
	all := []skein.SessionID{own}
	for i := range otherNames {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", own, i))
		short := strings.ToValidUTF8(string(own[:min(len(own), skein.MaxIDLen-9)]), "")
		all = append(all, skein.SessionID(short+"~"+hex.EncodeToString(sum[:4])))
	}
	return all, nil
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
	all, err := s.names(ctx, x)
	if err != nil {
		return "", "", err
	}
	for _, id := range all {
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
		b.own, b.to = all[0], id
		if s.unchanged(x, is, b) {
			return all[0], id, nil
		}
		like, err := s.like(ctx, x, append(r, stretch{after: x.Base, to: id, shift: b.shift}), b, x.Base+1)
		if err != nil && !errors.Is(err, skein.ErrNotFound) {
			return "", "", err
		}
		if err == nil && like != unlike {
			return all[0], id, nil
		}
	}
	if to == "" {
		err = fmt.Errorf("session %s: %w, and so have all others that it may get", x.ID, errTaken)
	}
	return all[0], to, err
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
			return e, fmt.Errorf("session %s: its config is no object, which it has to be to get another ID: %w", own, errTaken)
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
