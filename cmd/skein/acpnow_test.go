//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/skein-dev/skein/server/acp/acptest"
)

// A dashboard is a browser without scripts, that has a token.
type dashboard struct {
	*testing.T
	client    http.Client
	at, token string
}

func (d *acpDesk) dashboard(at, token string) *dashboard {
	d.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		d.Fatal(err)
	}
	return &dashboard{d.T, http.Client{Jar: jar}, at, token}
}

// get returns a page; post sends a form, and returns the status and the page that follows.
func (b *dashboard) get(path string) string {
	b.Helper()
	_, page := b.request(http.MethodGet, path, nil)
	return page
}

func (b *dashboard) post(path string, form url.Values) (int, string) {
	b.Helper()
	return b.request(http.MethodPost, path, form)
}

func (b *dashboard) request(method, path string, form url.Values) (int, string) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.at+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + b.token}, "Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {b.at}}
	a, err := b.client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Body.Close()
	page, err := io.ReadAll(a.Body)
	if err != nil {
		b.Fatal(err)
	}
	return a.StatusCode, string(page)
}

// asks waits until the page Now asks for a permission of a session, with an option, and
// returns its name.
func (b *dashboard) asks(id, option string) string {
	b.Helper()
	for b.Context().Err() == nil {
		page := b.get("/now")
		if found := regexp.MustCompile(`name="permission" value="([^"]+)"`).FindStringSubmatch(page); found != nil {
			if !strings.Contains(page, `action="/sessions/`+id+`/permission"`) || !strings.Contains(page, `name="option" value="`+option+`"`) {
				b.Errorf("the page cannot be answered:\n%s", page)
			}
			return found[1]
		}
	}
	return ""
}

// The page Now answers what an agent asks in an editor, once; who answered is stored. A
// token that may only read can't answer.
func TestNowAnswersForTheEditor(t *testing.T) {
	d, e, id := openedIn(t, "-")
	at := d.serves()
	b := d.dashboard(at, d.skein("token", "add", "tablet", "--scope", "answer"))
	first := e.Send("session/prompt", acptest.PromptOf(id, "permit Bash\nsay done"))
	answer := url.Values{"permission": {b.asks(id, "y")}, "option": {"y"}, "back": {"/now"}}

	reader := d.dashboard(at, d.skein("token", "add", "reader", "--scope", "read"))
	if strings.Contains(reader.get("/now"), "/permission") {
		t.Error("a token that may only read is asked")
	}
	if status, _ := reader.post("/sessions/"+id+"/permission", answer); status != http.StatusForbidden {
		t.Errorf("the answer of a token that may only read has the status %d, want %d", status, http.StatusForbidden)
	}
	b.post("/sessions/"+id+"/permission", answer)
	e.AwaitLine("$/cancel_request")
	if a, ok := e.Await(first); !ok || a.Error != nil {
		t.Fatalf("the editor's prompt is answered %+v", a)
	}
	if _, page := b.post("/sessions/"+id+"/permission", answer); !strings.Contains(page, "too late: this was answered before: tablet chose") {
		t.Errorf("the second answer leads to\n%s", page)
	}
	e.leave()
	if n := d.notes(id, "acp:decision"); n != 1 {
		t.Errorf("%d decisions are stored, want 1", n)
	}
}
