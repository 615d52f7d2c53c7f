package cli_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/skein-dev/skein/cli"
)

// TestServeTracesWhereItIsToldTo serves without traces, and with them by flag and
// by environment.
func TestServeTracesWhereItIsToldTo(t *testing.T) {
	home := t.TempDir()
	t.Setenv("SKEIN_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("SKEIN_NOW", "2026-11-21T12:00:00Z")
	for _, c := range []struct {
		name          string
		byFlag, byEnv bool
	}{{"none", false, false}, {"flag", true, false}, {"env", false, true}} {
		got := make(chan string, 10)
		collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			got <- string(b)
		}))
		env := testEnv()
		env.Getwd = func() (string, error) { return home, nil }
		getenv, args := env.Getenv, []string{"serve", "--listen", "127.0.0.1:0"}
		if c.byFlag {
			args = append(args, "--traces", collector.URL)
		}
		env.Getenv = func(name string) string {
			if c.byEnv && name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
				return collector.URL
			}
			return getenv(name)
		}
		out, in := io.Pipe()
		env.Stdout, env.Stderr = in, t.Output()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan int, 1)
		go func() { ended <- cli.Main(ctx, env, args) }()
		at, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSpace(at)+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Body.Close(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("%s: serve ended with %d", c.name, code)
		}
		collector.Close()
		close(got)
		sent := <-got // "" if nothing came
		if want := c.byFlag || c.byEnv; strings.Contains(sent, `"GET /healthz"`) != want {
			t.Errorf("%s: the collector got %q, want the span of GET /healthz: %v", c.name, sent, want)
		}
	}
	env := testEnv()
	env.Getwd = func() (string, error) { return home, nil }
	env.Stdout, env.Stderr = io.Discard, io.Discard
	if code := cli.Main(t.Context(), env, []string{"serve", "--listen", "127.0.0.1:0", "--traces", "nowhere"}); code == 0 {
		t.Error("serve --traces nowhere = 0, want it refused")
	}
}
