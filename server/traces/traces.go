package traces

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skein-dev/skein"
)

const scope = "github.com/skein-dev/skein/server/traces"

// Options are the settings of traces.
type Options struct {
	Endpoint Endpoint
	Version  string              // of the program
	Getenv   func(string) string // reads the variables of OpenTelemetry; nil: none is set
	Log      *slog.Logger        // for reports of lost spans
	Client   *http.Client        // nil: one with a timeout of 10 seconds
}

// Traces creates spans until it is closed. It is safe for concurrent use.
type Traces struct {
	settings settings
	version  string
	exporter *spanExporter
	queue    chan *traceSpan
	closing  func()        // closes last
	last     chan struct{} // closed by Close
	done     chan struct{} // closed when the last spans were sent
	cancel   context.CancelFunc
}

// New returns traces that go to o.Endpoint. Sampling, the size of the queue and
// the service's name are set by the variables of OpenTelemetry:
// OTEL_TRACES_SAMPLER, OTEL_BSP_…, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES.
//
// The error wraps [skein.ErrInvalid] if one of them cannot be read.
func New(ctx context.Context, o Options) (_ *Traces, err error) {
	defer skein.Wrapf(&err, "traces")
	s, err := readSettings(o.Version, o.Getenv)
	if err != nil {
		return nil, err
	}
	t := &Traces{settings: s, version: o.Version, exporter: newExporter(o), queue: make(chan *traceSpan, s.queue), last: make(chan struct{}), done: make(chan struct{})}
	t.closing = sync.OnceFunc(func() { close(t.last) })
	ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go t.run(ctx)
	return t, nil
}

// put queues a span that has ended. It is lost if too many wait.
func (t *Traces) put(s *traceSpan) {
	select {
	case t.queue <- s:
	default:
		if !t.exporter.broken.Swap(true) {
			t.exporter.log.Warn("traces are lost: too many wait for the collector", "spans", cap(t.queue))
		}
	}
}

// run sends spans in batches until Close.
func (t *Traces) run(ctx context.Context) {
	defer close(t.done)
	tick := time.NewTicker(t.settings.delay)
	defer tick.Stop()
	var batch []*traceSpan
	send := func() {
		if len(batch) > 0 {
			ctx, cancel := context.WithTimeout(ctx, t.settings.timeout)
			defer cancel()
			t.exporter.export(ctx, requestOf(t.settings.about, t.version, batch))
			batch = nil
		}
	}
	for {
		select {
		case s := <-t.queue:
			if batch = append(batch, s); len(batch) >= t.settings.batch {
				send()
			}
		case <-tick.C:
			send()
		case <-t.last:
			for len(t.queue) > 0 {
				if batch = append(batch, <-t.queue); len(batch) >= t.settings.batch {
					send()
				}
			}
			send()
			return
		}
	}
}

// Close sends the spans that wait, until ctx ends. The error is ctx's.
func (t *Traces) Close(ctx context.Context) error {
	stop := context.AfterFunc(ctx, t.cancel)
	t.closing()
	<-t.done
	t.cancel()
	t.exporter.client.CloseIdleConnections()
	if stop() {
		return nil
	}
	return ctx.Err()
}

// Request begins the span of a request; it is for [door.Options]. The pattern
// is that of its route, "" if there is none.
func (t *Traces) Request(r *http.Request, pattern, id string) (context.Context, func(status int)) {
	name := pattern
	if name == "" {
		name = method(r)
	}
	ctx, span := t.begin(r.Context(), name, kindServer, received(r.Header))
	span.set(text("http.request.method", method(r)), text("skein.request.id", id))
	if _, route, ok := strings.Cut(pattern, " "); ok {
		span.set(text("http.route", route))
	}
	return ctx, func(status int) {
		span.set(number("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			span.fail(strconv.Itoa(status))
		}
		span.finish()
	}
}

// method returns the method of r, if it is a known one: a client may send any
// word.
func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "_OTHER"
}
