package listing

import (
	"cmp"
	"database/sql/driver"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
)

// Usage returns the rows of q that a user may see; those of all users if user is "".
// SQLite computes the sums as far as no time zone is needed; [ledger.UsageSum] does the
// rest. The error is the driver's.
func Usage(c *engine.Conn, user skein.User, q skein.UsageQuery) ([]skein.UsageRow, error) {
	of := map[skein.Dimension]string{
		skein.ByModelID: "u.model", skein.ByAgent: "x.agent", skein.ByProject: "x.project", skein.ByBranch: "x.branch",
		skein.ByRepository: "CASE x.repository WHEN '' THEN x.project ELSE x.repository END", skein.BySession: "x.id",
	}
	which := cmp.Or(of[q.By], "''") + ", " + cmp.Or(of[q.Then], "''")
	// Only a query about sessions needs the sums of each session.
	from, withHeirs, session := "usage_all u", usageAllAndHeirs, "u."
	if len(q.Sessions) > 0 || strings.Contains(which, "x.id") || strings.Contains(which, "x.branch") {
		from, withHeirs, session = "usage u JOIN sessions s ON s.n = u.session", usageAndHeirs, "s."
	}
	which = strings.ReplaceAll(which, "x.", session)
	if ledger.Timed(&q) {
		which = "u.slot, " + which
	} else {
		which = "0, " + which
	}
	w := &engine.Where{}
	for _, f := range []struct{ cond, value string }{
		{session + "user_id = ?", string(user)},
		{session + "user_id = ?", string(q.User)},
		{session + "agent = ?", q.Agent},
	} {
		if f.value != "" {
			w.Add(f.cond, f.value)
		}
	}
	addPlace(w, session, q.Project, q.Repository)
	if len(q.Sessions) > 0 {
		w.Add(session+"id IN (SELECT value FROM json_each(?))", string(skein.MustJSON(q.Sessions)))
	}
	if q.Since != 0 {
		w.Add("u.slot >= ?", int64(q.Since.Slot()))
	}
	if q.Until != 0 {
		w.Add("u.slot < ?", int64(q.Until))
	}
	sum := ledger.NewUsageSum(skein.UsageQuery{By: q.By, Then: q.Then, Zone: q.Zone})
	purging, err := eventlog.AnyPurging(c)
	if err != nil {
		return nil, err
	}
	if purging {
		from = withHeirs
	}
	err = c.Query(`SELECT `+which+`, u.provider, u.model, u.tier, u.recorded, sum(u.input), sum(u.output), sum(u.reasoning), sum(u.cache_read), sum(u.cache_write), sum(u.cache_hour), sum(u.requests), sum(u.reported)
		FROM `+from+w.SQL()+` GROUP BY 1, 2, 3, 4, 5, 6, 7`, w.Args, func(row []driver.Value) error {
		slot, err := usageSlot(&q, row)
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

// The same sums, including what forks show of sessions that are being purged,
// which belongs to the forks from then on.
const (
	usageAllAndHeirs = `(SELECT user_id, slot, provider, model, tier, recorded, project, repository, agent, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported FROM usage_all
		UNION ALL SELECT s.user_id, slot, c.provider, c.model, c.tier, c.recorded, s.project, s.repository, s.agent, ` + heirsCharges + `) u`
	usageAndHeirs = `(SELECT session, slot, provider, model, tier, recorded, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported FROM usage
		UNION ALL SELECT s.n, slot, c.provider, c.model, c.tier, c.recorded, ` + heirsCharges + `) u JOIN sessions s ON s.n = u.session`

	heirsCharges = `c.input, c.output, c.reasoning, c.cache_read, c.cache_write, c.cache_hour, c.requests, c.reported
		FROM ` + eventlog.NewParents + ` d CROSS JOIN events e ON e.session = d.session AND e.seq <= d.upto CROSS JOIN charges c ON c.event = e.id CROSS JOIN sessions s ON s.n = d.new_parent`
)

// usageSlot reads a row of sums; its first columns are the time and the values of q.By
// and q.Then.
func usageSlot(q *skein.UsageQuery, row []driver.Value) (u ledger.UsageSlot, err error) {
	var slot, recorded int64
	var of, then string
	x := &u.Usage
	err = engine.Scan(row, []any{&slot, &of, &then, &u.Provider, &u.Model, (*string)(&u.Tier), &recorded, &x.Input, &x.Output, &x.Reasoning, &x.CacheRead, &x.CacheWrite, &x.CacheHour, &x.Requests, &x.Reported})
	if recorded != 0 {
		u.Recorded = u.Usage
	}
	u.Slot = skein.Time(slot)
	u.Set(q.By, of)
	u.Set(q.Then, then)
	return u, err
}
