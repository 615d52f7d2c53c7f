package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lenient"
)

// settling is how often an append is tried whose outcome is unknown.
const settling = 4

// manyEvents is more than a window usually has.
const manyEvents = 1000

// A sessionWriter stores the events of a session that this process works on,
// and keeps those that the context is computed from.
type sessionWriter struct {
	o     Options
	id    skein.SessionID
	lease skein.Lease
	agent Agent

	about skein.Created // User, Surface, Project and Cwd of the session
	begun bool          // the session is stored
	at    bool          // this process has stored created or resumed
	last  skein.Seq
	base  skein.Seq // seq up to which a fork shows its parent

	writer  string        // prefix of the client IDs of this thread
	written int           // number of events that had such an ID
	early   []skein.Event // to be appended after created
	owed    []skein.Batch // events that happened and could not be stored yet
	fenced  error         // not nil if the session was taken over

	window []skein.Event // that the context is computed from; nil if they must be read
	enough int           // number of events in window from which on it is read again
}

// put stores events, all or none, after any that are still to be stored. ctx
// does not cancel it: what happened has happened.
func (w *sessionWriter) put(ctx context.Context, blobs []skein.Blob, events ...skein.Event) error {
	return w.store(ctx, w.batch(blobs, events), false)
}

// keep is put for what happened and cannot be repeated, such as an answer that
// was paid for or the outcome of a tool: if it cannot be stored now, it is kept
// and stored before the next events.
func (w *sessionWriter) keep(ctx context.Context, blobs []skein.Blob, events ...skein.Event) error {
	return w.store(ctx, w.batch(blobs, events), true)
}

// work is put for events of this process's own work on the session: before the
// first of them, it stores that the session was created or resumed.
func (w *sessionWriter) work(ctx context.Context, blobs []skein.Blob, events ...skein.Event) error {
	if err := w.settle(ctx); err != nil { // the unsaved events may include the prologue
		return err
	}
	first, err := w.prologue(ctx)
	if err != nil {
		return err
	}
	if err := w.put(ctx, blobs, append(first, events...)...); err != nil {
		return err
	}
	w.at = true
	return nil
}

// prologue returns the events that come before the first events of this
// process.
func (w *sessionWriter) prologue(ctx context.Context) ([]skein.Event, error) {
	switch {
	case w.at:
		return nil, nil
	case w.begun:
		marks, err := w.unbegun(ctx)
		if err != nil {
			return nil, err
		}
		if stayed, err := w.stayed(ctx); err != nil || stayed {
			return marks, err
		}
		return append(marks, skein.NewEvent(skein.KindResumed, w.now(), w.program(""))), nil
	}
	c := w.o.Created
	c.Agent, c.Profile = w.agent.Name, w.agent.Profile
	if w.agent.Model != nil {
		about := w.agent.Model.About()
		c.Provider, c.Model = about.Provider, about.Model
	}
	if len(c.Config) == 0 {
		c.Config = w.agent.Config
	}
	if c.Program == "" {
		c.Program, c.Version = w.o.Program, w.o.Version
	}
	return append([]skein.Event{skein.NewEvent(skein.KindCreated, w.now(), c)}, w.early...), nil
}

// batch returns events as a batch with client IDs, so that appending it twice
// stores it once, and with the lease's number.
func (w *sessionWriter) batch(blobs []skein.Blob, events []skein.Event) skein.Batch {
	b := skein.Batch{Session: w.id, Fence: w.lease.Fence, Events: events, Blobs: blobs}
	for i := range events {
		if events[i].ClientID != "" {
			continue // it has one already
		}
		w.written++
		events[i].ClientID = skein.ClientID(fmt.Sprintf("%s-%d", w.writer, w.written))
	}
	if len(events) > 0 && events[0].Kind == skein.KindCreated {
		b.After = skein.Fresh
	}
	return b
}

func (w *sessionWriter) store(ctx context.Context, b skein.Batch, owe bool) error {
	err := w.settle(ctx)
	if err == nil && len(b.Events) > 0 {
		err = w.append(ctx, b)
	}
	if errors.Is(err, skein.ErrUnknown) || owe && err != nil && !final(err) {
		w.owed = append(w.owed, b)
	}
	return err
}

// settle stores the events that could not be stored before.
func (w *sessionWriter) settle(ctx context.Context) error {
	for len(w.owed) > 0 {
		err := w.append(ctx, w.owed[0])
		if err != nil && !final(err) {
			return err
		}
		w.owed = slices.Delete(w.owed, 0, 1)
		if err != nil {
			return err
		}
	}
	return nil
}

// final reports whether the Store will never accept a batch that it refused
// with err.
func final(err error) bool {
	return slices.ContainsFunc([]error{
		skein.ErrFenced, skein.ErrInvalid, skein.ErrMismatch, skein.ErrDeleted, skein.ErrNotFound, skein.ErrExists, skein.ErrConflict, skein.ErrLocked,
	}, func(target error) bool { return errors.Is(err, target) })
}

// append hands b to the Store, again if the outcome is unknown.
func (w *sessionWriter) append(ctx context.Context, b skein.Batch) error {
	if w.fenced != nil {
		return w.fenced
	}
	ctx = context.WithoutCancel(ctx)
	var receipts []skein.Receipt
	var err error
	for try := range settling {
		if try > 0 {
			if err := w.o.Wait(ctx, time.Duration(try)*100*time.Millisecond); err != nil {
				return err
			}
		}
		if receipts, err = w.o.Store.Append(ctx, b); !errors.Is(err, skein.ErrUnknown) {
			break
		}
	}
	if errors.Is(err, skein.ErrFenced) {
		w.fenced = err
	}
	if err != nil {
		return err
	}
	w.stored(b, receipts[0])
	return nil
}

// stored updates the thread after b was stored.
func (w *sessionWriter) stored(b skein.Batch, r skein.Receipt) {
	events := slices.Clone(b.Events)
	gap := len(events) > 0 && r.Seqs[0] != w.last+1
	for i := range events {
		e := &events[i]
		e.Seq = r.Seqs[i]
		switch e.Kind {
		case skein.KindCreated:
			w.begun, w.at, w.early = true, true, nil
		case skein.KindResumed:
			w.at = true
		case skein.KindRewound, skein.KindCompacted:
			gap = true // another part of the session is shown now
		}
	}
	if gap || r.Last != r.Seqs[len(r.Seqs)-1] {
		w.window = nil
	}
	if w.window != nil {
		w.window = append(w.window, events...)
	}
	w.last = r.Last
	w.o.Observe(Update{Kind: Stored, Events: events})
}

// events returns the events that the context is computed from. The caller must
// not modify them. They are read again once there are many, because most of
// them are no longer shown.
func (w *sessionWriter) events(ctx context.Context) ([]skein.Event, error) {
	if w.begun && (w.window == nil || len(w.window) > w.enough) {
		store := lenient.Store(w.o.Store, nil) // what is damaged is shown as damaged
		events, err := store.Window(ctx, w.id, w.agent.newest())
		for n, had := 2*w.agent.newest(), -1; err == nil && len(events) > had && !slices.ContainsFunc(events, prompts); n *= 2 { // a long turn
			had = len(events)
			events, err = store.Window(ctx, w.id, n)
		}
		if err != nil {
			return nil, err
		}
		w.window = slices.Grow(events, 1) // nil means not read yet
		w.enough = 2*len(events) + manyEvents
	}
	return slices.Clip(w.window), nil
}

func (a *Agent) newest() int {
	if a.Newest > 0 {
		return a.Newest
	}
	return 200
}
