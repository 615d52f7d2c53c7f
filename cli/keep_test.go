package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
)

// A shared store stays open when a command that used it closes it.
type shared struct{ skein.Store }

func (w shared) Unwrap() skein.Store { return w.Store }

// Close implements [skein.Store]. It does nothing.
func (shared) Close() error { return nil }

// begin puts a session with one message into st.
func begin(t *testing.T, st skein.Store, id skein.SessionID, title string) {
	t.Helper()
	created := skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: title})
	if _, err := skein.Add(t.Context(), st, id, created, skein.Say(2, skein.UserSays("about "+title))); err != nil {
		t.Fatal(err)
	}
}

func TestPruneLeavesWhatIsInUseAndGoesOn(t *testing.T) {
	st := memory.New()
	for _, id := range []skein.SessionID{"session1", "session2", "session3"} {
		begin(t, st, id, "the "+string(id))
	}
	if _, err := st.Acquire(t.Context(), "session2", skein.LeaseRequest{Program: "skein chat"}); err != nil {
		t.Fatal(err)
	}
	env, _, stderr := newEnv(t, shared{st})
	if got := Main(t.Context(), env, []string{"prune", "--older-than", "1d", "--purge", "--yes"}); got != 4 {
		t.Errorf("prune with a session in use exits %d, want 4; stderr: %s", got, stderr)
	}
	for _, want := range []string{"destroyed 2 sessions", "skein: session2: ", "skein chat"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("prune says %q, want %q in it", stderr, want)
		}
	}
	var left []skein.SessionID
	for s, err := range st.Sessions(t.Context(), skein.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, s.ID)
	}
	if len(left) != 1 || left[0] != "session2" {
		t.Errorf("after prune there are %q, want session2 alone", left)
	}
}

func TestPruneAsksAtATerminal(t *testing.T) {
	for answer, want := range map[string]string{"y\n": "put 1 session", "yes\n": "put 1 session", "n\n": "nothing was done", "\n": "nothing was done", "": "nothing was done"} {
		st := memory.New()
		begin(t, st, "session1", "old")
		env, _, stderr := newEnv(t, shared{st})
		env.Terminal.In, env.Stdin = true, strings.NewReader(answer)
		if got := Main(t.Context(), env, []string{"prune", "--older-than", "1d"}); got != 0 {
			t.Errorf("prune answered %q exits %d, want 0; stderr: %s", answer, got, stderr)
		}
		if got := stderr.String(); !strings.Contains(got, ": put them in the bin? [y/N] ") || !strings.Contains(got, want) {
			t.Errorf("prune answered %q says %q, want the question and %q", answer, got, want)
		}
		s, err := st.Session(t.Context(), "session1")
		if err != nil || (s.Binned != 0) != strings.HasPrefix(answer, "y") {
			t.Errorf("after prune answered %q: binned at %v, %v", answer, s.Binned, err)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "4096": 4096, "4096B": 4096, "200k": 200_000, "1.5 MB": 1_500_000, "500mb": 500_000_000, "1GB": 1e9, "1KiB": 1024, "2 GiB": 2 << 30, "1T": 1e12,
		"": -1, "B": -1, "MB": -1, "1XB": -1, "1KMB": -1, "-1": -1, "1 GB!": -1, "1..5k": -1, "99999999T": -1,
	} {
		got, ok := parseBytes(text)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("parseBytes(%q) = %d, %t; want %d", text, got, ok, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 KB", 999_949: "999.9 KB", 999_950: "1.0 MB", 1_500_000_000: "1.5 GB", 5e15: "5000.0 TB"} {
		if got := bytesText(n); got != want {
			t.Errorf("bytesText(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestAWatchThatNeverBeganIsInterrupted(t *testing.T) {
	env, _, stderr := newEnv(t, memory.New())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Main(ctx, env, []string{"import", "--watch", t.TempDir()}); got != 130 {
		t.Errorf("import --watch with Ctrl-C before its first import exits %d, want 130; stderr: %s", got, stderr)
	}
}
