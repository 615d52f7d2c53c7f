package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite"
	"github.com/skein-dev/skein/store/storetest"
)

// TestMain runs the tests, or, in a test binary that was started with a
// variable set, the child process that the variable names.
func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		os.Exit(childMain(name))
	}
	storetest.Main(m, dial)
}

func dial(address string) (skein.Store, error) {
	return sqlite.Open(context.Background(), address, sqlite.Options{})
}

func TestStore(t *testing.T) {
	var files sync.Map // store → its file
	storetest.Run(t, func(t *testing.T) skein.Store {
		name := filepath.Join(t.TempDir(), "a ? b", "x#.db")
		s, err := dial(name)
		if err != nil {
			t.Fatal(err)
		}
		files.Store(s, name)
		return s
	}, storetest.Options{
		Address: func(s skein.Store) string { name, _ := files.Load(s); return name.(string) },
		Dial:    dial,
		Newer:   makeNewer,
		Hurt:    hurt,
		HurtRow: hurtRow,

		Unchanged: unchanged,

		HurtRecord: hurtRecord,
		HurtBlobs:  hurtBlobs(),
	})
}

// open opens the store in the named file, "" for a new one, until the test
// ends.
func open(t testing.TB, name string) *sqlite.Store {
	t.Helper()
	if name == "" {
		name = filepath.Join(t.TempDir(), "x.db")
	}
	s, err := sqlite.Open(context.Background(), name, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, s) })
	return s
}

// shut closes s. Closing twice is fine.
func shut(t testing.TB, s skein.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
}

// add appends events, which must succeed, and returns the seq of the last one.
func add(t testing.TB, s skein.Store, id skein.SessionID, evs ...skein.Event) skein.Seq {
	t.Helper()
	last, err := skein.Add(context.Background(), s, id, evs...)
	if err != nil {
		t.Fatalf("Append(%s, %d events) = %v", id, len(evs), err)
	}
	return last
}

func created() skein.Event { return skein.NewEvent(skein.KindCreated, noon, skein.Created{}) }

func fork(id skein.SessionID, seq skein.Seq) skein.Event {
	return skein.NewEvent(skein.KindCreated, noon, skein.Created{Parent: &skein.Parent{Session: id, Seq: seq, Why: skein.Fork}})
}

func user(text string) skein.Event { return skein.Say(noon, skein.UserSays(text)) }

const noon skein.Time = 1777896000000

// events returns the events of a session, which must be numbered 1, 2, 3.
func events(t testing.TB, s skein.Store, id skein.SessionID) (evs []skein.Event) {
	t.Helper()
	for e, err := range s.Events(context.Background(), id, 0) {
		if err != nil {
			t.Fatalf("Events(%s) yields %v after %d events", id, err, len(evs))
		}
		if evs = append(evs, e); e.Seq != skein.Seq(len(evs)) {
			t.Fatalf("Events(%s) yields seq %d, want %d", id, e.Seq, len(evs))
		}
	}
	return evs
}

// wait waits until ok returns true, for example until a process has ended or stopped.
func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	over := time.After(5 * time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-over:
			t.Fatalf("%s: it does not come to be", what)
		}
	}
}
