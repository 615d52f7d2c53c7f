package postgres

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/stream"
)

// An echo is what happens after a commit: watchers are woken, other processes are
// notified, and the search index is built.
type echo struct {
	wakers      *stream.Wakers
	listener    *listener
	notifier    *notifier
	index       *indexer
	cluster     string // a name for the cluster and the database
	maintenance *maintenance
}

// begin starts what runs in the background until the store is closed; maintenance
// runs after first.
func (c *core) begin(first time.Duration) {
	var name [4]byte
	rand.Read(name[:])
	node := hex.EncodeToString(name[:])
	c.listener = &listener{core: c, node: node, watched: make(chan struct{}), done: make(chan struct{})}
	watched := sync.OnceFunc(func() { close(c.listener.watched) })
	c.wakers = stream.NewWakers(func() (last func(), err error) {
		watched()
		return nil, nil
	})
	c.notifier = &notifier{core: c, node: node, wake: make(chan struct{}, 1), done: make(chan struct{}), ids: map[skein.SessionID]bool{}}
	c.index = newIndexer(c)
	c.maintenance = newMaintenance(c)
	go c.maintenance.loop(first)
	go c.listener.listen()
	go c.notifier.notify()
	go c.index.loop()
}

// finish waits for what begin started. No call is under way.
func (c *core) finish() {
	<-c.maintenance.done
	<-c.listener.done
	<-c.notifier.done
	<-c.index.done
	c.notifier.tell() // for calls that ended after the notifier had
	c.index.finish()
}

// stored announces what a commit has changed: the number of events that it added, and
// the sessions, including deleted ones. It never blocks.
func (c *core) stored(events int, ids ...skein.SessionID) {
	if len(ids) > 0 {
		c.wakers.Wake(ids)
		c.notifier.add(ids)
	}
	if events > 0 {
		c.index.add(events)
	}
}

// Close implements [skein.Store]. On a view it does nothing.
func (s *Store) Close() error {
	if s.part {
		return nil
	}
	s.mu.Lock()
	first := !s.closed
	if first {
		s.closed = true
		close(s.ending)
		s.stop()
	}
	s.mu.Unlock()
	if first {
		s.calls.Wait()
		s.end()
		close(s.gone)
	}
	<-s.gone
	return nil
}

// end releases everything; no call is under way.
func (c *core) end() {
	c.keeper.close()
	c.finish()
	c.pool.Close()
	c.pack.Close()
}

// enter admits a call, unless the store is closed. A call that was admitted must
// call leave.
func (c *core) enter() (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, skein.ErrClosed
	}
	c.calls.Add(1)
	return c.calls.Done, nil
}

// enter is the core's enter, but calls from within an admitted call always succeed,
// so that it can finish while the store is being closed.
func (s *view) enter() (leave func(), err error) {
	if s.in {
		return func() {}, nil
	}
	return s.core.enter()
}

// inside returns the view for an admitted call to use.
func (s *view) inside() *view { return &view{core: s.core, user: s.user, part: true, in: true} }
