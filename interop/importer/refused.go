package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// appendAll appends the batches. If the store refuses them for a reason that can be
// removed, it removes that and tries once more.
func (o *outbox) appendAll(ctx context.Context, bs []skein.Batch) ([]skein.Receipt, error) {
	got, err := o.store.Append(ctx, bs...)
	switch {
	case errors.Is(err, skein.ErrUnknown):
		got, err = o.store.Append(ctx, bs...)
	case errors.Is(err, skein.ErrInvalid):
		if o.dropInvalid() {
			return o.retry(ctx, bs)
		}
	case errors.Is(err, skein.ErrMismatch):
		if err := o.reconcileAll(ctx); err != nil {
			return nil, err
		}
		return o.retry(ctx, bs)
	case errors.Is(err, skein.ErrExists):
		some, err2 := o.rename(ctx)
		switch {
		case err2 != nil:
			return nil, err2
		case some:
			return o.retry(ctx, bs)
		}
	case errors.Is(err, skein.ErrDeleted) && len(bs) > 1:
		if err := o.dropDead(ctx); err != nil {
			return nil, err
		}
		return o.retry(ctx, bs)
	}
	return got, err
}

func (o *outbox) retry(ctx context.Context, bs []skein.Batch) ([]skein.Receipt, error) {
	next := o.batches()
	got, err := o.store.Append(ctx, next...)
	if err != nil {
		return nil, err
	}
	copy(bs, next)
	for i := len(next); i < len(bs); i++ {
		bs[i] = skein.Batch{}
		got = append(got, skein.Receipt{})
	}
	return got, nil
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
