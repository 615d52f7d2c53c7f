package cli

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
)

// few is up to how many sessions usage is queried one by one; for more, all usage
// is read at once.
const few = 200

// costs returns what each of ss cost by itself, without its children and without
// what a fork shares with its parent.
func (j *job) costs(ctx context.Context, ss []skein.Session) (map[skein.SessionID]price.Sum, error) {
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
	sum := make(map[skein.SessionID]price.Sum, len(ss))
	add := func(rows []skein.UsageRow) {
		for _, r := range rows {
			id := skein.SessionID(r.Of)
			t, asked := at[id]
			if !asked {
				continue
			}
			sum[id] = sum[id].Plus(table.Sum([]skein.UsageRow{r}, t))
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
