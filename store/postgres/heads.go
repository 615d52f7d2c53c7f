package postgres

import (
	"sync"

	"github.com/skein-dev/skein"
)

// heads caches the heads of the sessions that this process wrote to last, so that
// an append need not read them first. The cache may be out of date: the statement
// that appends compares it with heads.last and heads.revision.
type heads struct {
	mu     sync.Mutex
	kept   map[skein.SessionID]head
	server string // the server that they were read from
	forgot int    // how often all were forgotten
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

// whichServer tells servers apart, and also a server before and after it took over.
const whichServer = `SELECT extract(epoch FROM pg_postmaster_start_time()), pg_is_in_recovery()`

// servedBy forgets all heads if server is not the one from before: it may lack what
// the last one had committed, and have other events in the same places.
func (h *heads) servedBy(server string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server == server {
		return
	}
	clear(h.kept)
	h.server = server
	h.forgot++
}

// times returns how often all were forgotten.
func (h *heads) times() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.forgot
}

// drop forgets a session whose row may differ from what is kept.
func (h *heads) drop(id skein.SessionID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.kept, id)
}
