package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

const (
	patience = time.Minute // for one request, and for a connection that says nothing
	largest  = 4 << 20     // bytes of an answer or a frame; Slack's are far smaller
)

// limited is the error of a request that Slack rate-limited.
type limited struct{ after time.Duration }

func (l limited) Error() string {
	return fmt.Sprintf("slack limits requests: try again in %s", l.after)
}

// call calls a method of the API and decodes its answer into to. The error is
// limited, or contains Slack's own error code.
func (a *App) call(ctx context.Context, method, token string, values url.Values, to any) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+method, strings.NewReader(values.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusTooManyRequests {
		seconds, err := strconv.ParseUint(answer.Header.Get("Retry-After"), 10, 16)
		if err != nil {
			seconds = 60
		}
		return limited{time.Duration(seconds) * time.Second}
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: slack answers %s", method, answer.Status)
	}
	b, err := io.ReadAll(io.LimitReader(answer.Body, largest))
	if err != nil {
		return err
	}
	var said struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
	}
	if err := json.Unmarshal(b, &said); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if !said.OK {
		return fmt.Errorf("%s: slack answers %s", method, said.Error)
	}
	return json.Unmarshal(b, to)
}

// An envelope is what Slack sends in socket mode.
type envelope struct {
	Type     string          `json:"type"`
	Envelope string          `json:"envelope_id"` // "": it needs no acknowledgment
	Payload  json.RawMessage `json:"payload"`
}

// errRenew ends a connection that Slack wants replaced, as it does every few
// hours.
var errRenew = errors.New("slack asks for a new connection")

// A socket is one connection in socket mode.
type socket struct {
	conn   *websocket.Conn
	frames chan envelope // closed when the connection has ended
	err    error         // why it ended; valid after that
}

// connect opens a connection, which ends with ctx.
func (a *App) connect(ctx context.Context) (*socket, error) {
	var at struct {
		URL string `json:"url"`
	}
	if err := a.call(ctx, "apps.connections.open", a.appToken, nil, &at); err != nil {
		return nil, err
	}
	d := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: patience}
	conn, _, err := d.DialContext(ctx, at.URL, nil) //nolint:bodyclose // the library has read it
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(largest)
	answer := conn.PingHandler()
	conn.SetPingHandler(func(data string) error {
		return errors.Join(conn.SetReadDeadline(time.Now().Add(patience)), answer(data))
	})
	// Frames that come while one is handled wait here; beyond that, Slack
	// waits.
	return &socket{conn: conn, frames: make(chan envelope, 50)}, nil
}

// read receives frames until the connection ends. Slack sends a ping every few
// seconds: a connection without one is dead.
func (s *socket) read(ctx context.Context) {
	defer close(s.frames)
	defer context.AfterFunc(ctx, func() { s.conn.Close() })() //nolint:errcheck // it is over either way
	for {
		var f envelope
		if s.err = s.conn.SetReadDeadline(time.Now().Add(patience)); s.err != nil {
			return
		}
		if s.err = s.conn.ReadJSON(&f); s.err != nil {
			return
		}
		if f.Type == "disconnect" {
			s.err = errRenew
			return
		}
		select {
		case s.frames <- f:
		case <-ctx.Done():
			s.err = ctx.Err()
			return
		}
	}
}

// acknowledge tells Slack that a frame arrived.
func (s *socket) acknowledge(f envelope) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	return s.conn.WriteJSON(map[string]string{"envelope_id": f.Envelope})
}
