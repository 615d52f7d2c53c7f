package web_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web"
)

// The result of a form is in a cookie that is as safe as the login's: also
// behind a proxy that uses https, and not mistaken for that of a server at
// another port.
func TestWhatAFormDidIsToldByASafeCookie(t *testing.T) {
	tokens, err := door.OpenTokens(filepath.Join(t.TempDir(), "tokens"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	public := &url.URL{Scheme: "https", Host: "sessions.example"}
	d := door.New(door.Options{Store: composed(t), Tokens: tokens, Public: public, Log: slog.New(slog.DiscardHandler), Now: time.Now}, web.Routes(web.Options{})...)
	ask := func(method, host, body, cookie string) *http.Response {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, "http://"+host+"/sessions/s-retry"+map[string]string{"POST": "/rename"}[method], strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+tokens.First())
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Cookie", cookie)
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		told, want := strings.Contains(w.Body.String(), "Renamed."), cookie != "" && !strings.HasPrefix(cookie, "skein_notice_1=")
		if method == "GET" && told != want {
			t.Errorf("GET at %s with the cookie %q tells what was done: %v, want %v", host, cookie, told, want)
		}
		return w.Result()
	}
	for host, want := range map[string]http.Cookie{
		"sessions.example": {Name: "__Host-skein_notice", Secure: true},
		"localhost:7433":   {Name: "skein_notice_7433"},
	} {
		set := ask("POST", host, "title=new", "").Cookies() //nolint:bodyclose // a recorder's
		if len(set) != 1 || set[0].Name != want.Name || set[0].Secure != want.Secure || !set[0].HttpOnly || set[0].SameSite != http.SameSiteStrictMode || set[0].Path != "/" {
			t.Fatalf("a form at %s sets %v, want one cookie %s, Secure %v", host, set, want.Name, want.Secure)
		}
		ended := ask("GET", host, "", set[0].Name+"="+set[0].Value).Cookies() //nolint:bodyclose // a recorder's
		if len(ended) != 1 || ended[0].Name != want.Name || ended[0].MaxAge >= 0 || ended[0].Secure != want.Secure {
			t.Errorf("the page after the form at %s sets %v, want the end of %s", host, ended, want.Name)
		}
		ask("GET", host, "", "") //nolint:bodyclose // a recorder's
	}
	ask("GET", "localhost:7433", "", "skein_notice_1=Renamed.") //nolint:bodyclose // a recorder's
}
