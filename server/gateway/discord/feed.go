package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/gorilla/websocket"
	"github.com/skein-dev/skein/server/gateway"
)

// patience is how long a connection may take until it delivers messages.
const patience = time.Minute

// Kinds of messages of the gateway
// (https://discord.com/developers/docs/events/gateway).
const (
	opEvent     = 0
	opHeartbeat = 1
	opIdentify  = 2
	opResume    = 6
	opReconnect = 7
	opInvalid   = 9
	opHello     = 10
	opAck       = 11
)

// intents are what the gateway sends: messages in guilds and direct messages.
const intents = 1<<9 | 1<<12

// A gatewaySession is a session of Discord's gateway: one connection after the other,
// each of which resumes where the last one broke.
type gatewaySession struct {
	bot     *Bot
	session string // "" before there is one
	seq     int64  // of the newest event
	url     string // to resume at

	stop  context.CancelFunc // ends the connection
	broke chan error         // receives why the connection ended, once
}

// A payload is one message of the gateway.
type payload struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  int64           `json:"s,omitempty"`
	Type string          `json:"t,omitempty"`
}

// open opens a connection and waits until it delivers messages. What it delivers is
// passed to the bot until the connection breaks or close ends it.
func (f *gatewaySession) open(ctx context.Context) error {
	at := f.url
	if f.session == "" || at == "" {
		var gateway struct{ URL string }
		if err := f.bot.call(ctx, http.MethodGet, "/gateway", nil, &gateway); err != nil {
			return err
		}
		at = gateway.URL
	}
	d := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: 20 * time.Second}
	conn, res, err := d.DialContext(ctx, at+"/?v="+version+"&encoding=json", nil)
	if err != nil {
		return err
	}
	res.Body.Close() //nolint:errcheck // it has no body
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	ready := make(chan struct{})
	f.stop, f.broke = stop, make(chan error, 1)
	go func() { f.broke <- (&gatewayConn{gatewaySession: f, conn: conn, ready: ready}).run(run) }()
	waiting, enough := context.WithCancel(ctx)
	defer enough()
	late := make(chan struct{})
	go func() {
		f.bot.Wait(waiting, patience) //nolint:errcheck // it has ended either way
		close(late)
	}()
	select {
	case <-ready:
		return nil
	case err := <-f.broke:
		f.broke <- err // for close
		return err
	case <-late:
		return fmt.Errorf("discord did not confirm the connection within %s", patience)
	}
}

// close ends the connection, if there is one, in such a way that the next one
// resumes the same session, and returns why it broke if it did so by itself.
func (f *gatewaySession) close() error {
	if f.stop == nil {
		return nil
	}
	f.stop()
	f.stop = nil
	return <-f.broke
}

// A gatewayConn is one connection of a feed. Its methods are called by one
// goroutine.
type gatewayConn struct {
	*gatewaySession
	conn  *websocket.Conn
	ready chan struct{} // closed when the session begins or continues; nil from then on
	beat  *time.Ticker
	acked bool // the newest heartbeat was answered
}

// run identifies the bot or resumes its session, and handles what comes until the
// connection breaks or ctx ends.
func (c *gatewayConn) run(ctx context.Context) error {
	frames, failed := make(chan payload), make(chan error, 1)
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer close(frames)
		for {
			var f payload
			if err := c.conn.ReadJSON(&f); err != nil {
				failed <- err
				return
			}
			select {
			case frames <- f:
			case <-ctx.Done():
				failed <- nil
				return
			}
		}
	}()
	c.beat, c.acked = time.NewTicker(patience), true // until it is said how often
	defer func() {
		c.beat.Stop()
		stop()
		c.conn.Close() //nolint:errcheck // it has ended
		for range frames {
		}
	}()
	for {
		var err error
		select {
		case f, ok := <-frames:
			if !ok {
				return c.ended(<-failed)
			}
			err = c.take(f)
		case <-c.beat.C:
			err = c.heartbeat()
		case <-ctx.Done():
			// With another code than this one the session could not be resumed.
			last := websocket.FormatCloseMessage(websocket.CloseServiceRestart, "")
			c.conn.WriteControl(websocket.CloseMessage, last, time.Now().Add(time.Second)) //nolint:errcheck // it is closed next
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// ended returns err. A session that the gateway does not know any more is not
// resumed.
func (c *gatewayConn) ended(err error) error {
	if websocket.IsCloseError(err, 4007, 4009) { // unknown seq, session timed out
		c.session = ""
	}
	return err
}

// take handles a frame.
func (c *gatewayConn) take(f payload) error {
	switch f.Op {
	case opHello:
		var hello struct {
			Interval int `json:"heartbeat_interval"` // milliseconds
		}
		if err := json.Unmarshal(f.Data, &hello); err != nil {
			return err
		}
		c.beat.Reset(time.Duration(max(hello.Interval, 1)) * time.Millisecond)
		return c.begin()
	case opHeartbeat:
		c.acked = true
		return c.heartbeat()
	case opAck:
		c.acked = true
	case opReconnect:
		return errors.New("discord asks for a new connection")
	case opInvalid:
		if string(f.Data) != "true" {
			c.session = ""
		}
		return errors.New("discord refused the session")
	case opEvent:
		return c.event(f)
	}
	return nil
}

// begin resumes the session, or begins one.
func (c *gatewayConn) begin() error {
	if c.session != "" {
		return c.send(opResume, map[string]any{"token": c.bot.token, "session_id": c.session, "seq": c.seq})
	}
	properties := map[string]string{"os": runtime.GOOS, "browser": "skein", "device": "skein"}
	return c.send(opIdentify, map[string]any{"token": c.bot.token, "intents": intents, "properties": properties})
}

// event handles an event of the session.
func (c *gatewayConn) event(f payload) error {
	switch f.Type {
	case "READY":
		var begun struct {
			Session string `json:"session_id"`
			URL     string `json:"resume_gateway_url"`
		}
		if err := json.Unmarshal(f.Data, &begun); err != nil {
			return err
		}
		c.session, c.url = begun.Session, begun.URL
		c.begun()
	case "RESUMED":
		c.begun()
	case "MESSAGE_CREATE":
		var m message
		if err := json.Unmarshal(f.Data, &m); err != nil {
			c.bot.Log.Warn("a message of discord cannot be read", "err", err)
		} else {
			c.bot.keep(&m)
		}
	}
	c.seq = f.Seq
	return nil
}

// begun reports that messages come from now on.
func (c *gatewayConn) begun() {
	if c.ready != nil {
		close(c.ready)
		c.ready = nil
	}
}

// heartbeat tells the gateway that we are there.
func (c *gatewayConn) heartbeat() error {
	if !c.acked {
		return errors.New("discord does not answer the heartbeat")
	}
	c.acked = false
	if c.seq == 0 {
		return c.send(opHeartbeat, nil)
	}
	return c.send(opHeartbeat, c.seq)
}

func (c *gatewayConn) send(op int, data any) error {
	if err := c.conn.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	return c.conn.WriteJSON(map[string]any{"op": op, "d": data})
}

// refusing are the codes of closed connections after which trying again is useless:
// a wrong token, sharding, version or intents.
var refusing = []int{4004, 4010, 4011, 4012, 4013, 4014}

// refused reports whether trying again is useless.
func refused(err error) bool {
	if r := (*gateway.ServiceError)(nil); errors.As(err, &r) {
		return r.Code == http.StatusUnauthorized
	}
	closed := (*websocket.CloseError)(nil)
	return errors.As(err, &closed) && slices.Contains(refusing, closed.Code)
}
