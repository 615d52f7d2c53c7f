package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/api"
	"github.com/skein-dev/skein/store/inspect"
)

// Options say where the server is, and who the caller is.
type Options struct {
	URL   string        // https://host:7433, or http:// of loopback; a path goes before /v1
	Token string        // a token that the server accepts
	TLS   *tls.Config   // nil: what the system trusts
	Lease time.Duration // how long a lease outlives a process that crashes; 0 is 20 s
}

const (
	leaseFor    = 20 * time.Second
	connections = 64               // kept for the next request
	idle        = 90 * time.Second // for how long: less than the server keeps them
	dialFor     = 10 * time.Second
)

// What a request to a server can fail with. Test for them with [errors.Is].
var (
	ErrUnreachable = errors.New("the server cannot be reached")
	ErrToken       = errors.New("the server does not know the token")            // 401
	ErrForbidden   = errors.New("the server does not allow it")                  // 403
	ErrAdmin       = fmt.Errorf("%w", ErrForbidden)                              // what only an admin's token may do
	ErrVersion     = errors.New("not a skein server, or one of another version") // the response is not as expected
)

// A Store is a store that a server keeps. Make it with [Open].
type Store struct {
	*view
	reads
	lifecycle
	leases
	sources
	feeds
	inspection
	isView bool // closing it does nothing
}

// A view is what one user sees of a store: the base of each part of a [Store].
type view struct {
	*core
	user skein.User // "" for all that the token sees
}

// The parts of a Store, by the subject of their methods.
type (
	reads      struct{ *view } // sessions and events
	lifecycle  struct{ *view } // [skein.Lifecycle]
	leases     struct{ *view } // [skein.Leases]
	sources    struct{ *view } // [skein.Sources]
	feeds      struct{ *view } // [skein.Feed]
	inspection struct{ *view } // [inspect.Examiner] and [inspect.IndexLag]
)

func newStore(c *core, u skein.User, isView bool) *Store {
	v := &view{c, u}
	return &Store{v, reads{v}, lifecycle{v}, leases{v}, sources{v}, feeds{v}, inspection{v}, isView}
}

var (
	_ skein.FullStore  = (*Store)(nil)
	_ inspect.Examiner = (*Store)(nil)
	_ inspect.IndexLag = (*Store)(nil)
)

// core is what a store and its views share.
type core struct {
	base   string // URL, without a slash at the end
	token  string
	client *http.Client
	lease  time.Duration
	about  api.About

	ending context.Context // ends with Close
	end    context.CancelFunc
	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup // under way
	kept   heldLeases
}

// Open asks the server whether it accepts the token, and returns its store.
//
// The error wraps [skein.ErrInvalid] if the URL is invalid, or would send the token
// in clear text over a network, [ErrUnreachable], [ErrToken], [ErrForbidden]
// or [ErrVersion].
func Open(ctx context.Context, o Options) (_ *Store, err error) {
	base, err := baseOf(o.URL)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	defer skein.Wrapf(&err, "server %s", base)
	if o.Token == "" || strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%w: the token is empty or has characters that cannot be sent", ErrToken)
	}
	c := &core{base: base, token: o.Token, lease: o.Lease, client: &http.Client{Transport: transport(o.TLS), CheckRedirect: stay}}
	if c.lease <= 0 {
		c.lease = leaseFor
	}
	c.ending, c.end = context.WithCancel(context.WithoutCancel(ctx))
	s := newStore(c, "", false)
	if err := s.meet(ctx); err != nil {
		c.end()
		c.client.CloseIdleConnections()
		return nil, err
	}
	return s, nil
}

// meet asks the server to describe itself.
func (v *view) meet(ctx context.Context) error {
	r, err := v.request(ctx, http.MethodGet, "/v1/store", nil)
	if err != nil {
		return err
	}
	if err := v.answer(r, &v.about); err != nil {
		return err
	}
	if v.about.Protocol != api.Protocol {
		return fmt.Errorf("%w: it is skein %v, which speaks version %d of the protocol, and this one %d", ErrVersion, v.about.Version, v.about.Protocol, api.Protocol)
	}
	return nil
}

// stay does not follow redirects: they would carry the token along.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func transport(t *tls.Config) *http.Transport {
	dialer := net.Dialer{Timeout: dialFor, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence / 3, Interval: silence / 9, Count: 6}}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSClientConfig: t, TLSHandshakeTimeout: dialFor,
		ForceAttemptHTTP2: true, HTTP2: &http.HTTP2Config{SendPingTimeout: silence / 3, PingTimeout: silence / 3},
		MaxIdleConns: connections, MaxIdleConnsPerHost: connections, IdleConnTimeout: idle,
	}
}

// baseOf returns the URL that paths are added to.
func baseOf(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w URL: %w", skein.ErrInvalid, errors.Unwrap(err))
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return "", fmt.Errorf("%w URL: want one like https://host:7433", skein.ErrInvalid)
	case u.User != nil:
		return "", fmt.Errorf("%w URL: it must not contain a name or a password; give a token separately", skein.ErrInvalid)
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("%w URL: it must have nothing after ? or #", skein.ErrInvalid)
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return "", fmt.Errorf("%w URL: http would send the token through the network in clear text; use https", skein.ErrInvalid)
	}
	return u.Scheme + "://" + u.Host + strings.TrimRight(u.EscapedPath(), "/"), nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Owner returns the only user whose sessions the token sees; "" if it sees
// everybody's.
func (v *view) Owner() skein.User { return v.about.User }

// As implements [skein.Store]. A token of a single user has no other views.
func (s *Store) As(u skein.User) skein.Store { return newStore(s.core, u, true) }

// Close implements [skein.Store]. It releases the leases that this process
// holds; errors are from that.
func (s *Store) Close() error {
	if s.isView || !s.shut() {
		return nil
	}
	s.calls.Wait()
	err := s.kept.end()
	s.end()
	s.client.CloseIdleConnections()
	return err
}

// shut admits no more calls; it returns false if that was already so.
func (c *core) shut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.closed
	c.closed = true
	return !was
}

// enter registers a call. The error wraps [skein.ErrClosed], or is that of ctx.
func (c *core) enter(ctx context.Context) (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, skein.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.calls.Add(1)
	return c.calls.Done, nil
}

// alive returns the error of a call after Close.
func (c *core) alive(ctx context.Context) error {
	leave, err := c.enter(ctx)
	if err == nil {
		leave()
	}
	return err
}
