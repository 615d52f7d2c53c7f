package remote

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/sse"
)

const (
	pingEvery = 20 * time.Second
	quiet     = time.Minute // a WebSocket that says nothing for so long is gone
)

func randomText() string { return rand.Text() }

// stream sends what a client is to know: over a WebSocket, or as server-sent events.
func (s *acpService) stream(w http.ResponseWriter, r *http.Request) {
	room.Of(r.Context()).LetGo() // it reads little at a time
	if websocket.IsWebSocketUpgrade(r) {
		s.socket(w, r)
		return
	}
	c := s.of(w, r)
	if c == nil {
		return
	}
	session := r.Header.Get(sessionHeader)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	c.read(1)
	defer c.read(-1)
	if session != "" {
		// What was sent when a stream broke may be lost: the client loads the session
		// again at its cursor.
		defer c.detach(skein.SessionID(session))
	}
	from := c.streamOf(session)
	sse.Serve(ctx, w, func(ctx context.Context) sse.Frames {
		return func(yield func([]byte, error) bool) {
			for {
				select {
				case line := <-from:
					if !yield(append([]byte("data: "), line...), nil) {
						return
					}
				case <-ctx.Done():
					return
				}
			}
		}
	})
}

// A webSocket is a client's connection.
type webSocket struct {
	mu   sync.Mutex
	conn *websocket.Conn
}

func (c *webSocket) write(kind int, b []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn.SetWriteDeadline(time.Now().Add(sse.Slowest)) //nolint:errcheck // then it takes longer
	return c.conn.WriteMessage(kind, b)
}

// socket serves a client over a WebSocket, until either side ends it or the token does.
func (s *acpService) socket(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		door.Refuse(w, r, http.StatusTooManyRequests, "streams", "too many clients are attached: at most %d", mostClients)
		return
	}
	defer s.leave()
	v := door.From(r.Context())
	// The door has checked where the request comes from.
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }, Error: func(w http.ResponseWriter, r *http.Request, status int, why error) {
		door.Refuse(w, r, status, "upgrade", "%s", why.Error())
	}}
	conn, err := up.Upgrade(door.Hijackable(w), r, http.Header{connectionHeader: {randomText()}})
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	ws := &webSocket{conn: conn}
	defer conn.Close()                                      //nolint:errcheck // nothing is lost
	defer context.AfterFunc(ctx, func() { conn.Close() })() //nolint:errcheck // as above
	conn.SetReadLimit(mostMessage)
	alive := func(string) error { return conn.SetReadDeadline(time.Now().Add(quiet)) }
	conn.SetPongHandler(alive)
	alive("") //nolint:errcheck // then it takes longer
	go ws.ping(ctx, cancel)
	c := newClient(ctx, s, func(_ string, line []byte) error { return ws.write(websocket.TextMessage, line) })
	c.stop = cancel
	defer c.wait()
	defer cancel()
	for {
		_, b, err := conn.ReadMessage()
		if err != nil {
			return
		}
		alive("") //nolint:errcheck // as above
		c.line(v, b)
	}
}

func (c *webSocket) ping(ctx context.Context, cancel func()) {
	t := time.NewTicker(pingEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if c.write(websocket.PingMessage, nil) != nil {
				cancel()
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
