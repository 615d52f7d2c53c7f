package adkgo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/skein-dev/skein"
)

// Names of notes in the sessions that store the state of an app or a user.
const (
	noteDelta = "adk:state"    // values that were set
	noteWhole = "adk:snapshot" // all values at that point
)

// wholeEvery is the approximate number of events of a shared state between two
// snapshots, so that the time to read it depends on its size and not on its
// history.
const wholeEvery = 64

// maxTries limits how often a commit is retried because another one created the
// same shared state at the same time.
const maxTries = 10

// commit appends b, and the changes of the app's and the user's state to their
// sessions, all or none. client is the client ID of b's event: what was stored
// with it already is not stored again.
func (s *sessionService) commit(ctx context.Context, b skein.Batch, c *config, client skein.ClientID, app, user map[string]any) (skein.Receipt, error) {
	for try := 1; ; try++ {
		batches, begins := []skein.Batch{b}, false
		for _, of := range []struct {
			stateOwner
			delta map[string]any
		}{{c.appScope(), app}, {c.userScope(), user}} {
			if len(of.delta) == 0 {
				continue
			}
			shared, err := s.change(ctx, of.stateOwner, of.delta, b, client)
			if err != nil {
				return skein.Receipt{}, err
			}
			batches, begins = append(batches, shared), begins || shared.After == skein.Fresh
		}
		got, err := s.store.Append(ctx, batches...)
		if err != nil {
			if begins && try < maxTries && errors.Is(err, skein.ErrExists) {
				continue // now the state exists, unless b's session was the one that exists
			}
			return skein.Receipt{}, err
		}
		for _, r := range got[1:] {
			if r.New > 0 && r.Last%wholeEvery == 0 {
				s.snapshot(ctx, r.Session)
			}
		}
		return got[0], nil
	}
}

// change returns the batch that sets delta in a shared state.
func (s *sessionService) change(ctx context.Context, sc stateOwner, delta map[string]any, b skein.Batch, client skein.ClientID) (skein.Batch, error) {
	data, err := json.Marshal(delta)
	if err != nil {
		return skein.Batch{}, fmt.Errorf("%w state: %w", skein.ErrInvalid, err)
	}
	at := b.Events[0].Time
	note := skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: noteDelta, Level: "debug", Data: data})
	if client != "" {
		note.ClientID = skein.ClientID(keyPrefix + hashOf(string(b.Session), string(client)))
	}
	found, err := s.find(ctx, sc.key)
	if errors.Is(err, skein.ErrNotFound) {
		begin := skein.NewEvent(skein.KindCreated, at, skein.Created{Key: sc.key, Title: sc.title, Surface: surface, Program: "adk-go"})
		id := skein.NewSessionID(at.Std())
		return skein.Batch{Session: id, After: skein.Fresh, Events: []skein.Event{begin, note}}, nil
	}
	return skein.Batch{Session: found.ID, Events: []skein.Event{note}}, err
}

// shared returns a shared state, without the prefixes.
func (s *sessionService) shared(ctx context.Context, sc stateOwner) (map[string]any, error) {
	found, err := s.find(ctx, sc.key)
	if errors.Is(err, skein.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	state, _, err := s.state(ctx, found.ID, found.Last)
	return state, err
}

// state returns the state in the notes of session id, and its last seq. It
// searches for the newest snapshot from the end, in larger and larger steps.
func (s *sessionService) state(ctx context.Context, id skein.SessionID, last skein.Seq) (state map[string]any, end skein.Seq, err error) {
	for back := skein.Seq(wholeEvery + 8); ; back *= 4 {
		from, whole := max(0, last-back), false
		state = map[string]any{}
		for e, err := range s.store.Events(ctx, id, from) {
			if err != nil {
				return nil, 0, err
			}
			if end = e.Seq; e.Kind != skein.KindNoted {
				continue
			}
			n, err := skein.Decode[skein.Noted](e)
			if err != nil {
				return nil, 0, err
			}
			if n.Name != noteDelta && n.Name != noteWhole {
				continue
			}
			var set map[string]any
			if err := json.Unmarshal(n.Data, &set); err != nil {
				return nil, 0, fmt.Errorf("event %d of %s: %w: %w", e.Seq, id, skein.ErrInvalid, err)
			}
			if n.Name == noteWhole {
				state, whole = map[string]any{}, true
			}
			maps.Copy(state, set)
		}
		if whole || from == 0 {
			return state, end, nil
		}
	}
}

// snapshot appends a snapshot of a shared state. If another process writes at
// the same time, or it fails, the next snapshot is enough.
func (s *sessionService) snapshot(ctx context.Context, id skein.SessionID) {
	found, err := s.store.Session(ctx, id)
	if err != nil {
		return
	}
	state, end, err := s.state(ctx, id, found.Last)
	if err != nil {
		return
	}
	data, err := json.Marshal(state)
	if err != nil {
		return
	}
	note := skein.NewEvent(skein.KindNoted, found.Updated, skein.Noted{Name: noteWhole, Level: "debug", Data: data})
	s.store.Append(ctx, skein.Batch{Session: id, After: end, Events: []skein.Event{note}}) //nolint:errcheck // see above
}
