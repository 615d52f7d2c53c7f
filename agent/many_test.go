package agent_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/store/sqlite"
)

// Fifty threads at once, through two handles on one file, like two processes,
// do not disturb each other.
func TestManyThreadsWorkAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "skein.db")
	var stores []skein.Store
	for range 2 {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		stores = append(stores, s)
	}
	ids := make([]skein.SessionID, 50)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			m := newModel(calls("note {}", "look {}"), says(fmt.Sprint("answer ", i)))
			th, err := agent.Open(t.Context(), agent.Options{Store: stores[i%2], Program: "test", Agent: agent.Agent{Model: m, Tools: tools()}})
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = th.ID()
			if out, err := th.Turn(t.Context(), skein.UserSays(fmt.Sprint("question ", i))); err != nil || out.Text != fmt.Sprint("answer ", i) {
				t.Errorf("Turn of thread %d = %+v, %v", i, out, err)
			}
			if err := th.Close(t.Context(), "done"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i, id := range ids {
		events := eventsOf(t, stores[1-i%2], id)
		if wantSound(t, events); len(events) != 15 {
			t.Errorf("thread %d has %d events, want 15:\n%s", i, len(events), logOf(t, events))
		}
	}
}
