package interop_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

func TestALogIsAppendedToAndHasALineOnce(t *testing.T) {
	s := memory.New()
	defer s.Close()
	for _, id := range []skein.SessionID{"one", "two"} {
		_, err := s.Append(t.Context(), skein.Batch{Session: id, Events: []skein.Event{
			skein.NewEvent(skein.KindCreated, 1e12, skein.Created{}), skein.Say(1e12, skein.UserSays("hello")),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	f := toy()
	f.Write = func(ctx context.Context, d interop.Draft) (interop.Written, error) {
		w, err := writeToy(ctx, d)
		line := []byte("named " + d.Session.ID + "\n")
		w.Texts = append(w.Texts, interop.SourceText{Path: "names.log", Log: true, Lines: []interop.OutLine{{Body: lines.RopeOf(line)}}})
		return w, err
	}
	home := t.TempDir()
	log := filepath.Join(home, "names.log")
	if err := os.WriteFile(log, []byte("no line feed"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []skein.SessionID{"one", "two", "one"} {
		if _, err := writeback.Export(t.Context(), s, f, id, home, writeback.Exports{NoSide: true}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(log)
	if want := "no line feed\nnamed one\nnamed two\n"; err != nil || string(got) != want {
		t.Errorf("the log is %q, %v, want %q", got, err, want)
	}
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(log, 0o700); err != nil {
		t.Fatal(err)
	}
	if done, err := writeback.Export(t.Context(), s, f, "one", home, writeback.Exports{NoSide: true}); err == nil {
		t.Errorf("Export with a folder in the log's place = %+v, want an error", done)
	}
}
