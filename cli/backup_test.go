package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/clitest"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite"
)

// openFile opens the store at path and closes it when the test ends.
func openFile(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// A backup is the store at one moment: of a session that is written meanwhile, it
// has the first n messages, for some n.
func TestABackupWhileOthersWriteIsWhole(t *testing.T) {
	dir := t.TempDir()
	writer := openFile(t, filepath.Join(dir, "skein.db"))
	clitest.Begin(t, writer, "busy", "busy")
	ctx, stop := context.WithCancel(t.Context())
	wrote, done := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if _, err := skein.Add(context.Background(), writer, "busy", skein.Say(3, skein.UserSays(strings.Repeat("again ", 50)))); err != nil {
				done <- err
				return
			}
			select {
			case wrote <- struct{}{}:
			default:
			}
		}
		done <- nil
	}()
	for range 3 {
		<-wrote
		env, stdout, stderr := clitest.NewEnv(t, nil)
		env.Open = func(ctx context.Context, _ config.Place) (skein.Store, error) {
			return sqlite.Open(ctx, filepath.Join(dir, "skein.db"), sqlite.Options{})
		}
		path := filepath.Join(t.TempDir(), "copy.db")
		if got := Main(t.Context(), env, []string{"backup", path}); got != 0 || strings.TrimSpace(stdout.String()) != path {
			t.Fatalf("backup exits %d with %q, want 0 with %s; stderr: %s", got, stdout, path, stderr)
		}
		wholeCopy(t, path)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("Append during the backups = %v, want nil", err)
	}
}

// wholeCopy fails the test if the store at path has damage or a gap.
func wholeCopy(t *testing.T, path string) {
	t.Helper()
	st := openFile(t, path)
	for f, err := range st.Examine(t.Context(), inspect.Examination{}) {
		if err != nil || f.Level == inspect.Damaged {
			t.Errorf("Examine(copy) finds %+v, %v", f, err)
		}
	}
	last := skein.Seq(0)
	for e, err := range st.Events(t.Context(), "busy", 0) {
		if err != nil || e.Seq != last+1 {
			t.Fatalf("after event %d of the copy comes %d, %v; want %d", last, e.Seq, err, last+1)
		}
		last = e.Seq
	}
	if last < 3 {
		t.Errorf("the copy has %d events, want 3 or more", last)
	}
}
