package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/metrics"
	"github.com/skein-dev/skein/server/traces"
	"github.com/skein-dev/skein/store/inspect"
)

// metricsServer is what --metrics adds to a server; the zero value adds nothing.
type metricsServer struct {
	routes   []door.Route // for the server itself
	own      *door.Door   // for a listener that serves only metrics
	listener net.Listener
	of       *atomic.Pointer[door.Door] // the door whose streams are counted
}

// count sets up the counting of requests in options, if metrics are wanted.
func (o *serveOptions) count(ctx context.Context, j *job.Job, options *door.Options) (c metricsServer, err error) {
	if o.metrics == "" {
		return c, nil
	}
	c.of = &atomic.Pointer[door.Door]{}
	index, _ := skein.PartOf[inspect.IndexLag](j.Store)
	m := metrics.New(metrics.Options{
		Now: j.Now, Index: index, Size: func() int64 { return sizeOf(j.Settings.Text("store")) },
		Streams: func() int {
			if d := c.of.Load(); d != nil {
				return d.Streams()
			}
			return 0
		},
	})
	options.Done = m.Done
	if o.metrics == "on" {
		c.routes = []door.Route{m.Route()}
		return c, nil
	}
	how := door.Clear("")
	if o.clear {
		how = door.ClearText
	}
	c.listener, err = door.Listen(ctx, o.metrics, nil, how)
	if errors.Is(err, skein.ErrRefused) {
		err = fault.Advise(err, "the metrics would be sent in clear text: --clear-text allows that")
	}
	own := *options
	own.Done, own.Form, own.Page = nil, nil, nil
	c.own = door.New(own, m.Open())
	return c, err
}

// sizeOf returns the size in bytes of a store's file, including its write-ahead
// log; -1 if it is not a file.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	size := info.Size()
	if log, err := os.Stat(path + "-wal"); err == nil {
		size += log.Size()
	}
	return size
}

// with serves the metrics beside what serve serves, if they have their own
// listener.
func (c metricsServer) with(serve func(*door.Door, context.Context, net.Listener) error) func(*door.Door, context.Context, net.Listener) error {
	return func(d *door.Door, ctx context.Context, l net.Listener) error {
		if c.of != nil {
			c.of.Store(d)
		}
		if c.own == nil {
			return serve(d, ctx, l)
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		ended := make(chan error, 1)
		go func() {
			defer stop()
			ended <- c.own.Serve(ctx, c.listener)
		}()
		err := serve(d, ctx, l)
		stop()
		return errors.Join(err, <-ended)
	}
}

// lastSpans is how long the server waits for the collector when it shuts down.
const lastSpans = time.Second

// traced is what --traces adds to a server; the zero value adds nothing.
type traced struct {
	*traces.Traces
	log *slog.Logger
}

// trace sets up traces as the flag or the environment asks.
func (o *serveOptions) trace(ctx context.Context, j *job.Job, log *slog.Logger) (traced, error) {
	to, err := traces.Find(o.traces, j.Getenv)
	if err != nil || to.URL == "" {
		return traced{}, err
	}
	t, err := traces.New(ctx, traces.Options{Endpoint: to, Version: j.Version, Getenv: j.Getenv, Log: log})
	return traced{t, log}, err
}

// of adds tracing of requests and of store calls to the options of a door.
func (t traced) of(o *door.Options) {
	if t.Traces != nil {
		o.Store, o.Trace = t.Store(o.Store), t.Request
	}
}

// close sends the spans that are waiting, even if ctx has ended.
func (t traced) close(ctx context.Context) {
	if t.Traces == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSpans)
	defer cancel()
	if err := t.Close(ctx); err != nil {
		t.log.Warn("the last traces are lost", "err", err)
	}
}
