package web_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/skein-dev/skein/server/door"
)

func TestThePageOfLoginsEndsOneAllOthersOrAll(t *testing.T) {
	v := visiting(t, composed(t), nil)
	id := regexp.MustCompile(`name="id" value="([^"]+)"`)
	ids := func() (all []string) {
		t.Helper()
		for _, m := range id.FindAllStringSubmatch(v.get("/logins"), -1) {
			all = append(all, m[1])
		}
		return all
	}
	here := ids()
	if len(here) != 1 {
		t.Fatalf("the page lists the logins %v, want the one", here)
	}
	wants(t, "the page of logins", v.get("/logins"), "this browser", "127.0.0.1", "Go-http-client")
	others := make([]*http.Cookie, 2)
	for i := range others {
		others[i] = v.elsewhere(door.First)
	}
	all := ids()
	if len(all) != 3 {
		t.Fatalf("the page lists the logins %v, want three", all)
	}
	for i, one := range all {
		if one != here[0] {
			v.send("/logins/end", url.Values{"id": {one}})
			if left := ids(); len(left) != 2 || strings.Join(left, " ") == strings.Join(all, " ") {
				t.Errorf("after one of three was ended there are %v", left)
			}
			break
		} else if i == 2 {
			t.Fatal("the page lists one login three times")
		}
	}
	v.send("/logins/end", url.Values{"which": {"others"}})
	if left := ids(); len(left) != 1 || left[0] != here[0] {
		t.Errorf("after all others were ended there are %v, want %v", left, here)
	}
	v.ask("POST", "/logins/end", url.Values{"which": {"all"}})
	if status, _ := v.ask("GET", "/logins", nil); status != http.StatusUnauthorized {
		t.Errorf("GET /logins after all were ended = %d, want 401", status)
	}
}

// elsewhere logs another browser in with the token of that name.
func (v *visit) elsewhere(token string) *http.Cookie {
	v.t.Helper()
	value := v.tokens.First()
	if token != door.First {
		var err error
		if value, err = v.tokens.Add(tokenOf("ann", "read")); err != nil {
			v.t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, v.url+"/login", strings.NewReader("token="+value))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	a, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer a.Body.Close()
	if len(a.Cookies()) != 1 {
		v.t.Fatalf("POST /login = %s with the cookies %v, want one", a.Status, a.Cookies())
	}
	return a.Cookies()[0]
}

// A token that reads one user's sessions sees and ends that user's logins, and
// no others.
func TestLoginsOfOthersAreNeitherSeenNorEnded(t *testing.T) {
	v := visiting(t, composed(t), nil)
	v.elsewhere("anns")
	before, err := v.tokens.Logins(t.Context())
	if err != nil || len(before) != 2 {
		t.Fatalf("Logins = %+v, %v, want two", before, err)
	}
	token, err := v.tokens.Add(tokenOf("eve", "read"))
	if err != nil {
		t.Fatal(err)
	}
	v.as(token)
	wants(t, "eve's page of logins", v.get("/logins"), "No browser is logged in")
	for _, l := range before {
		v.send("/logins/end", url.Values{"id": {l.ID}})
	}
	v.send("/logins/end", url.Values{"which": {"all"}})
	if after, err := v.tokens.Logins(t.Context()); err != nil || len(after) != len(before) {
		t.Errorf("after eve tried to end them there are the logins %+v, %v, want %d", after, err, len(before))
	}
}

// A login link shows a button, as often as it is opened; only the button logs
// in, once, and leads to the page that the link names.
func TestALinkToLogInShowsAButton(t *testing.T) {
	v := visiting(t, composed(t), nil)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v.client.Jar = jar // another browser, without a login
	code := v.code()
	for range 3 {
		status, body := v.ask(http.MethodGet, "/login?"+url.Values{"code": {code}, "next": {"/usage?by=model"}}.Encode(), nil)
		if status != http.StatusUnauthorized || strings.Count(body, "<button") != 1 || strings.Contains(body, `name="token"`) ||
			!strings.Contains(body, `name="code" value="`+code+`"`) || !strings.Contains(body, `name="next" value="/usage?by=model"`) {
			t.Fatalf("the link shows %d %s, want one button that sends the code and where to go on", status, body)
		}
	}
	if status, _ := v.ask(http.MethodGet, "/usage", nil); status != http.StatusUnauthorized {
		t.Errorf("a page after the link was only looked at = %d, want 401", status)
	}
	form := url.Values{"code": {code}, "next": {"/usage?by=model"}}
	if body := v.send("/login", form); !strings.Contains(body, "<h1>Usage") {
		t.Errorf("the button leads to %s, want the page of the usage", body)
	}
	v.client.Jar = nil
	if status, body := v.ask(http.MethodPost, "/login", form); status != http.StatusUnauthorized || !strings.Contains(body, "was used before") || !strings.Contains(body, `name="token"`) {
		t.Errorf("the button a second time = %d %s, want the form and that the link was used before", status, body)
	}
}

func TestEveryPageLeadsToTheSamePages(t *testing.T) {
	v := visiting(t, composed(t), nil)
	nav := regexp.MustCompile(`(?s)<nav aria-label="Main">.*?</nav>`)
	current := strings.NewReplacer(` aria-current="page"`, "")
	want := current.Replace(nav.FindString(v.get("/")))
	if !strings.Contains(want, "/settings") {
		t.Fatalf("the list of sessions leads to %s, want the settings too", want)
	}
	for _, path := range []string{"/search", "/search?q=retry", "/usage", "/bin", "/health", "/settings", "/sessions/nowhere"} {
		if _, body := v.ask("GET", path, nil); current.Replace(nav.FindString(body)) != want {
			t.Errorf("%s leads to %s, want %s", path, nav.FindString(body), want)
		}
	}
}
