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

// put stores events, all or none, after any that are still to be stored. ctx
// does not cancel it: what happened has happened.
func (t *Thread) put(ctx context.Context, blobs []skein.Blob, events ...skein.Event) error {
	return t.store(ctx, t.batch(blobs, events), false)
}

// keep is put for what happened and cannot be repeated, such as an answer that
// was paid for or the outcome of a tool: if it cannot be stored now, it is kept
// and stored before the next events.
func (t *Thread) keep(ctx context.Context, blobs []skein.Blob, events ...skein.Event) error {
	return t.store(ctx, t.batch(blobs, events), true)
}

// work is put for events of this process's own work on the session: before the
// first of them, it stores that the session was created or resumed.
func (t *Thread) work(ctx context.Context, blobs []skein.Blob, events ...skein.Event) error {
	if err := t.settle(ctx); err != nil { // the unsaved events may include the prologue
		return err
	}
	first, err := t.prologue(ctx)
	if err != nil {
		return err
	}
	if err := t.put(ctx, blobs, append(first, events...)...); err != nil {
		return err
	}
	t.at = true
	return nil
}

// prologue returns the events that come before the first events of this
// process.
func (t *Thread) prologue(ctx context.Context) ([]skein.Event, error) {
	switch {
	case t.at:
		return nil, nil
	case t.begun:
		marks, err := t.unbegun(ctx)
		if err != nil {
			return nil, err
		}
		if stayed, err := t.stayed(ctx); err != nil || stayed {
			return marks, err
		}
		return append(marks, skein.NewEvent(skein.KindResumed, t.now(), t.program(""))), nil
	}
	c := t.o.Created
	c.Agent, c.Profile = t.agent.Name, t.agent.Profile
	if t.agent.Model != nil {
		about := t.agent.Model.About()
		c.Provider, c.Model = about.Provider, about.Model
	}
	if len(c.Config) == 0 {
		c.Config = t.agent.Config
	}
	if c.Program == "" {
		c.Program, c.Version = t.o.Program, t.o.Version
	}
	return append([]skein.Event{skein.NewEvent(skein.KindCreated, t.now(), c)}, t.early...), nil
}

// batch returns events as a batch with client IDs, so that appending it twice
// stores it once, and with the lease's number.
func (t *Thread) batch(blobs []skein.Blob, events []skein.Event) skein.Batch {
	b := skein.Batch{Session: t.id, Fence: t.lease.Fence, Events: events, Blobs: blobs}
	for i := range events {
		if events[i].ClientID != "" {
			continue // it has one already
		}
		t.written++
		events[i].ClientID = skein.ClientID(fmt.Sprintf("%s-%d", t.writer, t.written))
	}
	if len(events) > 0 && events[0].Kind == skein.KindCreated {
		b.After = skein.Fresh
	}
	return b
}

func (t *Thread) store(ctx context.Context, b skein.Batch, owe bool) error {
	err := t.settle(ctx)
	if err == nil && len(b.Events) > 0 {
		err = t.append(ctx, b)
	}
	if errors.Is(err, skein.ErrUnknown) || owe && err != nil && !final(err) {
		t.owed = append(t.owed, b)
	}
	return err
}

// settle stores the events that could not be stored before.
func (t *Thread) settle(ctx context.Context) error {
	for len(t.owed) > 0 {
		err := t.append(ctx, t.owed[0])
		if err != nil && !final(err) {
			return err
		}
		t.owed = slices.Delete(t.owed, 0, 1)
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
func (t *Thread) append(ctx context.Context, b skein.Batch) error {
	if t.fenced != nil {
		return t.fenced
	}
	ctx = context.WithoutCancel(ctx)
	var receipts []skein.Receipt
	var err error
	for try := range settling {
		if try > 0 {
			if err := t.o.Wait(ctx, time.Duration(try)*100*time.Millisecond); err != nil {
				return err
			}
		}
		if receipts, err = t.o.Store.Append(ctx, b); !errors.Is(err, skein.ErrUnknown) {
			break
		}
	}
	if errors.Is(err, skein.ErrFenced) {
		t.fenced = err
	}
	if err != nil {
		return err
	}
	t.stored(b, receipts[0])
	return nil
}

// stored updates the thread after b was stored.
func (t *Thread) stored(b skein.Batch, r skein.Receipt) {
	events := slices.Clone(b.Events)
	gap := len(events) > 0 && r.Seqs[0] != t.last+1
	for i := range events {
		e := &events[i]
		e.Seq = r.Seqs[i]
		switch e.Kind {
		case skein.KindCreated:
			t.begun, t.at, t.early = true, true, nil
		case skein.KindResumed:
			t.at = true
		case skein.KindRewound, skein.KindCompacted:
			gap = true // another part of the session is shown now
		}
	}
	if gap || r.Last != r.Seqs[len(r.Seqs)-1] {
		t.window = nil
	}
	if t.window != nil {
		t.window = append(t.window, events...)
	}
	t.last = r.Last
	t.o.Observe(Update{Kind: Stored, Events: events})
}

// events returns the events that the context is computed from. The caller must
// not modify them. They are read again once there are many, because most of
// them are no longer shown.
func (t *Thread) events(ctx context.Context) ([]skein.Event, error) {
	if t.begun && (t.window == nil || len(t.window) > t.enough) {
		store := lenient.Store(t.o.Store, nil) // what is damaged is shown as damaged
		events, err := store.Window(ctx, t.id, t.newest())
		for n, had := 2*t.newest(), -1; err == nil && len(events) > had && !slices.ContainsFunc(events, prompts); n *= 2 { // a long turn
			had = len(events)
			events, err = store.Window(ctx, t.id, n)
		}
		if err != nil {
			return nil, err
		}
		t.window = slices.Grow(events, 1) // nil means not read yet
		t.enough = 2*len(events) + manyEvents
	}
	return slices.Clip(t.window), nil
}

func (t *Thread) newest() int {
	if t.agent.Newest > 0 {
		return t.agent.Newest
	}
	return 200
}
