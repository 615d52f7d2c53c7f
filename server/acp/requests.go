package acp

import (
	"maps"
	"sync"

	"github.com/skein-dev/skein"
)

// A request is one that has no answer yet.
type request struct {
	method string
	s      *session // nil if it names none
	params []byte
	at     skein.Time
}

// openRequests are those of one program that have no answer yet, by ID.
type openRequests struct {
	mu    sync.Mutex
	open  map[string]request
	given map[string]bool // somebody has answered in the place of the other program
}

// mostAsked limits how many requests without an answer are remembered.
const mostAsked = 10_000

func newOpenRequests() *openRequests {
	return &openRequests{open: map[string]request{}, given: map[string]bool{}}
}

// add remembers a request.
func (r *openRequests) add(id string, q request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.open) < mostAsked {
		r.open[id] = q
	}
	delete(r.given, id)
}

// method returns that of a request, "" if there is none.
func (r *openRequests) method(id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open[id].method
}

// answered returns the request that an answer is for.
func (r *openRequests) answered(id string) (request, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q, ok := r.open[id]
	delete(r.open, id)
	return q, ok
}

// give is answered for an answer that does not come from the other program.
func (r *openRequests) give(id string) (request, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q, ok := r.open[id]
	if ok {
		delete(r.open, id)
		r.given[id] = true
	}
	return q, ok
}

// late reports whether an answer comes after somebody else's.
func (r *openRequests) late(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	late := r.given[id]
	delete(r.given, id)
	return late
}

// takeAll returns all of them: none are left.
func (r *openRequests) takeAll() map[string]request {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := maps.Clone(r.open)
	clear(r.open)
	return all
}
