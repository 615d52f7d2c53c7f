package postgres

import (
	"cmp"
	"context"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// usageSums adds up the counters of usage u; usageSumsOr0 returns zeros if there are
// no rows.
const (
	usageSums = `sum(u.input)::bigint, sum(u.output)::bigint, sum(u.reasoning)::bigint, sum(u.cache_read)::bigint,
	sum(u.cache_write)::bigint, sum(u.cache_hour)::bigint, sum(u.requests)::bigint, sum(u.reported)::bigint`
	usageSumsOr0 = `coalesce(sum(u.input), 0)::bigint, coalesce(sum(u.output), 0)::bigint, coalesce(sum(u.reasoning), 0)::bigint, coalesce(sum(u.cache_read), 0)::bigint,
	coalesce(sum(u.cache_write), 0)::bigint, coalesce(sum(u.cache_hour), 0)::bigint, coalesce(sum(u.requests), 0)::bigint, coalesce(sum(u.reported), 0)::bigint`
)

// usageFields returns the destinations for scanning usageSums.
func usageFields(u *skein.Usage) []any {
	return []any{&u.Input, &u.Output, &u.Reasoning, &u.CacheRead, &u.CacheWrite, &u.CacheHour, &u.Requests, &u.Reported}
}

// Usage implements [skein.Store]. PostgreSQL adds up as far as possible without a time
// zone; [ledger.UsageSum] does the rest.
func (s reads) Usage(ctx context.Context, q skein.UsageQuery) (rows []skein.UsageRow, err error) {
	defer skein.Wrapf(&err, "postgres: usage")
	if err := q.Check(); err != nil {
		return nil, err
	}
	sql, args := s.usageQuery(&q)
	sum := ledger.NewUsageSum(skein.UsageQuery{By: q.By, Then: q.Then, Zone: q.Zone})
	err = s.ask(ctx, sql, args, func(r wire.Row) error {
		slot, err := usageSlot(&q, r)
		if slot.Usage != (skein.Usage{}) {
			sum.Add(slot)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return sum.Rows(), nil
}

func (s reads) usageQuery(q *skein.UsageQuery) (sql string, args []any) {
	of := map[skein.Dimension]string{
		skein.ByModelID: "u.model", skein.ByAgent: "u.agent", skein.ByProject: "u.project", skein.ByBranch: "s.branch",
		skein.ByRepository: "CASE u.repository WHEN '' THEN u.project ELSE u.repository END", skein.BySession: "s.id",
	}
	which := cmp.Or(of[q.By], "''") + ", " + cmp.Or(of[q.Then], "''")
	if ledger.Timed(q) {
		which = "u.slot, " + which
	} else {
		which = "0::bigint, " + which
	}
	w := &wire.Where{}
	for _, f := range []struct{ cond, value string }{
		{"u.user_id = ?", string(s.user)},
		{"u.user_id = ?", string(q.User)},
		{"u.agent = ?", q.Agent},
	} {
		if f.value != "" {
			w.Add(f.cond, columns.Plain(f.value))
		}
	}
	switch p, r := columns.Plain(q.Project), columns.Plain(q.Repository); {
	case p != "" && r != "":
		w.Add("(u.project = ? OR u.repository = ?)", p, r)
	case p != "":
		w.Add("u.project = ?", p)
	case r != "":
		w.Add("u.repository = ?", r)
	}
	if ids := columns.PlainIDs(q.Sessions); len(ids) > 0 {
		w.Add("s.id = ANY (?)", ids)
		// So that the index is used:
		w.Add("u.user_id = ANY (ARRAY(SELECT h.user_id FROM heads h WHERE h.id = ANY (?)))", ids)
		w.Add("u.n = ANY (ARRAY(SELECT h.n FROM heads h WHERE h.id = ANY (?) UNION ALL SELECT y.n FROM heads h JOIN reparented y ON y.user_id = h.user_id AND y.owner = h.n WHERE h.id = ANY (?)))", ids, ids)
	}
	if q.Since != 0 {
		w.Add("u.slot >= ?", int64(q.Since.Slot()))
	}
	if q.Until != 0 {
		w.Add("u.slot < ?", int64(q.Until))
	}
	from := `usage u`
	if strings.Contains(which+w.SQL(), "s.") { // only then is the session needed
		from = `usage u` + sessionOf("u")
	}
	return `SELECT ` + which + `, u.provider, u.model, u.tier, u.recorded, ` + usageSums + ` FROM ` + from + w.SQL() + ` GROUP BY 1, 2, 3, 4, 5, 6, 7`, w.Args
}

// usageSlot reads a row of a sum; its first columns are the time and the values of
// q.By and q.Then.
func usageSlot(q *skein.UsageQuery, r wire.Row) (u ledger.UsageSlot, err error) {
	var of, then string
	var recorded bool
	err = r.Scan(append([]any{&u.Slot, &of, &then, &u.Provider, &u.Model, (*string)(&u.Tier), &recorded}, usageFields(&u.Usage)...)...)
	if recorded {
		u.Recorded = u.Usage
	}
	u.Set(q.By, of)
	u.Set(q.Then, then)
	return u, err
}

// moveUsage adds the statement that sets the project, repository and agent of the
// usage that counts as session h's.
func (p *pipe) moveUsage(h *head) {
	p.Exec(`UPDATE usage u SET project = $3, agent = $4, repository = $5
		WHERE u.user_id = $1 AND u.n = ANY (ARRAY(SELECT $2::bigint UNION ALL SELECT t.n FROM reparented t WHERE t.user_id = $1 AND t.owner = $2))`,
		string(h.User), h.n, columns.Plain(h.Project), columns.Plain(h.Agent), columns.Plain(h.Checkout.Repository))
}
