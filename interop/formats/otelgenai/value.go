package otelgenai

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// maxNest is how deep the values of attributes may be nested.
const maxNest = 64

// attributes are a span's, log record's or resource's, by name, as JSON.
type attributes map[string]jsontext.Value

func (a attributes) str(names ...string) string {
	for _, n := range names {
		if s := loose.Str(a[n]); s != "" {
			return skein.Text(s).UTF8()
		}
	}
	return ""
}

func (a attributes) count(names ...string) int64 {
	for _, n := range names {
		if i := (loose.Object{{Name: "n", Value: a[n]}}).Count("n"); i > 0 {
			return i
		}
	}
	return 0
}

// list returns an attribute that is a list, or a string that holds one.
func (a attributes) list(name string) []jsontext.Value {
	v := a[name]
	if v.Kind() == '"' {
		v = jsontext.Value(loose.Inner(v))
	}
	return loose.Elements(v)
}

// attributesOf reads [{"key":…,"value":{"stringValue":…}}].
func attributesOf(list []jsontext.Value) attributes {
	a := attributes{}
	for _, v := range list {
		if o, err := loose.Parse(v); err == nil && o.Str("key") != "" {
			a[o.Str("key")] = valueOf(o.Get("value"), maxNest)
		}
	}
	return a
}

// valueOf converts a typed value of OTLP/JSON to plain JSON.
func valueOf(v jsontext.Value, nest int) jsontext.Value {
	o, err := loose.Parse(v)
	if err != nil || len(o) == 0 || nest == 0 {
		return jsontext.Value("null")
	}
	switch m := o[len(o)-1]; m.Name {
	case "intValue": // a string, as JSON has no whole numbers of 64 bits
		if i, err := strconv.ParseInt(loose.Str(m.Value), 10, 64); err == nil {
			return jsontext.Value(strconv.FormatInt(i, 10))
		}
		return m.Value
	case "arrayValue":
		out := []byte{'['}
		sub, _ := loose.Parse(m.Value)
		for i, e := range sub.List("values") {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, valueOf(e, nest-1)...)
		}
		return append(out, ']')
	case "kvlistValue":
		out := []byte{'{'}
		sub, _ := loose.Parse(m.Value)
		for _, e := range sub.List("values") {
			p, _ := loose.Parse(e)
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(skein.AppendQuoted(out, p.Str("key")), ':'), valueOf(p.Get("value"), nest-1)...)
		}
		return append(out, '}')
	default:
		return m.Value
	}
}

// nanos returns a time in nanoseconds since 1970, which is a string or a
// number.
func nanos(v jsontext.Value) skein.Time {
	s := loose.Str(v)
	if s == "" {
		s = string(v)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 {
		return 0
	}
	return loose.Millis(jsontext.Value(strconv.FormatInt(n/1_000_000, 10)))
}

// usageOf reads a request's usage. Input counts include tokens read from and written
// to the cache.
func usageOf(a attributes) *skein.Usage {
	const u = "gen_ai.usage."
	all := a.count(u+"input_tokens", u+"prompt_tokens")
	read := a.count(u+"cache_read.input_tokens", u+"cache_read_input_tokens")
	wrote := a.count(u+"cache_creation.input_tokens", u+"cache_write.input_tokens", u+"cache_creation_input_tokens")
	out := skein.Usage{Input: max(0, all-read-wrote), CacheRead: read, CacheWrite: wrote, Output: a.count(u+"output_tokens", u+"completion_tokens")}
	out.Reasoning = min(out.Output, a.count(u+"reasoning.output_tokens"))
	if f, ok := loose.Number(a["skein.cost_usd"]); ok && f > 0 && f < 1e9 {
		out.Reported = int64(math.Round(f * 1e9))
	}
	if out == (skein.Usage{}) {
		return nil
	}
	return &out
}

// rest returns the attributes that are not named here, as JSON.
func (a attributes) rest() json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, v := range a {
		switch name {
		case attrIn, attrOut, attrSystem, attrConversation, attrDelta:
		default:
			if raw := loose.Raw(v); raw != nil {
				out[name] = raw
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return skein.MustJSON(out)
}

// Names of attributes.
const (
	attrIn           = "gen_ai.input.messages"
	attrOut          = "gen_ai.output.messages"
	attrSystem       = "gen_ai.system_instructions"
	attrConversation = "gen_ai.conversation.id"
	attrDelta        = "skein.delta"
)
