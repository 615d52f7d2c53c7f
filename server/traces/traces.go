package traces

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/skein-dev/skein"
)

const scope = "github.com/skein-dev/skein/server/traces"

// Options are the settings of traces.
type Options struct {
	Endpoint Endpoint
	Version  string       // of the program
	Log      *slog.Logger // for reports of lost spans
	Client   *http.Client // nil: one with a timeout of 10 seconds
}

// Traces creates spans until it is closed. It is safe for concurrent use.
type Traces struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// New returns traces that go to o.Endpoint. Sampling, the size of the queue and
// the service's name are set by the variables of OpenTelemetry:
// OTEL_TRACES_SAMPLER, OTEL_BSP_…, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES.
//
// The error wraps [skein.ErrInvalid] if one of them cannot be read.
func New(ctx context.Context, o Options) (_ *Traces, err error) {
	defer skein.Wrapf(&err, "traces")
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "skein"), attribute.String("service.version", o.Version)),
		resource.WithFromEnv(),
	)
	if err != nil {
		return nil, errors.Join(skein.ErrInvalid, err)
	}
	p := sdk.NewTracerProvider(sdk.WithResource(about), sdk.WithBatcher(newExporter(o)))
	return &Traces{p, p.Tracer(scope, trace.WithInstrumentationVersion(o.Version))}, nil
}

// Close sends the spans that wait, until ctx ends. The error is ctx's.
func (t *Traces) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// Request begins the span of a request; it is for [door.Options]. The pattern
// is that of its route, "" if there is none.
func (t *Traces) Request(r *http.Request, pattern, id string) (context.Context, func(status int)) {
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	name := pattern
	if name == "" {
		name = method(r)
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", method(r)), attribute.String("skein.request.id", id),
	))
	if _, route, ok := strings.Cut(pattern, " "); ok {
		span.SetAttributes(attribute.String("http.route", route))
	}
	return ctx, func(status int) {
		span.SetAttributes(attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
			span.SetAttributes(attribute.String("error.type", strconv.Itoa(status)))
		}
		span.End()
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
