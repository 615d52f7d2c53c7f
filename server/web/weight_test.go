package web_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
)

// maxFirstView is how many bytes a page may have, compressed.
const maxFirstView = 30 << 10

// heavy is a store with more than any page shows: sessions with long names and tags, and
// one with long outputs, reasoning and texts of programs.
func heavy(t *testing.T) skein.Store {
	t.Helper()
	store := composed(t)
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same words each time
	words := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString([]string{"parser", "retry", "the", "token", "of", "index", "cache", "a", "migration", "failed", "upload", "with", "branch", "column"}[r.IntN(14)])
			b.WriteString([]string{" ", " ", " ", fmt.Sprint(r.IntN(1000)), ".\n"}[r.IntN(5)])
		}
		return b.String()
	}
	c := &composer{t: t, store: store}
	for i := range 200 {
		c.begin(fmt.Sprintf("many-%03d", i), composedNow.Add(-time.Duration(i)*7*time.Hour),
			skein.Created{Title: words(8), Surface: "cli", Project: fmt.Sprintf("/home/ada/%d", i%17), Agent: "claude-code", Model: sonnet})
		c.asks(words(30))
	}
	c.begin("heavy", composedNow.Add(-time.Hour), skein.Created{Title: "Many long outputs", Surface: "cli", Project: "/home/ada/courier", Agent: "claude-code", Model: sonnet})
	for i := range 40 {
		c.asks(words(20))
		c.runs(sonnet, "Bash", `{"command":"make test"}`, words(3000), i%9 == 0, skein.Usage{Input: 100, Output: 10})
		c.put(skein.Say(c.at, skein.Message{Role: skein.RoleAssistant, Model: sonnet, Parts: []skein.Part{{Kind: skein.PartReasoning, Text: skein.Text(words(2000))}, skein.TextPart(words(60))}}))
	}
	return store
}

func TestFirstViewsAreLight(t *testing.T) {
	v := visiting(t, heavy(t), nil)
	for _, path := range []string{"/", "/now", "/projects", "/search", "/search?q=uploads", "/usage", "/bin", "/health", "/settings", "/sessions/heavy", "/sessions/heavy?before=0", "/sessions/heavy/replay", "/sessions/heavy/outline", "/sessions/heavy/changes", "/sessions/s-retry", "/sessions/s-retry/tree"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", "gzip") // the client unpacks nothing by itself then
		answer, err := v.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close() //nolint:errcheck // it was read
		if err != nil || answer.StatusCode != http.StatusOK || len(body) > maxFirstView {
			t.Errorf("%s = %d, %v with %d bytes compressed, want at most %d", path, answer.StatusCode, err, len(body), maxFirstView)
		}
		t.Logf("%6d %s", len(body), path)
	}
}
