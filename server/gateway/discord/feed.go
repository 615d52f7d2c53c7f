package discord

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
)

// patience is how long opening a connection may take, including all tries of
// the request before it.
const patience = time.Minute

// errStuck ends a feed: the library holds its lock forever.
var errStuck = errors.New("discord does not say that the connection is made")

// A feed is a session of Discord's gateway: one connection after the other,
// each of which resumes where the last one broke.
type feed struct {
	api   *discordgo.Session
	broke chan struct{} // holds one element when a connection broke

	mu   sync.Mutex
	conn net.Conn // the latest
	over bool     // the feed was given up
}

// newFeed returns a feed that passes messages to arrived, which must not block:
// the library calls it while holding its lock.
func newFeed(api *discordgo.Session, arrived func(*discordgo.Message)) *feed {
	f := &feed{api: api, broke: make(chan struct{}, 1)}
	api.Dialer = &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: 20 * time.Second, NetDialContext: f.dial}
	api.AddHandler(func(*discordgo.Session, *discordgo.Disconnect) { ring(f.broke) })
	api.AddHandler(func(_ *discordgo.Session, m *discordgo.MessageCreate) {
		if m.Message != nil { // it could be decoded
			arrived(m.Message)
		}
	})
	return f
}

// ring puts an element into c, unless it is full.
func ring(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (f *feed) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return nil, errors.Join(errStuck, c.Close())
	}
	f.conn = c
	return c, nil
}

// open opens a connection. The library reads the first two messages without a
// deadline while it holds its lock, and if one of them tells it to reconnect,
// it waits for that lock itself
// (https://github.com/bwmarrin/discordgo/issues/513). So when ctx or our
// patience ends, the feed is abandoned: the error is errStuck, and the feed
// must not be used again.
func (f *feed) open(ctx context.Context, wait func(context.Context, time.Duration) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	opened, late := make(chan error, 1), make(chan struct{})
	go func() { opened <- f.api.Open() }()
	go func() {
		wait(ctx, patience) //nolint:errcheck // it has ended either way
		close(late)
	}()
	select {
	case err := <-opened:
		return err
	case <-late:
		f.mu.Lock()
		defer f.mu.Unlock()
		f.over = true
		if f.conn != nil {
			f.conn.Close() //nolint:errcheck // it is given up
		}
		return errStuck
	}
}

// close ends the connection, if there is one, in such a way that the next one
// resumes the same session.
//
// The library reports the end of a connection once for each of its goroutines
// that notices, perhaps much later; reports up to now are dropped.
func (f *feed) close() error {
	err := f.api.CloseWithCode(websocket.CloseServiceRestart)
	select {
	case <-f.broke:
	default:
	}
	return err
}
