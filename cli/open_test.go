package cli

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein/cli/clitest"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/store/memory"
)

// Where no server runs, skein open starts one, also if another program listens at the
// usual address. The next skein open uses that one.
func TestOpenStartsAServerWhereNoneRuns(t *testing.T) {
	if taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:7433"); err == nil {
		defer taken.Close() //nolint:errcheck // nobody asked it anything
	}
	st := clitest.KeptOpen{Store: memory.New()}
	clitest.Begin(t, st, "s-1", "Parser")
	env, out, says := clitest.NewEnv(t, st)
	ctx, cancel := context.WithCancel(t.Context())
	var started [][]string
	ended := make(chan int)
	env.Detach = func(d config.Detached) error {
		if d.Dir != env.Getenv("HOME") || !filepath.IsAbs(d.Output) {
			t.Errorf("the server works in %q and prints to %q, want the home folder and a file", d.Dir, d.Output)
		}
		args := d.Args
		started = append(started, args)
		server := *env
		server.Stdout, server.Stderr = io.Discard, io.Discard
		go func() { ended <- Main(ctx, &server, args) }()
		return nil
	}
	defer func() {
		cancel()
		for range started {
			<-ended
		}
	}()
	for _, args := range [][]string{{"open", "--print"}, {"open", "Parser", "--print"}} {
		out.Reset()
		if code := Main(t.Context(), env, args); code != 0 {
			t.Fatalf("skein %q ends with %d: %s", args, code, says)
		}
		link := strings.TrimSpace(out.String())
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("the link %s: %v", link, err)
		}
		page, err := io.ReadAll(a.Body)
		if err := a.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if err != nil || !strings.Contains(string(page), "<button") {
			t.Errorf("the link %s leads to %s %s, %v; want a page with a button", link, a.Status, page, err)
		}
	}
	if len(started) != 1 {
		t.Errorf("two commands started %q, want one server", started)
	}
	if !strings.Contains(says.String(), "started a server at http://127.0.0.1:") || !strings.Contains(out.String(), "next=%2Fsessions%2Fs-1") {
		t.Errorf("it says %q and prints %q; want the address of the server, and a link to the session", says, out)
	}
}

// A server that cannot be started for this store is not: the person is told what to do.
func TestOpenStartsNoServerForAStoreElsewhere(t *testing.T) {
	env, _, says := clitest.NewEnv(t, memory.New())
	env.Detach = func(d config.Detached) error {
		t.Errorf("it started skein %q", d.Args)
		return nil
	}
	if code := Main(t.Context(), env, []string{"--store", "postgres://db.example/skein", "open"}); code != 3 || !strings.Contains(says.String(), "start it: skein serve") {
		t.Errorf("skein open ends with %d and %q, want 3 and what to do", code, says)
	}
}
