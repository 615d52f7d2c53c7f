package metrics_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/metrics"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/memory"
)

// line matches a line of the format that is not a comment.
var line = regexp.MustCompile(`^[a-z_]+(\{[a-z]+="([^"\\\n]|\\["\\n])*"(,[a-z]+="([^"\\\n]|\\["\\n])*")*\})? [0-9.e+-]+$`)

func TestRequestsAreCountedByRoute(t *testing.T) {
	tokens, err := door.OpenTokens(filepath.Join(t.TempDir(), "tokens"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	m := metrics.New(metrics.Options{Streams: func() int { return 3 }, Size: func() int64 { return 1 << 20 }})
	d := door.New(door.Options{Store: memory.New(), Tokens: tokens, Log: slog.New(slog.DiscardHandler), Now: time.Now, Done: m.Done}, m.Route())
	ask := func(path, token string) (int, string) {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "localhost"
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	ann, err := tokens.Add(door.Token{Name: "ann", Scope: "admin", User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		ask("/healthz", tokens.First())
	}
	ask("/secret/path", tokens.First())
	if status, _ := ask("/metrics", "wrong"); status != http.StatusUnauthorized {
		t.Errorf("GET /metrics without a token = %d, want 401", status)
	}
	if status, _ := ask("/metrics", ann); status != http.StatusForbidden {
		t.Errorf("GET /metrics with the token of one user = %d, want 403", status)
	}
	status, body := ask("/metrics", tokens.First())
	if status != http.StatusOK {
		t.Fatalf("GET /metrics = %d %s", status, body)
	}
	for _, want := range []string{
		`skein_http_requests_total{route="GET /healthz",status="200"} 2`,
		`skein_http_requests_total{route="GET /metrics",status="401"} 1`,
		`skein_http_requests_total{route="none",status="404"} 1`,
		`skein_http_request_seconds_bucket{route="GET /healthz",le="+Inf"} 2`,
		`skein_http_request_seconds_count{route="GET /healthz"} 2`,
		"skein_streams_open 3", "skein_store_bytes 1.048576e+06", "go_goroutines ",
	} {
		if !strings.Contains(body, "\n"+want) {
			t.Errorf("GET /metrics has no %s:\n%s", want, body)
		}
	}
	for s := range strings.Lines(body) {
		if s = strings.TrimSuffix(s, "\n"); !strings.HasPrefix(s, "# ") && !line.MatchString(s) {
			t.Errorf("GET /metrics has the line %q, which is none of the format's", s)
		}
	}
	if strings.Contains(body, "secret") {
		t.Errorf("GET /metrics tells a path that was asked for:\n%s", body)
	}
}

// behind is a store whose index lags.
type behind struct {
	lag inspect.Lag
	err error
}

func (b behind) Lag(context.Context) (inspect.Lag, error) { return b.lag, b.err }

func TestTheLagOfTheIndexIsTold(t *testing.T) {
	now := time.UnixMilli(100_000)
	for _, c := range []struct {
		index behind
		want  []string
	}{
		{behind{}, []string{"skein_index_waiting_events 0", "skein_index_lag_seconds 0"}},
		{behind{lag: inspect.Lag{Events: 12, Since: 97_500}}, []string{"skein_index_waiting_events 12", "skein_index_lag_seconds 2.5"}},
		{behind{lag: inspect.Lag{Events: 1, Since: 200_000}}, []string{"skein_index_waiting_events 1", "skein_index_lag_seconds 0"}},
		{behind{err: skein.ErrClosed}, nil},
	} {
		m := metrics.New(metrics.Options{Now: func() time.Time { return now }, Index: c.index})
		w := httptest.NewRecorder()
		m.Open().Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		for _, want := range c.want {
			if !strings.Contains(w.Body.String(), "\n"+want+"\n") {
				t.Errorf("with %+v /metrics has no %s:\n%s", c.index, want, w.Body)
			}
		}
		if c.want == nil && strings.Contains(w.Body.String(), "skein_index") {
			t.Errorf("where the lag is not known /metrics says something of it:\n%s", w.Body)
		}
	}
}

func TestATimeIsCountedInEveryBucketItFits(t *testing.T) {
	m := metrics.New(metrics.Options{})
	for _, ms := range []int{1, 2, 30, 20_000} {
		m.Done("GET /x", 200, time.Duration(ms)*time.Millisecond)
	}
	w := httptest.NewRecorder()
	m.Open().Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{`le="0.001"} 1`, `le="0.003"} 2`, `le="0.01"} 2`, `le="0.03"} 3`, `le="10"} 3`, `le="+Inf"} 4`, `sum{route="GET /x"} 20.033`} {
		if !strings.Contains(w.Body.String(), want+"\n") {
			t.Errorf("1, 2, 30 and 20,000 ms are told without %s:\n%s", want, w.Body)
		}
	}
}
