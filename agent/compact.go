package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// compactAfter is the default of Agent.CompactAfter. fill is the share of
// Agent.Window, in percent, above which a compaction is due.
const (
	compactAfter = 40
	fill         = 80
)

// The triggers of a compaction, as events store them.
const (
	auto   = "auto"
	manual = "manual"
)

// Compact summarizes what is older than the last turn; if nothing is older, it
// leaves the oldest tool results out of what the model is shown. Errors as
// Turn; [skein.ErrInvalid] if there is too little for either.
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
	return fmt.Errorf("%w compaction: too little to summarize", skein.ErrInvalid)
}

// A plan says what a compaction covers.
type plan struct {
	to     skein.Seq
	items  []skein.Entry // that are summarized
	kept   []skein.Entry // user messages that before kept
	before *summed       // the compaction whose summary goes into this one; nil if there is none
	states []skein.Event // of tools
}

// plan returns what a compaction would cover, using the first of cuts that
// leaves anything to cover; nil if none does.
func (v *modelView) plan(ctx context.Context, cuts ...func([]skein.Entry) int) (*plan, error) {
	items, before, err := v.shown(ctx)
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
			for _, e := range v.window {
				if e.Kind == skein.KindTool && e.Seq <= p.to {
					p.states = append(p.states, e)
				}
			}
			return &p, nil
		}
	}
	return nil, nil
}

// keeps returns the seqs of the user messages that stay word for word: the
// newest of those that p covers that fit in room bytes. A message that is too
// long for the remaining room does not exclude older ones.
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

// compactIfDue summarizes what is older than the current turn if that has
// become long. If the current turn alone fills the model's window, its oldest
// results are left out. A failed compaction does not stop the turn.
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
	case u.compacted || u.agent.limit() < 0 || said <= u.agent.limit():
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

// Bounds on what the model is shown, in percent of what it was shown before.
const (
	half = 50
	most = 90
)

// tighten limits what the model is shown from now on to a share of what it
// would be shown now, and reports whether that makes it less. The bound holds
// for this thread and this model.
func (v *modelView) tighten(ctx context.Context, share int) (done bool, err error) {
	now, err := v.view(ctx)
	if err != nil {
		return false, err
	}
	v.room, v.tightened = max(1, now.Size*share/100), v.last
	then, err := v.view(ctx)
	return then.Size < now.Size, err
}

// shrink reduces what the model is shown after it rejected the request as too
// long, and reports whether it could.
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

func (a *Agent) limit() int {
	if a.CompactAfter == 0 {
		return compactAfter
	}
	return a.CompactAfter
}

// saidSince returns how many said events come after the newest compaction or
// attempted compaction.
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

// many reports whether the context has more items that are not the user's since
// the newest compaction than the limit allows.
func (v *modelView) many() (bool, error) {
	var since skein.Seq
	for _, e := range slices.Backward(v.window) {
		if e.Kind == skein.KindCompacted {
			since = e.Seq
			break
		}
	}
	entries, err := skein.Entries(v.window)
	n := 0
	for _, e := range entries {
		if r := e.Message.Role; !e.Rewound && e.Seq > since && (r == skein.RoleAssistant || r == skein.RoleTool) {
			n++
		}
	}
	return n > v.agent.limit(), err
}

// full reports whether the last request took up most of what the model can
// read, and neither a compaction nor tighten has reduced that since.
func (v *modelView) full(events []skein.Event) (bool, error) {
	used, at, err := usedOf(events)
	return v.agent.Window > 0 && used > v.agent.Window/100*fill && at > v.tightened, err
}

// usedOf returns how many tokens the newest answer and its request took, and
// the answer's seq; 0 if that is unknown or no longer describes what the model
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
