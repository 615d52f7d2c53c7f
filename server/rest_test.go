package server_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
)

// failing is a store whose appends fail.
type failing struct {
	skein.Store
	err error
}

func (f failing) Unwrap() skein.Store { return f.Store }

// Append implements [skein.Store].
func (f failing) Append(context.Context, ...skein.Batch) ([]skein.Receipt, error) { return nil, f.err }

// As implements [skein.Store].
func (f failing) As(skein.User) skein.Store { return f }

func TestWhatTheDiskSaysIsTold(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{skein.ErrFull, 507, "full"},
		{skein.ErrReadOnly, 503, "read_only"},
		{skein.ErrReplaced, 503, "replaced"},
		{skein.ErrUnknown, 503, "unknown"},
		{skein.ErrClosed, 503, "closed"},
		{fmt.Errorf("%w: dial tcp 10.1.2.3:5432, secret", skein.ErrAway), 503, "away"},
		{skein.ErrCorrupt, 500, "corrupt"},
		{errors.New("open /home/ada/secret"), 500, "internal"},
	} {
		s := newSiteOn(t, failing{memory.New(), c.err})
		s.refuses(c.status, c.code, "POST /v1/sessions", `{}`)
		if c.status == 503 && s.send("POST /v1/sessions", `{}`).Header.Get("Retry-After") == "" {
			t.Errorf("%v is answered without Retry-After", c.err)
		}
		if b := s.raw(c.status, "POST /v1/sessions", `{}`); strings.Contains(string(b), "secret") {
			t.Errorf("what failed inside is told: %s", b)
		}
	}
}

func TestSearchTellsWhatMatchesAndNoSecrets(t *testing.T) {
	s := newSite(t)
	key := "AKIA" + "Z7QX3M5NPLK2RTWV"
	s.begin("a", skein.Created{Agent: "codex", Project: "/p/api"}, "the fork pointer is wrong", "the fork is right", "my key is "+key+" for the fork")
	s.begin("b", skein.Created{Agent: "claude-code", Project: "/p/web"}, "another fork")
	var f struct {
		Items []struct {
			Session skein.SessionID
			Seq     skein.Seq
			Name    string
			Count   int
			Snippet []struct {
				Text  string
				Match bool
			}
		}
		CutOff *bool `json:"cut_off"`
		Facets map[string][]struct {
			Value string
			Count int
		}
	}
	s.wants(200, "GET /v1/search?q=fork", "", &f)
	if len(f.Items) != 2 || f.CutOff == nil || len(f.Facets["agent"]) != 2 || len(f.Facets["project"]) != 2 {
		t.Errorf("GET search = %+v, want a hit of each session, and facets", f)
	}
	s.wants(200, "GET /v1/search?q=fork+pointer", "", &f)
	if len(f.Items) != 1 || f.Items[0].Seq != 2 || len(f.Items[0].Snippet) < 2 || f.Items[0].Name != "the fork pointer is wrong" {
		t.Errorf("GET search for two words = %+v, want seq 2 with its snippet", f)
	}
	for query, want := range map[string]int{
		"q=fork&each=1": 4, "q=fork&each=1&limit=1": 1, "q=agent:codex+fork&each=1": 3, "q=fork&agent=codex&role=assistant": 1, "q=-right+fork&each=1": 3, "q=%22fork%20pointer%22": 1,
		"q=k+p&mode=substring": 1, "q=p.inter&mode=regex": 1, "q=fork&session=b": 1, "q=fork&project=web": 1, "q=fork&until=1960-01-01": 0, "q=nowhere": 0, "q=role:user&each=1": 3, "q=fork&deadline_ms=5000&tool=bash": 0,
	} {
		if s.wants(200, "GET /v1/search?"+query, "", &f); len(f.Items) != want || f.Items == nil {
			t.Errorf("GET search?%s finds %d, want %d", query, len(f.Items), want)
		}
	}
	if b := s.raw(200, "GET /v1/search?q=key", ""); strings.Contains(string(b), key) || !strings.Contains(string(b), "redacted") {
		t.Errorf("GET search shows a secret: %s", b)
	}
	if b := s.raw(200, "GET /v1/search?q=key&raw=1", ""); !strings.Contains(string(b), key) {
		t.Errorf("GET search with raw=1 = %s, want it as it is", b)
	}
	for to, shows := range map[string]bool{"md": false, "html": false, "json": false, "skein": true, "md&raw=1": true} {
		if b := s.raw(200, "GET /v1/sessions/a/export?to="+to, ""); strings.Contains(string(b), key) != shows {
			t.Errorf("an export to %s shows the secret: %v, want %v", to, !shows, shows)
		}
	}
}

func TestUsageIsSummedByEveryDimension(t *testing.T) {
	s := newSite(t)
	s.begin("a", skein.Created{Agent: "codex", Project: "/p", Title: "named"}, "q", "a", "q", "a")
	for by, want := range map[string]string{"day": "2023-11-14", "model": "claude-sonnet-4-5", "agent": "codex", "project": "/p", "session": "a"} {
		var p page[struct {
			Of, Name string
			Requests int
			Input    int64
			Cost     *float64 `json:"cost_usd"`
		}]
		s.wants(200, "GET /v1/usage?by="+by, "", &p)
		if len(p.Items) != 1 || p.Items[0].Of != want || p.Items[0].Input != 100_000 || p.Items[0].Requests != 2 || p.Items[0].Cost == nil || *p.Items[0].Cost != 0.3 {
			t.Errorf("GET usage by %s = %+v, want %s, two requests, $0.30", by, p.Items, want)
		}
		if by == "session" && p.Items[0].Name != "named" {
			t.Errorf("GET usage by session does not name it: %+v", p.Items)
		}
	}
	s.refuses(400, "invalid", "GET /v1/usage?by=moon", "")
}

func TestLeasesAreKeptByWhoHasTheFence(t *testing.T) {
	s := newSite(t)
	s.begin("a", skein.Created{}, "x")
	var l struct {
		Fence   int
		Holder  skein.Holder
		Expires skein.Time `json:"expires_at"`
	}
	s.wants(201, "POST /v1/sessions/a/lease", `{"program":"tests","ttl":"30s"}`, &l)
	if l.Fence == 0 || l.Holder.Program != "tests" || l.Expires == 0 {
		t.Errorf("POST lease = %+v, want a fence and when it ends", l)
	}
	s.refuses(409, "locked", "POST /v1/sessions/a/lease", `{}`)
	s.refuses(409, "locked", "POST /v1/sessions/a/messages", `{"role":"user","text":"x"}`)
	said := fmt.Sprintf(`{"fence":%d,"events":[{"kind":"said","payload":{"role":"user","parts":[]}}]}`, l.Fence)
	s.raw(201, "POST /v1/sessions/a/events", said)
	s.raw(201, "POST /v1/sessions/a/messages", fmt.Sprintf(`{"role":"user","text":"x","fence":%d}`, l.Fence))
	s.raw(200, "POST /v1/sessions/a/lease/renew", fmt.Sprintf(`{"fence":%d,"ttl":"1m"}`, l.Fence))
	old := l.Fence
	s.wants(201, "POST /v1/sessions/a/lease", `{"take_over":true}`, &l)
	s.refuses(409, "fenced", "POST /v1/sessions/a/events", said)
	s.refuses(409, "fenced", "POST /v1/sessions/a/lease/renew", fmt.Sprintf(`{"fence":%d}`, old))
	s.raw(204, fmt.Sprintf("DELETE /v1/sessions/a/lease?fence=%d", l.Fence), "")
	s.raw(204, fmt.Sprintf("DELETE /v1/sessions/a/lease?fence=%d", l.Fence), "")
	s.raw(201, "POST /v1/sessions/a/messages", `{"role":"user","text":"x"}`)
}

func TestTheDocsAreAPageThatNeedsNothingElse(t *testing.T) {
	s := newSite(t)
	w := s.send("GET /v1/docs", "")
	page := string(s.raw(200, "GET /v1/docs", ""))
	for _, bad := range []string{"<script", "<style", " style=", " onclick", "http://cdn", "https://", "src="} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q, which its policy forbids", bad)
		}
	}
	var doc document
	s.wants(200, "GET /v1/openapi.json", "", &doc)
	for path, item := range doc.Paths {
		for method, op := range item {
			if !strings.Contains(page, `id="`+op.ID+`"`) || !strings.Contains(page, path) {
				t.Errorf("the page does not tell of %s %s", method, path)
			}
		}
	}
	if got := w.Header.Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'none'") {
		t.Errorf("the page's policy is %q", got)
	}
	s.raw(200, "GET /v1/docs/style.css", "")
}

func TestReadyTellsAStrangerNothingElse(t *testing.T) {
	s := newSite(t)
	if b := s.raw(200, "GET /readyz", "", "Authorization: "); string(b) != "ok\n" {
		t.Errorf("GET /readyz = %q, want ok", b)
	}
	s.broken = errors.New("open /home/ada/secret")
	if b := s.raw(503, "GET /readyz", "", "Authorization: "); strings.Contains(string(b), "secret") {
		t.Errorf("GET /readyz tells %s", b)
	}
}

func TestAnExportShowsNoSecretOfATool(t *testing.T) {
	s := newSite(t)
	key := "AKIA" + "Z7QX3M5NPLK2RTWV"
	call := skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{{Kind: skein.PartCall, Call: &skein.Call{ID: "c", Name: "bash", Input: []byte(`{"command":"export AWS_KEY=` + key + `"}`)}}}}
	result := skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: "c", Text: skein.Text("AWS_KEY=" + key)}}}}
	s.begin("a", skein.Created{Title: "about " + key}, "hello")
	if _, err := s.store.Append(t.Context(), skein.Batch{Session: "a", Events: []skein.Event{skein.Say(5, call), skein.Say(6, result)}}); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"md", "html", "json"} {
		if b := s.raw(200, "GET /v1/sessions/a/export?to="+to, ""); strings.Contains(string(b), key) || !strings.Contains(string(b), "hello") {
			t.Errorf("an export to %s = %s, want it without the secret", to, b)
		}
	}
	if b := s.raw(200, "GET /v1/sessions/a/events?raw=true", ""); strings.Count(string(b), key) != 3 {
		t.Error("events are not what was written")
	}
}

// overtaken is a store in which another writer is always faster.
type overtaken struct{ skein.Store }

func (o overtaken) Unwrap() skein.Store { return o.Store }

// Append implements [skein.Store].
func (o overtaken) Append(ctx context.Context, bs ...skein.Batch) ([]skein.Receipt, error) {
	if _, err := skein.Add(ctx, o.Store, bs[0].Session, skein.NewEvent(skein.KindNoted, 1, skein.Noted{Name: "faster"})); err != nil {
		return nil, err
	}
	return o.Store.Append(ctx, bs...)
}

func TestAChangeThatWasOvertakenIsNotMade(t *testing.T) {
	store := memory.New()
	newSiteOn(t, store).begin("a", skein.Created{}, "hello")
	s := newSiteOn(t, overtaken{store})
	tag := s.send("GET /v1/sessions/a", "").Header.Get("ETag")
	s.refuses(412, "stale", "PATCH /v1/sessions/a", `{"title":"T"}`, "If-Match: "+tag)
	s.raw(200, "PATCH /v1/sessions/a", `{"title":"T"}`)
}

// A session hangs on one of the same user, or on what an import knows of.
func TestAParentIsOneOfTheSameUser(t *testing.T) {
	s := newSite(t)
	ann, bob := s.as("ann", "write"), s.as("bob", "write")
	bob.raw(201, "POST /v1/sessions", `{"id":"hers"}`)
	ann.raw(201, "POST /v1/sessions", `{"id":"own"}`)
	for _, why := range []skein.Why{skein.Fork, skein.Child, skein.Continuation} {
		for _, parent := range []string{"hers", "nowhere"} {
			of := fmt.Sprintf(`{"parent":{"session":%q,"seq":1,"why":%q}}`, parent, why)
			ann.refuses(404, "not_found", "POST /v1/sessions", of)
			ann.refuses(404, "not_found", "POST /v1/sessions/new/events", `{"events":[{"kind":"created","payload":`+of+`}]}`)
		}
		ann.raw(201, "POST /v1/sessions", fmt.Sprintf(`{"parent":{"session":"own","seq":1,"why":%q}}`, why))
	}
	ann.refuses(400, "invalid", "POST /v1/sessions", `{"parent":{"session":"own","seq":1,"why":"spawned"}}`)
	ann.refuses(400, "invalid", "POST /v1/sessions", `{"parent":{"session":"own","seq":9,"why":"child"}}`)
	ann.raw(201, "POST /v1/sessions/imported/events", `{"events":[{"kind":"created","payload":{"origin":{"format":"codex"},"parent":{"session":"later","why":"child"}}}]}`)
}
