package server

import (
	"context"
	"sync"
)

// hubs are the hubs that have readers.
type hubs struct {
	mu   sync.Mutex
	open map[string]*shared
}

type shared struct {
	*hub
	readers int
}

// enter returns the hub of that name, and a function for the reader to call
// when it leaves: the hub ends with its last reader.
func (h *hubs) enter(name string, most int, all func(context.Context) places) (_ *hub, leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open == nil {
		h.open = map[string]*shared{}
	}
	s := h.open[name]
	if s == nil || s.over() {
		s = &shared{hub: newHub(most, all)}
		h.open[name] = s
	}
	s.readers++
	return s.hub, func() {
		h.mu.Lock()
		s.readers--
		end := s.readers == 0
		if end && h.open[name] == s {
			delete(h.open, name)
		}
		h.mu.Unlock()
		if end {
			s.cancel()
			<-s.done
		}
	}
}
