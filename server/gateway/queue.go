package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/sleep"
)

// A queuedMessage is a message that waits for its turn.
type queuedMessage struct {
	Message
	heard  chan Answer // gets the answer instead of the surface; nil: the answer is sent
	before bool        // it came before: it is not said, or run, again
}

// A keyQueue is the messages under one key, which are answered in order.
type keyQueue struct{ items []*queuedMessage }

// enqueue appends it to the messages under its key. One that comes before the
// run is answered when that begins.
func (g *Gateway) enqueue(it *queuedMessage) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return skein.ErrClosed
	case g.ctx == nil:
		g.early = append(g.early, it)
	default:
		g.line(it)
	}
	return nil
}

// line adds it to the queue of its key, and starts a worker for a new queue. g.mu
// is held.
func (g *Gateway) line(it *queuedMessage) {
	l := g.queues[it.Key]
	if l == nil {
		l = &keyQueue{}
		g.queues[it.Key] = l
		g.working.Go(func() { g.work(g.ctx, it.Key, l) })
	}
	l.items = append(l.items, it)
}

// work answers the messages of a queue until none is left.
func (g *Gateway) work(ctx context.Context, key string, l *keyQueue) {
	for {
		g.mu.Lock()
		if len(l.items) == 0 {
			delete(g.queues, key)
			g.mu.Unlock()
			return
		}
		it := l.items[0]
		l.items = l.items[1:]
		g.mu.Unlock()
		g.handle(ctx, it)
	}
}

// handle answers a message and delivers the answer. A message that is cut off
// by the end of ctx stays in the inbox.
func (g *Gateway) handle(ctx context.Context, it *queuedMessage) {
	if it.heard != nil {
		defer close(it.heard)
	}
	if ctx.Err() != nil {
		return
	}
	a, over := g.answered(ctx, it)
	if !over {
		return
	}
	a.Text = g.Secrets.Text(a.Text)
	if it.heard != nil {
		it.heard <- a
	} else if !g.deliver(ctx, it, a.Text) {
		return
	}
	if it.before {
		return
	}
	if err := g.inbox.done(it.Message); err != nil {
		g.Log.Error("a message was answered but cannot be marked as answered", "key", it.Key, "err", err)
	}
}

// answered is answer, with the surface showing that it is being worked on.
func (g *Gateway) answered(ctx context.Context, it *queuedMessage) (Answer, bool) {
	var showing sync.WaitGroup
	defer showing.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if w, ok := g.surface(it.Surface).(Worker); ok && it.heard == nil {
		showing.Go(func() {
			for ctx.Err() == nil {
				w.Working(ctx, it.To)
				if sleep.For(ctx, 4*time.Second) != nil {
					return
				}
			}
		})
	}
	return g.answer(ctx, it)
}

// tries is how often sending an answer is tried.
const tries = 5

// deliver sends an answer, and reports whether it is finished with it.
func (g *Gateway) deliver(ctx context.Context, it *queuedMessage, text string) bool {
	if text == "" {
		return true
	}
	if g.sent.repeated(it.Key, text, g.Now()) {
		g.Log.Info("the same answer was just sent", "key", it.Key)
		return true
	}
	s := g.surface(it.Surface)
	for try := range tries {
		if s == nil {
			g.Log.Error("an answer cannot be sent: its surface is no longer configured", "surface", it.Surface, "key", it.Key)
			break
		}
		err := s.Send(ctx, it.To, text)
		if err == nil {
			return true
		}
		g.Log.Error("an answer could not be delivered", "key", it.Key, "try", try+1, "err", err)
		if try+1 == tries || g.Wait(ctx, time.Second<<(2*try)) != nil {
			break
		}
	}
	g.sent.unsent(it.Key, text)
	return false
}

// heldSession is a session that queues work on, or wait for.
type heldSession struct {
	sync.Mutex
	users int
}

// hold waits until no other queue works on the session, and returns what lets
// the next queue go on.
func (g *Gateway) hold(id skein.SessionID) (free func()) {
	g.mu.Lock()
	h := g.sessions[id]
	if h == nil {
		h = &heldSession{}
		g.sessions[id] = h
	}
	h.users++
	g.mu.Unlock()
	h.Lock()
	return func() {
		h.Unlock()
		g.mu.Lock()
		defer g.mu.Unlock()
		if h.users--; h.users == 0 {
			delete(g.sessions, id)
		}
	}
}
