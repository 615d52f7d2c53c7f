package agent

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// settleCalls stores the outcome of calls that were running when their program
// died: it is uncertain, or failed for calls of tools that do no harm.
func (t *Thread) settleCalls(ctx context.Context, open []string) error {
	if len(open) == 0 {
		return nil
	}
	events, err := t.events(ctx)
	if err != nil {
		return err
	}
	known := map[string]skein.ToolState{}
	for _, e := range events {
		if e.Kind == skein.KindTool {
			s, err := skein.Decode[skein.ToolState](e)
			if err != nil {
				return err
			}
			known[s.Call] = s
		}
	}
	var marks []skein.Event
	var children []skein.SessionID
	for _, call := range open {
		s, ok := known[call]
		if s.State == skein.Pending {
			continue // it never ran
		}
		s.Call, s.State = call, skein.Uncertain
		if ok && s.Safe {
			s.State, s.Meta = skein.Failed, interruptedMeta()
		}
		if s.Child != "" {
			children = append(children, s.Child)
		}
		marks = append(marks, skein.NewEvent(skein.KindTool, t.now(), s))
	}
	if err := t.put(ctx, nil, marks...); err != nil {
		return err
	}
	for _, id := range children {
		if err := t.settleChild(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// settleChild settles the calls of a delegate that died with its program,
// because its session is unlikely to be opened by itself.
func (t *Thread) settleChild(ctx context.Context, id skein.SessionID) error {
	o := t.o
	o.Session, o.TakeOver = id, false
	o.Observe = func(u Update) {
		if u.Child == "" {
			u.Child = id
		}
		t.o.Observe(u)
	}
	child, err := openAt(ctx, o, t.depth+1)
	switch {
	case errors.Is(err, skein.ErrLocked), errors.Is(err, skein.ErrNotFound):
		return nil // another process holds it, or it does not exist
	case err != nil:
		return err
	}
	return child.Close(ctx, "")
}
