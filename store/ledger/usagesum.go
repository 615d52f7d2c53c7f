package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/skein-dev/skein"
)

// A UsageSlot is the usage of one session, model and tier in one quarter hour. A
// store keeps a row for each, and every [UsageRow] is a sum of them.
type UsageSlot struct {
	Slot       skein.Time // start of the quarter of an hour
	Session    skein.SessionID
	User       skein.User
	Project    string
	Repository string // "" if it is unknown
	Agent      string
	Provider   string
	Model      string
	Tier       skein.Tier
	Usage      skein.Usage
	Recorded   skein.Usage // as in [skein.UsageRow]
}

// A UsageSum sums slots for a query. Make one with [NewUsageSum].
type UsageSum struct {
	q    skein.UsageQuery
	rows map[usageKey]*skein.UsageRow
}

type usageKey struct {
	of, provider, model string
	tier                skein.Tier
}

// NewUsageSum returns an empty sum for q.
func NewUsageSum(q skein.UsageQuery) *UsageSum {
	if q.Zone == nil {
		q.Zone = time.UTC
	}
	return &UsageSum{q: q, rows: map[usageKey]*skein.UsageRow{}}
}

// Add adds s, if the query selects it.
func (u *UsageSum) Add(s UsageSlot) {
	q := &u.q
	switch {
	case q.User != "" && q.User != s.User,
		len(q.Sessions) > 0 && !slices.Contains(q.Sessions, s.Session),
		!q.In(s.Project, s.Repository),
		q.Agent != "" && q.Agent != s.Agent,
		q.Since != 0 && s.Slot < q.Since.Slot(),
		q.Until != 0 && s.Slot >= q.Until:
		return
	}
	k := usageKey{u.of(s), s.Provider, s.Model, s.Tier}
	row := u.rows[k]
	if row == nil {
		row = &skein.UsageRow{Of: k.of, Provider: k.provider, Model: k.model, Tier: k.tier}
		u.rows[k] = row
	}
	row.Usage, row.Recorded = row.Usage.Plus(s.Usage), row.Recorded.Plus(s.Recorded)
}

// of returns the value of the query's dimension in s.
func (u *UsageSum) of(s UsageSlot) string {
	switch u.q.By {
	case skein.ByModelID:
		return s.Model
	case skein.ByAgent:
		return s.Agent
	case skein.ByProject:
		return s.Project
	case skein.ByRepository:
		return cmp.Or(s.Repository, s.Project)
	case skein.BySession:
		return string(s.Session)
	}
	if s.Slot == 0 {
		return ""
	}
	return s.Slot.Std().In(u.q.Zone).Format(time.DateOnly)
}

// Rows returns the sums: days from the latest to the first; everything else
// by tokens, the most first, with all rows of one value together. Sums that are
// zero are left out.
func (u *UsageSum) Rows() []skein.UsageRow {
	total := map[string]int64{}
	out := make([]skein.UsageRow, 0, len(u.rows))
	for _, row := range u.rows {
		if row.Usage == (skein.Usage{}) {
			continue
		}
		total[row.Of] += row.Usage.Tokens()
		out = append(out, *row)
	}
	slices.SortFunc(out, func(a, b skein.UsageRow) int {
		first := cmp.Compare(total[b.Of], total[a.Of])
		if u.q.By == skein.ByDay || u.q.By == "" {
			first = 0
		}
		return cmp.Or(first, cmp.Compare(b.Of, a.Of), cmp.Compare(b.Usage.Tokens(), a.Usage.Tokens()),
			cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Tier, b.Tier))
	})
	return out
}
