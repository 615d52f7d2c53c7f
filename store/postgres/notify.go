package postgres

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/skein-dev/skein"
)

const (
	notifyEvery = 10 * time.Millisecond
	notifyBytes = 7800 // of one message; PostgreSQL takes 7999
	notifyMost  = 1000 // sessions; of more it is said that all have changed
	notifyFor   = 2 * time.Second
)

// A notifier tells other processes which sessions this one has changed: at most
// every notifyEvery, for what tells makes all commits of the server wait for
// each other. The first is told at once.
type notifier struct {
	core *core
	node string
	wake chan struct{}
	done chan struct{}

	mu   sync.Mutex
	ids  map[skein.SessionID]bool
	lost bool // more has changed than ids
}

// add takes down what has changed. It never waits.
func (n *notifier) add(ids []skein.SessionID) {
	n.mu.Lock()
	for _, id := range ids {
		if n.ids[id] = true; len(n.ids) > notifyMost {
			n.lost = true
			clear(n.ids)
		}
	}
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// notify runs until the store is closed, and tells what is left then.
func (n *notifier) notify() {
	defer close(n.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-n.wake:
		case <-n.core.life.Done():
			n.tell()
			return
		}
		n.tell()
		timer.Reset(notifyEvery)
		select {
		case <-timer.C:
		case <-n.core.life.Done():
		}
	}
}

// tell says what has changed. If that does not work it is left to the looks of
// those who would have heard it.
func (n *notifier) tell() {
	messages := n.messages()
	if len(messages) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.core.life), notifyFor)
	defer cancel()
	_, _ = n.core.pool.Exec(ctx, `SELECT pg_notify($1, m) FROM unnest($2::text[]) m`, channel, messages) //nolint:errcheck // see above
}

// messages returns what is to be said, and forgets it.
func (n *notifier) messages() (all []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lost {
		n.lost = false
		clear(n.ids)
		return []string{string(skein.MustJSON([]string{n.node}))}
	}
	start := string(skein.MustJSON(n.node))
	message := "[" + start
	for id := range n.ids {
		word, err := json.Marshal(string(id))
		if err != nil {
			continue // a string always has JSON
		}
		if len(message)+len(word) > notifyBytes {
			all = append(all, message+"]")
			message = "[" + start
		}
		message += "," + string(word)
	}
	if len(n.ids) > 0 {
		all = append(all, message+"]")
	}
	clear(n.ids)
	return all
}
