package door_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/memory"
)

// Behind a proxy that uses https, a browser is treated as if it used https with
// this server; under any other name it is not, whatever headers say.
func TestBehindAServerThatEncryptsTheLoginIsSecure(t *testing.T) {
	h := newHouse(t)
	public := &url.URL{Scheme: "https", Host: "sessions.example"}
	h.door = door.New(door.Options{Store: memory.New(), Tokens: h.tokens, Log: slog.New(slog.DiscardHandler), Now: time.Now, Public: public},
		door.Route{Pattern: "GET /v1/read", Scope: door.Read, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})})
	login := func(host string, headers ...string) *http.Cookie {
		t.Helper()
		code, _ := h.door.Code()
		w := h.send("code="+code, append(headers, "Host: "+host)...)
		all := w.Result().Cookies() //nolint:bodyclose // a recorder's
		if len(all) != 1 {
			t.Fatalf("a login at %s sets the cookies %v, want one", host, all)
		}
		return all[0]
	}
	c := login("Sessions.example")
	if !c.Secure || c.Name != "__Host-skein_login" || c.Path != "/" || c.Domain != "" {
		t.Errorf("the cookie at the public name is %v, want it Secure and for that host alone", c)
	}
	in := "Cookie: " + c.Name + "=" + c.Value
	h.wants(200, "GET /v1/read", "", "Host: sessions.example", "Authorization: ", in)
	h.wants(200, "GET /v1/read", "", "Host: sessions.example", "Authorization: ", in, "Origin: https://sessions.example")
	h.wants(403, "GET /v1/read", "", "Host: sessions.example", "Authorization: ", in, "Origin: http://sessions.example")
	h.wants(403, "GET /v1/read", "", "Host: sessions.example:444", "Authorization: ", in)
	h.wants(401, "GET /v1/read", "", "Host: localhost", "Authorization: ", in)
	h.wants(401, "GET /v1/read", "", "Host: localhost", "Authorization: ", "Cookie: skein_login="+c.Value)
	local := login("localhost:7433", "X-Forwarded-Proto: https", "X-Forwarded-Host: sessions.example")
	if local.Secure || local.Name != "skein_login_7433" {
		t.Errorf("the cookie at localhost is %v, want it as without --public-url", local)
	}
	h.wants(401, "GET /v1/read", "", "Host: sessions.example", "Authorization: ", "Cookie: __Host-skein_login="+local.Value)
}

// A link on another site, and a reload of a page opened from there, come
// without the cookie; a page of this site that asks again has it. A stranger
// then sees the form, and no other request is answered like this.
func TestAWayFromElsewhereIsTakenOnceMoreFromHere(t *testing.T) {
	h := newHouse(t)
	form := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "form", http.StatusUnauthorized) })
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("page")) }) //nolint:errcheck // a recorder
	h.door = door.New(door.Options{Store: memory.New(), Tokens: h.tokens, Log: slog.New(slog.DiscardHandler), Now: time.Now, Form: form},
		door.Route{Pattern: "GET /sessions/{id}", Scope: door.Read, Page: true, Handler: ok},
		door.Route{Pattern: "POST /sessions/{id}", Scope: door.Write, Page: true, Handler: ok},
		door.Route{Pattern: "GET /v1/read", Scope: door.Read, Handler: ok})
	from := func(site string, more ...string) []string {
		return append([]string{"Authorization: ", "Sec-Fetch-Site: " + site, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}, more...)
	}
	const at = `content="0; url=/sessions/a%2Fb?at=1&amp;x=%22"`
	for _, site := range []string{"cross-site", "same-site"} {
		if w := h.ask("GET /sessions/a%2Fb?at=1&x=%22", "", from(site)...); w.Code != 200 || !strings.Contains(w.Body.String(), at) || len(w.Result().Cookies()) > 0 { //nolint:bodyclose // a recorder's
			t.Errorf("a way from a %s page = %d %s, want a page that leads to itself", site, w.Code, w.Body)
		}
	}
	for _, site := range []string{"same-origin", "none"} {
		if w := h.ask("GET /sessions/a", "", from(site)...); w.Code != 401 || !strings.Contains(w.Body.String(), "form") {
			t.Errorf("a stranger's way from %s = %d %s, want the form", site, w.Code, w.Body)
		}
	}
	if w := h.ask("GET /sessions/a", "", from("cross-site", "Authorization: Bearer "+h.tokens.First())...); w.Body.String() != "page" {
		t.Errorf("a way from elsewhere with a token = %d %s, want the page", w.Code, w.Body)
	}
	h.wants(401, "GET /v1/read", "", from("cross-site")...)
	h.wants(403, "POST /sessions/a", "", from("cross-site")...)
}

func TestWithTLSNothingElseIsSpokenFromThenOn(t *testing.T) {
	h := newHouse(t)
	h.door = door.New(door.Options{
		Store: memory.New(), Tokens: h.tokens, Log: slog.New(slog.DiscardHandler), Now: time.Now, Hosts: []string{"a.localhost"},
		Public: &url.URL{Scheme: "https", Host: "sessions.example"},
	})
	if got := h.ask("GET /healthz", "", "Host: sessions.example").Header().Get("Strict-Transport-Security"); got != "max-age=31536000" {
		t.Errorf("at the public name Strict-Transport-Security is %q, want a year", got)
	}
	for _, host := range []string{"localhost:7433", "127.0.0.1", "a.localhost", "[::1]:7433"} {
		r := httptest.NewRequest(http.MethodGet, "https://"+host+"/healthz", nil)
		w := httptest.NewRecorder()
		if h.door.ServeHTTP(w, r); w.Code != 200 || w.Header().Get("Strict-Transport-Security") != "" {
			t.Errorf("at %s by TLS = %d, Strict-Transport-Security %q, want none: other programs speak without there", host, w.Code, w.Header().Get("Strict-Transport-Security"))
		}
	}
	if got := h.ask("GET /healthz", "", "Host: localhost").Header().Get("Strict-Transport-Security"); got != "" {
		t.Errorf("without TLS Strict-Transport-Security is %q, want none", got)
	}
}
