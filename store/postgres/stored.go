package postgres

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/skein-dev/skein"
)

// An echo is what follows from a commit and is no part of it: watchers look,
// other processes are told, the search index is fed.
type echo struct {
	wakers   *wakers
	listener *listener
	notifier *notifier
	index    *indexer
	cluster  string // a name for the cluster and the database
	chores   *maintenance
}

// begin starts what runs in the background until the store is closed.
func (c *core) begin() {
	var name [4]byte
	rand.Read(name[:])
	node := hex.EncodeToString(name[:])
	c.wakers = newWakers()
	c.listener = &listener{core: c, node: node, done: make(chan struct{})}
	c.notifier = &notifier{core: c, node: node, wake: make(chan struct{}, 1), done: make(chan struct{}), ids: map[skein.SessionID]bool{}}
	c.index = newIndexer(c)
	c.chores = newMaintenance(c)
	go c.chores.loop()
	go c.listener.listen()
	go c.notifier.notify()
	go c.index.loop()
}

// finish waits for what begin started. No call is under way any more.
func (c *core) finish() {
	<-c.chores.done
	<-c.listener.done
	<-c.notifier.done
	<-c.index.done
	c.notifier.tell() // of calls that ended after it had
	c.index.finish()
}

// stored is told what a commit has changed: how many events it has added, and
// the sessions, also those that were deleted. It never waits.
func (c *core) stored(events int, ids ...skein.SessionID) {
	if len(ids) > 0 {
		c.wakers.wake(ids)
		c.notifier.add(ids)
	}
	if events > 0 {
		c.index.add(events)
	}
}
