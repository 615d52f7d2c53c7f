package door

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"
)

const (
	maxConns   = 4096 // connections at once
	turnedAway = 64   // of the refused ones, how many at once are told why; others are only closed
	turnTime   = time.Second
)

// limitedListener is a listener that limits how many connections are open at once.
// Further ones are told to come back: if they waited, the server would seem
// dead.
type limitedListener struct {
	net.Listener
	open chan struct{} // one element for each open connection
	away chan struct{} // one element for each connection that is told why
	told string        // what refused connections get; "" for nothing
}

// limit returns l with at most n connections, which speak TLS if t is not nil.
func limit(l net.Listener, n int, t *tls.Config) net.Listener {
	told := ""
	if t == nil {
		told = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
	}
	return &limitedListener{l, make(chan struct{}, n), make(chan struct{}, turnedAway), told}
}

// Accept implements [net.Listener].
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.open <- struct{}{}:
			return &countedConn{Conn: c, leave: sync.OnceFunc(func() { <-l.open })}, nil
		default:
			l.turn(c)
		}
	}
}

// turn refuses a connection, without making others wait.
func (l *limitedListener) turn(c net.Conn) {
	select {
	case l.away <- struct{}{}:
	default:
		c.Close() //nolint:errcheck // there is nothing to lose
		return
	}
	go func() {
		defer func() { <-l.away }()
		defer c.Close()                         //nolint:errcheck // there is nothing to lose
		c.SetDeadline(time.Now().Add(turnTime)) //nolint:errcheck // then it takes longer
		if _, err := io.WriteString(c, l.told); err != nil || l.told == "" {
			return
		}
		if w, ok := c.(interface{ CloseWrite() error }); ok {
			w.CloseWrite() //nolint:errcheck // it is closed next
		}
		io.Copy(io.Discard, io.LimitReader(c, 64<<10)) //nolint:errcheck // closed with something unread, the client would not see the answer
	}()
}

// countedConn is a connection that counts until it is closed.
type countedConn struct {
	net.Conn
	leave func()
}

// Close implements [net.Conn].
func (c *countedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
