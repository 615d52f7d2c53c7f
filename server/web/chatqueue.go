package web

import (
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

// maxWaiting is how many messages of a session can wait for the end of its turn.
const maxWaiting = 20

// waitingText is a message that will be sent when the turn before it has ended well.
type waitingText struct {
	Place int // its number among all messages that ever waited
	Text  string
	Files string // their names
}

// wait lets t begin when the turns before it have ended well.
//
// The error wraps [skein.ErrFull] if too many wait already, or [skein.ErrLocked] if t says
// nothing new.
func (c *Turns) wait(t *RunningTurn) error {
	if t.Again {
		return fmt.Errorf("%w: the agent is still answering", skein.ErrLocked)
	}
	c.mu.Lock()
	full := len(c.queue[t.Session]) >= maxWaiting
	held := bytesOf(t.Files)
	for _, other := range c.queue[t.Session] {
		held += bytesOf(other.Files)
	}
	heavy := len(t.Files) > 0 && held > maxSentBytes
	if !full && !heavy {
		c.waits++
		t.place = c.waits
		c.queue[t.Session] = append(c.queue[t.Session], t)
	}
	c.mu.Unlock()
	if full {
		return fmt.Errorf("%w: %d messages are waiting already", skein.ErrFull, maxWaiting)
	}
	if heavy {
		return fmt.Errorf("%w: the files of the messages that wait have more than %s; send these after the answer", skein.ErrFull, render.Bytes(maxSentBytes))
	}
	c.next(t.Session) // the turn may have ended meanwhile
	c.tell(t.Session, turnNews{Kind: "state"})
	return nil
}

// afresh returns t as it was before it began, to wait again.
func (t *RunningTurn) afresh() *RunningTurn {
	again := &RunningTurn{Session: t.Session, User: t.User, Agent: t.Agent, Model: t.Model, Effort: t.Effort, Text: t.Text, Files: t.Files, place: t.place}
	again.prepare(t.chat)
	return again
}

// next begins the turn that waits first, if none runs.
func (c *Turns) next(id skein.SessionID) {
	c.mu.Lock()
	waiting := c.queue[id]
	if len(waiting) == 0 || c.talks[id] != nil || c.ended {
		c.mu.Unlock()
		return
	}
	t := waiting[0]
	c.talks[id] = t
	c.leave(id, 0)
	c.mu.Unlock()
	c.start(t)
}

// leave removes the i-th message from a session's queue. c.mu is held.
func (c *Turns) leave(id skein.SessionID, i int) {
	if c.queue[id] = slices.Delete(slices.Clone(c.queue[id]), i, i+1); len(c.queue[id]) == 0 {
		delete(c.queue, id)
	}
}

// waiting returns the messages that wait in a session, in order.
func (c *Turns) waiting(id skein.SessionID) (all []waitingText) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.queue[id] {
		all = append(all, waitingText{t.place, t.Text, fileNames(t.Files)})
	}
	return all
}

// drop takes the message at a place from the queue and returns its text; "" if it does not
// wait any more.
func (c *Turns) drop(id skein.SessionID, place int) (text string) {
	c.mu.Lock()
	if i := slices.IndexFunc(c.queue[id], func(t *RunningTurn) bool { return t.place == place }); i >= 0 {
		text = c.queue[id][i].Text
		c.leave(id, i)
	}
	c.mu.Unlock()
	c.tell(id, turnNews{Kind: "state"})
	return text
}
