package postgres

import (
	"sync"

	"github.com/skein-dev/skein"
)

// heads are the sessions that this process wrote to last, so that an append
// need not read them first. What they say is a belief: the statement that
// appends compares it with heads.last and heads.revision.
type heads struct {
	mu     sync.Mutex
	kept   map[skein.SessionID]head
	forgot int // how often all were
}

// maxHeads is how many heads are kept.
const maxHeads = 8192

func newHeads() *heads { return &heads{kept: map[skein.SessionID]head{}} }

func (h *heads) find(id skein.SessionID) (head, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	x, ok := h.kept[id]
	return x, ok
}

func (h *heads) keep(x head) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.kept) >= maxHeads {
		clear(h.kept)
	}
	h.kept[x.ID] = x
}

// forget forgets all of them: a new connection may lead to a server that lacks
// what the last one had committed, and has other events in the same places.
func (h *heads) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.kept)
	h.forgot++
}

// times returns how often all were forgotten.
func (h *heads) times() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.forgot
}

// drop forgets a session whose row was changed otherwise than by an append.
func (h *heads) drop(id skein.SessionID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.kept, id)
}
