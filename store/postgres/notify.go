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
	notifyBytes = 7800 // of one message; PostgreSQL's maximum is 7999
	notifyMost  = 1000 // sessions; if there are more, all are said to have changed
	notifyFor   = 2 * time.Second
)

// A notifier notifies other processes of the sessions that this one has changed: at
// most every notifyEvery, because NOTIFY makes all commits of the server wait for each
// other. The first notification is sent at once.
type notifier struct {
	core *core
	node string
	wake chan struct{}
	done chan struct{}

	mu   sync.Mutex
	ids  map[skein.SessionID]bool
	lost bool // more has changed than ids
}

// add notes which sessions have changed. It never blocks.
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

// notify runs until the store is closed, and then sends what is left.
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

// tell sends the notifications. If that fails, the listeners of other processes find
// the changes in the journal.
func (n *notifier) tell() {
	messages := n.messages()
	if len(messages) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.core.life), notifyFor)
	defer cancel()
	_, _ = n.core.pool.Exec(ctx, `SELECT pg_notify($1, m) FROM unnest($2::text[]) m`, channel, messages) //nolint:errcheck // see above
}

// messages returns the notifications to send, and forgets the changes.
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
			continue // cannot happen for a string
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
