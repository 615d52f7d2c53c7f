package cli

import (
	"context"
	"log/slog"
	"time"

	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/traces"
)

// lastSpans is how long the server waits for the collector when it shuts down.
const lastSpans = time.Second

// traced is what --traces adds to a server; the zero value adds nothing.
type traced struct {
	*traces.Traces
	log *slog.Logger
}

// trace sets up traces as the flag or the environment asks.
func (o *serveOptions) trace(ctx context.Context, j *job, log *slog.Logger) (traced, error) {
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
