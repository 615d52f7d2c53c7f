package traces

import (
	"encoding/hex"
	"strconv"
	"time"
)

// The types of a request, as in
// opentelemetry/proto/collector/trace/v1/trace_service.proto of
// opentelemetry-proto 1.11, in OTLP's JSON: names in lowerCamelCase, IDs in
// hexadecimal, 64-bit numbers as strings, enums as numbers.
type (
	wireRequest struct {
		ResourceSpans []wireResource `json:"resourceSpans"`
	}
	wireResource struct {
		Resource   wireAttributes `json:"resource"`
		ScopeSpans []wireScope    `json:"scopeSpans"`
	}
	wireAttributes struct {
		Attributes []wireAttribute `json:"attributes"`
	}
	wireScope struct {
		Scope wireScopeName `json:"scope"`
		Spans []wireSpan    `json:"spans"`
	}
	wireScopeName struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	wireSpan struct {
		TraceID    string          `json:"traceId"`
		SpanID     string          `json:"spanId"`
		TraceState string          `json:"traceState,omitempty"`
		Parent     string          `json:"parentSpanId,omitempty"`
		Flags      uint32          `json:"flags"`
		Name       string          `json:"name"`
		Kind       int             `json:"kind"`
		Start      string          `json:"startTimeUnixNano"`
		End        string          `json:"endTimeUnixNano"`
		Attributes []wireAttribute `json:"attributes"`
		Status     wireStatus      `json:"status"`
	}
	wireAttribute struct {
		Key   string    `json:"key"`
		Value wireValue `json:"value"`
	}
	wireValue struct {
		String *string `json:"stringValue,omitempty"`
		Int    string  `json:"intValue,omitempty"`
	}
	wireStatus struct {
		Code int `json:"code,omitempty"`
	}
)

// Bits of a span's flags: W3C's own, whether it is known that the parent is in
// another process, and whether it is.
const (
	flagSampled = 1
	flagKnown   = 0x100
	flagRemote  = 0x200
)

// requestOf returns the request for spans of the program that is described.
func requestOf(about []wireAttribute, version string, spans []*traceSpan) wireRequest {
	s := wireScope{Scope: wireScopeName{scope, version}}
	for _, span := range spans {
		s.Spans = append(s.Spans, spanOf(span))
	}
	return wireRequest{[]wireResource{{Resource: wireAttributes{about}, ScopeSpans: []wireScope{s}}}}
}

func spanOf(s *traceSpan) wireSpan {
	w := wireSpan{
		TraceID: hex.EncodeToString(s.own.trace[:]), SpanID: hex.EncodeToString(s.own.span[:]), TraceState: s.own.state,
		Flags: flagSampled | flagKnown, Name: s.name, Kind: s.kind,
		Start: nanos(s.start), End: nanos(s.end), Attributes: s.attributes,
	}
	if s.parent != (spanContext{}) {
		w.Parent = hex.EncodeToString(s.parent.span[:])
	}
	if s.parent.remote {
		w.Flags |= flagRemote
	}
	if s.failed {
		w.Status.Code = 2
	}
	return w
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func text(key, s string) wireAttribute { return wireAttribute{key, wireValue{String: &s}} }

func number(key string, n int) wireAttribute {
	return wireAttribute{key, wireValue{Int: strconv.Itoa(n)}}
}
