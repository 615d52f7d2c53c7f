package cli_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein/cli"
)

// TestServeCountsWhereItIsToldTo serves without metrics, and with them in each
// possible place.
func TestServeCountsWhereItIsToldTo(t *testing.T) {
	home := t.TempDir()
	t.Setenv("SKEIN_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("SKEIN_NOW", "2026-11-21T12:00:00Z")
	for _, c := range []struct {
		flags           []string
		bare, withToken int
	}{
		{nil, 404, 404},
		{[]string{"--metrics", "on"}, 401, 200},
		{[]string{"--metrics", "127.0.0.1:0"}, 404, 404}, // they are on another listener
	} {
		env := testEnv()
		env.Getwd = func() (string, error) { return home, nil }
		out, in := io.Pipe()
		env.Stdout, env.Stderr = in, t.Output()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan int, 1)
		go func() { ended <- cli.Main(ctx, env, append([]string{"serve", "--listen", "127.0.0.1:0"}, c.flags...)) }()
		at, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(home, "state", "tokens"))
		if err != nil {
			t.Fatal(err)
		}
		token, _, _ := strings.Cut(string(data), "\n")
		ask := func(token string) (int, string) {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSpace(at)+"/metrics", nil)
			if err != nil {
				t.Fatal(err)
			}
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Body.Close() //nolint:errcheck // it was read
			b, err := io.ReadAll(a.Body)
			if err != nil {
				t.Fatal(err)
			}
			return a.StatusCode, string(b)
		}
		if status, body := ask(""); status != c.bare {
			t.Errorf("serve %q: GET /metrics without a token = %d %s, want %d", c.flags, status, body, c.bare)
		}
		status, body := ask(token)
		if status != c.withToken || status == http.StatusOK && (!strings.Contains(body, "skein_store_bytes ") || !strings.Contains(body, "skein_index_waiting_events ")) {
			t.Errorf("serve %q: GET /metrics with a token = %d %s, want %d", c.flags, status, body, c.withToken)
		}
		http.DefaultClient.CloseIdleConnections()
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("serve %q ended with %d", c.flags, code)
		}
	}
	env := testEnv()
	env.Getwd = func() (string, error) { return home, nil }
	env.Stdout, env.Stderr = io.Discard, io.Discard
	if code := cli.Main(t.Context(), env, []string{"serve", "--listen", "127.0.0.1:0", "--metrics", "0.0.0.0:0"}); code == 0 {
		t.Error("serve --metrics 0.0.0.0:0 in clear text = 0, want it refused")
	}
}
