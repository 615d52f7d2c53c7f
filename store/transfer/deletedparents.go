package transfer

import (
	"context"
	"errors"
	"slices"

	"github.com/skein-dev/skein"
)

// parents recreates the deleted parents of a fork: sessions in the deleted ones' place,
// with the events that the fork shows of them. They are deleted in the end, as they
// were in the first store, so that the fork gets their events.
func (c *copyRun) parents(ctx context.Context, k *sourceSession) error {
	if k.Base == 0 || k.Parent == nil || c.sessions[k.Parent.Session] != nil {
		return nil
	}
	if err := c.flush(ctx); err != nil {
		return err
	}
	lines, err := c.chain(ctx, k)
	if err != nil {
		return err
	}
	for _, l := range lines {
		if c.sessions[l.id] == nil {
			if err := c.recreate(ctx, k.User, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// A link is what a fork shows of one session.
type link struct {
	id     skein.SessionID
	events []skein.Event
}

// chain returns what k shows of its parent, of the parent of that, and so on,
// the farthest first.
func (c *copyRun) chain(ctx context.Context, k *sourceSession) (links []link, err error) {
	for e, err := range c.from.Events(ctx, k.ID, 0) {
		if err != nil {
			return nil, err
		}
		if e.Seq > k.Base {
			break
		}
		if e.Kind == skein.KindCreated || len(links) == 0 {
			links = append(links, link{})
		}
		l := &links[len(links)-1]
		l.events = append(l.events, e)
	}
	next := k.Parent.Session
	for i := range slices.Backward(links) {
		links[i].id = next
		created, err := skein.Decode[skein.Created](links[i].events[0])
		if err != nil {
			return nil, err
		}
		if created.Parent != nil {
			next = created.Parent.Session
		}
	}
	return links, nil
}

// recreate creates the deleted session of l, or appends to it.
func (c *copyRun) recreate(ctx context.Context, u skein.User, l link) error {
	if c.only != "" && c.routes[l.id] == nil {
		to, err := pick(l.id, c.look(ctx, l.id, func() (skein.Event, error) { return l.events[0], nil }))
		if err != nil {
			return err
		}
		c.called(l.id, to)
	}
	has, err := c.to.Session(ctx, c.place(l.id))
	if err != nil && !errors.Is(err, skein.ErrNotFound) {
		return err
	}
	after := has.Last
	if after == 0 {
		after = skein.Fresh
	}
	events := slices.DeleteFunc(slices.Clone(l.events), func(e skein.Event) bool { return e.Seq <= has.Last })
	for i := range events {
		if events[i], err = c.given(l.id, events[i]); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(events, maxEvents) {
		b := skein.Batch{Session: l.id, After: after, Events: part, Again: true}
		for _, e := range part {
			blobs, err := c.newBlobs(ctx, u, l.id, e)
			if err != nil {
				return err
			}
			b.Blobs = append(b.Blobs, blobs...)
		}
		if after == skein.Fresh {
			err = c.begin(ctx, u, b)
		} else {
			b.Session = c.place(l.id)
			_, err = c.to.As(c.whose(u)).Append(ctx, b)
		}
		if err != nil {
			return err
		}
		after = part[len(part)-1].Seq
	}
	return nil
}

// clear deletes what was put in the place of deleted sessions, including what an
// earlier, interrupted run left behind. A session that has more than the forks show
// was not put there for them.
func (c *copyRun) clear(ctx context.Context) error {
	shown := map[skein.SessionID]skein.Seq{} // up to where forks show a deleted session
	for _, id := range c.order {
		k := c.sessions[id]
		if k.Base == 0 || k.Parent == nil {
			continue
		}
		for at := (skein.Place{Session: c.place(k.Parent.Session), Seq: k.Base}); !c.ours[at.Session]; {
			shown[at.Session] = max(shown[at.Session], at.Seq)
			s, err := c.to.Session(ctx, at.Session)
			if err != nil && !errors.Is(err, skein.ErrNotFound) {
				return err
			}
			if err != nil || s.Base == 0 || s.Parent == nil {
				break
			}
			at = skein.Place{Session: s.Parent.Session, Seq: s.Base}
		}
	}
	for id, upto := range shown {
		s, err := c.to.Session(ctx, id)
		if errors.Is(err, skein.ErrNotFound) || err == nil && s.Last > upto {
			continue
		}
		if err == nil {
			_, err = skein.LifecycleOf(c.to).Delete(ctx, id, skein.Deletion{})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
