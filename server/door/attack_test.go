package door_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/memory"
)

func TestOnlyItsOwnNamesReachTheServer(t *testing.T) {
	h := newHouse(t)
	for _, host := range []string{
		"localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:7433", "127.8.8.8:7433", "[::1]", "[::1]:80", "skein.example", "Skein.Example:443",
	} {
		h.wants(200, "GET /v1/read", "", "Host: "+host)
	}
	for _, host := range []string{
		"evil.example", "evil.example:7433", "localhost.evil.example", "127.0.0.1.nip.io", "evil.example@127.0.0.1", "127.0.0.1@evil.example",
		"localhost.", "skein.example.", "127.0.0.1:80:80", "localhost:evil", "localhost:", "localhost:99999", "localhost:+80", "[::1", "::1]", "[[::1]]", "[localhost]:1",
		"127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0", "[::]", "10.0.0.1", "[::1%25lo]",
		"xn--skein-example", "skeın.example", "ⓛocalhost", "localhost,evil.example", "localhost evil.example", "localhost/evil", "", ":7433", "[]",
	} {
		if w := h.ask("GET /v1/read", "", "Host: x"); w.Code != 403 {
			t.Fatal("the test's own way of setting a host does not work")
		}
		r := httptest.NewRequest(http.MethodGet, "/v1/read", nil)
		r.Host = host
		r.Header.Set("Authorization", "Bearer "+h.tokens.First())
		w := httptest.NewRecorder()
		if h.door.ServeHTTP(w, r); w.Code != http.StatusForbidden {
			t.Errorf("the host %q = %d, want 403", host, w.Code)
		}
	}
	for _, forwarded := range []string{"X-Forwarded-Host: 127.0.0.1", "X-Host: 127.0.0.1", "Forwarded: host=127.0.0.1", "X-Original-URL: /healthz"} {
		h.wants(403, "GET /v1/read", "", "Host: evil.example", forwarded)
	}
}

func TestOnlyItsOwnPagesReachTheServer(t *testing.T) {
	h := newHouse(t)
	for _, origin := range []string{
		"null", "http://localhost:7433", "http://127.0.0.1", "http://127.0.0.1:80", "http://127.0.0.1:74330", "http://127.0.0.1:7433.evil.example",
		"http://evil.example@127.0.0.1:7433", "http://127.0.0.1:7433@evil.example", "http://127.0.0.1:7433/", "http://127.0.0.1:7433/x", "//127.0.0.1:7433",
		"127.0.0.1:7433", "file://127.0.0.1:7433", "chrome-extension://127.0.0.1:7433", "javascript:127.0.0.1:7433", "http://127.0.0.1.:7433",
		"http://127.0.0.1:7433 http://evil.example", "http://evil.example#http://127.0.0.1:7433", "%00", "undefined",
	} {
		h.wants(403, "GET /v1/read", "", "Origin: "+origin)
		h.wants(403, "POST /v1/write", "{}", "Origin: "+origin)
	}
	h.wants(200, "POST /v1/write", "{}", "Origin: http://127.0.0.1:7433", "Sec-Fetch-Site: same-origin")
	for _, site := range []string{"cross-site", "same-site", "weird"} {
		h.wants(403, "POST /v1/write", "{}", "Sec-Fetch-Site: "+site)
		h.wants(403, "GET /v1/read", "", "Sec-Fetch-Site: "+site, "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image")
		h.wants(403, "GET /v1/read", "", "Sec-Fetch-Site: "+site, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe")
		h.wants(200, "GET /v1/read", "", "Sec-Fetch-Site: "+site, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
	}
	r := httptest.NewRequest(http.MethodGet, "/v1/read", nil)
	r.Host = "127.0.0.1:7433"
	r.Header = http.Header{"Authorization": {"Bearer " + h.tokens.First()}, "Origin": {"http://127.0.0.1:7433", "http://evil.example"}}
	w := httptest.NewRecorder()
	if h.door.ServeHTTP(w, r); w.Code != http.StatusForbidden {
		t.Errorf("two origins = %d, want 403", w.Code)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + h.tokens.First(), "Bearer x"}}
	w = httptest.NewRecorder()
	if h.door.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
		t.Errorf("two tokens = %d, want 401", w.Code)
	}
	w = h.ask("OPTIONS /v1/write", "", "Origin: https://evil.example", "Access-Control-Request-Method: POST")
	if w.Code != http.StatusForbidden || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a preflight from elsewhere = %d %v, want 403 and no permission", w.Code, w.Header())
	}
}

func TestATokenMayDoWhatItsScopeSays(t *testing.T) {
	h := newHouse(t)
	routes := []string{"GET /v1/read", "POST /v1/write", "POST /v1/admin"}
	for reach, scope := range []string{"read", "write", "admin"} {
		token, err := h.tokens.Add(door.Token{Name: scope, Scope: scope, Expires: skein.At(h.now.Add(time.Hour))})
		if err != nil {
			t.Fatal(err)
		}
		for i, what := range routes {
			want := 200
			if i > reach {
				want = 403
			}
			h.wants(want, what, "", "Authorization: Bearer "+token)
			h.wants(401, what, "", "Authorization: Bearer "+token[:len(token)-1])
			h.wants(401, what, "", "Authorization: "+token)
			h.wants(401, what, "", "Authorization: ", "Cookie: skein_login_7433="+token)
			h.wants(401, what+"?token="+token+"&access_token="+token, "", "Authorization: ")
		}
	}
	h.now = h.now.Add(time.Hour)
	h.wants(401, routes[0], "", "Authorization: Bearer "+h.tokens.First()+" ,")
	h.wants(200, routes[0], "")
}

// login logs in with a code and returns the cookie, as a header.
func (h *house) login(host string) string {
	h.Helper()
	code, ok := h.door.Code()
	if !ok {
		h.Fatal("no code")
	}
	w := h.send("code="+code, "Host: "+host)
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		h.Fatalf("POST /login = %d, cookies %v; want one", w.Code, cookies)
	}
	return "Cookie: " + cookies[0].Name + "=" + cookies[0].Value
}

func TestALoginIsGoodForOnePortOnly(t *testing.T) {
	h := newHouse(t)
	one, two := h.login("127.0.0.1:7433"), h.login("127.0.0.1:7434")
	name := func(cookie string) string { s, _, _ := strings.Cut(cookie, "="); return s }
	if name(one) == name(two) {
		t.Errorf("two ports have the cookie %q, want one each: browsers send them to both", name(one))
	}
	h.wants(200, "GET /v1/read", "", "Authorization: ", one)
	h.wants(401, "GET /v1/read", "", "Authorization: ", two)
	h.wants(401, "GET /v1/read", "", "Authorization: ", strings.Replace(two, "7434", "7433", 1))
}

func TestALoginEndsWithItsToken(t *testing.T) {
	h := newHouse(t)
	token, err := h.tokens.Add(door.Token{Name: "ann", Scope: "read"})
	if err != nil {
		t.Fatal(err)
	}
	w := h.ask("POST /login", "token="+token, "Authorization: ", "Content-Type: application/x-www-form-urlencoded", "Origin: http://127.0.0.1:7433")
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("POST /login = %d %s, want a cookie", w.Code, w.Body)
	}
	in := "Cookie: " + cookies[0].Name + "=" + cookies[0].Value
	h.wants(200, "GET /v1/read", "", "Authorization: ", in)
	if err := h.tokens.Remove("ann"); err != nil {
		t.Fatal(err)
	}
	h.wants(401, "GET /v1/read", "", "Authorization: ", in)
	if _, err := h.tokens.Add(door.Token{Name: "ann", Scope: "admin"}); err != nil {
		t.Fatal(err)
	}
	h.wants(401, "GET /v1/read", "", "Authorization: ", in)
}

func TestALoginEndsWhenAnotherProcessChangesTheFirstToken(t *testing.T) {
	h := newHouse(t)
	in := h.login("127.0.0.1:7433")
	other, err := door.OpenTokens(h.tokens.Path(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Remove(door.First); err != nil {
		t.Fatal(err)
	}
	h.wants(401, "GET /v1/read", "", "Authorization: ", in)
}

func TestALogoutEndsTheLoginItself(t *testing.T) {
	h := newHouse(t)
	in := h.login("127.0.0.1:7433")
	h.now = h.now.Add(time.Second)
	other := h.login("127.0.0.1:7433")
	form := "Content-Type: application/x-www-form-urlencoded"
	h.wants(403, "POST /logout", "a=b", "Authorization: ", in, form, "Origin: http://127.0.0.1:9999")
	h.wants(200, "GET /v1/read", "", "Authorization: ", in)
	h.wants(303, "POST /logout", "a=b", "Authorization: ", in, form, "Origin: http://127.0.0.1:7433")
	h.wants(401, "GET /v1/read", "", "Authorization: ", in)
	h.wants(200, "GET /v1/read", "", "Authorization: ", other)
}

func TestAChangeWithALoginSaysWhereItComesFrom(t *testing.T) {
	h := newHouse(t)
	in := h.login("127.0.0.1:7433")
	h.wants(401, "POST /v1/write", "{}", "Authorization: ", in)
	h.wants(200, "POST /v1/write", "{}", "Authorization: ", in, "Origin: http://127.0.0.1:7433")
	h.wants(200, "POST /v1/write", "{}", "Authorization: ", in, "Sec-Fetch-Site: same-origin")
	h.wants(403, "POST /v1/login-codes", "", "Authorization: ", in, "Origin: http://127.0.0.1:7433")
}

func TestACodeWorksOnceAndForAWhile(t *testing.T) {
	h := newHouse(t)
	code, _ := h.door.Code()
	for _, look := range []string{"HEAD", "GET", "GET"} { // as link previews do
		if w := h.ask(look+" /login?code="+code, "", "Authorization: "); len(w.Result().Cookies()) > 0 { //nolint:bodyclose // a recorder's
			t.Errorf("%s of the link sets a cookie", look)
		}
	}
	for _, site := range []string{"cross-site", "same-site"} {
		if w := h.send("code="+code, "Sec-Fetch-Site: "+site); w.Code != 403 {
			t.Errorf("a form on a %s page that sends the code = %d, want 403", site, w.Code)
		}
	}
	if w := h.send("code="+code, "Origin: https://evil.example"); w.Code != 403 {
		t.Errorf("a form on another site's page that sends the code = %d, want 403", w.Code)
	}
	for i, want := range []int{303, 401} {
		if w := h.send("code=" + code); w.Code != want {
			t.Errorf("POST %d of the code = %d %s, want %d", i+1, w.Code, w.Body, want)
		}
	}
	late, _ := h.door.Code()
	h.now = h.now.Add(10 * time.Minute)
	if w := h.send("code=" + late); w.Code != 401 {
		t.Errorf("a code after 10 minutes = %d, want 401", w.Code)
	}
	var ok sync.WaitGroup
	once, _ := h.door.Code()
	got := make(chan int, 20)
	for range 20 {
		ok.Go(func() { got <- h.send("code=" + once).Code })
	}
	ok.Wait()
	close(got)
	in := 0
	for status := range got {
		if status == 303 {
			in++
		}
	}
	if in != 1 {
		t.Errorf("20 at once with one code: %d are in, want 1", in)
	}
}

func TestGuessesOfCodesAndOfTheFormAreCounted(t *testing.T) {
	h := newHouse(t)
	for i := range 50 {
		for _, guess := range []string{fmt.Sprintf("code=%d", i), "token=x"} {
			if w := h.send(guess); w.Code != 401 {
				t.Errorf("POST /login with %s = %d, want 401", guess, w.Code)
			}
		}
	}
	if w := h.send("code=x"); w.Code != 429 {
		t.Errorf("one guess too many = %d, want 429", w.Code)
	}
	h.wants(429, "GET /v1/read", "", "Authorization: Bearer x")
	h.wants(401, "GET /login", "", "Authorization: ") // the form does not count as a wrong token
	h.wants(401, "GET /login?code=x", "", "Authorization: ")
}

func TestAFileOfTokensThatCannotBeReadLetsNobodyIn(t *testing.T) {
	h := newHouse(t)
	in := h.login("127.0.0.1:7433")
	if err := os.Remove(h.tokens.Path()); err != nil {
		t.Fatal(err)
	}
	h.wants(503, "GET /v1/read", "")
	h.wants(503, "GET /v1/read", "", "Authorization: ", in)
}

// A secret must not be in a log, an error or a URL.
func TestNoSecretIsLogged(t *testing.T) {
	var log strings.Builder
	tokens, err := door.OpenTokens(filepath.Join(t.TempDir(), "tokens"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{T: t, tokens: tokens, now: time.Now()}
	h.door = door.New(door.Options{Store: memory.New(), Tokens: tokens, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), Now: time.Now},
		door.Route{Pattern: "GET /v1/read", Scope: door.Read, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("panic") {
				panic("ouch")
			}
			door.Fail(w, r, io.ErrUnexpectedEOF)
		})})
	in := h.login("127.0.0.1:7433")
	code, _ := h.door.Code()
	secrets := []string{tokens.First(), code, in[strings.Index(in, "=")+1:], "wrong-one", "a/path"}
	var answers strings.Builder
	for _, w := range []*httptest.ResponseRecorder{
		h.ask("GET /v1/read", ""), h.ask("GET /v1/read?panic=1&token="+tokens.First(), ""), h.ask("GET /v1/read", "", "Authorization: ", in),
		h.ask("GET /v1/read", "", "Authorization: Bearer wrong-one"), h.send("code="+code, "Host: evil.example"), h.ask("GET /login?code="+code, "", "Authorization: "),
		h.ask("POST /login", "token="+tokens.First()+"x", "Content-Type: application/x-www-form-urlencoded"), h.ask("GET /a/path", ""),
	} {
		answers.WriteString(w.Body.String())
	}
	for _, secret := range secrets {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %q:\n%s", secret, log.String())
		}
	}
	for _, secret := range secrets[:4] {
		if strings.Contains(answers.String(), secret) {
			t.Errorf("an answer has %q:\n%s", secret, answers.String())
		}
	}
	if !strings.Contains(log.String(), "route=\"GET /v1/read\"") || !strings.Contains(log.String(), "ouch") {
		t.Errorf("the log has no requests:\n%s", log.String())
	}
}

// raw sends bytes and returns the first line of each answer until the server
// closes the connection, or stays silent.
func raw(t *testing.T, addr, request string) (lines []string) {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // it was read
	if err := c.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	io.WriteString(c, request) //nolint:errcheck // the server may have closed already
	in := bufio.NewReader(c)
	for {
		w, err := http.ReadResponse(in, nil)
		if err != nil {
			return lines
		}
		lines = append(lines, w.Status)
		io.Copy(io.Discard, w.Body) //nolint:errcheck // it is a test's
		if w.Close {
			return lines
		}
	}
}

func TestRequestsThatTwoServersWouldReadDifferently(t *testing.T) {
	h := newHouse(t)
	addr, _ := h.serve(nil)
	head := "Host: " + addr + "\r\nAuthorization: Bearer " + h.tokens.First() + "\r\nConnection: close\r\n"
	for name, c := range map[string]struct{ request, want string }{
		"a good one":                     {"GET /v1/read HTTP/1.1\r\n" + head + "\r\n", "200"},
		"a target with a foreign host":   {"GET http://evil.example/v1/read HTTP/1.1\r\n" + head + "\r\n", "403"},
		"a target with our host":         {"GET http://" + addr + "/v1/read HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer " + h.tokens.First() + "\r\nConnection: close\r\n\r\n", "200"},
		"two hosts":                      {"GET /v1/read HTTP/1.1\r\nHost: evil.example\r\n" + head + "\r\n", "400"},
		"no host":                        {"GET /v1/read HTTP/1.1\r\n\r\n", "400"},
		"no host, the old way":           {"GET /v1/read HTTP/1.0\r\nAuthorization: Bearer " + h.tokens.First() + "\r\n\r\n", "403"},
		"two lengths":                    {"POST /v1/write HTTP/1.1\r\n" + head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", "400"},
		"a length that is none":          {"POST /v1/write HTTP/1.1\r\n" + head + "Content-Length: +2\r\n\r\n{}", "400"},
		"an unknown transfer encoding":   {"POST /v1/write HTTP/1.1\r\n" + head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "501"},
		"two transfer encodings":         {"POST /v1/write HTTP/1.1\r\n" + head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", "501"},
		"a space before the colon":       {"GET /v1/read HTTP/1.1\r\n" + head + "Content-Length : 5\r\n\r\n", "400"},
		"a folded header":                {"GET /v1/read HTTP/1.1\r\n" + head + "X: a\r\n\x00b\r\n\r\n", "400"},
		"headers of 64 KB":               {"GET /v1/read HTTP/1.1\r\n" + head + "X: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", "431"},
		"10,000 headers":                 {"GET /v1/read HTTP/1.1\r\n" + head + strings.Repeat("X: y\r\n", 10_000) + "\r\n", "431"},
		"a chunk with a length too long": {"POST /v1/write HTTP/1.1\r\n" + head + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", "413"},
		"all options":                    {"OPTIONS * HTTP/1.1\r\n" + head + "\r\n", "4"},
		"connect":                        {"CONNECT evil.example:443 HTTP/1.1\r\n" + head + "\r\n", "403"},
		"a method of its own":            {"get /v1/read HTTP/1.1\r\n" + head + "\r\n", "405"},
		"a path with dots":               {"GET /healthz/../v1/admin HTTP/1.1\r\nHost: " + addr + "\r\nConnection: close\r\n\r\n", "4"},
		"a path with escaped dots":       {"GET /healthz/%2e%2e/v1/read HTTP/1.1\r\nHost: " + addr + "\r\nConnection: close\r\n\r\n", ""},
	} {
		got := raw(t, addr, c.request)
		if len(got) != 1 || !strings.HasPrefix(got[0], c.want) || c.want == "" && strings.HasPrefix(got[0], "200") {
			t.Errorf("%s = %q, want one answer of %s", name, got, c.want)
		}
	}
}

// What follows a body with two lengths is not a request.
func TestNoRequestHidesInABody(t *testing.T) {
	h := newHouse(t)
	addr, _ := h.serve(nil)
	hidden := "GET /v1/read HTTP/1.1\r\nHost: " + addr + "\r\n\r\n"
	body := "0\r\n\r\n" + hidden
	got := raw(t, addr, fmt.Sprintf("POST /v1/write HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n%s",
		addr, h.tokens.First(), len(body), body))
	if len(got) > 1 {
		t.Errorf("a body with both kinds of length = %q, want no second answer", got)
	}
}
