package acp

import "sync"

// A sessionQueue passes the lines of one session on to a program's queue, in order. A
// line that must wait for the disk holds back only those after it.
type sessionQueue struct {
	to    *peerQueue
	mu    sync.Mutex
	moved sync.Cond
	lines []heldLine
	size  int
	busy  bool
}

// A heldLine is passed on once first, if there is one, returns what to pass on in its
// place: nil for nothing.
type heldLine struct {
	line  []byte
	first func() []byte
}

func newSessionQueue(to *peerQueue) *sessionQueue {
	l := &sessionQueue{to: to}
	l.moved.L = &l.mu
	return l
}

// pass passes line on, after first.
func (l *sessionQueue) pass(line []byte, first func() []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if first == nil && !l.busy {
		l.to.put(line)
		return
	}
	for l.size > mostQueued {
		l.moved.Wait()
	}
	l.lines, l.size = append(l.lines, heldLine{line, first}), l.size+len(line)
	if !l.busy {
		l.busy = true
		go l.drain()
	}
}

func (l *sessionQueue) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.lines) > 0 {
		h := l.lines[0]
		l.lines = l.lines[1:]
		l.mu.Unlock()
		out := h.line
		if h.first != nil {
			out = h.first()
		}
		if out != nil {
			l.to.put(out)
		}
		l.mu.Lock()
		l.size -= len(h.line)
		l.moved.Broadcast()
	}
	l.busy = false
	l.moved.Broadcast()
}

// idle waits until nothing waits in l, and returns with l locked.
func (l *sessionQueue) idle() {
	l.mu.Lock()
	for l.busy {
		l.moved.Wait()
	}
}
