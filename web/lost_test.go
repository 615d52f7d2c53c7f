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
		{"/<b>", "text/html", "text/html; charset=utf-8", "there is nothing at /&lt;b&gt;"},
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
