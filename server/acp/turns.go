package acp

import (
	"slices"
	"sync"
)

// A turnQueue is the order of prompts to one session. A prompt of the editor's waits only
// for those of others: what an agent makes of two at a time is between these two.
type turnQueue struct {
	mu      sync.Mutex
	running int  // prompts that the agent has not answered
	guests  bool // one of them is not the editor's
	waiting []waitingTurn
}

// A waitingTurn is a prompt that waits.
type waitingTurn struct {
	start func()
	drop  func() // answers the editor's prompt without a turn; nil for a guest's
}

// add starts a turn now, or after those before it, and reports whether it waits.
func (q *turnQueue) add(t waitingTurn) (waits bool) {
	q.mu.Lock()
	if len(q.waiting) > 0 || q.running > 0 && (q.guests || t.drop == nil) {
		q.waiting = append(q.waiting, t)
		q.mu.Unlock()
		return true
	}
	q.running, q.guests = q.running+1, q.guests || t.drop == nil
	q.mu.Unlock()
	t.start()
	return false
}

// ended says that a turn has ended, and starts the next one.
func (q *turnQueue) ended() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running = max(0, q.running-1); q.running > 0 {
		return
	}
	if q.guests = false; len(q.waiting) == 0 {
		return
	}
	t := q.waiting[0]
	q.waiting = q.waiting[1:]
	q.running, q.guests = 1, t.drop == nil
	go t.start() // the agent may have to say more before it reads
}

// drop drops the editor's prompts that wait: the editor has canceled them.
func (q *turnQueue) drop() {
	q.mu.Lock()
	all := slices.Clone(q.waiting)
	q.waiting = slices.DeleteFunc(q.waiting, func(t waitingTurn) bool { return t.drop != nil })
	q.mu.Unlock()
	for _, t := range all {
		if t.drop != nil {
			t.drop()
		}
	}
}
