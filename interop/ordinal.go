package interop

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// beyond reports whether an amended event is about none of the session's own.
func (t *target) beyond(e skein.Event, th *thread) bool {
	a, err := skein.Decode[skein.Amended](e)
	return err != nil || a.Seq <= th.base
}

// place returns the event of it with the seq in its payload that it speaks of.
func (t *target) place(ctx context.Context, th *thread, it Item) (skein.Event, error) {
	e := it.Event
	if e.Kind != skein.KindRewound && e.Kind != skein.KindCompacted && e.Kind != skein.KindAmended {
		return e, nil
	}
	to, err := t.seq(ctx, th, it.To)
	if err != nil {
		return e, err
	}
	switch e.Kind {
	case skein.KindRewound:
		e.Payload = skein.MustJSON(skein.Rewound{To: to})
	case skein.KindCompacted:
		var c skein.Compacted
		c, err = skein.Decode[skein.Compacted](e)
		if c.To != to {
			c.Keep = nil // places in the file's own count
		}
		c.To = to
		e.Payload = skein.MustJSON(c)
	default:
		var a skein.Amended
		a, err = skein.Decode[skein.Amended](e)
		a.Seq = to
		e.Payload = skein.MustJSON(a)
	}
	return e, err
}

// seq returns the seq of an item by its ordinal, counted from 1; 0 for 0. An
// item that is not stored, because it was dropped, stands where the one before
// it does.
func (t *target) seq(ctx context.Context, th *thread, ordinal int) (skein.Seq, error) {
	for i := min(ordinal, len(th.keys)) - 1; i >= 0; i-- {
		if th.seqs[i] == 0 && len(th.events) > 0 {
			if err := t.flush(ctx); err != nil {
				return 0, err
			}
		}
		if th.seqs[i] == 0 {
			if err := t.find(ctx, th, i); err != nil {
				return 0, err
			}
		}
		if th.seqs[i] != 0 {
			return th.seqs[i], nil
		}
	}
	return 0, nil
}

// find looks up where item i of th stands.
func (t *target) find(ctx context.Context, th *thread, i int) error {
	key := th.keys[i]
	places, err := skein.SourcesOf(t.im.store).Find(ctx, []skein.ClientID{key})
	if err != nil {
		return err
	}
	if p, ok := places[key]; ok && p.Session == th.id {
		th.seqs[i] = p.Seq
		return nil
	}
	if th.stored == nil {
		if err := th.load(ctx, t.im.store); err != nil && !errors.Is(err, skein.ErrNotFound) {
			return err
		}
	}
	if seq := th.stored.Seq(key); seq != 0 {
		th.seqs[i] = seq
	}
	return nil
}
