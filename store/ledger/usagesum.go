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
	Branch     string
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
	of, then, provider, model string
	tier                      skein.Tier
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
	k := usageKey{s.of(q.By, q.Zone), "", s.Provider, s.Model, s.Tier}
	if q.Then != "" {
		k.then = s.of(q.Then, q.Zone)
	}
	row := u.rows[k]
	if row == nil {
		row = &skein.UsageRow{Of: k.of, Then: k.then, Provider: k.provider, Model: k.model, Tier: k.tier}
		u.rows[k] = row
	}
	row.Usage, row.Recorded = row.Usage.Plus(s.Usage), row.Recorded.Plus(s.Recorded)
}

// Set sets the field of s that a dimension is about, except the times and the model.
func (s *UsageSlot) Set(by skein.Dimension, value string) {
	switch by {
	case skein.ByAgent:
		s.Agent = value
	case skein.ByProject:
		s.Project = value
	case skein.ByRepository:
		s.Repository = value
	case skein.ByBranch:
		s.Branch = value
	case skein.BySession:
		s.Session = skein.SessionID(value)
	}
}

// Timed reports whether a dimension of q is a time.
func Timed(q *skein.UsageQuery) bool {
	return timed(q.By) || q.Then != "" && timed(q.Then)
}

func timed(by skein.Dimension) bool {
	return by == "" || by == skein.ByDay || by == skein.BySlot
}

// of returns the value of a dimension in s.
func (s *UsageSlot) of(by skein.Dimension, zone *time.Location) string {
	switch by {
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
	case skein.ByBranch:
		return s.Branch
	}
	switch {
	case s.Slot == 0:
		return ""
	case by == skein.BySlot:
		return s.Slot.String()
	}
	return s.Slot.Std().In(zone).Format(time.DateOnly)
}

// Rows returns the sums: days and quarter hours from the latest to the first; everything else
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
		if timed(u.q.By) {
			first = 0
		}
		return cmp.Or(first, cmp.Compare(b.Of, a.Of), cmp.Compare(a.Then, b.Then), cmp.Compare(b.Usage.Tokens(), a.Usage.Tokens()),
			cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Tier, b.Tier))
	})
	return out
}
