package adkgo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/adk/v2/platform"
	"google.golang.org/adk/v2/session"

	"github.com/skein-dev/skein"
)

// surface is the surface of the sessions that ADK created.
const surface = "adk"

// New returns a service whose sessions are in store. It is safe for concurrent
// use, and several services may share a store, or a server's.
func New(store skein.Store) session.Service { return &sessionService{store} }

type sessionService struct{ store skein.Store }

// config, in a session's created event, says which ADK session it is, and its
// initial state.
type config struct {
	App   string         `json:"app"`
	User  string         `json:"user"`
	ID    string         `json:"id"`
	State map[string]any `json:"state,omitempty"`
}

type createdData struct {
	ADK *config `json:"adk,omitempty"`
}

// Create implements [session.Service]. The error wraps [skein.ErrExists] if the
// session exists.
func (s *sessionService) Create(ctx context.Context, r *session.CreateRequest) (_ *session.CreateResponse, err error) {
	defer skein.Wrapf(&err, "adkgo: create")
	c := config{App: r.AppName, User: r.UserID, ID: r.SessionID}
	if c.ID == "" {
		c.ID = platform.NewUUID(ctx)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	app, user, own := split(r.State)
	if c.State = own; len(own) == 0 {
		c.State = nil
	}
	raw, err := json.Marshal(createdData{&c})
	if err != nil {
		return nil, fmt.Errorf("%w state: %w", skein.ErrInvalid, err)
	}
	now := platform.Now(ctx)
	id := skein.NewSessionID(now)
	event := skein.NewEvent(skein.KindCreated, skein.At(now), skein.Created{Key: c.key(), Surface: surface, Agent: c.App, Config: raw, Program: "adk-go"})
	if _, err := s.commit(ctx, skein.Batch{Session: id, After: skein.Fresh, Events: []skein.Event{event}}, &c, "", app, user); err != nil {
		return nil, err
	}
	made, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	return &session.CreateResponse{Session: made}, nil
}

// Get implements [session.Service]. After selects events with that time stamp
// or a later one, wherever they are; NumRecentEvents selects the last of those.
// The error wraps [skein.ErrNotFound].
func (s *sessionService) Get(ctx context.Context, r *session.GetRequest) (_ *session.GetResponse, err error) {
	defer skein.Wrapf(&err, "adkgo: get")
	c := config{App: r.AppName, User: r.UserID, ID: r.SessionID}
	if err := c.check(); err != nil {
		return nil, err
	}
	found, err := s.find(ctx, c.key())
	if err != nil {
		return nil, err
	}
	got, err := s.load(ctx, found.ID)
	if err != nil {
		return nil, err
	}
	if !r.After.IsZero() {
		got.events = slices.DeleteFunc(got.events, func(e *session.Event) bool { return e.Timestamp.Before(r.After) })
	}
	if n := len(got.events) - r.NumRecentEvents; r.NumRecentEvents > 0 && n > 0 {
		got.events = got.events[n:]
	}
	return &session.GetResponse{Session: got}, nil
}

// List implements [session.Service]: it returns sessions with their state and
// without events, the latest first. It reads the events of all of them.
func (s *sessionService) List(ctx context.Context, r *session.ListRequest) (_ *session.ListResponse, err error) {
	defer skein.Wrapf(&err, "adkgo: list")
	if r.AppName == "" {
		return nil, fmt.Errorf("%w app name: empty", skein.ErrInvalid)
	}
	out := &session.ListResponse{Sessions: []session.Session{}}
	var all []skein.Session
	for found, err := range s.store.Sessions(ctx, skein.Filter{Surface: surface, IncludeEmpty: true}) {
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(found.Key, keyPrefix) {
			all = append(all, found)
		}
	}
	for _, found := range all {
		c, err := s.config(ctx, found.ID)
		switch {
		case errors.Is(err, skein.ErrNotFound): // it was deleted just now
			continue
		case err != nil:
			return nil, err
		case c.App != r.AppName || r.UserID != "" && c.User != r.UserID:
			continue
		}
		got, err := s.load(ctx, found.ID)
		if err != nil {
			return nil, err
		}
		got.events = nil
		out.Sessions = append(out.Sessions, got)
	}
	return out, nil
}

// Delete implements [session.Service]: the session goes to the bin, and its ID
// is free again. Deleting a session that does not exist is not an error.
func (s *sessionService) Delete(ctx context.Context, r *session.DeleteRequest) (err error) {
	defer skein.Wrapf(&err, "adkgo: delete")
	c := config{App: r.AppName, User: r.UserID, ID: r.SessionID}
	if err := c.check(); err != nil {
		return err
	}
	found, err := s.find(ctx, c.key())
	if err == nil {
		err = skein.LifecycleOf(s.store).Bin(ctx, found.ID)
	}
	if errors.Is(err, skein.ErrNotFound) {
		return nil
	}
	return err
}

// find returns the live session with that key.
func (s *sessionService) find(ctx context.Context, key string) (skein.Session, error) {
	for found, err := range s.store.Sessions(ctx, skein.Filter{Key: key, IncludeEmpty: true, Limit: 1}) {
		return found, err
	}
	return skein.Session{}, fmt.Errorf("%q: %w", key, skein.ErrNotFound)
}

// config returns the config with which session id was created.
func (s *sessionService) config(ctx context.Context, id skein.SessionID) (*config, error) {
	for e, err := range s.store.Events(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		return configOf(e)
	}
	return nil, fmt.Errorf("session %s: %w", id, skein.ErrNotFound)
}

func configOf(e skein.Event) (*config, error) {
	begun, err := skein.Decode[skein.Created](e)
	if err != nil {
		return nil, err
	}
	var c createdData
	if len(begun.Config) > 0 {
		err = json.Unmarshal(begun.Config, &c)
	}
	if err != nil || c.ADK == nil {
		return nil, fmt.Errorf("%w: it was not begun by this adapter", errors.Join(skein.ErrNotFound, err))
	}
	return c.ADK, nil
}

// load reads all of session id.
func (s *sessionService) load(ctx context.Context, id skein.SessionID) (_ *held, err error) {
	h := &held{id: id}
	var f fold
	for e, err := range s.store.Events(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		if h.last = e.Seq; e.Kind == skein.KindCreated && h.config == nil {
			if h.config, err = configOf(e); err != nil {
				return nil, fmt.Errorf("session %s: %w", id, err)
			}
			h.updated = e.Time.Std()
		}
		if err := f.take(e, h.config); err != nil {
			return nil, fmt.Errorf("session %s: %w", id, err)
		}
	}
	if h.config == nil {
		return nil, fmt.Errorf("session %s: %w", id, skein.ErrNotFound)
	}
	h.state = map[string]any{}
	maps.Copy(h.state, h.config.State)
	h.events = f.events()
	for _, e := range h.events {
		_, _, own := split(e.Actions.StateDelta)
		maps.Copy(h.state, own)
		h.updated = e.Timestamp
	}
	for _, scope := range h.config.scopes() {
		shared, err := s.shared(ctx, scope)
		if err != nil {
			return nil, err
		}
		for name, value := range shared {
			h.state[scope.prefix+name] = value
		}
	}
	return h, nil
}

// AppendEvent implements [session.Service]. Partial events are not stored. The
// error wraps [skein.ErrConflict] if the session has changed since cur was
// read, [skein.ErrMismatch] if it has another event with the same ID, and
// [skein.ErrNotFound]; then nothing is stored, and cur is unchanged.
func (s *sessionService) AppendEvent(ctx context.Context, cur session.Session, e *session.Event) (err error) {
	defer skein.Wrapf(&err, "adkgo: append event")
	switch {
	case cur == nil:
		return fmt.Errorf("%w session: it is nil", skein.ErrInvalid)
	case e == nil:
		return fmt.Errorf("%w event: it is nil", skein.ErrInvalid)
	case e.Partial:
		return nil
	}
	c := config{App: cur.AppName(), User: cur.UserID(), ID: cur.ID()}
	found, err := s.find(ctx, c.key())
	if err != nil {
		return err
	}
	h, ok := cur.(*held)
	if !ok { // another implementation's: it does not say what was read
		h = &held{id: found.ID, config: &c, last: found.Last, state: map[string]any{}}
	}
	h.writing.Lock()
	defer h.writing.Unlock()
	if h.id != found.ID {
		return fmt.Errorf("session %q was deleted and made again: %w", c.ID, skein.ErrConflict)
	}
	return s.append(ctx, h, e)
}

// append stores e if the session has not changed since h.
func (s *sessionService) append(ctx context.Context, h *held, e *session.Event) error {
	kept := withoutTemp(e)
	event, blobs, err := eventOf(kept)
	if err != nil {
		return err
	}
	app, user, _ := split(e.Actions.StateDelta)
	b := skein.Batch{Session: h.id, After: h.last, Events: []skein.Event{event}, Blobs: blobs}
	for {
		r, err := s.commit(ctx, b, h.config, event.ClientID, app, user)
		if conflict := (*skein.ConflictError)(nil); errors.As(err, &conflict) && conflict.Session == h.id {
			if err := s.moved(ctx, h.id, b.After, conflict); err != nil {
				return err
			}
			b.After = conflict.Last
			continue
		}
		if err != nil {
			return err
		}
		h.took(kept, e.Actions.StateDelta, r, b.After)
		return nil
	}
}

// moved returns the conflict if any event after a seq matters to a writer;
// titles and the like do not.
func (s *sessionService) moved(ctx context.Context, id skein.SessionID, after skein.Seq, conflict *skein.ConflictError) error {
	for e, err := range s.store.Events(ctx, id, after) {
		if err != nil {
			return err
		}
		switch {
		case e.Seq > conflict.Last:
			return nil
		case e.Kind == skein.KindTitled, e.Kind == skein.KindChanged:
		default:
			return fmt.Errorf("the session was read at seq %d: %w", after, conflict)
		}
	}
	return nil
}
