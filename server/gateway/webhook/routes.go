package webhook

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/gateway"
)

// A Gateway is the part of [gateway.Gateway] that this package uses.
type Gateway interface {
	Take(ctx context.Context, m gateway.Message) error
	Ask(ctx context.Context, m gateway.Message) (gateway.Answer, error)
}

// Routes returns the route by which messages from sources reach g. It needs no
// token: each request is signed.
func Routes(g Gateway, now func() time.Time, sources ...*Caller) []door.Route {
	in := &inboxRoute{g: g, now: now, sources: sources}
	return []door.Route{{
		Pattern: "POST /v1/inbox/{key}", Scope: door.Open, Body: door.MB, Handler: in,
	}}
}

type inboxRoute struct {
	g       Gateway
	now     func() time.Time
	sources []*Caller
	wrong   wrongs
}

// A request is the body of a message.
type request struct {
	ID   string `json:"id"`
	From string `json:"from"`
	Text string `json:"text"`
}

// ServeHTTP implements [http.Handler].
func (in *inboxRoute) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if in.wrong.many(r, in.now()) {
		w.Header().Set("Retry-After", "900")
		door.Refuse(w, r, http.StatusTooManyRequests, "tries", "too many wrong signatures: wait")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		door.Fail(w, r, err)
		return
	}
	s := in.source(r, body)
	if s == nil {
		in.wrong.add(r, in.now())
		w.Header().Set("WWW-Authenticate", "Skein-Signature")
		door.Refuse(w, r, http.StatusUnauthorized, "signature", "the request is not signed by a known source, or its timestamp is too old")
		return
	}
	key := r.PathValue("key")
	if !s.may(key) {
		door.Refuse(w, r, http.StatusForbidden, "scope", "the source %q may not write under %q", s.Title, key)
		return
	}
	in.take(w, r, s, key, body)
}

// source returns the source that signed a request; nil if none did. An unknown
// name takes as long as a wrong signature.
func (in *inboxRoute) source(r *http.Request, body []byte) *Caller {
	found := &Caller{}
	for _, s := range in.sources {
		if s.Title == r.Header.Get(SourceHeader) {
			found = s
		}
	}
	if ok := signed(r.Header, found.Secret, body, in.now()); !ok || len(found.Secret) < MinSecret {
		return nil
	}
	return found
}

// take passes a signed message on.
func (in *inboxRoute) take(w http.ResponseWriter, r *http.Request, s *Caller, key string, body []byte) {
	waits := r.URL.RawQuery == "wait=1"
	if query := r.URL.RawQuery; !waits && query != "" && query != "wait=0" {
		door.Refuse(w, r, http.StatusBadRequest, "invalid", "the query %.100q: want wait=1, wait=0 or no query", query)
		return
	}
	var q request
	if err := json.Unmarshal(body, &q); err != nil || q.Text == "" {
		door.Refuse(w, r, http.StatusBadRequest, "invalid", `the body is not a message: want {"id": …, "from": …, "text": …}`)
		return
	}
	if q.ID == "" {
		q.ID = hex.EncodeToString([]byte(r.Header.Get(SignatureHeader)))
	}
	to := place{Key: key, To: q.From, ID: q.ID}
	m := gateway.Message{Surface: s.Name(), Key: key, ID: q.ID, From: []string{q.From}, To: string(skein.MustJSON(to)), Text: q.Text}
	if !waits {
		if err := in.g.Take(r.Context(), m); err != nil {
			door.Fail(w, r, err)
			return
		}
		reply(w, http.StatusAccepted, to)
		return
	}
	a, err := in.g.Ask(r.Context(), m)
	switch {
	case errors.Is(err, context.Canceled) && r.Context().Err() != nil:
	case err != nil:
		door.Fail(w, r, err)
	default:
		reply(w, http.StatusOK, struct {
			delivery
			Session skein.SessionID `json:"session,omitempty"`
		}{delivery{to, a.Text}, a.Session})
	}
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(skein.MustJSON(v)) //nolint:errcheck // the client has gone
}

// Bounds of wrong signatures from one address.
const (
	maxWrong = 100
	wrongFor = 15 * time.Minute
	maxAddr  = 10_000 // addresses to remember
)

// wrongs counts wrong signatures by address.
type wrongs struct {
	mu    sync.Mutex
	since time.Time
	count map[string]int
}

// many reports whether there were too many from the address of r.
func (w *wrongs) many(r *http.Request, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.since) > wrongFor || len(w.count) >= maxAddr {
		w.since, w.count = now, map[string]int{}
	}
	return w.count[address(r)] >= maxWrong
}

// add counts one from the address of r.
func (w *wrongs) add(r *http.Request, now time.Time) {
	if !w.many(r, now) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.count[address(r)]++
	}
}

func address(r *http.Request) string {
	if addr, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return addr
	}
	return r.RemoteAddr
}
