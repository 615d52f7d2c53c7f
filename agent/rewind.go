package agent

import (
	"context"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// Undo rewinds to before the n-th last user message in the context (1 is the
// last), and returns its text. The error wraps [skein.ErrInvalid] if there are
// fewer, or is the Store's.
func (t *Thread) Undo(ctx context.Context, n int) (_ string, err error) {
	defer skein.Wrapf(&err, "agent: undo %d in %s", n, t.id)
	e, err := t.typed(ctx, n)
	if err != nil {
		return "", err
	}
	return e.Message.Words(), t.rewind(ctx, e.Seq-1)
}

// UndoneTurn returns the number of the first turn that Undo takes back. Errors as there.
func (t *Thread) UndoneTurn(ctx context.Context, n int) (_ int, err error) {
	defer skein.Wrapf(&err, "agent: the turns before the end of %s", t.id)
	e, err := t.typed(ctx, n)
	if err != nil {
		return 0, err
	}
	// The context does not number its turns: it may begin anywhere.
	found, err := t.o.Store.Newest(ctx, t.id, 1, e.Seq+1)
	if err != nil {
		return 0, err
	}
	if len(found) != 1 || found[0].Seq != e.Seq {
		return 0, fmt.Errorf("message %d: %w", e.Seq, skein.ErrNotFound)
	}
	return found[0].Turn, nil
}

// typed returns the n-th last message in the context that a person typed.
func (q *requester) typed(ctx context.Context, n int) (skein.Entry, error) {
	if err := q.settle(ctx); err != nil {
		return skein.Entry{}, err
	}
	shown, _, err := q.shown(ctx)
	if err != nil {
		return skein.Entry{}, err
	}
	left := n
	for _, e := range slices.Backward(shown) {
		if !e.Message.Typed() {
			continue
		}
		if left--; left == 0 {
			return e, nil
		}
	}
	return skein.Entry{}, fmt.Errorf("%w undo: the context has only %d messages that a person typed", skein.ErrInvalid, n-max(left, 0))
}

// Redo takes back the newest Undo or Clear, unless something was said after it.
// The error wraps [skein.ErrInvalid] if there is none, or is the Store's.
func (t *Thread) Redo(ctx context.Context) (err error) {
	defer skein.Wrapf(&err, "agent: redo in %s", t.id)
	if err := t.settle(ctx); err != nil {
		return err
	}
	events, err := t.events(ctx)
	if err != nil {
		return err
	}
	undone, err := undone(events)
	if err != nil {
		return err
	}
	if len(undone) == 0 {
		return fmt.Errorf("%w redo: nothing was undone since the last message", skein.ErrInvalid)
	}
	return t.rewind(ctx, undone[len(undone)-1]-1)
}

// undone returns the seqs of the rewinds at the end of events that were not
// taken back, oldest first. A rewind that takes back another one leads to right
// before that one.
func undone(events []skein.Event) (at []skein.Seq, err error) {
	from := 0 // after the last message or request
	for i, e := range slices.Backward(events) {
		if e.Kind == skein.KindSaid || e.Kind == skein.KindStep {
			from = i + 1
			break
		}
	}
	for _, e := range events[from:] {
		if e.Kind != skein.KindRewound {
			continue
		}
		r, err := skein.Decode[skein.Rewound](e)
		if err != nil {
			return nil, err
		}
		if i := slices.Index(at, r.To+1); i >= 0 {
			at = at[:i]
			continue
		}
		at = append(at, e.Seq)
	}
	return at, nil
}

// Clear makes the context empty; it is a rewind, so nothing is lost. Errors are
// the Store's.
func (t *Thread) Clear(ctx context.Context) (err error) {
	defer skein.Wrapf(&err, "agent: clear the context of %s", t.id)
	if err := t.settle(ctx); err != nil || !t.begun {
		return err
	}
	s, err := t.o.Store.Session(ctx, t.id)
	if err != nil {
		return err
	}
	return t.put(ctx, nil, s.Clearing(t.now())...)
}

func (w *sessionWriter) rewind(ctx context.Context, to skein.Seq) error {
	return w.put(ctx, nil, skein.NewEvent(skein.KindRewound, w.now(), skein.Rewound{To: to}))
}
