package acp

import (
	"io"
	"sync"
)

// mostQueued is how many bytes may wait for a program that does not read.
const mostQueued = 16 << 20

// A peerQueue writes lines to a program in the background.
type peerQueue struct {
	whole sync.Mutex // held while the pieces of a line are added
	mu    sync.Mutex
	moved sync.Cond
	lines [][]byte
	size  int
	ended bool // nothing will be added
	dead  bool // the program does not read any more
	done  chan struct{}
}

func newPeerQueue(to io.WriteCloser) *peerQueue {
	q := &peerQueue{done: make(chan struct{})}
	q.moved.L = &q.mu
	go q.run(to)
	return q
}

// put adds a line. What is added after the end is dropped, as is everything once the
// program does not read any more.
func (q *peerQueue) put(line []byte) {
	q.whole.Lock()
	defer q.whole.Unlock()
	q.piece(line)
}

// piece adds a piece of a line; the caller holds q.whole.
func (q *peerQueue) piece(b []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.size > mostQueued && !q.dead && !q.ended {
		q.moved.Wait()
	}
	if q.dead || q.ended {
		return
	}
	q.lines, q.size = append(q.lines, b), q.size+len(b)
	q.moved.Broadcast()
}

// end says that nothing will be added, and waits until all is written or abort ends.
func (q *peerQueue) end(abort <-chan struct{}) {
	q.mu.Lock()
	q.ended = true
	q.moved.Broadcast()
	q.mu.Unlock()
	select {
	case <-q.done:
	case <-abort:
	}
}

func (q *peerQueue) run(to io.WriteCloser) {
	defer close(q.done)
	defer to.Close()
	for {
		q.mu.Lock()
		for len(q.lines) == 0 && !q.ended {
			q.moved.Wait()
		}
		if len(q.lines) == 0 {
			q.mu.Unlock()
			return
		}
		line := q.lines[0]
		q.mu.Unlock()
		_, err := to.Write(line)
		q.mu.Lock()
		q.lines, q.size = q.lines[1:], q.size-len(line)
		if err != nil {
			q.dead, q.lines, q.size = true, nil, 0
		}
		q.moved.Broadcast()
		q.mu.Unlock()
	}
}
