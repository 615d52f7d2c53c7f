package whole

import (
	"fmt"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/accounts"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func auditing() []harness.Check {
	return []harness.Check{
		{Name: "requests of an hour are one row", Run: hourOfAudit},
		{Name: "old rows go", Run: oldAudit},
		{Name: "a view has no audit", Run: viewOfAudit},
	}
}

// trailOf returns the audit trail of the store; nil if it keeps none.
func trailOf(t *harness.Test) accounts.AuditTrail {
	trail, _ := skein.PartOf[accounts.AuditTrail](t.Store)
	return trail
}

// read returns the row of requests that read a session.
func read(token string, id skein.SessionID, first, last skein.Time, times int64) accounts.AuditRow {
	return accounts.AuditRow{Token: token, User: skein.User(token), Session: id, Route: "GET /sessions/{id}", First: first, Last: last, Times: times}
}

func hourOfAudit(t *harness.Test) {
	trail := trailOf(t)
	if trail == nil {
		return
	}
	const hour = accounts.AuditHour
	at := fixture.Noon / hour * hour
	t.NoErr("AddAudit", trail.AddAudit(t.Context(), []accounts.AuditRow{read("ann", "a", at+10, at+20, 2), read("bob", "a", at+30, at+30, 1), read("ann", "", at+5, at+5, 1)}))
	t.NoErr("AddAudit", trail.AddAudit(t.Context(), []accounts.AuditRow{read("ann", "a", at+40, at+50, 3), read("ann", "a", at+hour, at+hour, 1)}))
	for what, x := range map[string]struct {
		q    accounts.AuditQuery
		want []accounts.AuditRow
	}{
		"all":        {accounts.AuditQuery{}, []accounts.AuditRow{read("ann", "a", at+hour, at+hour, 1), read("ann", "a", at+10, at+50, 5), read("bob", "a", at+30, at+30, 1), read("ann", "", at+5, at+5, 1)}},
		"a's":        {accounts.AuditQuery{Session: "a", Limit: 2}, []accounts.AuditRow{read("ann", "a", at+hour, at+hour, 1), read("ann", "a", at+10, at+50, 5)}},
		"a's, older": {accounts.AuditQuery{Session: "a", Skip: 2}, []accounts.AuditRow{read("bob", "a", at+30, at+30, 1)}},
		"bob's":      {accounts.AuditQuery{Token: "bob"}, []accounts.AuditRow{read("bob", "a", at+30, at+30, 1)}},
	} {
		got, err := trail.Audit(t.Context(), x.q)
		t.NoErr("Audit", err)
		harness.Equal(t, "Audit of "+what, got, x.want)
	}
	used, err := trail.TokensUsed(t.Context())
	t.NoErr("TokensUsed", err)
	harness.Equal(t, "TokensUsed", used, map[string]skein.Time{"ann": at + hour, "bob": at + 30})
}

func oldAudit(t *harness.Test) {
	trail := trailOf(t)
	if trail == nil {
		return
	}
	old := fixture.Noon - skein.Time(accounts.AuditKept.Milliseconds()) - accounts.AuditHour
	t.NoErr("AddAudit", trail.AddAudit(t.Context(), []accounts.AuditRow{read("ann", "old", old, old, 1)}))
	t.NoErr("AddAudit", trail.AddAudit(t.Context(), []accounts.AuditRow{read("ann", "new", fixture.Noon, fixture.Noon, 1)}))
	got, err := trail.Audit(t.Context(), accounts.AuditQuery{})
	t.NoErr("Audit", err)
	harness.Equal(t, "Audit", got, []accounts.AuditRow{read("ann", "new", fixture.Noon, fixture.Noon, 1)})

	if testing.Short() {
		return
	}
	var many []accounts.AuditRow
	for i := range accounts.MaxAudit + 10 {
		many = append(many, read("ann", skein.SessionID(fmt.Sprintf("%07d", i)), fixture.Noon+accounts.AuditHour, fixture.Noon+accounts.AuditHour, 1))
	}
	t.NoErr("AddAudit of many rows", trail.AddAudit(t.Context(), many))
	for what, q := range map[string]accounts.AuditQuery{"what is beyond the bound": {Skip: accounts.MaxAudit}, "what was there before": {Session: "new"}, "the first": {Session: "0000009"}} {
		if got, err := trail.Audit(t.Context(), q); err != nil || len(got) != 0 {
			t.Errorf("after %d rows, %s is %+v, %v, want nothing", len(many), what, got, err)
		}
	}
	if got, err := trail.Audit(t.Context(), accounts.AuditQuery{Session: "0000010"}); err != nil || len(got) != 1 {
		t.Errorf("after %d rows, the audit of 0000010 is %+v, %v, want its row", len(many), got, err)
	}
}

func viewOfAudit(t *harness.Test) {
	if trailOf(t) == nil {
		return
	}
	t.As("ann", func() {
		anns := trailOf(t)
		_, err := anns.Audit(t.Context(), accounts.AuditQuery{})
		t.WantErr("Audit of a view", err, skein.ErrRefused)
		_, err = anns.TokensUsed(t.Context())
		t.WantErr("TokensUsed of a view", err, skein.ErrRefused)
		t.WantErr("AddAudit of a view", anns.AddAudit(t.Context(), []accounts.AuditRow{read("ann", "a", 1, 1, 1)}), skein.ErrRefused)
	})
}
