package postgres

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/skein-dev/skein"
)

// An echo is what happens after a commit: watchers are woken, other processes are
// notified, and the search index is built.
type echo struct {
	wakers      *wakers
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
	c.wakers = newWakers()
	c.listener = &listener{core: c, node: node, done: make(chan struct{})}
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
		c.wakers.wake(ids)
		c.notifier.add(ids)
	}
	if events > 0 {
		c.index.add(events)
	}
}
