package gateway

import (
	"crypto/sha256"
	"sync"
	"time"
)

// again is how long the same answer is not sent again under one key.
const again = 30 * time.Second

// repeats remembers what was sent recently.
type repeats struct {
	mu   sync.Mutex
	sent map[string]map[[32]byte]time.Time // by key
}

// repeated reports whether text was sent under key less than 30 seconds ago; if
// not, it records text as sent now.
func (r *repeats) repeated(key, text string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, texts := range r.sent {
		for sum, at := range texts {
			if now.Sub(at) >= again {
				delete(texts, sum)
			}
		}
		if len(texts) == 0 {
			delete(r.sent, k)
		}
	}
	sum := sha256.Sum256([]byte(text))
	if _, ok := r.sent[key][sum]; ok {
		return true
	}
	if r.sent == nil {
		r.sent = map[string]map[[32]byte]time.Time{}
	}
	if r.sent[key] == nil {
		r.sent[key] = map[[32]byte]time.Time{}
	}
	r.sent[key][sum] = now
	return false
}

// unsent forgets that text was sent: it did not arrive.
func (r *repeats) unsent(key, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sent[key], sha256.Sum256([]byte(text)))
}

// clear forgets what was sent under key.
func (r *repeats) clear(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sent, key)
}
