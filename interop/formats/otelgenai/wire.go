package otelgenai

import (
	"encoding/json"
	"strconv"

	"github.com/skein-dev/skein"
)

// The shapes of OTLP/JSON that are written.
type resourceOut struct {
	Resource resourceAttrs `json:"resource"`
	Scopes   []scopeOut    `json:"scopeSpans"`
}

type resourceAttrs struct {
	Attributes []attribute `json:"attributes"`
}

type scopeOut struct {
	Scope scopeName `json:"scope"`
	Spans []spanOut `json:"spans"`
}

type scopeName struct {
	Name string `json:"name"`
}

type spanOut struct {
	Trace      string      `json:"traceId"`
	Span       string      `json:"spanId"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
	Status     *statusOut  `json:"status,omitempty"`
}

type statusOut struct {
	Code    int    `json:"code"`
	Message string `json:"message,omitempty"`
}

// An attribute is an attribute.
type attribute struct {
	Key   string   `json:"key"`
	Value valueOut `json:"value"`
}

// A valueOut is a value of one of the types.
type valueOut struct {
	String any      `json:"stringValue,omitempty"` // string, or JSON as a [lines.Rope]
	Int    string   `json:"intValue,omitempty"`
	Double *float64 `json:"doubleValue,omitempty"`
	Bool   *bool    `json:"boolValue,omitempty"`
	Array  *listOut `json:"arrayValue,omitempty"`
}

type listOut struct {
	Values []valueOut `json:"values"`
}

func stringAttr(key, v string) attribute { return attribute{key, valueOut{String: v}} }

func intAttr(key string, n int64) attribute {
	return attribute{key, valueOut{Int: strconv.FormatInt(n, 10)}}
}

// A messageOut is a message in the form of the conventions' JSON schemas.
type messageOut struct {
	Role   string     `json:"role"`
	Parts  []any      `json:"parts"`
	Finish *string    `json:"finish_reason,omitempty"` // an output message must have it
	Skein  *extrasOut `json:"skein,omitempty"`
}

type extrasOut struct {
	Role        string `json:"role,omitempty"`
	Synthetic   bool   `json:"synthetic,omitempty"`
	Interrupted bool   `json:"interrupted,omitempty"`
}

type textOut struct {
	Type    string     `json:"type"` // text, reasoning
	Content skein.Text `json:"content"`
}

type callOut struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

type responseOut struct {
	Type     string `json:"type"`
	ID       string `json:"id"`
	Response any    `json:"response"`
	Failed   bool   `json:"is_error,omitempty"`
}

type blobOut struct {
	Type     string `json:"type"`
	Media    string `json:"mime_type,omitempty"`
	Modality string `json:"modality"`
	Content  string `json:"content"`
}

type uriOut struct {
	Type     string `json:"type"`
	Media    string `json:"mime_type,omitempty"`
	Modality string `json:"modality"`
	URI      string `json:"uri"`
}
