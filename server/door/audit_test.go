package door_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/accounts"
	"github.com/skein-dev/skein/store/memory"
)

// trail is an audit trail in memory, which fails as long as broken is set.
type trail struct {
	rows   []accounts.AuditRow
	broken error
}

// AddAudit implements [accounts.AuditTrail].
func (a *trail) AddAudit(_ context.Context, rows []accounts.AuditRow) error {
	if a.broken == nil {
		a.rows = append(a.rows, rows...)
	}
	return a.broken
}

// Audit implements [accounts.AuditTrail].
func (a *trail) Audit(context.Context, accounts.AuditQuery) ([]accounts.AuditRow, error) {
	return a.rows, a.broken
}

// TokensUsed implements [accounts.AuditTrail].
func (a *trail) TokensUsed(context.Context) (map[string]skein.Time, error) {
	used := map[string]skein.Time{}
	for _, r := range a.rows {
		used[r.Token] = max(used[r.Token], r.Last)
	}
	return used, a.broken
}

func TestTheAuditSaysWhatTokensWereUsedFor(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	kept, path := &trail{}, t.TempDir()+"/tokens"
	clock := func() time.Time { return now }
	open := func() *door.Tokens {
		tokens, err := door.OpenTokens(path, clock)
		if err != nil {
			t.Fatal(err)
		}
		tokens.Audit(kept)
		return tokens
	}
	tokens := open()
	token, err := tokens.Add(door.Token{Name: "anns", User: "ann", Scope: "read"})
	if err != nil {
		t.Fatal(err)
	}
	answer := func(status int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	}
	d := door.New(door.Options{Store: memory.New(), Tokens: tokens, Log: slog.New(slog.DiscardHandler), Now: clock},
		door.Route{Pattern: "GET /sessions/{id}", Scope: door.Read, Handler: answer(http.StatusOK)},
		door.Route{Pattern: "GET /gone/sessions/{id}", Scope: door.Read, Handler: answer(http.StatusNotFound)},
		door.Route{Pattern: "GET /empty", Scope: door.Read, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})},
		door.Route{Pattern: "POST /mcp", Scope: door.Read, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { door.Reads(r.Context(), "b") })},
		door.Route{Pattern: "GET /admins", Scope: door.Admin, Handler: answer(http.StatusOK)},
		door.Route{Pattern: "GET /open", Scope: door.Open, Handler: answer(http.StatusOK)},
	)
	ask := func(method, path, token string) {
		r := httptest.NewRequest(method, "http://127.0.0.1"+path, http.NoBody)
		r.Header.Set("Authorization", "Bearer "+token)
		d.ServeHTTP(httptest.NewRecorder(), r)
	}
	kept.broken = errors.New("the disk is full")
	for _, path := range []string{"/sessions/a", "/gone/sessions/a", "/admins", "/open", "/empty", "/lost"} {
		ask(http.MethodGet, path, token)
	}
	ask(http.MethodGet, "/sessions/secret", "skein_wrong")
	if _, err := tokens.Audited(t.Context(), accounts.AuditQuery{}); !errors.Is(err, kept.broken) {
		t.Errorf("Audited of a store that fails = %v, want its error", err)
	}
	kept.broken = nil
	now = now.Add(time.Minute)
	ask(http.MethodGet, "/sessions/a", token)
	ask(http.MethodPost, "/mcp", token)

	got, err := tokens.Audited(t.Context(), accounts.AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	first, last := skein.At(now.Add(-time.Minute)), skein.At(now)
	rows := map[string]accounts.AuditRow{}
	for _, r := range got {
		rows[r.Route+" "+string(r.Session)] = r
	}
	want := map[string]accounts.AuditRow{
		"GET /sessions/{id} a": {Token: "anns", User: "ann", Session: "a", Route: "GET /sessions/{id}", First: first, Last: last, Times: 2},
		"GET /empty ":          {Token: "anns", User: "ann", Route: "GET /empty", First: first, Last: first, Times: 1},
		"POST /mcp b":          {Token: "anns", User: "ann", Session: "b", Route: "POST /mcp", First: last, Last: last, Times: 1},
		"POST /mcp ":           {Token: "anns", User: "ann", Route: "POST /mcp", First: last, Last: last, Times: 1},
	}
	if diff := cmp.Diff(want, rows); diff != "" || len(got) != len(want) {
		t.Errorf("the audit (-want +got):\n%s", diff)
	}
	known, err := open().Known(t.Context()) // as after a restart
	if err != nil || len(known) != 2 || known[1].Used != last || known[0].Used != 0 {
		t.Errorf("Known after a restart = %+v, %v, want that anns was used at %v", known, err, last)
	}
}

func TestTheAuditIsWrittenWhenTheServerStops(t *testing.T) {
	kept := &trail{}
	tokens, err := door.OpenTokens(t.TempDir()+"/tokens", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	tokens.Audit(kept)
	d := door.New(door.Options{Store: memory.New(), Tokens: tokens, Log: slog.New(slog.DiscardHandler), Now: time.Now},
		door.Route{Pattern: "GET /who", Scope: door.Read, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})})
	l, err := door.Listen(t.Context(), "127.0.0.1:0", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Serve(ctx, l) }()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+"/who", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+tokens.First())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close() //nolint:errcheck // it is empty
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(kept.rows) != 1 || kept.rows[0].Token != door.First || kept.rows[0].Route != "GET /who" {
		t.Errorf("after the server stopped the audit is %+v, want the request", kept.rows)
	}
}
