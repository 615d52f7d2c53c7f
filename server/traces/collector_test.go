package traces_test

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
)

// A collector receives OTLP over HTTP in JSON, and is strict about it.
type collector struct {
	*httptest.Server

	mu      sync.Mutex
	status  int // status of its answers
	got     []span
	service map[string]string // attributes of the resource
	headers http.Header       // of the last request
}

// A span is a span as it arrived.
type span struct {
	Trace, ID, Parent, Name string
	Kind, Flags             int
	Nanos                   int64 // duration
	Failed                  bool
	Is                      map[string]string // attributes
}

// The types that are decoded: fields that OTLP does not have are errors.
type (
	sentAttributes []struct {
		Key   string `json:"key"`
		Value struct {
			String *string `json:"stringValue"`
			Int    *string `json:"intValue"`
			Bool   *bool   `json:"boolValue"`
		} `json:"value"`
	}
	sentRequest struct {
		ResourceSpans []struct {
			Resource struct {
				Attributes sentAttributes `json:"attributes"`
			} `json:"resource"`
			SchemaURL  string `json:"schemaUrl"`
			ScopeSpans []struct {
				Scope struct {
					Name    string `json:"name"`
					Version string `json:"version"`
				} `json:"scope"`
				Spans []struct {
					TraceID    string         `json:"traceId"`
					SpanID     string         `json:"spanId"`
					TraceState string         `json:"traceState"`
					Parent     string         `json:"parentSpanId"`
					Flags      int            `json:"flags"`
					Name       string         `json:"name"`
					Kind       int            `json:"kind"`
					Start      string         `json:"startTimeUnixNano"`
					End        string         `json:"endTimeUnixNano"`
					Attributes sentAttributes `json:"attributes"`
					Status     struct {
						Code int `json:"code"`
					} `json:"status"`
				} `json:"spans"`
			} `json:"scopeSpans"`
		} `json:"resourceSpans"`
	}
)

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{status: http.StatusOK}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.headers = r.Header
		kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || kind != "application/json" {
			t.Errorf("the collector is asked %s %s with %q, want POST /v1/traces with JSON", r.Method, r.URL, kind)
		}
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		var sent sentRequest
		if err := d.Decode(&sent); err != nil {
			t.Errorf("what the collector gets is no OTLP: %v", err)
		}
		if _, err := d.Token(); err != io.EOF { //nolint:errorlint // it is that value
			t.Errorf("more than one value came: %v", err)
		}
		if c.status == http.StatusOK {
			c.take(t, sent)
		}
		w.WriteHeader(c.status)
		io.WriteString(w, "{}") //nolint:errcheck // the client has gone
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) take(t *testing.T, sent sentRequest) {
	for _, r := range sent.ResourceSpans {
		c.service = read(t, r.Resource.Attributes)
		for _, scope := range r.ScopeSpans {
			for _, s := range scope.Spans {
				got := span{
					Trace: id(t, s.TraceID, 16), ID: id(t, s.SpanID, 8), Parent: s.Parent, Name: s.Name, Kind: s.Kind, Flags: s.Flags,
					Nanos: number(t, s.End) - number(t, s.Start), Failed: s.Status.Code == 2, Is: read(t, s.Attributes),
				}
				if s.Parent != "" {
					id(t, s.Parent, 8)
				}
				c.got = append(c.got, got)
			}
		}
	}
}

// spans returns the spans received so far.
func (c *collector) spans() map[string]span {
	c.mu.Lock()
	defer c.mu.Unlock()
	byName := map[string]span{}
	for _, s := range c.got {
		byName[s.Name] = s
	}
	return byName
}

func (c *collector) answer(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

// id checks for an ID of that many bytes, in lowercase hexadecimal, not all
// zero.
func id(t *testing.T, s string, size int) string {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != size || string(b) == string(make([]byte, size)) {
		t.Errorf("%q is no ID of %d bytes", s, size)
	}
	return s
}

func number(t *testing.T, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Error(err)
	}
	return n
}

func read(t *testing.T, all sentAttributes) map[string]string {
	out := map[string]string{}
	for _, a := range all {
		switch v := a.Value; {
		case v.String != nil:
			out[a.Key] = *v.String
		case v.Int != nil:
			out[a.Key] = strconv.FormatInt(number(t, *v.Int), 10)
		case v.Bool != nil:
			out[a.Key] = strconv.FormatBool(*v.Bool)
		default:
			t.Errorf("the attribute %s has no value", a.Key)
		}
	}
	return out
}
