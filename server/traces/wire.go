package traces

import (
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
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
		SchemaURL  string         `json:"schemaUrl,omitempty"`
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
		Bool   *bool   `json:"boolValue,omitempty"`
	}
	wireStatus struct {
		Code int `json:"code,omitempty"`
	}
)

// Bits of a span's flags besides W3C's own: whether it is known that the parent
// is in another process, and whether it is.
const (
	flagKnown  = 0x100
	flagRemote = 0x200
)

// requestOf returns the request for spans of one resource and one scope.
func requestOf(spans []sdk.ReadOnlySpan) wireRequest {
	if len(spans) == 0 {
		return wireRequest{}
	}
	one := spans[0]
	s := wireScope{Scope: wireScopeName{one.InstrumentationScope().Name, one.InstrumentationScope().Version}}
	for _, span := range spans {
		s.Spans = append(s.Spans, spanOf(span))
	}
	return wireRequest{[]wireResource{{
		Resource: wireAttributes{attributes(one.Resource().Attributes())}, ScopeSpans: []wireScope{s}, SchemaURL: one.Resource().SchemaURL(),
	}}}
}

func spanOf(s sdk.ReadOnlySpan) wireSpan {
	own, parent := s.SpanContext(), s.Parent()
	w := wireSpan{
		TraceID: own.TraceID().String(), SpanID: own.SpanID().String(), TraceState: own.TraceState().String(),
		Flags: uint32(own.TraceFlags()) | flagKnown, Name: s.Name(), Kind: kindOf(s.SpanKind()),
		Start: nanos(s.StartTime()), End: nanos(s.EndTime()), Attributes: attributes(s.Attributes()),
	}
	if parent.SpanID().IsValid() {
		w.Parent = parent.SpanID().String()
	}
	if parent.IsRemote() {
		w.Flags |= flagRemote
	}
	if s.Status().Code == codes.Error {
		w.Status.Code = 2
	}
	return w
}

// kindOf returns the number of a kind: internal 1, server 2.
func kindOf(k trace.SpanKind) int {
	if k == trace.SpanKindServer {
		return 2
	}
	return 1
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func attributes(all []attribute.KeyValue) []wireAttribute {
	out := make([]wireAttribute, 0, len(all))
	for _, a := range all {
		out = append(out, wireAttribute{string(a.Key), valueOf(a.Value)})
	}
	return out
}

// valueOf returns a value in OTLP's JSON; a value that is neither a number nor
// a boolean is text.
func valueOf(v attribute.Value) wireValue {
	switch v.Type() {
	case attribute.INT64:
		return wireValue{Int: strconv.FormatInt(v.AsInt64(), 10)}
	case attribute.BOOL:
		b := v.AsBool()
		return wireValue{Bool: &b}
	}
	s := v.String()
	return wireValue{String: &s}
}
