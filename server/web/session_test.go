package web_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server/web"
)

// lacks fails the test if body contains one of the texts.
func lacks(t *testing.T, of, body string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(body, text) {
			t.Errorf("%s has %q:\n%s", of, text, body)
		}
	}
}

func TestSessionShowsAllThatATranscriptHas(t *testing.T) {
	store := composed(t)
	id := everything(t, store)
	v := visiting(t, store, func(o *web.Options) { o.Agents = []string{"claude-code", "codex"} })
	page := v.get("/sessions/" + string(id))
	wants(
		t, "the page", page,
		`id="m2"`, "<strong>brown</strong>", `<img src="/sessions/s-everything/blobs/`, // the question, with its picture
		`<span class="d">-  &lt;rect/&gt;`, `<span class="i">+  &lt;text&gt;Pier 1&lt;/text&gt;`, // a change as a change
		`<span class="d">-  &lt;rect/&gt;`, "Opening and ending tag mismatch", "✗ error", "2.1 s",
		`<span class="k">def</span>`, "<th>sign</th>",
		"Reasoning", "Sub-agent", `data-load="/sessions/s-colours/messages?nested=1"`, "31.0 s",
		"the model sees a summary in place of everything up to", "<strong>Piers</strong>", "48.2k tokens became 2.1k",
		"A request failed: overloaded: try again later (HTTP 529)",
		"network: the connection was lost", "Interrupted.",
		"turn 1 · ", "Fork here", "skein resume ", " --to claude-code --run", "Hand off to codex",
	)
	lacks(t, "the page", page, "ZgotmplZ", "no answer")
}

func TestSessionHidesSecretsUntilAsked(t *testing.T) {
	store := composed(t)
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	c := &composer{t: t, store: store, calls: 2000}
	c.begin("s-secret", composedNow, skein.Created{Title: "The token " + secret})
	c.asks("my token is " + secret + " ok")
	c.runs(sonnet, "Bash", `{"command":"curl -H 'Authorization: Bearer `+secret+`'"}`, "token="+secret, false, used(1, 1, 0, 0))
	v := visiting(t, store, func(o *web.Options) { o.Secrets = redact.New() })
	for _, path := range []string{"/", "/sessions/s-secret", "/search?q=token", "/sessions/s-secret?find=token", "/sessions/s-secret/messages", "/sessions/s-secret/messages/2", "/sessions/s-secret/download?as=md", "/sessions/s-secret/download?as=html", "/sessions/s-secret/download?as=json"} {
		lacks(t, path, v.get(path), secret)
	}
	wants(t, "the page", v.get("/sessions/s-secret"), "Show secrets")
	wants(t, "the page with secrets", v.get("/sessions/s-secret?raw=1"), secret, "Hide secrets")
	wants(t, "the exact copy", v.get("/sessions/s-secret/download?as=skein"), secret)
}

func TestSessionOfAnotherUserIsNotThere(t *testing.T) {
	store := composed(t)
	id := everything(t, store)
	v := visiting(t, store, nil)
	token, err := v.tokens.Add(tokenOf("eve", "write"))
	if err != nil {
		t.Fatal(err)
	}
	var blob string
	for e, err := range store.Events(t.Context(), id, 1) {
		if err != nil {
			t.Fatal(err)
		}
		m, err := skein.Decode[skein.Message](e)
		if err != nil {
			t.Fatal(err)
		}
		blob = string(m.Parts[1].File.Blob)
		break
	}
	v.get("/sessions/" + string(id) + "/blobs/" + blob)
	v.as(token)
	for _, path := range []string{"", "/messages", "/messages/2", "/next?what=user", "/blobs/" + blob, "/download?as=md"} {
		if status, _ := v.ask("GET", "/sessions/"+string(id)+path, nil); status != http.StatusNotFound {
			t.Errorf("GET %s as eve: %d, want 404", path, status)
		}
	}
	for path, form := range map[string]url.Values{
		"/sessions/s-everything/rename": {"title": {"x"}}, "/sessions/s-everything/tags": {}, "/sessions/s-everything/pin": {}, "/sessions/s-everything/bin": {},
		"/sessions/s-everything/fork": {"at": {"2"}}, "/sessions/bulk": {"id": {"s-everything"}, "do": {"bin"}},
	} {
		if status, _ := v.ask("POST", path, form); status != http.StatusNotFound {
			t.Errorf("POST %s as eve: %d, want 404", path, status)
		}
	}
	lacks(t, "the list", v.get("/"), "s-everything")
	lacks(t, "the search", v.get("/search?q=brown"), "s-everything")
}

func TestSessionIsChangedByForms(t *testing.T) {
	store := composed(t)
	v := visiting(t, store, nil)
	wants(t, "renamed", v.send("/sessions/s-retry/rename", url.Values{"title": {" A  better name "}}), "<h1>A better name</h1>", "Renamed.")
	wants(t, "tagged", v.send("/sessions/s-retry/tags", url.Values{"tags": {"b a, b"}}), `value="a b"`)
	wants(t, "pinned", v.send("/sessions/s-retry/pin", url.Values{"pinned": {"1"}}), "★", "Unpin")
	lacks(t, "unpinned", v.send("/sessions/s-retry/pin", url.Values{}), "★")
	fork := v.send("/sessions/s-retry/fork", url.Values{"at": {"2"}})
	wants(t, "the fork", fork, "The fork begins here", "Uploads of more than 1 GB")
	lacks(t, "the fork", fork, "gives up at the first error")
	wants(t, "the list", v.send("/sessions/s-retry/bin", url.Values{}), "Moved to the bin")
	if s, err := store.Session(t.Context(), "s-retry"); err != nil || s.Binned == 0 || s.Title != "A better name" {
		t.Errorf("Session(s-retry) = %+v, %v; want it in the bin under its new name", s, err)
	}
	for path, form := range map[string]url.Values{"rename": {"title": {" "}}, "tags": {"tags": {"+x"}}, "fork": {"at": {"9999"}}} {
		if status, body := v.ask("POST", "/sessions/s-fork/"+path, form); status != http.StatusBadRequest || !strings.Contains(body, "<h1>Bad Request</h1>") {
			t.Errorf("POST %s %v: %d %s, want 400 on a page", path, form, status, body)
		}
	}
	status, _ := v.ask("POST", "/sessions/s-fork/pin", url.Values{"back": {"//evil.example/"}})
	if status != http.StatusOK {
		t.Errorf("a form that leads elsewhere: %d, want this server's page", status)
	}
}

func TestFormsOfAReaderAreRefused(t *testing.T) {
	v := visiting(t, composed(t), nil)
	token, err := v.tokens.Add(tokenOf("", "read"))
	if err != nil {
		t.Fatal(err)
	}
	v.as(token)
	if status, _ := v.ask("POST", "/sessions/s-retry/rename", url.Values{"title": {"x"}}); status != http.StatusForbidden {
		t.Errorf("POST rename with a token to read: %d, want 403", status)
	}
	lacks(t, "a reader's page", v.get("/sessions/s-retry"), "Fork here", `action="/sessions/s-retry/rename"`)
	lacks(t, "a reader's list", v.get("/"), `id="bulk"`)
}

func TestBulkTagsBinsAndExports(t *testing.T) {
	store := composed(t)
	v := visiting(t, store, nil)
	ids := []string{"s-retry", "s-fork"}
	wants(t, "the list", v.send("/sessions/bulk", url.Values{"id": ids, "do": {"tag"}, "tag": {"old news"}}), "Tagged 2 sessions.")
	for _, id := range ids {
		if s, err := store.Session(t.Context(), skein.SessionID(id)); err != nil || fmt.Sprint(s.Tags) != "[news old]" {
			t.Errorf("the tags of %s are %v, %v; want news and old", id, s.Tags, err)
		}
	}
	status, body := v.ask("POST", "/sessions/bulk", url.Values{"id": ids, "do": {"export"}, "as": {"json"}})
	z, err := zip.NewReader(bytes.NewReader([]byte(body)), int64(len(body)))
	if status != http.StatusOK || err != nil || len(z.File) != 2 {
		t.Fatalf("export: %d, %v, %d bytes; want an archive of 2 files", status, err, len(body))
	}
	f, err := z.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Session skein.Session }
	if err := json.NewDecoder(f).Decode(&got); err != nil || got.Session.ID != "s-retry" {
		t.Errorf("%s holds %q, %v; want s-retry", z.File[0].Name, got.Session.ID, err)
	}
	wants(t, "the list", v.send("/sessions/bulk", url.Values{"id": ids, "do": {"bin"}, "back": {"/?agent=clerk"}}), "Moved to the bin: 2 sessions.", "agent: clerk")
	wants(t, "nothing picked", v.send("/sessions/bulk", url.Values{"do": {"bin"}}), "No session is selected")
	if status, _ := v.ask("POST", "/sessions/bulk", url.Values{"id": {"s-fork2", "s-none"}, "do": {"bin"}}); status != http.StatusNotFound {
		t.Errorf("bin of one that is there and one that is not: %d, want 404", status)
	}
	if s, err := store.Session(t.Context(), "s-fork2"); err != nil || s.Binned != 0 {
		t.Errorf("s-fork2 is in the bin, %v; want nothing done", err)
	}
}

func TestLongSessionComesInPieces(t *testing.T) {
	store := composed(t)
	const n = 1000
	long(t, store, "s-long", n)
	v := visiting(t, store, nil)
	var seen []string
	path := "/sessions/s-long/messages"
	for range n {
		page := v.get(path)
		for _, part := range strings.Split(page, `<article class="`)[1:] {
			_, id, _ := strings.Cut(part, `id="m`)
			id, _, _ = strings.Cut(id, `"`)
			seen = append(seen, id)
		}
		_, next, ok := strings.Cut(page, `data-more="after" data-piece="`)
		if !ok {
			break
		}
		path, _, _ = strings.Cut(next, `"`)
		path = strings.ReplaceAll(path, "&amp;", "&")
	}
	if len(seen) != n || seen[0] != "2" || seen[n-1] != fmt.Sprint(n+1) {
		t.Fatalf("forward: %d messages from %v to %v, want %d from 2 on", len(seen), seen[0], seen[len(seen)-1], n)
	}
	var back []string
	path = "/sessions/s-long/messages?before=0"
	for range n {
		page := v.get(path)
		var ids []string
		for _, part := range strings.Split(page, `<article class="`)[1:] {
			_, id, _ := strings.Cut(part, `id="m`)
			id, _, _ = strings.Cut(id, `"`)
			ids = append(ids, id)
		}
		back = append(ids, back...)
		_, next, ok := strings.Cut(page, `data-more="before" data-piece="`)
		if !ok {
			break
		}
		path, _, _ = strings.Cut(next, `"`)
		path = strings.ReplaceAll(path, "&amp;", "&")
	}
	if fmt.Sprint(back) != fmt.Sprint(seen) {
		t.Errorf("backward: %d messages, want the same %d in the same order", len(back), n)
	}
	wants(t, "the page around 500", v.get("/sessions/s-long?at=500"), `id="m500"`, `id="m486"`, `id="m540"`, "Earlier messages", "Later messages")
	wants(t, "the next question", v.get("/sessions/s-long/next?what=user&from=500"), `id="m502"`)
	wants(t, "the question before", v.get("/sessions/s-long/next?what=user&from=500&back=1"), `id="m498"`)
	wants(t, "no error", v.get("/sessions/s-long/next?what=error&from=500"), "There is no other error.")
}

func TestFindInASessionComesInPages(t *testing.T) {
	store := composed(t)
	long(t, store, "s-long", 1200)
	v := visiting(t, store, func(o *web.Options) { o.FindFor = time.Minute })
	wants(t, "one hit", v.get("/sessions/s-long?find=%22question+77%22"), "1 hit for “&#34;question 77&#34;”", `href="/sessions/s-long?at=78&amp;find=%22question&#43;77%22&amp;past=0#m78"`)
	wants(t, "no hit", v.get("/sessions/s-long?find=xylophone"), "Nothing in this session has “xylophone”")
	wants(t, "what is wrong", v.get("/sessions/s-long?find=role:nobody"), "role:nobody", `id="m2"`)
	page := v.get("/sessions/s-long?find=question")
	wants(t, "many hits", page, "500 hits for “question”, and there are more", "1 to 100", "Later")
	lacks(t, "the first page", page, "Earlier")
	seen, last := 0, -1
	for n := 1; ; n++ {
		for _, part := range strings.Split(page, `<li data-item`)[1:] {
			_, at, _ := strings.Cut(part, ">#")
			at, _, _ = strings.Cut(at, "<")
			seq, err := strconv.Atoi(at)
			if seen++; err != nil || seq <= last {
				t.Fatalf("page %d has %q behind %d, want them in order", n, at, last)
			}
			last = seq
		}
		before, _, ok := strings.Cut(page, `" rel="next">Later`)
		if !ok {
			break
		}
		page = v.get(strings.ReplaceAll(before[strings.LastIndex(before, `"`)+1:], "&amp;", "&"))
		wants(t, "a later page", page, fmt.Sprintf("%d to %d", 100*n+1, 100*n+100), "Earlier")
	}
	if seen != 500 {
		t.Errorf("%d hits were shown, want 500", seen)
	}
}

func TestListIsPagedByPlace(t *testing.T) {
	store := composed(t)
	c := &composer{t: t, store: store, calls: 3000}
	for i := range 120 {
		c.begin(fmt.Sprintf("s-many-%03d", i), composedNow, skein.Created{Title: "one of many", Agent: "many"}) // all at the same time
		c.put(skein.Say(c.at, skein.UserSays("x")))
	}
	v := visiting(t, store, nil)
	seen := map[string]bool{}
	path := "/?agent=many"
	for range 5 {
		page := v.get(path)
		for _, part := range strings.Split(page, `data-id="`)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			if seen[id] {
				t.Errorf("%s comes twice", id)
			}
			seen[id] = true
		}
		before, _, ok := strings.Cut(page, `" rel="next"`)
		if !ok {
			break
		}
		path = strings.ReplaceAll(before[strings.LastIndex(before, `"`)+1:], "&amp;", "&")
	}
	if len(seen) != 120 {
		t.Errorf("%d sessions were shown, want 120", len(seen))
	}
}

func TestFilterOfTheListIsThatOfTheCommand(t *testing.T) {
	v := visiting(t, composed(t), nil)
	page := v.get("/?agent=reviewer&project=/home/ada/courier")
	wants(t, "the list", page, "s-retry", "s-fork")
	lacks(t, "the list", page, "s-child", "s-other")
	wants(t, "with children", v.get("/?children=1&agent=scout"), "s-child")
	if status, body := v.ask("GET", "/?since=sometime", nil); status != http.StatusBadRequest || !strings.Contains(body, "sometime") {
		t.Errorf("GET /?since=sometime: %d %s, want 400 with the word", status, body)
	}
	wants(t, "the sessions of a repository", v.get("/?repository=github.com/ada/courier"), "Retry uploads that broke off", `title="github.com/ada/courier"`)
	wants(t, "those of another", v.get("/?repository=github.com/ada/other"), "No sessions match")
	wants(t, "nothing", v.get("/?title=nothing+is+called+so"), "No sessions match")
}

func TestSearchNarrowsByFacets(t *testing.T) {
	store := composed(t)
	everything(t, store)
	v := visiting(t, store, nil)
	page := v.get("/search?q=brown")
	wants(t, "the results", page, "<mark>brown</mark>", "agent%3Areviewer", "Check the colours")
	wants(t, "what is wrong", v.get("/search?q=role:nobody"), "role:nobody")
	lacks(t, "the piece", v.get("/search?q=brown&piece=1"), "<html")
	wants(t, "nothing asked", v.get("/search"), "both words")
	wants(t, "nothing found", v.get("/search?q=xylophone"), "Nothing found")
}

func TestPageWithoutALoginIsTheForm(t *testing.T) {
	v := visiting(t, composed(t), nil)
	v.client = &http.Client{}
	for _, path := range []string{"/", "/search", "/sessions/s-retry"} {
		status, body := v.ask("GET", path, nil)
		if status != http.StatusUnauthorized || !strings.Contains(body, `action="/login"`) || strings.Contains(body, "Retry uploads") {
			t.Errorf("GET %s without a login: %d %s, want 401 and the form", path, status, body)
		}
	}
}

func TestFirstPageIsSmall(t *testing.T) {
	store := composed(t)
	v := visiting(t, store, nil)
	page := v.get("/")
	total := len(page)
	for _, part := range strings.Split(page, `"/static/`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.url+"/static/"+name, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", "identity")
		a, err := v.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close() //nolint:errcheck // only its length is asked for
		if a.StatusCode != http.StatusOK || !strings.Contains(a.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("GET /static/%s: %d %s, want 200 for ever", name, a.StatusCode, a.Header.Get("Cache-Control"))
		}
		total += int(a.ContentLength)
	}
	if t.Logf("the first page takes %d bytes, not compressed", total); total > 100_000 {
		t.Errorf("the first page takes %d bytes, want at most 100 KB", total)
	}
}

func TestPiecesNeverPartACallFromItsAnswer(t *testing.T) {
	store := composed(t)
	c := &composer{t: t, store: store, calls: 7000}
	c.begin("s-calls", composedNow, skein.Created{Title: "Many calls"})
	c.asks("Try it.")
	const n = 150
	for range n {
		c.runs(sonnet, "Bash", `{"command":"true"}`, "fine", false, used(1, 1, 0, 0))
	}
	c.answers(sonnet, "It works.", used(1, 1, 0, 0)) // so that pairs do not fit into a piece by themselves
	v := visiting(t, store, nil)
	for _, w := range []struct{ begin, way string }{{"after=0", "after"}, {"before=0", "before"}} {
		answered, path := 0, "/sessions/s-calls/messages?"+w.begin
		for range n {
			page := v.get(path)
			answered += strings.Count(page, `title="completed">`)
			lacks(t, "a piece", page, "no answer", `class="msg tool"`)
			_, next, ok := strings.Cut(page, `data-more="`+w.way+`" data-piece="`)
			if !ok {
				break
			}
			path, _, _ = strings.Cut(next, `"`)
		}
		if answered != n {
			t.Errorf("going %s: %d calls have their answer, want %d", w.way, answered, n)
		}
	}
}
