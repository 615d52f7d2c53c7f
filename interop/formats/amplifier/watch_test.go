package amplifier_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/interop/watch"
	"github.com/skein-dev/skein/store/memory"
)

// watched is a store that Watch fills.
type watched struct {
	*testing.T
	store   *memory.Store
	reports chan interop.Report
}

func watchDir(t *testing.T, path string) *watched {
	t.Helper()
	w := &watched{t, memory.New(), make(chan interop.Report, 100)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- watch.Watch(ctx, w.store, []interop.Format{amplifier.Format()}, []string{path}, interop.Options{}, func(r interop.Report) { w.reports <- r })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Watch(%s) = %v, want nil after its context ended", path, err)
		}
		w.store.Close()
	})
	return w
}

// until waits until the session has the expected messages.
func (w *watched) until(want string) {
	w.Helper()
	deadline := time.After(5 * time.Minute)
	for {
		if _, err := w.store.Session(w.Context(), liveID); err == nil && words(w, w.store, liveID) == want {
			return
		} else if err != nil && !errors.Is(err, skein.ErrNotFound) {
			w.Fatal(err)
		}
		select {
		case <-w.reports:
		case <-deadline:
			w.Fatalf("the session does not come to say %q", want)
		}
	}
}

func TestAWatchSeesSavesAsTheyAreMade(t *testing.T) {
	f := newFolder(t)
	f.save(user(1, "one"))
	w := watchDir(t, f.path)
	w.until("one")
	f.logs(logLine(2, "prompt:submit", `{"prompt": "two"}`))
	f.save(user(1, "one"), user(2, "two"))
	w.until("one | two")
	f.save(user(1, "one"), user(2, "two, changed"), user(3, "three"))
	w.until("one | two, changed | three")
	f.save(user(1, "one"))
	w.until("one")
}

func TestMetadataIsWaitedForToItsEnd(t *testing.T) {
	f := newFolder(t)
	const whole = `{"parent_id": "gone", "forked_from_turn": 1}`
	f.write("transcript.jsonl", user(1, "one")+"\n")
	f.write("metadata.json", whole[:20])
	s := memory.New()
	defer s.Close()
	if rep := bring(t, s, f.path); rep.Sessions != 0 || rep.Skipped != 1 {
		t.Errorf("Import while the metadata is being written = %+v, want that it is said", rep)
	}
	f.write("metadata.json", whole)
	bring(t, s, f.path)
	if p := session(t, s, liveID).Parent; p == nil || p.Session != "gone" {
		t.Errorf("the fork hangs on %+v, want its parent", p)
	}
}
