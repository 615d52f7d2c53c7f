package door

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/skein-dev/skein"
)

const (
	headerTime = 5 * time.Second
	idleTime   = 2 * time.Minute
	stopTime   = 2 * time.Second // the process must end within 5, on a busy machine too
	maxHeader  = 32 << 10
)

// Listen opens the address, for at most 4,096 connections at once: it answers
// further ones with 503, or closes them if they would use TLS. Beyond loopback
// it requires TLS, unless clear allows clear text.
//
// The error wraps [skein.ErrRefused] if clear text is not allowed; others are
// the system's.
func Listen(ctx context.Context, address string, t *tls.Config, clear Clear) (_ net.Listener, err error) {
	defer skein.Wrapf(&err, "listen on %s", address)
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	l = limit(l, maxConns, t)
	if t != nil {
		if t = t.Clone(); t.NextProtos == nil {
			t.NextProtos = []string{"h2", "http/1.1"} // a browser may open many streams over one connection
		}
		return tls.NewListener(l, t), nil
	}
	if ip := addressOf(l); !ip.IsLoopback() && clear != ClearText {
		return nil, errors.Join(fmt.Errorf("%w: other machines can reach %s and read what is sent in clear text", skein.ErrRefused, l.Addr()), l.Close())
	}
	return l, nil
}

// Clear says whether tokens and transcripts may leave this machine in clear
// text.
type Clear string

// ClearText allows clear text: a proxy in front of the server encrypts.
const ClearText Clear = "clear text"

// Serve answers the requests that come in at l until ctx ends. Then streams end
// at once, and other running requests have 2 seconds.
// The error is that of the listener.
func (d *Door) Serve(ctx context.Context, l net.Listener) error {
	if ip := addressOf(l); !ip.IsUnspecified() {
		d.at = ip
	}
	s := &http.Server{
		Handler: d, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(d.Log.Handler(), slog.LevelWarn),
	}
	keeping, kept := context.WithCancel(context.WithoutCancel(ctx))
	var audit sync.WaitGroup
	audit.Go(func() { d.tokens.audit.keep(keeping, d.Log) })
	defer audit.Wait()
	defer kept() // once all requests are over
	stopped := make(chan error, 1)
	leave := context.AfterFunc(ctx, func() {
		d.streams.end()
		within, cancel := d.grace(context.WithoutCancel(ctx))
		defer cancel()
		err := s.Shutdown(within)
		if within.Err() != nil {
			err = s.Close()
		}
		stopped <- err
	})
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		leave()
		return err
	}
	return <-stopped
}

func grace(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, stopTime)
}

func addressOf(l net.Listener) net.IP {
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		return a.IP
	}
	return net.IPv4zero
}
