package traces

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/skein-dev/skein"
)

// An Endpoint is where spans go.
type Endpoint struct {
	URL     string      // "": nowhere
	Headers http.Header // of each request; may be nil
}

// Find returns where to send spans: to the collector at base or, if that is "",
// where the variables of OpenTelemetry say: OTEL_EXPORTER_OTLP_ENDPOINT and
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, unless OTEL_TRACES_EXPORTER is none or
// OTEL_SDK_DISABLED is true. Headers are those of OTEL_EXPORTER_OTLP_HEADERS
// and OTEL_EXPORTER_OTLP_TRACES_HEADERS.
//
// The error wraps [skein.ErrInvalid] if a URL or a header is not valid, or the
// protocol is one that this package does not implement.
func Find(base string, getenv func(string) string) (e Endpoint, err error) {
	defer skein.Wrapf(&err, "traces")
	if e.URL, err = place(base, getenv); err != nil || e.URL == "" {
		return Endpoint{}, err
	}
	if p := first(getenv, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"); p == "grpc" && base == "" {
		return Endpoint{}, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is grpc: %w: skein sends http/json, which collectors accept at port 4318", skein.ErrInvalid)
	}
	if e.Headers, err = headers(first(getenv, "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")); err != nil {
		return Endpoint{}, err
	}
	return e, nil
}

func place(base string, getenv func(string) string) (string, error) {
	if base != "" {
		return under(base)
	}
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return "", nil
	}
	if whole := getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"); whole != "" {
		_, err := parse(whole)
		return whole, err
	}
	if base = getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); base == "" {
		return "", nil
	}
	return under(base)
}

// under returns the traces URL of a collector at base.
func under(base string) (string, error) {
	u, err := parse(base)
	if err != nil {
		return "", err
	}
	if strings.HasSuffix(u.Path, "/v1/traces") {
		return base, nil
	}
	return u.JoinPath("v1", "traces").String(), nil
}

func parse(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%w: %q is not the URL of a collector, such as http://127.0.0.1:4318", skein.ErrInvalid, s)
	}
	return u, nil
}

func headers(s string) (http.Header, error) {
	all, err := pairs("OTEL_EXPORTER_OTLP_HEADERS", s)
	h := http.Header{}
	for _, p := range all {
		h.Add(p[0], p[1])
	}
	return h, err
}

// pairs parses a=b,c=d, with values escaped as in a URL, of a variable.
func pairs(variable, s string) (all [][2]string, err error) {
	for pair := range strings.SplitSeq(s, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || err != nil || name == "" || strings.ContainsAny(value, "\r\n") {
			return nil, fmt.Errorf("%w: %s: want name=value pairs", skein.ErrInvalid, variable) // the value may be a secret
		}
		all = append(all, [2]string{name, value})
	}
	return all, nil
}

func first(getenv func(string) string, names ...string) string {
	for _, name := range names {
		if v := getenv(name); v != "" {
			return v
		}
	}
	return ""
}
