package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// maxSteps is the default of Agent.MaxSteps.
const maxSteps = 50

// Turn appends m, a user message, and the answers of the model and its tools.
// The Outcome is valid as far as it goes even if there is an error. When ctx
// ends, what was complete is kept, the rest is marked as interrupted, and
// Outcome.Stop is [Interrupted] with a nil error.
//
// The error wraps [skein.ErrFenced] if the session was taken over, one of the
// Store's, or one of package llm's, after all attempts.
func (t *Thread) Turn(ctx context.Context, m skein.Message, blobs ...skein.Blob) (out Outcome, err error) {
	defer skein.Wrapf(&err, "agent: turn in %s", t.id)
	return t.say(ctx, "", m, blobs)
}

// say is Turn with the client ID under which the message is stored; "" for one
// of the thread's own.
func (t *Thread) say(ctx context.Context, id skein.ClientID, m skein.Message, blobs []skein.Blob) (Outcome, error) {
	if m.Role == "" {
		m.Role = skein.RoleUser
	}
	if t.agent.Model == nil {
		return Outcome{Stop: Error}, fmt.Errorf("%w agent %q: it has no model", skein.ErrInvalid, t.agent.Name)
	}
	e := skein.Say(t.now(), m)
	e.ClientID = id
	if err := t.work(ctx, blobs, e); err != nil {
		return Outcome{Stop: Error, Last: t.last}, err
	}
	return t.answer(ctx)
}

// Retry answers the last user message again, without repeating it, if it has no
// complete answer. The error wraps [skein.ErrInvalid] if there is nothing to
// answer; other errors as Turn.
func (t *Thread) Retry(ctx context.Context) (out Outcome, err error) {
	defer skein.Wrapf(&err, "agent: retry in %s", t.id)
	if t.agent.Model == nil {
		return Outcome{Stop: Error}, fmt.Errorf("%w agent %q: it has no model", skein.ErrInvalid, t.agent.Name)
	}
	if err := t.settle(ctx); err != nil {
		return Outcome{Stop: Error, Last: t.last}, err
	}
	if !t.begun && t.about.Parent != nil { // a fork can answer its parent's last message
		if err := t.work(ctx, nil); err != nil {
			return Outcome{Stop: Error, Last: t.last}, err
		}
	}
	shown, _, err := t.shown(ctx)
	switch {
	case err != nil:
		return Outcome{Stop: Error, Last: t.last}, err
	case !pending(shown):
		return Outcome{Stop: Error, Last: t.last}, fmt.Errorf("%w retry: the last prompt has its answer", skein.ErrInvalid)
	}
	if e := brokenOff(shown); e != nil {
		back := skein.NewEvent(skein.KindRewound, t.now(), skein.Rewound{To: e.Seq - 1})
		err = t.work(ctx, nil, back)
	} else {
		err = t.work(ctx, nil)
	}
	if err != nil {
		return Outcome{Stop: Error, Last: t.last}, err
	}
	return t.answer(ctx)
}

// Pending reports whether the last user message has no complete answer. Errors
// are the Store's.
func (t *Thread) Pending(ctx context.Context) (_ bool, err error) {
	defer skein.Wrapf(&err, "agent: check for a pending turn in %s", t.id)
	if err := t.settle(ctx); err != nil {
		return false, err
	}
	shown, _, err := t.shown(ctx)
	return pending(shown), err
}

// pending reports whether the last of shown is not a complete answer.
func pending(shown []skein.Entry) bool {
	for _, e := range slices.Backward(shown) {
		m := &e.Message
		switch {
		case m.Role == skein.RoleSystem:
			continue
		case m.Role != skein.RoleAssistant:
			return true
		}
		return m.Interrupted || m.Error != nil || len(callsOf(m)) > 0
	}
	return false
}

// brokenOff returns the first of the interrupted answers at the end of shown,
// or nil.
func brokenOff(shown []skein.Entry) (first *skein.Entry) {
	for i := len(shown) - 1; i >= 0; i-- {
		m := &shown[i].Message
		if m.Role != skein.RoleAssistant || !m.Interrupted && m.Error == nil || len(callsOf(m)) > 0 {
			break
		}
		first = &shown[i]
	}
	return first
}

// callsOf returns the calls in m.
func callsOf(m *skein.Message) (calls []*skein.Call) {
	for i := range m.Parts {
		if c := m.Parts[i].Call; c != nil && m.Parts[i].Kind == skein.PartCall {
			calls = append(calls, c)
		}
	}
	return calls
}

// A turn is a turn under way.
type turn struct {
	*Thread
	ctx       context.Context //nolint:containedctx // it ends with the turn, which is one call
	out       Outcome
	compacted bool // or tried to, in this turn
}

// answer asks the model and runs its tools until it calls no more.
func (t *Thread) answer(ctx context.Context) (Outcome, error) {
	parent := ctx
	ctx, done := t.begin(ctx)
	defer done()
	u := turn{Thread: t, ctx: ctx}
	stop, err := u.steps()
	switch {
	case err == nil:
	case ctx.Err() == nil || !errors.Is(err, ctx.Err()):
		stop = Error
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && parent.Err() == nil:
		stop, err = Timeout, nil
	default:
		stop, err = Interrupted, nil
	}
	u.out.Stop, u.out.Last = stop, t.last
	return u.out, err
}

// begin returns the ctx of a turn, which Interrupt cancels, and a function that
// ends it.
func (t *Thread) begin(ctx context.Context) (context.Context, func()) {
	ctx, stop := context.WithCancel(ctx)
	end := stop
	if t.agent.Timeout > 0 {
		ctx, end = context.WithTimeout(ctx, t.agent.Timeout)
	}
	t.mu.Lock()
	t.stop = stop
	t.mu.Unlock()
	return ctx, func() {
		t.mu.Lock()
		t.stop = nil
		t.mu.Unlock()
		end()
		stop()
	}
}

// steps is the loop of a turn. Its error is that of ctx if ctx ended it.
func (u *turn) steps() (Stop, error) {
	limit := u.agent.MaxSteps
	if limit <= 0 {
		limit = maxSteps
	}
	for {
		if u.out.Steps == limit {
			return MaxSteps, nil
		}
		if err := u.ctx.Err(); err != nil {
			return "", err
		}
		u.out.Steps++
		m, err := u.ask()
		if err != nil {
			return "", err
		}
		u.out.Text = m.Words()
		calls := callsOf(m)
		if len(calls) == 0 {
			return Done, nil
		}
		if err := u.run(calls); err != nil {
			return "", err
		}
	}
}
