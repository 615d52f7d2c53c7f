package postgres

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/skein-dev/skein"
)

// The most that one statement writes.
const (
	groupJobs  = 128
	groupBytes = 1 << 20
)

// queues holds the queues in which this process's appends to one session wait for
// each other. An append that finds its queue empty leads: it writes the appends that
// have arrived meanwhile with its own, and hands the lead to the first one left.
type queues struct {
	mu sync.Mutex
	m  map[lineKey]*appendQueue
}

// A lineKey identifies a queue. Each view has its own queues.
type lineKey struct {
	id   skein.SessionID
	user skein.User
}

type appendQueue struct {
	waiting []*job
}

func newQueues() *queues { return &queues{m: map[lineKey]*appendQueue{}} }

// inLine runs j, which is one batch for one session, when its turn comes. If j.ctx
// ends before that, nothing of it is stored.
func (s appends) inLine(j *job) {
	k := lineKey{j.batches[0].Session, s.user}
	if !s.lines.join(k, j) {
		select {
		case done := <-j.turn:
			if done {
				return
			}
		case <-j.ctx.Done():
			if s.lines.quit(k, j) {
				j.err = j.ctx.Err()
				return
			}
			if done := <-j.turn; done { // j is being written
				return
			}
		}
	}
	group := s.lines.group(k, j)
	s.appendGroup(group)
	for _, other := range group[1:] {
		other.turn <- true
	}
	s.lines.next(k)
}

// join puts j into queue k, and reports whether it leads.
func (q *queues) join(k lineKey, j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.m[k]
	if l == nil {
		q.m[k] = &appendQueue{}
		return true
	}
	l.waiting = append(l.waiting, j)
	return false
}

// quit removes j from queue k, and reports whether it was still waiting there.
func (q *queues) quit(k lineKey, j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.m[k]
	if l == nil {
		return false
	}
	i := slices.Index(l.waiting, j)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	return i >= 0
}

// group returns the jobs that j, which leads, writes: itself and those waiting behind
// it that can be written with it.
func (q *queues) group(k lineKey, j *job) []*job {
	group := []*job{j}
	if !j.simple() {
		return group
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.m[k]
	size := j.size()
	for len(l.waiting) > 0 && len(group) < groupJobs {
		next := l.waiting[0]
		if size += next.size(); !next.simple() || size > groupBytes || next.fence() != j.fence() {
			break
		}
		group = append(group, next)
		l.waiting = l.waiting[1:]
	}
	return group
}

// next hands the lead to the first job that waits.
func (q *queues) next(k lineKey) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.m[k]
	if len(l.waiting) == 0 {
		delete(q.m, k)
		return
	}
	first := l.waiting[0]
	l.waiting = l.waiting[1:]
	first.turn <- false
}

// simple reports whether j needs nothing but its session's head, so that one statement
// can write it together with others.
func (j *job) simple() bool {
	p := &j.batches[0]
	if p.Import != nil || len(p.blobs) > 0 {
		return false
	}
	for i := range p.events {
		f := &p.events[i].Facts
		if f.Created != nil || f.Amended != nil || f.Rewound != nil || len(f.Blobs) > 0 || f.Changed != nil && f.Changed.Key != nil {
			return false
		}
	}
	return true
}

func (j *job) fence() skein.Fence { return j.batches[0].Fence }

func (j *job) size() (n int) {
	for i := range j.batches[0].events {
		n += 200 + len(j.batches[0].events[i].Payload)
	}
	return n
}

// all returns a context that ends when the contexts of all jobs have ended.
func all(jobs []*job) (context.Context, context.CancelFunc) {
	if len(jobs) == 1 {
		return context.WithCancel(jobs[0].ctx)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(jobs[0].ctx))
	var left atomic.Int64
	left.Store(int64(len(jobs)))
	stops := make([]func() bool, len(jobs))
	for i, j := range jobs {
		stops[i] = context.AfterFunc(j.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}
