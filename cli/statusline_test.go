package cli

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein/cli/clitest"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/store/memory"
)

// A status line waits for no store: another process looks, and the next line has what
// that found. It is started once, however often the line is asked for meanwhile.
func TestAStatusLineWaitsForNoStore(t *testing.T) {
	env, out, _ := clitest.NewEnv(t, memory.New())
	var started [][]string
	env.Detach = func(d config.Detached) error {
		started = append(started, d.Args)
		return nil
	}
	line := func() string {
		t.Helper()
		out.Reset()
		if code := Main(t.Context(), env, []string{"statusline", "--format", "now[ {today}]"}); code != 0 {
			t.Fatalf("statusline ends with %d", code)
		}
		return strings.TrimSpace(out.String())
	}
	for range 3 {
		if got := line(); got != "now" {
			t.Errorf("before anybody looked, the line is %q", got)
		}
	}
	if len(started) != 1 {
		t.Fatalf("three lines started %q, want one process", started)
	}
	if code := Main(t.Context(), env, started[0]); code != 0 {
		t.Fatalf("skein %q ends with %d", started[0], code)
	}
	if got := line(); got != "now $0.00" || len(started) != 1 {
		t.Errorf("after that, the line is %q, and %q were started", got, started)
	}
}
