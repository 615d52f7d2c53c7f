package door_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/skein-dev/skein/door"
	"github.com/skein-dev/skein/memory"
)

// Behind a server that speaks https, a browser is treated as if it spoke https
// with this one; by any other name it is not, whatever headers say.
func TestBehindAServerThatEncryptsTheLoginIsSecure(t *testing.T) {
	h := newHouse(t)
	public := &url.URL{Scheme: "https", Host: "sessions.example"}
	h.door = door.New(door.Options{Store: memory.New(), Tokens: h.tokens, Log: slog.New(slog.DiscardHandler), Now: time.Now, Public: public},
		door.Route{Pattern: "GET /v1/read", Scope: door.Read, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})})
	login := func(host string, headers ...string) *http.Cookie {
		t.Helper()
		code, _ := h.door.Code()
		w := h.ask("GET /login?code="+code, "", append(headers, "Host: "+host, "Authorization: ")...)
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
