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

// Compact sums up the older part now. Errors as Turn; [skein.ErrInvalid] if
// there is too little to sum up.
func (t *Thread) Compact(ctx context.Context) (err error) {
	defer skein.Wrapf(&err, "agent: compact %s", t.id)
	if t.agent.Model == nil {
		return fmt.Errorf("%w agent %q: it has no model", skein.ErrInvalid, t.agent.Name)
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	p, err := t.plan(ctx, tail, innerTail)
	if err != nil {
		return err
	}
	if p == nil {
		return fmt.Errorf("%w compaction: there is too little to sum up", skein.ErrInvalid)
	}
	if err := t.work(ctx, nil); err != nil {
		return err
	}
	ctx, done := t.begin(ctx)
	defer done()
	u := turn{Thread: t, ctx: ctx}
	return u.sumUp(p, manual)
}

// A plan is what a compaction covers.
type plan struct {
	to     skein.Seq
	items  []skein.Entry // that it sums up
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
	for _, cut := range cuts {
		if n := cut(items); n > 0 {
			p := plan{to: items[n].Seq - 1, items: items[:n], before: before}
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

// compactIfDue sums up the older part if that has become long. A turn that is
// too long by itself is summed up once. That it does not work stops nothing.
func (u *turn) compactIfDue() error {
	events, err := u.events(u.ctx)
	if err != nil {
		return err
	}
	full, err := u.full(events)
	if err != nil {
		return err
	}
	var cuts []func([]skein.Entry) int
	switch said := saidSince(events); {
	case u.compacted && full && said >= keepItems:
		cuts = []func([]skein.Entry) int{innerTail}
	case !u.compacted && full:
		cuts = []func([]skein.Entry) int{tail, innerTail}
	case !u.compacted && u.limit() >= 0 && said > u.limit():
		many, err := u.many()
		if err != nil || !many {
			return err
		}
		cuts = []func([]skein.Entry) int{tail, innerTail}
	default:
		return nil
	}
	p, err := u.plan(u.ctx, cuts...)
	if err != nil || p == nil {
		return err
	}
	u.compacted = true
	_, err = u.tryToSumUp(p)
	return err
}

// shrink sums up the older part because the model did not take the request as
// it was, and reports whether it did.
func (u *turn) shrink() (done bool, err error) {
	p, err := u.plan(u.ctx, tail, innerTail)
	if err != nil || p == nil {
		return false, err
	}
	u.compacted = true
	return u.tryToSumUp(p)
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
// read.
func (t *Thread) full(events []skein.Event) (bool, error) {
	used, err := usedOf(events)
	return t.agent.Window > 0 && used > t.agent.Window/100*fill, err
}

// usedOf returns how many tokens the newest answer and what the model read for
// it took; 0 if that is not known, or no longer what it reads.
func usedOf(events []skein.Event) (int64, error) {
	for _, e := range slices.Backward(events) {
		switch e.Kind {
		case skein.KindCompacted, skein.KindRewound:
			return 0, nil
		case skein.KindSaid:
			m, err := skein.Decode[skein.Message](e)
			if err != nil || m.Role == skein.RoleAssistant && m.Usage != nil {
				return tokens(m.Usage), err
			}
		}
	}
	return 0, nil
}

func tokens(u *skein.Usage) int64 {
	if u == nil {
		return 0
	}
	return u.Tokens()
}
