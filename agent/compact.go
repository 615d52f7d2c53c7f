package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// compactAfter is Agent.CompactAfter where that is 0, fill the share of
// Agent.Window, in percent, above which a compaction is due.
const (
	compactAfter = 40
	fill         = 80
)

// The triggers of a compaction, as events keep them.
const (
	auto   = "auto"
	manual = "manual"
)

// Compact sums up what is older than the turn that began last; if there is no
// such turn, the oldest results of tools are left out of what the model is
// shown. Errors as Turn; [skein.ErrInvalid] if there is too little for either.
func (t *Thread) Compact(ctx context.Context) (err error) {
	defer skein.Wrapf(&err, "agent: compact %s", t.id)
	if t.agent.Model == nil {
		return fmt.Errorf("%w agent %q: it has no model", skein.ErrInvalid, t.agent.Name)
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	ctx, done := t.begin(ctx)
	defer done()
	u := turn{Thread: t, ctx: ctx}
	p, err := t.plan(ctx, tail, lastTurn)
	switch {
	case err != nil:
		return err
	case p != nil:
		if err := t.work(ctx, nil); err != nil {
			return err
		}
		return u.sumUp(p, manual)
	}
	if done, err := u.tighten(ctx, half); err != nil || done {
		return err
	}
	return fmt.Errorf("%w compaction: there is too little to sum up", skein.ErrInvalid)
}

// A plan is what a compaction covers.
type plan struct {
	to     skein.Seq
	items  []skein.Entry // that it sums up
	kept   []skein.Entry // of the user's, that before has kept
	before *summed       // whose summary goes into this one; nil if there is none
	states []skein.Event // of tools
}

// plan returns what a compaction would cover whose tail is worked out by the
// first of cuts that leaves anything; nil if none does.
func (t *Thread) plan(ctx context.Context, cuts ...func([]skein.Entry) int) (*plan, error) {
	items, before, err := t.shown(ctx)
	if err != nil {
		return nil, err
	}
	items = items[leading(items):]
	var kept []skein.Entry
	if before != nil {
		n := slices.IndexFunc(items, func(e skein.Entry) bool { return e.Seq > before.what.To })
		if n < 0 {
			return nil, nil
		}
		kept, items = items[:n], items[n:]
	}
	for _, cut := range cuts {
		if n := cut(items); n > 0 {
			p := plan{to: items[n].Seq - 1, items: items[:n], kept: kept, before: before}
			for _, e := range t.window {
				if e.Kind == skein.KindTool && e.Seq <= p.to {
					p.states = append(p.states, e)
				}
			}
			return &p, nil
		}
	}
	return nil, nil
}

// keeps returns the places of the user's messages that stay word for word: the
// newest of those that p covers, as many as take room bytes. One that is too
// long for what is left keeps no older one from staying.
func (p *plan) keeps(room int) (keep []skein.Seq) {
	for _, e := range slices.Backward(slices.Concat(p.kept, p.items)) {
		if r := e.Message.Role; r != skein.RoleUser && r != skein.RoleSteer || e.Message.Synthetic {
			continue
		}
		n := len(e.Message.Words())
		if n > room {
			continue
		}
		room -= n
		keep = append(keep, e.Seq)
	}
	slices.Reverse(keep)
	return keep
}

// compactIfDue sums up what is older than the turn under way if that has become
// long. If that turn alone fills the model, its oldest results go. That it does
// not work stops nothing.
func (u *turn) compactIfDue() error {
	events, err := u.events(u.ctx)
	if err != nil {
		return err
	}
	full, err := u.full(events)
	cuts := []func([]skein.Entry) int{tail}
	switch said := saidSince(events); {
	case err != nil:
		return err
	case full:
		cuts = append(cuts, lastTurn)
	case u.compacted || u.limit() < 0 || said <= u.limit():
		return nil
	default:
		if many, err := u.many(); err != nil || !many {
			return err
		}
	}
	if !u.compacted {
		p, err := u.plan(u.ctx, cuts...)
		if err != nil {
			return err
		}
		if p != nil {
			u.compacted = true
			_, err = u.tryToSumUp(p)
			return err
		}
	}
	if full {
		_, err = u.tighten(u.ctx, most)
	}
	return err
}

// Shares of what the model was shown that it will be shown at most, in percent.
const (
	half = 50
	most = 90
)

// tighten bounds what the model is shown from now on by a share of what it
// would be shown now, and reports whether that makes it less. The bound holds
// for this thread and this model.
func (t *Thread) tighten(ctx context.Context, share int) (done bool, err error) {
	now, err := t.view(ctx)
	if err != nil {
		return false, err
	}
	t.room, t.tightened = max(1, now.Size*share/100), t.last
	then, err := t.view(ctx)
	return then.Size < now.Size, err
}

// shrink makes what the model is shown less because it did not take the
// request, and reports whether it could.
func (u *turn) shrink() (done bool, err error) {
	if !u.compacted {
		p, err := u.plan(u.ctx, tail, lastTurn)
		if err != nil {
			return false, err
		}
		if p != nil {
			u.compacted = true
			if done, err := u.tryToSumUp(p); err != nil || done {
				return done, err
			}
		}
	}
	return u.tighten(u.ctx, half)
}

// tryToSumUp is sumUp, but only an error of the Store or of ctx stops the turn.
func (u *turn) tryToSumUp(p *plan) (done bool, err error) {
	err = u.sumUp(p, auto)
	if f := (*asideError)(nil); errors.As(err, &f) {
		return false, u.ctx.Err()
	}
	return err == nil, err
}

func (t *Thread) limit() int {
	if t.agent.CompactAfter == 0 {
		return compactAfter
	}
	return t.agent.CompactAfter
}

// saidSince returns how many said events stand after the newest compaction, or
// the newest try at one.
func saidSince(events []skein.Event) (n int) {
	for _, e := range slices.Backward(events) {
		switch e.Kind {
		case skein.KindCompacted:
			return n
		case skein.KindSaid:
			n++
		}
	}
	return n
}

// many reports whether more items that are not the user's than the limit stand
// in the context since the newest compaction.
func (t *Thread) many() (bool, error) {
	var since skein.Seq
	for _, e := range slices.Backward(t.window) {
		if e.Kind == skein.KindCompacted {
			since = e.Seq
			break
		}
	}
	entries, err := skein.Entries(t.window)
	n := 0
	for _, e := range entries {
		if r := e.Message.Role; !e.Rewound && e.Seq > since && (r == skein.RoleAssistant || r == skein.RoleTool) {
			n++
		}
	}
	return n > t.limit(), err
}

// full reports whether the last request took up most of what the model can
// read, and nothing was done about that since.
func (t *Thread) full(events []skein.Event) (bool, error) {
	used, at, err := usedOf(events)
	return t.agent.Window > 0 && used > t.agent.Window/100*fill && at > t.tightened, err
}

// usedOf returns how many tokens the newest answer and what the model read for
// it took, and the answer's place; 0 if that is not known, or no longer what it
// reads.
func usedOf(events []skein.Event) (used int64, at skein.Seq, err error) {
	for _, e := range slices.Backward(events) {
		switch e.Kind {
		case skein.KindCompacted, skein.KindRewound:
			return 0, 0, nil
		case skein.KindSaid:
			m, err := skein.Decode[skein.Message](e)
			if err != nil || m.Role == skein.RoleAssistant && m.Usage != nil {
				return tokens(m.Usage), e.Seq, err
			}
		}
	}
	return 0, 0, nil
}

func tokens(u *skein.Usage) int64 {
	if u == nil {
		return 0
	}
	return u.Tokens()
}
