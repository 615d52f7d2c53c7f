package sessions

import (
	"context"
	"maps"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/price"
)

// few is up to how many sessions usage is queried by their IDs; for more, all usage
// is read.
const few = 200

// Costs returns what each of ss cost by itself, without its children and without
// what a fork shares with its parent.
//
// The error is that of the store, or says which price in the settings is not
// accepted.
func Costs(ctx context.Context, j *job.Job, ss []skein.Session) (map[skein.SessionID]price.Sum, error) {
	at := make(map[skein.SessionID]skein.Time, len(ss))
	for _, s := range ss {
		if s.Usage != (skein.Usage{}) {
			at[s.ID] = s.Updated
		}
	}
	if len(at) == 0 {
		return nil, nil
	}
	table, err := price.Load(j.Settings.Prices...)
	if err != nil {
		return nil, err
	}
	sum := make(map[skein.SessionID]price.Sum, len(ss))
	q := skein.UsageQuery{By: skein.BySession}
	if len(at) <= few {
		q.Sessions = slices.Collect(maps.Keys(at))
	}
	rows, err := j.Store.Usage(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		id := skein.SessionID(r.Of)
		if t, asked := at[id]; asked {
			sum[id] = sum[id].Plus(table.Sum([]skein.UsageRow{r}, t))
		}
	}
	return sum, nil
}
