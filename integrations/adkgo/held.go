package adkgo

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/adk/v2/session"

	"github.com/skein-dev/skein"
)

// held is a session as it was read, plus what its holder appended since.
type held struct {
	id     skein.SessionID
	config *config

	writing sync.Mutex // appends one at a time
	last    skein.Seq  // last event that the holder has seen

	mu      sync.RWMutex // guards the fields below
	state   map[string]any
	events  []*session.Event
	updated time.Time
}

// ID implements [session.Session].
func (h *held) ID() string { return h.config.ID }

// AppName implements [session.Session].
func (h *held) AppName() string { return h.config.App }

// UserID implements [session.Session].
func (h *held) UserID() string { return h.config.User }

// State implements [session.Session].
func (h *held) State() session.State { return (*sessionState)(h) }

// Events implements [session.Session].
func (h *held) Events() session.Events {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return events(slices.Clip(h.events))
}

// LastUpdateTime implements [session.Session].
func (h *held) LastUpdateTime() time.Time {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.updated
}

// took records that e was stored after a seq, and applies its delta including
// temporary state.
func (h *held) took(e *session.Event, delta map[string]any, r skein.Receipt, after skein.Seq) {
	if r.New == 0 && r.Seqs[0] <= after {
		return // it had been stored and read before
	}
	if r.Seqs[0] == after+1 {
		h.last = r.Seqs[0]
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.Copy(h.state, delta)
	h.events, h.updated = append(h.events, e), e.Timestamp
}

// withoutTemp returns e without temporary state in its delta; e itself is not
// modified.
func withoutTemp(e *session.Event) *session.Event {
	kept := *e
	if e.Actions.StateDelta != nil {
		kept.Actions.StateDelta = maps.Clone(e.Actions.StateDelta)
		maps.DeleteFunc(kept.Actions.StateDelta, func(name string, _ any) bool { return strings.HasPrefix(name, session.KeyPrefixTemp) })
	}
	return &kept
}

type events []*session.Event

// All implements [session.Events].
func (e events) All() iter.Seq[*session.Event] { return slices.Values(e) }

// Len implements [session.Events].
func (e events) Len() int { return len(e) }

// At implements [session.Events]; it returns nil if i is out of range.
func (e events) At(i int) *session.Event {
	if i < 0 || i >= len(e) {
		return nil
	}
	return e[i]
}

// sessionState is the state of a session as its holder sees it.
type sessionState held

// Get implements [session.State].
func (s *sessionState) Get(name string) (any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	value, ok := s.state[name]
	if !ok {
		return nil, session.ErrStateKeyNotExist
	}
	return value, nil
}

// Set implements [session.State], for the holder only; an event's delta is
// stored.
func (s *sessionState) Set(name string, value any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state[name] = value
	return nil
}

// All implements [session.State].
func (s *sessionState) All() iter.Seq2[string, any] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.All(maps.Clone(s.state))
}
