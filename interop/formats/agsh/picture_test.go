package agsh

import (
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

func TestAPictureIsWrittenWhereMekaHasARoleForIt(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, mekaFile)
	build(t, path, mekaSessions, mekaMessages,
		`INSERT INTO sessions (id, created_at, updated_at) VALUES ('s','2026-08-27T08:00:00+00:00','2026-08-27T08:00:00+00:00')`, said("user", "one", 1)).Close()
	s := memory.New()
	defer s.Close()
	bring(t, s, path)
	blob := skein.NewBlob([]byte("picture"))
	look := says(1, skein.RoleUser, words("look <here>"), skein.Part{Kind: skein.PartFile, File: &skein.File{Media: "image/png", Blob: blob.Hash, Size: 7}})
	if _, err := s.Append(t.Context(), skein.Batch{Session: "s", Events: []skein.Event{look}, Blobs: []skein.Blob{blob}}); err != nil {
		t.Fatal(err)
	}
	done, err := writeback.Sync(t.Context(), s, Format(), "s")
	if err != nil || done.Events != 1 || len(done.Losses) != 0 {
		t.Fatalf("Sync = %+v, %v, want 1 event written and nothing lost", done, err)
	}
	want := `user_blocks|[{"type":"text","text":"look <here>"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cGljdHVyZQ=="}}]` + "\n"
	if got := rows(t, path, `SELECT role, content FROM messages WHERE role <> 'user'`); got != want {
		t.Errorf("the row is\n%swant\n%s", got, want)
	}
	fresh := memory.New()
	defer fresh.Close()
	bring(t, fresh, path)
	if got, err := fresh.Blob(t.Context(), "s", blob.Hash); err != nil || string(got) != "picture" {
		t.Errorf("Blob = %q, %v, want the picture", got, err)
	}
}
