package memory

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
)

// Usage implements [skein.Store].
func (s reads) Usage(ctx context.Context, q skein.UsageQuery) (_ []skein.UsageRow, err error) {
	defer skein.Wrapf(&err, "memory: usage")
	if err := q.Check(); err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	sum := ledger.NewUsageSum(q)
	for _, sess := range s.sessions {
		h := &sess.head
		if !s.sees(h.User) {
			continue
		}
		for _, e := range sess.own {
			if e.added.Charge == (skein.Usage{}) {
				continue
			}
			c := e.facts.Charge
			sum.Add(ledger.UsageSlot{
				Slot: c.Time.Slot(), Session: h.ID, User: h.User, Project: h.Project, Repository: h.Checkout.Repository, Agent: h.Agent, Branch: h.Checkout.Branch,
				Provider: c.Provider, Model: c.Model, Tier: e.added.Tier, Usage: e.added.Charge, Recorded: e.added.Recorded,
			})
		}
	}
	return sum.Rows(), nil
}
