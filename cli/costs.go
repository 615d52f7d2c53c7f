package cli

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
)

// A cost is what sessions or messages cost, as far as prices are known.
type cost struct {
	price.NanoUSD
	unpriced []string // models without a known price
}

// String returns c for people, as [price.Sum.Money] says it.
func (c cost) String() string { return price.Sum{Cost: c.NanoUSD, Unpriced: c.unpriced}.Money() }

// usd returns c in dollars; nil if some of it has no price.
func (c cost) usd() *float64 {
	if len(c.unpriced) > 0 {
		return nil
	}
	v := float64(c.NanoUSD) / 1e9
	return &v
}

// few is for how many sessions usage is asked one by one; above it, for all at
// once.
const few = 200

// costs returns what each of ss cost itself, without its children and what a
// fork shows of its parent.
func (j *job) costs(ctx context.Context, ss []skein.Session) (map[skein.SessionID]cost, error) {
	at := make(map[skein.SessionID]skein.Time, len(ss))
	for _, s := range ss {
		if s.Usage != (skein.Usage{}) {
			at[s.ID] = s.Updated
		}
	}
	if len(at) == 0 {
		return nil, nil
	}
	table, err := price.Load(j.settings.prices...)
	if err != nil {
		return nil, err
	}
	sum := make(map[skein.SessionID]cost, len(ss))
	add := func(rows []skein.UsageRow) {
		for _, r := range rows {
			id := skein.SessionID(r.Of)
			t, asked := at[id]
			if !asked {
				continue
			}
			c := sum[id]
			usd, ok := table.Cost(r.Provider, r.Model, t, r.Usage)
			c.NanoUSD += usd
			if !ok {
				c.unpriced = append(c.unpriced, r.Model)
			}
			sum[id] = c
		}
	}
	if len(at) > few {
		rows, err := j.store.Usage(ctx, skein.UsageQuery{By: skein.BySession})
		add(rows)
		return sum, err
	}
	for id := range at {
		rows, err := j.store.Usage(ctx, skein.UsageQuery{By: skein.BySession, Session: id})
		if err != nil {
			return nil, err
		}
		add(rows)
	}
	return sum, nil
}
