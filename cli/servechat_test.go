package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein/cli"
)

// TestServeLetsAgentsAnswerInTheDashboard starts a new session with a model and
// continues it, with the real thread, store and door.
func TestServeLetsAgentsAnswerInTheDashboard(t *testing.T) {
	home := t.TempDir()
	t.Setenv("SKEIN_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("SKEIN_NOW", "2026-11-21T12:00:00Z")
	env := testEnv()
	env.Getwd = func() (string, error) { return home, nil }
	out, in := io.Pipe()
	var log bytes.Buffer
	env.Stdout, env.Stderr = in, &log
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- cli.Main(ctx, env, []string{"serve", "--listen", "127.0.0.1:0", "--chat"}) }()
	at, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	at = strings.TrimSpace(at)
	token, err := os.ReadFile(filepath.Join(home, "state", "tokens"))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path string, form url.Values) (string, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, method, at+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close() //nolint:errcheck // it was read
		b, err := io.ReadAll(a.Body)
		if err != nil || a.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %s %v\n%s", method, path, a.Status, err, b)
		}
		return a.Request.URL.Path, string(b)
	}
	idle := func(path string) string {
		t.Helper()
		ticks := time.NewTicker(20 * time.Millisecond)
		defer ticks.Stop()
		for late := time.After(5 * time.Minute); ; {
			if _, page := ask("GET", path, nil); !strings.Contains(page, "is answering") {
				return page
			}
			select {
			case <-ticks.C:
			case <-late:
				t.Fatal("the answer never ended")
			}
		}
	}
	path, _ := ask("POST", "/chat", url.Values{"text": {"first words"}, "model": {"echo"}})
	if page := idle(path); strings.Count(page, "first words") < 2 {
		t.Errorf("the page of %s has no answer:\n%s", path, page)
	}
	ask("POST", path, url.Values{"text": {"second words"}})
	if page := idle(path); strings.Count(page, "second words") < 2 || !strings.Contains(page, "first words") {
		t.Errorf("the page of %s does not go on:\n%s", path, page)
	} else if strings.Contains(page, "Ended by") || strings.Contains(page, "Resumed by") {
		t.Errorf("the page of %s tells of coming and going:\n%s", path, page)
	}
	stop()
	if code := <-ended; code != 0 {
		t.Errorf("serve ends with exit code %d, want 0: %s", code, log.String())
	}
}
