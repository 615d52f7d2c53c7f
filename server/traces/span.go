package traces

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// Kinds of spans in OTLP.
const (
	kindInternal = 1
	kindServer   = 2
)

// A spanContext is what a trace knows of a span that others are below.
type spanContext struct {
	trace   [16]byte
	span    [8]byte
	sampled bool
	remote  bool   // it is in another process
	state   string // W3C's tracestate
}

// A traceSpan is a piece of work, running or finished. Its methods are called by one
// goroutine at a time.
type traceSpan struct {
	traces     *Traces
	own        spanContext
	parent     spanContext // the zero value if it is the root of its trace
	name       string
	kind       int
	start, end time.Time
	attributes []wireAttribute
	failed     bool
}

// inContext is the key of the span in a context.
type inContext struct{}

// from returns the span of ctx, nil if there is none that is recorded.
func from(ctx context.Context) *traceSpan {
	s, _ := ctx.Value(inContext{}).(*traceSpan)
	return s
}

// begin begins a span below parent. It returns nil if it is not recorded.
func (t *Traces) begin(ctx context.Context, name string, kind int, parent spanContext) (context.Context, *traceSpan) {
	s := &traceSpan{traces: t, parent: parent, name: name, kind: kind, start: time.Now()}
	s.own = spanContext{trace: parent.trace, state: parent.state}
	if parent.trace == [16]byte{} {
		binary.BigEndian.PutUint64(s.own.trace[:8], rand.Uint64())
		binary.BigEndian.PutUint64(s.own.trace[8:], rand.Uint64()|1) // it must not be zero
	}
	binary.BigEndian.PutUint64(s.own.span[:], rand.Uint64()|1)
	if s.own.sampled = t.settings.sample(parent, s.own.trace); !s.own.sampled {
		return ctx, nil
	}
	return context.WithValue(ctx, inContext{}, s), s
}

func (s *traceSpan) set(all ...wireAttribute) {
	if s != nil {
		s.attributes = append(s.attributes, all...)
	}
}

// fail marks the work as failed.
func (s *traceSpan) fail(kind string) {
	if s != nil {
		s.failed = true
		s.set(text("error.type", kind))
	}
}

// finish ends the span and queues it.
func (s *traceSpan) finish() {
	if s != nil {
		s.end = s.start.Add(time.Since(s.start)) // the clock may have been set
		s.traces.put(s)
	}
}

// received returns the origin of a request, as its headers say
// (https://www.w3.org/TR/trace-context/), or the zero value.
func received(h http.Header) spanContext {
	w := h.Get("traceparent")
	if len(w) < 55 || len(w) > 55 && (w[:2] == "00" || w[55] != '-') || w[2] != '-' || w[35] != '-' || w[52] != '-' || strings.ToLower(w) != w {
		return spanContext{}
	}
	o := spanContext{remote: true}
	var version, flags [1]byte
	if !decode(version[:], w[:2]) || version[0] == 0xff || !decode(o.trace[:], w[3:35]) || !decode(o.span[:], w[36:52]) || !decode(flags[:], w[53:55]) ||
		o.trace == [16]byte{} || o.span == [8]byte{} {
		return spanContext{}
	}
	o.sampled = flags[0]&1 == 1
	if state := strings.Join(h.Values("tracestate"), ","); len(state) <= 512 && !strings.ContainsFunc(state, func(r rune) bool { return r < ' ' || r > '~' }) {
		o.state = state
	}
	return o
}

// decode decodes the digits that fill into.
func decode(into []byte, digits string) bool {
	_, err := hex.Decode(into, []byte(digits))
	return err == nil
}
