package web_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web"
	"github.com/skein-dev/skein/store/accounts"
)

// auditTrail is a trail in memory.
type auditTrail struct{ rows []accounts.AuditRow }

// AddAudit implements [accounts.AuditTrail].
func (a *auditTrail) AddAudit(_ context.Context, rows []accounts.AuditRow) error {
	a.rows = append(a.rows, rows...)
	return nil
}

// Audit implements [accounts.AuditTrail].
func (a *auditTrail) Audit(_ context.Context, q accounts.AuditQuery) (all []accounts.AuditRow, _ error) {
	for _, r := range a.rows {
		if (q.Session == "" || r.Session == q.Session) && (q.Token == "" || r.Token == q.Token) {
			all = append(all, r)
		}
	}
	all = all[min(q.Skip, len(all)):]
	return all[:min(q.Size(), len(all))], nil
}

// TokensUsed implements [accounts.AuditTrail].
func (a *auditTrail) TokensUsed(context.Context) (map[string]skein.Time, error) { return nil, nil } //nolint:nilnil // none

func TestTheAuditIsForThoseWhoManageTheServer(t *testing.T) {
	kept := &auditTrail{}
	v := visiting(t, composed(t), func(o *web.Options) { o.Tokens.Audit(kept) })
	wants(t, "the settings", v.get("/settings"), `href="/settings/audit"`)
	v.get("/sessions/s-retry")
	for i := range 150 {
		kept.rows = append(kept.rows, accounts.AuditRow{Token: "anns", User: "ann", Session: skein.SessionID(fmt.Sprintf("purged-%d", i)), Route: "GET /v1/sessions/{id}/export", First: 1, Last: 2, Times: 3})
	}
	page := v.get("/settings/audit?skip=100")
	wants(t, "the older lines", page, "GET /sessions/{id}", `href="/sessions/s-retry"`, "purged-149", "not here any more")
	wants(t, "the page", v.get("/settings/audit"), `rel="next"`, "skip=100")
	narrow := v.get("/settings/audit?session=s-retry")
	wants(t, "the lines of a session", narrow, "Only the session", "GET /sessions/{id}")
	lacks(t, "the lines of a session", narrow, "purged-1<")
	token, err := v.tokens.Add(door.Token{Name: "dana", User: "dana", Scope: "admin"})
	if err != nil {
		t.Fatal(err)
	}
	v.as(token)
	if status, _ := v.ask(http.MethodGet, "/settings/audit", nil); status < 400 {
		t.Errorf("the audit for the admin of one user's sessions = %d, want a refusal", status)
	}
}

func TestTheAuditFitsEveryScreen(t *testing.T) {
	kept := &auditTrail{}
	v := visiting(t, composed(t), func(o *web.Options) { o.Tokens.Audit(kept) })
	v.get("/sessions/s-retry")
	b := v.browse()
	for _, how := range looks() {
		b.size(how.width, how.scheme)
		b.open("/settings/audit")
		if over := b.eval(`document.documentElement.scrollWidth - innerWidth`).(float64); over > 0 {
			t.Errorf("the audit at %d px is %v px too wide", how.width, over)
		}
		if share := b.eval(`document.querySelector(".scroll").clientWidth / document.querySelector("main").clientWidth`).(float64); share < 0.8 {
			t.Errorf("at %d px the table has %.2f of the page's width, want nearly all", how.width, share)
		}
		b.shot(fmt.Sprintf("audit-%d-%s", how.width, how.scheme))
	}
}
