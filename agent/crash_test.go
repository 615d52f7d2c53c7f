package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/store/sqlite"
)

// TestAKilledTurnIsTakenUp kills a process at every step of a turn, continues
// its session, and checks that nothing is lost or done twice.
func TestAKilledTurnIsTakenUp(t *testing.T) {
	places := []string{"stream 0", "stream 1", "stream 2", "tool c0", "effect c0", "tool c1", "effect c1"}
	for n := 1; n <= 14; n++ {
		places = append(places, fmt.Sprint("before ", n), fmt.Sprint("after ", n))
	}
	for _, at := range places {
		t.Run(at, func(t *testing.T) {
			dir := t.TempDir()
			j := job{Path: filepath.Join(dir, "skein.db"), Effects: filepath.Join(dir, "effects"), At: at}
			c := startChild(t, j)
			if line := c.line(); line != "" {
				t.Fatalf("the process says %q, want it to be killed at %s", line, at)
			}
			if err := c.cmd.Wait(); err == nil {
				t.Fatalf("the process ended well, want it to be killed at %s", at)
			}
			takeUp(t, j)
		})
	}
}

// takeUp continues the session of the killed process.
func takeUp(t *testing.T, j job) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), j.Path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	id := only(t, s)
	if id == "" {
		return // it was killed before its first event
	}
	was, said := states(t, eventsOf(t, s, id)), called(t, eventsOf(t, s, id))
	m := newModel()
	th, err := agent.Open(t.Context(), agent.Options{Store: s, Session: id, Program: "parent", Agent: agent.Agent{Model: m, Tools: j.tools()}})
	if err != nil {
		t.Fatalf("Open = %v", err)
	}
	is := states(t, eventsOf(t, s, id))
	for call, state := range was {
		want := state
		if state == skein.Running {
			want = skein.Uncertain
			if call != "c0" {
				want = skein.Failed // its tool does no harm
			}
		}
		if is[call] != want {
			t.Errorf("call %s was %s and is now %s, want %s", call, state, is[call], want)
		}
	}
	p, err := th.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p {
		_, err = th.Retry(t.Context())
	} else {
		_, err = th.Turn(t.Context(), skein.UserSays("on"))
	}
	if err != nil {
		t.Errorf("going on = %v", err)
	}
	if err := th.Close(t.Context(), "done"); err != nil {
		t.Error(err)
	}
	then := states(t, eventsOf(t, s, id))
	for _, call := range said {
		if was[call] == "" && then[call] != skein.Pending {
			t.Errorf("call %s had not begun and is now %s, want %s", call, then[call], skein.Pending)
		}
	}
	for _, err := range m.broken {
		t.Errorf("a request breaks the provider's rules: %v", err)
	}
	wantSound(t, eventsOf(t, s, id))
	wantEffects(t, j, is)
}

// only returns the ID of the only session in s; "" if there is none.
func only(t *testing.T, s skein.Store) (id skein.SessionID) {
	t.Helper()
	for x, err := range s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil || id != "" {
			t.Fatalf("Sessions yields %v beside %s (%v)", x.ID, id, err)
		}
		id = x.ID
	}
	return id
}

// states returns the newest state of each call.
func states(t *testing.T, events []skein.Event) map[string]skein.CallState {
	t.Helper()
	all := map[string]skein.CallState{}
	for _, e := range events {
		if e.Kind == skein.KindTool {
			s := decode[skein.ToolState](t, e)
			all[s.Call] = s.State
		}
	}
	return all
}

// called returns the IDs of the calls of all answers.
func called(t *testing.T, events []skein.Event) (calls []string) {
	t.Helper()
	for _, e := range events {
		if e.Kind != skein.KindSaid {
			continue
		}
		for _, p := range decode[skein.Message](t, e).Parts {
			if p.Call != nil {
				calls = append(calls, p.Call.ID)
			}
		}
	}
	return calls
}

// wantEffects checks that each call had its effect at most once, and that the
// log has the calls that had one.
func wantEffects(t *testing.T, j job, states map[string]skein.CallState) {
	t.Helper()
	b, err := os.ReadFile(j.Effects)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, call := range strings.Fields(string(b)) {
		if seen[call] {
			t.Errorf("the call %s ran twice", call)
		}
		seen[call] = true
		if states[call] == "" {
			t.Errorf("the call %s ran, and nothing in the session says so", call)
		}
	}
}
