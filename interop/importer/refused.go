package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// A storeRefusal is a reason for which a store refuses batches.
type storeRefusal struct {
	is error

	// remove removes the reason from what is queued; some is false if it cannot.
	remove func(ctx context.Context, o *outbox) (some bool, err error)
}

var refusals = []storeRefusal{
	{skein.ErrUnknown, func(context.Context, *outbox) (bool, error) { return true, nil }},
	{skein.ErrInvalid, func(_ context.Context, o *outbox) (bool, error) { return o.dropInvalid(), nil }},
	{skein.ErrMismatch, func(ctx context.Context, o *outbox) (bool, error) { return true, o.reconcileAll(ctx) }},
	{skein.ErrExists, func(ctx context.Context, o *outbox) (bool, error) { return o.rename(ctx) }},
	{skein.ErrDeleted, func(ctx context.Context, o *outbox) (bool, error) {
		if len(o.order) < 2 {
			return false, nil
		}
		return true, o.dropDead(ctx)
	}},
}

// appendAll appends the batches. If the store refuses them for reasons that can be
// removed, it removes each once and tries again: under a new ID, a session may be found
// to be a fork that says something else than its parent.
func (o *outbox) appendAll(ctx context.Context, bs []skein.Batch) ([]skein.Receipt, error) {
	next, left := bs, slices.Clone(refusals)
	for {
		got, err := o.store.Append(ctx, next...)
		if err == nil {
			copy(bs, next)
			for i := len(next); i < len(bs); i++ {
				bs[i] = skein.Batch{}
				got = append(got, skein.Receipt{})
			}
			return got, nil
		}
		i := slices.IndexFunc(left, func(r storeRefusal) bool { return errors.Is(err, r.is) })
		if i < 0 {
			return got, err
		}
		switch some, err2 := left[i].remove(ctx, o); {
		case err2 != nil:
			return nil, err2
		case !some:
			return got, err
		}
		next, left = o.batches(), slices.Delete(left, i, i+1)
	}
}

// dropInvalid drops the events that no store accepts and marks their records as
// damaged. It reports whether there were any.
func (o *outbox) dropInvalid() (some bool) {
	for _, th := range o.order {
		th.events = slices.DeleteFunc(th.events, func(w waiting) bool {
			_, err := skein.FactsOf(w.event)
			if err == nil {
				return false
			}
			some = true
			for i := range o.records {
				if o.records[i].N == w.at.n {
					o.records[i].Damage = fmt.Sprintf("%.200v", err)
					o.file.Damaged++
					o.rep.AddDamage(o.file.Path, w.at.line, o.records[i].Damage)
				}
			}
			return true
		})
	}
	return some
}

// reconcileAll compares what is queued with what the store has: another writer
// stored different content under one of the client IDs.
func (o *outbox) reconcileAll(ctx context.Context) error {
	for _, th := range o.order {
		if len(th.events) == 0 {
			continue
		}
		if err := th.load(ctx, o.store); err != nil {
			if errors.Is(err, skein.ErrNotFound) {
				continue
			}
			return err
		}
		waits := th.events
		th.events = nil
		for _, w := range waits {
			th.reconcile(w.event, nil, w.index, w.at)
		}
	}
	return nil
}

// dropDead finds out which children among the file's sessions were deleted.
func (o *outbox) dropDead(ctx context.Context) error {
	for _, th := range o.order {
		if th == o.main || !th.begun || len(th.events) == 0 {
			continue
		}
		_, err := o.store.Append(ctx, skein.Batch{Session: th.id, Import: &skein.Import{File: o.file}})
		switch {
		case errors.Is(err, skein.ErrDeleted):
			th.dead = true
		case err != nil && !errors.Is(err, skein.ErrNotFound):
			return err
		}
	}
	return nil
}

// rename gives a free ID to each of the file's sessions that is to begin with an ID
// which another user has. It reports whether there were any.
func (o *outbox) rename(ctx context.Context) (some bool, err error) {
	for _, th := range o.order {
		if len(th.events) == 0 || th.events[0].event.Kind != skein.KindCreated {
			continue
		}
		was := th.id
		for n := 0; ; n++ { // at most as often as users have read the same file
			if free, err := skein.Free(ctx, o.store, th.id); err != nil {
				return some, err
			} else if free {
				break
			}
			th.id = was.Other(n)
		}
		if th.id == was {
			continue
		}
		some = true
		if th == o.main {
			o.file.Session = th.id
		}
		if err := o.reparent(was, th.id); err != nil {
			return some, err
		}
	}
	return some, nil
}

// reparent moves the sessions that wait to begin below one parent to another.
func (o *outbox) reparent(was, is skein.SessionID) error {
	for _, th := range o.order {
		if len(th.events) == 0 || th.events[0].event.Kind != skein.KindCreated {
			continue
		}
		e := &th.events[0].event
		c, err := skein.Decode[skein.Created](*e)
		if err != nil {
			return err
		}
		if c.Parent == nil || c.Parent.Session != was || th.fork != nil {
			continue
		}
		c.Parent.Session = is
		next := skein.NewEvent(e.Kind, e.Time, c)
		next.ClientID = e.ClientID
		*e = next
	}
	return nil
}
