package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server/acp/live"
	"github.com/skein-dev/skein/server/door"
)

const (
	mostMessage = 32 << 20        // bytes of a client's message
	mostClients = 256             // at once
	mostIdle    = 2 * time.Minute // without a stream, an HTTP connection ends
)

// The headers of the HTTP transport.
const (
	connectionHeader = "Acp-Connection-Id"
	sessionHeader    = "Acp-Session-Id"
)

// Options say what is served.
type Options struct {
	Version string
	Live    live.Sockets     // where live sessions are reached; zero: none are
	Redact  *redact.Redactor // masks secrets for visitors who may not read them; nil: nothing is masked

	// Checkout returns what a folder is a checkout of, and its project; may be nil.
	Checkout func(dir string) (skein.Checkout, string)
}

// An acpService is what all clients share.
type acpService struct {
	Options
	mu      sync.Mutex
	clients map[string]*httpClient // by the ID of their connection
	n       int                    // of clients, over WebSocket too
}

// Routes returns the routes of the protocol. Their streams end with their token.
func Routes(o Options) []door.Route {
	s := &acpService{Options: o, clients: map[string]*httpClient{}}
	return []door.Route{
		{Pattern: "GET /v1/acp", Scope: door.Read, Stream: true, Handler: http.HandlerFunc(s.stream)},
		{Pattern: "POST /v1/acp", Scope: door.Read, Body: mostMessage, Handler: http.HandlerFunc(s.post)},
		{Pattern: "DELETE /v1/acp", Scope: door.Read, Handler: http.HandlerFunc(s.end)},
	}
}

// enter counts a client; false if there are too many.
func (s *acpService) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n >= mostClients {
		return false
	}
	s.n++
	return true
}

func (s *acpService) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n--
}

// An rpcMessage is one of JSON-RPC.
type rpcMessage struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcFailure     `json:"error,omitempty"`
}

// An rpcFailure is the error of an answer.
type rpcFailure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// The codes of errors that are not those of package stored.
const (
	parseError = -32700
	noMethod   = -32601
	forbidden  = -32000
)

// messageOf reads a message. The error wraps [skein.ErrInvalid].
func messageOf(b []byte) (m rpcMessage, err error) {
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%w message: %w; batches are not accepted", skein.ErrInvalid, err)
	}
	if string(m.ID) == "null" {
		m.ID = nil
	}
	return m, nil
}

// httpClient is a client of the HTTP transport.
type httpClient struct {
	*acpClient
	id    string
	owner door.Visitor // who may use it
	idle  *time.Timer

	mu      sync.Mutex
	streams map[string]chan []byte // by session; "" for the connection's
	open    int                    // streams that are being read
}

// post takes a message of a client.
func (s *acpService) post(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	var m rpcMessage
	if err == nil {
		m, err = messageOf(b)
	}
	if err != nil {
		door.Fail(w, r, err)
		return
	}
	if m.Method == "initialize" && r.Header.Get(connectionHeader) == "" {
		s.begin(w, r, m)
		return
	}
	c := s.of(w, r)
	if c == nil {
		return
	}
	v := door.From(r.Context())
	if m.Method == "" { // the client hears at once if it is too late
		if err := c.answered(r.Context(), v, m); err != nil {
			refuse(w, r, err)
			return
		}
	} else if err := c.take(v, m); err != nil {
		refuse(w, r, err)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func refuse(w http.ResponseWriter, r *http.Request, err error) {
	var f *scopeError
	switch {
	case errors.As(err, &f):
		door.Refuse(w, r, http.StatusForbidden, "scope", "%s", err.Error())
	case errors.Is(err, live.ErrAnswered):
		door.Refuse(w, r, http.StatusConflict, "answered", "%s", err.Error())
	default:
		door.Fail(w, r, err)
	}
}

// begin begins a connection.
func (s *acpService) begin(w http.ResponseWriter, r *http.Request, m rpcMessage) {
	if !s.enter() {
		door.Refuse(w, r, http.StatusTooManyRequests, "streams", "too many clients are attached: at most %d", mostClients)
		return
	}
	v := door.From(r.Context())
	ctx, cancel := context.WithCancel(context.Background())
	h := &httpClient{id: string(skein.NewSessionID(time.Now())) + randomText(), owner: v, streams: map[string]chan []byte{}}
	h.acpClient = newClient(ctx, s, h.send)
	h.idle = time.AfterFunc(mostIdle, cancel)
	s.mu.Lock()
	s.clients[h.id] = h
	s.mu.Unlock()
	context.AfterFunc(ctx, func() {
		h.idle.Stop()
		s.mu.Lock()
		delete(s.clients, h.id)
		s.mu.Unlock()
		s.leave()
	})
	h.stop = cancel
	w.Header().Set(connectionHeader, h.id)
	w.Header().Set("Content-Type", "application/json")
	w.Write(skein.MustJSON(rpcMessage{JSONRPC: "2.0", ID: m.ID, Result: s.about()})) //nolint:errcheck // the client has gone
}

// of returns the client of a request; nil if the request was refused.
func (s *acpService) of(w http.ResponseWriter, r *http.Request) *httpClient {
	v := door.From(r.Context())
	s.mu.Lock()
	c := s.clients[r.Header.Get(connectionHeader)]
	s.mu.Unlock()
	if c == nil || c.owner.Token != v.Token || c.owner.User != v.User {
		door.Refuse(w, r, http.StatusNotFound, "not_found", "the header %s names no connection of this token: begin with initialize", connectionHeader)
		return nil
	}
	return c
}

// end ends a connection.
func (s *acpService) end(w http.ResponseWriter, r *http.Request) {
	if c := s.of(w, r); c != nil {
		c.stop()
		w.WriteHeader(http.StatusAccepted)
	}
}

// streamOf returns the stream of a session, or the connection's.
func (h *httpClient) streamOf(session string) chan []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.streams[session]
	if c == nil {
		c = make(chan []byte, 64)
		h.streams[session] = c
	}
	return c
}

// send sends a line in a stream; it waits until the client takes it.
func (h *httpClient) send(session string, line []byte) error {
	select {
	case h.streamOf(session) <- line:
		return nil
	case <-h.ctx.Done():
		return h.ctx.Err()
	}
}

// read counts a stream that is being read.
func (h *httpClient) read(by int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open += by; h.open == 0 {
		h.idle.Reset(mostIdle)
	} else {
		h.idle.Stop()
	}
}
