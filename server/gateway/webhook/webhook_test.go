package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/gateway"
	"github.com/skein-dev/skein/server/gateway/webhook"
	"github.com/skein-dev/skein/store/memory"
)

const secret = "a secret of the mail program"

// taker is a gateway that keeps the messages it gets.
type taker struct {
	took []gateway.Message
	err  error
}

func (g *taker) Take(_ context.Context, m gateway.Message) error {
	g.took = append(g.took, m)
	return g.err
}

func (g *taker) Ask(_ context.Context, m gateway.Message) (gateway.Answer, error) {
	g.took = append(g.took, m)
	return gateway.Answer{Session: "s1", Text: "heard " + m.Text}, g.err
}

// site is a door with the inbox.
type site struct {
	*testing.T
	http.Handler
	g   taker
	now time.Time
}

func newSite(t *testing.T) *site {
	s := &site{T: t, now: time.Unix(1_800_000_000, 0)}
	tokens, err := door.OpenTokens(filepath.Join(t.TempDir(), "tokens"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return s.now }
	s.Handler = door.New(door.Options{Store: memory.New(), Tokens: tokens, Log: slog.New(slog.DiscardHandler), Now: now},
		webhook.Routes(&s.g, now, &webhook.Caller{Title: "mail", Secret: []byte(secret), Keys: []string{"email:*", "extra:1"}})...)
	return s
}

// post sends a body, signed now unless change alters that.
func (s *site) post(path, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	webhook.Sign(r.Header, "mail", []byte(secret), []byte(body), s.now)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func (s *site) wants(w *httptest.ResponseRecorder, status int, body string) {
	s.Helper()
	if got := w.Body.String(); w.Code != status || !strings.Contains(got, body) {
		s.Errorf("answer %d %s, want %d with %s", w.Code, got, status, body)
	}
}

func TestASignedMessageIsTaken(t *testing.T) {
	s := newSite(t)
	body := `{"id":"<1@x>","from":"ada@x","text":"hello"}`
	s.wants(s.post("/v1/inbox/email:7", body, nil), 202, `{"key":"email:7","to":"ada@x","id":"<1@x>"}`)
	s.wants(s.post("/v1/inbox/email:a%2Fb", body, nil), 202, `"key":"email:a/b"`)
	s.wants(s.post("/v1/inbox/email:7?wait=1", body, nil), 200, `{"key":"email:7","to":"ada@x","id":"<1@x>","text":"heard hello","session":"s1"}`)
	want := gateway.Message{Surface: "inbox.mail", Key: "email:7", ID: "<1@x>", From: []string{"ada@x"}, To: `{"key":"email:7","to":"ada@x","id":"<1@x>"}`, Text: "hello"}
	if len(s.g.took) != 3 || s.g.took[0].From[0] != "ada@x" || s.g.took[0].Key != want.Key || s.g.took[0].ID != want.ID || s.g.took[0].To != want.To || s.g.took[0].Surface != want.Surface {
		t.Errorf("took %+v, want the first to be %+v", s.g.took, want)
	}
}

func TestWithoutAnIDTheSignatureIsIt(t *testing.T) {
	s := newSite(t)
	s.post("/v1/inbox/email:7", `{"text":"hello"}`, nil)
	s.post("/v1/inbox/email:7", `{"text":"hello"}`, nil)
	s.now = s.now.Add(time.Second)
	s.post("/v1/inbox/email:7", `{"text":"hello"}`, nil)
	if g := s.g.took; len(g) != 3 || g[0].ID == "" || g[0].ID != g[1].ID || g[0].ID == g[2].ID {
		t.Errorf("took %+v, want the same ID for the same request only", g)
	}
}

func TestWhatIsNotSignedIsRefused(t *testing.T) {
	body := `{"text":"hello"}`
	for name, change := range map[string]func(*http.Request){
		"no signature": func(r *http.Request) { r.Header.Del(webhook.SignatureHeader) },
		"a wrong one":  func(r *http.Request) { r.Header.Set(webhook.SignatureHeader, "v1=00") },
		"another secret": func(r *http.Request) {
			webhook.Sign(r.Header, "mail", []byte("another one, as long"), []byte(body), time.Unix(1_800_000_000, 0))
		},
		"another body":   func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(`{"text":"hellO"}`)) },
		"another source": func(r *http.Request) { r.Header.Set(webhook.SourceHeader, "fax") },
		"no secret":      func(r *http.Request) { webhook.Sign(r.Header, "fax", nil, []byte(body), time.Unix(1_800_000_000, 0)) },
		"too old": func(r *http.Request) {
			webhook.Sign(r.Header, "mail", []byte(secret), []byte(body), time.Unix(1_800_000_000-301, 0))
		},
		"too new": func(r *http.Request) {
			webhook.Sign(r.Header, "mail", []byte(secret), []byte(body), time.Unix(1_800_000_000+301, 0))
		},
		"a time of its own": func(r *http.Request) { r.Header.Set(webhook.TimeHeader, "1800000001") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.wants(s.post("/v1/inbox/email:7", body, change), 401, `"code":"signature"`)
			if len(s.g.took) > 0 {
				t.Errorf("took %+v, want nothing", s.g.took)
			}
		})
	}
}

func TestASourceWritesUnderItsKeysOnly(t *testing.T) {
	s := newSite(t)
	s.wants(s.post("/v1/inbox/extra:1", `{"text":"hello"}`, nil), 202, `"key"`)
	for _, key := range []string{"extra:12", "telegram:b:1", "cli:api"} {
		s.wants(s.post("/v1/inbox/"+key, `{"text":"hello"}`, nil), 403, `"code":"scope"`)
	}
}

// A misspelled parameter would be ignored, and the answer not be waited for.
func TestAQueryThatIsUnknownIsRefused(t *testing.T) {
	s := newSite(t)
	for _, query := range []string{"wiat=1", "wait=true", "wait=1&wait=0", "wait=%zz", "wait"} {
		s.wants(s.post("/v1/inbox/email:7?"+query, `{"text":"hello"}`, nil), 400, "wait=1")
	}
	if len(s.g.took) != 0 {
		t.Errorf("took %+v, want nothing", s.g.took)
	}
	s.wants(s.post("/v1/inbox/email:7?wait=0", `{"text":"hello"}`, nil), 202, "email:7")
}

func TestABodyThatIsNoMessageIsRefused(t *testing.T) {
	s := newSite(t)
	for _, body := range []string{"", "{}", "[]", `{"text":7}`, "no"} {
		s.wants(s.post("/v1/inbox/email:7", body, nil), 400, `"code":"invalid"`)
	}
	s.g.err = skein.ErrClosed
	s.wants(s.post("/v1/inbox/email:7", `{"text":"hello"}`, nil), 503, `"code":"closed"`)
}

func TestTooManyWrongSignaturesAreTold(t *testing.T) {
	s := newSite(t)
	wrong := func(r *http.Request) { r.Header.Set(webhook.SignatureHeader, "v1=00") }
	for range 100 {
		s.wants(s.post("/v1/inbox/email:7", `{"text":"hello"}`, wrong), 401, "")
	}
	s.wants(s.post("/v1/inbox/email:7", `{"text":"hello"}`, nil), 429, `"code":"tries"`)
	s.now = s.now.Add(16 * time.Minute)
	s.wants(s.post("/v1/inbox/email:7", `{"text":"hello"}`, nil), 202, "")
}

func TestAnAnswerIsSentSigned(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	status := 200
	got := make(chan string, 1)
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		h := http.Header{}
		webhook.Sign(h, "mail", []byte(secret), b, at)
		if r.Header.Get(webhook.SignatureHeader) != h.Get(webhook.SignatureHeader) {
			t.Errorf("the answer's signature is %q, want %q", r.Header.Get(webhook.SignatureHeader), h.Get(webhook.SignatureHeader))
		}
		got <- string(b)
		w.WriteHeader(status)
	}))
	defer there.Close()
	s := &webhook.Caller{Title: "mail", Secret: []byte(secret), URL: there.URL, Now: func() time.Time { return at }}
	if err := s.Send(t.Context(), `{"key":"email:7","to":"ada@x","id":"1"}`, "<hello>"); err != nil {
		t.Fatal(err)
	}
	if b := <-got; b != `{"key":"email:7","to":"ada@x","id":"1","text":"<hello>"}` || !json.Valid([]byte(b)) {
		t.Errorf("sent %s", b)
	}
	status = 500
	if err := s.Send(t.Context(), `{}`, "x"); err == nil || !strings.Contains(err.Error(), "500") {
		t.Errorf("Send to a program that fails: error %v, want its status", err)
	}
}

func TestASourceNeedsASecretAndKeys(t *testing.T) {
	for _, s := range []*webhook.Caller{{Title: "a", Secret: []byte("short"), Keys: []string{"x:*"}}, {Title: "a", Secret: []byte(secret)}} {
		if err := s.Check(); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("Check(%+v) = %v, want %v", s, err, skein.ErrInvalid)
		}
	}
}
