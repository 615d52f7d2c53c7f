package web_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestAPageThatIsNotThereIsAPage(t *testing.T) {
	v := visiting(t, composed(t), nil)
	for _, c := range []struct{ path, accept, kind, has string }{
		{"/nothing/here", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", "text/html; charset=utf-8", `<a href="/">All sessions</a>`},
		{"/<b>", "text/html", "text/html; charset=utf-8", "nothing is at /&lt;b&gt;"},
		{"/v1/nothing", "application/json", "application/problem+json", `"code":"no_route"`},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.url+strings.NewReplacer("<", "%3C", ">", "%3E").Replace(c.path), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", c.accept)
		a, err := v.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(a.Body)
		if kind := a.Header.Get("Content-Type"); err != nil || a.StatusCode != http.StatusNotFound || kind != c.kind || !strings.Contains(string(b), c.has) {
			t.Errorf("GET %s = %d %s %s (%v), want 404 of type %s with %s", c.path, a.StatusCode, kind, b, err, c.kind, c.has)
		}
		a.Body.Close() //nolint:errcheck // it was read
	}
}

// Refusals of the door are a page for browsers, and a problem for programs.
func TestWhatIsRefusedIsAPageForPeople(t *testing.T) {
	v := visiting(t, composed(t), nil)
	reader, err := v.tokens.Add(tokenOf("", "read"))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, form, token, accept string) (int, string, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, v.url+path, strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		if form != "" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		r.Header.Set("Accept", accept)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close() //nolint:errcheck // it was read
		b, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, a.Header.Get("Content-Type"), string(b)
	}
	const people, programs = "text/html,*/*;q=0.8", "application/json"
	if status, kind, body := ask("GET", "/health", "", reader, people); status != 403 || !strings.HasPrefix(kind, "text/html") || !strings.Contains(body, "this needs admin") || !strings.Contains(body, `href="/usage"`) {
		t.Errorf("a page that is for admins = %d %s %s, want 403 as a page of the site", status, kind, body)
	}
	if status, kind, _ := ask("GET", "/health", "", reader, programs); status != 403 || kind != "application/problem+json" {
		t.Errorf("the same for a program = %d %s, want 403 as a problem", status, kind)
	}
	for range 100 {
		ask("POST", "/login", "code=wrong", "", people)
	}
	if status, kind, body := ask("POST", "/login", "code=wrong", "", people); status != 429 || !strings.HasPrefix(kind, "text/html") || !strings.Contains(body, "too many wrong tokens") || strings.Contains(body, `href="/usage"`) {
		t.Errorf("one try too many = %d %s %s, want 429 as a page of a site that nobody is in", status, kind, body)
	}
}
