package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// Key is the only key that a [Server] accepts.
const Key = "sk-test-5f0c7a9d41"

// A Server speaks a provider's wire format on a local address. It is safe for
// concurrent use.
type Server struct {
	URL string // base URL for the provider's client

	t     testing.TB
	wire  wire
	close func() // closes all connections

	mu        sync.Mutex
	replies   []Reply
	otherwise *Reply
	whens     []when
	requests  []Request
	lax       bool
}

// A Request is a request that a Server received, as it understood it.
type Request struct {
	Path      string // of the URL
	Header    http.Header
	Body      []byte
	Model     string
	System    string
	Messages  []skein.Message // files by the hash of their bytes, or by URL
	Opaque    []json.RawMessage
	Tools     []llm.ToolSpec
	MaxTokens int
	Effort    string // how hard to think, in the provider's words; "" if not given
	Marks     int    // number of cache marks
	Refused   string // why it was rejected; "" if it was not
}

// A wire is a provider's format.
type wire struct {
	path   string                                         // what the paths of requests end in
	id     string                                         // name of the header with the request ID
	key    func(h http.Header) string                     // returns the key of the request
	read   func(r *Request) error                         // returns a *refusal if the provider would reject the request
	events func(r *Request, rp *Reply, id string) []event // of the answer
	whole  func(r *Request, rp *Reply, id string) []byte  // returns the answer to a request that asks for no stream, else nil; may be nil
	refuse func(f *refusal) (status int, body []byte)     // returns an error response
	broken func(f *refusal) event                         // returns the error as an event in a stream
}

// A refusal says why a request is rejected.
type refusal struct {
	status  int
	kind    string // type or code; "" for the default
	message string
	id      string
	reply   *Reply // that asked for the error; nil if the request was wrong
}

// Error implements error.
func (r *refusal) Error() string { return r.message }

// refuse returns a refusal that says what is wrong with a request.
func refuse(format string, args ...any) error {
	return &refusal{status: http.StatusBadRequest, message: fmt.Sprintf(format, args...)}
}

// serve starts a server, which ends with the test.
func serve(t testing.TB, w wire, base string, replies []Reply) *Server {
	s := &Server{t: t, wire: w, replies: replies}
	h := httptest.NewServer(s)
	s.URL, s.close = h.URL+base, func() {
		h.CloseClientConnections()
		h.Close()
	}
	t.Cleanup(s.close)
	return s
}

// Reply adds answers, each of which is given to one request.
func (s *Server) Reply(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, replies...)
}

// Otherwise sets r as the answer to every request for which no other is left.
// Without it, such a request fails the test.
func (s *Server) Otherwise(r Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.otherwise = &r
}

// When makes the server give a reply to the first request whose body has all of some
// texts, whatever other requests come before it.
func (s *Server) When(r Reply, texts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whens = append(s.whens, when{r, texts})
}

// A when is a reply to a certain request.
type when struct {
	reply Reply
	texts []string
}

// isFor reports whether the reply is for r.
func (w when) isFor(r *Request) bool {
	return !slices.ContainsFunc(w.texts, func(text string) bool { return !bytes.Contains(r.Body, []byte(text)) })
}

// Lax makes the server answer requests that it would refuse for what they say: other
// programs use more of an API than it checks. A wrong path or key is still refused.
func (s *Server) Lax() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lax = true
}

// Requests returns the requests so far, in order, including rejected ones.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// next stores r and returns its number, from 1, and the answer to it.
func (s *Server) next(r *Request) (n int, rp Reply, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, *r)
	n = len(s.requests)
	if i := slices.IndexFunc(s.whens, func(w when) bool { return r.Refused == "" && w.isFor(r) }); i >= 0 {
		rp = s.whens[i].reply
		s.whens = slices.Delete(s.whens, i, i+1)
		return n, rp, true
	}
	switch {
	case r.Refused != "":
		return n, rp, true
	case len(s.replies) > 0:
		rp, s.replies = s.replies[0], s.replies[1:]
		return n, rp, true
	case s.otherwise != nil:
		return n, *s.otherwise, true
	}
	return n, rp, false
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the client has left
	}
	r := Request{Path: req.URL.Path, Header: req.Header, Body: body}
	why := s.check(req, &r)
	if why != nil {
		r.Refused = why.message
	}
	n, rp, ok := s.next(&r)
	if !ok {
		s.t.Errorf("%s %s: request %d, and no reply is left for it", req.Method, req.URL.Path, n)
		rp = Fails(http.StatusTeapot, "the script is at its end")
	}
	id := fmt.Sprintf("req_%04d", n)
	if why == nil {
		why = rp.refusal()
	}
	if !rp.Bare {
		w.Header().Set(s.wire.id, id)
	}
	o := out{w: w, req: req, reply: &rp}
	switch {
	case rp.Break == Drop:
		panic(http.ErrAbortHandler)
	case rp.To != "":
		http.Redirect(w, req, rp.To, http.StatusTemporaryRedirect)
	case rp.Page != "":
		o.whole("text/html; charset=utf-8", http.StatusOK, []byte(rp.Page))
	case why != nil && why.status != http.StatusOK:
		why.id = id
		status, body := s.wire.refuse(why)
		o.whole("application/json", status, body)
	case s.wire.whole != nil && s.wire.whole(&r, &rp, id) != nil:
		o.whole("application/json", http.StatusOK, s.wire.whole(&r, &rp, id))
	default:
		events := s.wire.events(&r, &rp, id)
		if why != nil {
			events = append(events[:len(events)/2:len(events)/2], s.wire.broken(why))
		}
		o.stream(events)
	}
}

// check reads the request and returns why it is rejected, or nil.
func (s *Server) check(req *http.Request, r *Request) *refusal {
	switch {
	case !strings.HasSuffix(req.URL.Path, s.wire.path) || req.Method != http.MethodPost:
		return &refusal{status: http.StatusNotFound, message: fmt.Sprintf("Not found: %s %s", req.Method, req.URL.Path)}
	case s.wire.key(req.Header) != Key:
		return &refusal{status: http.StatusUnauthorized, message: "wrong key " + s.wire.key(req.Header)}
	}
	err := s.wire.read(r)
	s.mu.Lock()
	lax := s.lax
	s.mu.Unlock()
	if err == nil || lax {
		return nil
	}
	if why, ok := err.(*refusal); ok { //nolint:errorlint // it is our own, never wrapped
		return why
	}
	return &refusal{status: http.StatusBadRequest, message: err.Error()}
}

// refusal returns the error that the reply asks for, or nil.
func (r *Reply) refusal() *refusal {
	if r.Status == 0 {
		return nil
	}
	return &refusal{status: r.Status, kind: r.Kind, message: r.Message, reply: r}
}
