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

// patience is how long a connection may take to be made, all tries of a request
// that comes before it included.
const patience = time.Minute

// errStuck is the end of a feed: the library holds its lock for ever.
var errStuck = errors.New("discord does not say that the connection is made")

// A feed is a session of Discord's gateway: one connection after the other,
// each of which goes on where the one before broke off.
type feed struct {
	api   *discordgo.Session
	broke chan struct{} // holds one when a connection broke

	mu   sync.Mutex
	conn net.Conn // the latest
	over bool     // it was given up
}

// newFeed returns a feed whose messages go to arrived, which must not wait: the
// library calls it while it holds its lock.
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

// ring leaves one in a channel that holds one.
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

// open makes a connection. The library reads the first two messages without a
// deadline while it holds its lock, and if one of them tells it to connect again
// it waits for that lock itself (https://github.com/bwmarrin/discordgo/issues/513).
// So when ctx or our patience ends, the feed is left to itself: the error is
// errStuck, and the feed must not be used again.
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

// close ends the connection, if there is one, in such a way that the next goes
// on with the same session.
//
// The library tells of the end of one connection once for each of its goroutines
// that notices, which may be long after; what it told up to now is forgotten.
func (f *feed) close() error {
	err := f.api.CloseWithCode(websocket.CloseServiceRestart)
	select {
	case <-f.broke:
	default:
	}
	return err
}
