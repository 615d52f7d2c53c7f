package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/mcp"
	"github.com/skein-dev/skein/server/web"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/sqlite"
)

// A client that may not see secrets cannot find them out by asking: if two stores
// differ only in the characters of their secrets, every answer is the same, byte
// for byte.
func TestNoAnswerDependsOnWhatIsHidden(t *testing.T) {
	rnd := seeded(t)
	for name, open := range map[string]func(*testing.T) skein.Store{
		"memory": func(*testing.T) skein.Store { return memory.New() },
		"sqlite": func(t *testing.T) skein.Store {
			s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return s
		},
	} {
		if testing.Short() && name == "memory" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			one, other := drawn(rnd), drawn(rnd)
			a, b := newAsked(t, open(t), one), newAsked(t, open(t), other)
			for _, q := range slices.Concat(riddles(one), riddles(other)) {
				for what, r := range q.requests() {
					x, y := a.answer(r), b.answer(r)
					if x != y {
						t.Errorf("%s tells %q from %q: it answers\n%s\nand\n%s", what, one, other, differing(x, y), differing(y, x))
					}
				}
			}
		})
	}
}

// seeded returns a random number generator; the seed is logged so that a failure
// can be reproduced.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("the seed is %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// A hiddenThing is two secrets: one that is recognized by its form, and one by the
// text before it.
type hiddenThing struct{ token, password string }

func drawn(rnd *rand.Rand) hiddenThing {
	letters := func(n int, from string) string {
		var b strings.Builder
		for range n {
			b.WriteByte(from[rnd.IntN(len(from))])
		}
		return b.String()
	}
	const small, large, digits = "abcdefghijkmnopqrstuvwxyz", "ABCDEFGHJKLMNPQRSTUVWXYZ", "23456789"
	return hiddenThing{
		token:    "ghp_" + letters(12, small) + letters(12, large) + letters(12, digits),
		password: letters(6, small) + letters(4, digits) + letters(6, large),
	}
}

// An asked is a server of everything that people and programs read without secrets.
type asked struct {
	*testing.T
	door  *door.Door
	token string
}

func newAsked(t *testing.T, store skein.Store, h hiddenThing) *asked {
	t.Helper()
	clock := func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	tokens, err := door.OpenTokens(filepath.Join(t.TempDir(), "tokens"), clock)
	if err != nil {
		t.Fatal(err)
	}
	token, err := tokens.Add(door.Token{Name: "ann", Scope: "write"})
	if err != nil {
		t.Fatal(err)
	}
	r := redact.New()
	for _, text := range []string{h.token, "password=" + h.password} {
		if !r.Has(text) {
			t.Fatalf("%q is not hidden", text)
		}
	}
	h.tell(t, store)
	pages := web.Options{Now: clock, Secrets: r}
	return &asked{t, door.New(door.Options{Store: store, Tokens: tokens, Log: slog.New(slog.DiscardHandler), Now: clock, Form: web.Form(pages), Page: web.Refused(pages)}, slices.Concat(
		server.Routes(server.Options{Store: store, Version: "test", Now: clock, Redact: r}),
		web.Routes(pages),
		mcp.Routes(mcp.Options{Version: "test", Now: clock}),
	)...), token}
}

// tell puts the secrets everywhere that a search looks.
func (h hiddenThing) tell(t *testing.T, store skein.Store) {
	t.Helper()
	both := h.token + " password=" + h.password
	file := skein.File{Name: "notes/" + h.token + ".txt", Media: "text/plain"}
	input := skein.MustJSON(map[string]string{"command": "login " + h.token, "password": h.password, "file_path": "/tmp/" + h.token + "/x.go"})
	said := func(role skein.Role, parts ...skein.Part) skein.Event {
		return skein.Say(9, skein.Message{Role: role, Agent: "a", Parts: parts})
	}
	kinds := map[string][]skein.Event{
		"prompt":    {skein.Say(9, skein.UserSays("pear and plum, "+both+" password again, plum"))},
		"answer":    {said(skein.RoleAssistant, skein.TextPart("the pear is "+h.token)), said(skein.RoleAssistant, skein.TextPart("plum\npassword="+h.password+"\nend"))},
		"reasoning": {said(skein.RoleAssistant, skein.Part{Kind: skein.PartReasoning, Text: skein.Text("pear? " + both)})},
		"call":      {said(skein.RoleAssistant, skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: "c", Name: "bash", Input: input}})},
		"result":    {said(skein.RoleTool, skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: "c", Name: "bash", Text: skein.Text("plum " + both), Failed: true}})},
		"error":     {skein.Say(9, skein.Message{Role: skein.RoleAssistant, Error: &skein.ErrorInfo{Kind: "auth", Message: "pear: " + both}})},
		"file":      {said(skein.RoleUser, skein.Part{Kind: skein.PartFile, File: &file})},
		"title":     {skein.Say(9, skein.UserSays("plum")), skein.NewEvent(skein.KindTitled, 9, skein.Titled{Title: "pear " + both, By: skein.ByPerson})},
		"summary":   {skein.Say(9, skein.UserSays("pear")), skein.NewEvent(skein.KindCompacted, 9, skein.Compacted{To: 2, Summary: "plum " + both})},
		"amended":   {skein.Say(9, skein.UserSays("pear")), skein.NewEvent(skein.KindAmended, 9, skein.Amended{Seq: 2, Payload: skein.MustJSON(skein.UserSays("plum " + both))})},
		"open":      {skein.Say(9, skein.UserSays("pear plum password login, nothing is hidden"))},
	}
	for i, id := range slices.Sorted(maps.Keys(kinds)) {
		at := skein.Time(1000 * (i + 1))
		evs := append([]skein.Event{skein.NewEvent(skein.KindCreated, at, skein.Created{Agent: "a"})}, kinds[id]...)
		for j := range evs {
			evs[j].Time = at + skein.Time(j)
		}
		if _, err := store.Append(t.Context(), skein.Batch{Session: skein.SessionID("s-" + id), After: skein.Fresh, Events: evs}); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
	}
}

// A riddle is a query whose answer could reveal something about a secret. The mode
// is that of /v1/search; pages and MCP have only text.
type riddle struct{ mode, text string }

// riddles returns queries that would find h but not other secrets.
func riddles(h hiddenThing) (all []riddle) {
	for _, s := range []string{h.token, h.password} {
		low, half := strings.ToLower(s), s[:len(s)/2]
		for _, text := range []string{
			s, low, half + "*", s[:5] + "*", "pear " + half + "*", "plum -" + half + "*", "password -" + s, "pear -" + s[:1] + "*", `"pear is ` + half + `"*`, `"password ` + s + `"`,
			"file:" + half, "file:x.go -" + half + "*", "role:user -" + half + "*", "status:error " + half + "*", "session:s-prompt " + half + "*", "session:s-title plum -" + half + "*", "session:" + half, "tool:bash " + half + "*",
		} {
			all = append(all, riddle{"words", text})
		}
		for _, text := range []string{half, "=" + half, s[len(s)-4:], "is " + s[:5], "] " + s[:1]} {
			all = append(all, riddle{"substring", text})
		}
		last := s[len(s)-1:]
		for _, text := range []string{
			half, "^pear.*" + half, half + ".*$", last + "$", `(?m)` + last + `$`, `\b` + half, last + `\b`, `(?i)password=` + s[:1], `(password=$)|(` + half + `)`, `(\[redacted)|(` + half + `)`,
			`(^plum)|(` + half + `\B)`, `\z|` + half, `pear.{0,9}` + s[:5], `=[` + s[:1] + `]`, `(?s)plum.*` + last + `\z`, `^[^` + s[:1] + `]*$`, `=[^` + s[:1] + `]`, `\A[^` + last + `]+\z`,
		} {
			all = append(all, riddle{"regex", text})
		}
	}
	return append(all, riddle{"words", "pear"}, riddle{"words", "pear plum"}, riddle{"words", "pear*"}, riddle{"words", "redacted"}, riddle{"regex", "redacted"})
}

// requests returns all the ways to send q.
func (q riddle) requests() map[string]*http.Request {
	all := map[string]*http.Request{}
	get := func(path, key, text string) {
		to := path + map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + key + "=" + url.QueryEscape(text)
		all["GET "+to] = httptest.NewRequest(http.MethodGet, to, nil)
	}
	for _, more := range []string{"", "&each=true", "&limit=1", "&each=true&limit=2", "&rewound=true&deadline_ms=1"} {
		get("/v1/search?mode="+q.mode+more, "q", q.text)
	}
	if q.mode != "words" {
		return all
	}
	for _, path := range []string{"/v1/sessions", "/v1/sessions?limit=1", "/"} {
		get(path, "title", q.text)
	}
	get("/v1/resolve", "name", q.text)
	get("/search", "q", q.text)
	get("/search?piece=1", "q", q.text)
	get("/sessions/s-prompt", "find", q.text)
	get("/sessions/s-title", "find", q.text)
	all["the page of "+q.text] = httptest.NewRequest(http.MethodGet, "/sessions/"+url.PathEscape(q.text), nil)
	for tool, in := range map[string]map[string]any{
		"session_search": {"query": q.text, "each": true}, "session_list": {"title": q.text, "limit": 1}, "session_read": {"session": q.text}, "session_tree": {"session": q.text},
	} {
		all[fmt.Sprint(tool, " ", in)] = toolCall(tool, in)
	}
	return all
}

// toolCall returns an MCP request that calls a tool.
func toolCall(tool string, in map[string]any) *http.Request {
	body := skein.MustJSON(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": in}})
	r := httptest.NewRequest(http.MethodPost, "/mcp", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	return r
}

// answer returns the response to a request.
func (a *asked) answer(r *http.Request) string {
	q := r.Clone(a.Context())
	body, err := io.ReadAll(r.Body)
	if err != nil {
		a.Fatal(err)
	}
	q.Body, r.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
	q.Host = "localhost:7433"
	q.Header.Set("Authorization", "Bearer "+a.token)
	w := httptest.NewRecorder()
	a.door.ServeHTTP(w, q)
	return drawnAnew().ReplaceAllString(fmt.Sprint(w.Code, " ", w.Header().Get("Location"), " ", w.Body.String()), "drawn")
}

// listen returns what a stream sends, up to and including until.
func (a *asked) listen(path, until string) (said string) {
	a.serve(path, func(r *http.Response) {
		for lines := bufio.NewScanner(r.Body); !strings.Contains(said, until) && lines.Scan(); {
			said += lines.Text() + "\n"
		}
	})
	return said
}

// trailer returns the response trailer with that name.
func (a *asked) trailer(path, name string) (value string) {
	a.serve(path, func(r *http.Response) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			a.Fatal(err)
		}
		value = r.Trailer.Get(name)
	})
	return value
}

// serve sends a request over a connection, and passes the response to f.
func (a *asked) serve(path string, f func(*http.Response)) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = "localhost:7433"
		a.door.ServeHTTP(w, r)
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(a.Context(), time.Minute)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, nil)
	if err != nil {
		a.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+a.token)
	r, err := server.Client().Do(q)
	if err != nil {
		a.Fatal(err)
	}
	defer r.Body.Close()
	f(r)
}

// drawnAnew matches what is random in every answer: the marks around data, and the
// ID of a request.
func drawnAnew() *regexp.Regexp { return regexp.MustCompile(`\b[0-9a-f]{32}\b|"request_id":"\w+"`) }

// differing returns the part where x differs from y.
func differing(x, y string) string {
	i := 0
	for i < min(len(x), len(y)) && x[i] == y[i] {
		i++
	}
	return "…" + x[max(0, i-200):min(len(x), i+200)] + "…"
}
