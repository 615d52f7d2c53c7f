package cline

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
)

// A task is shown to the user before the model is sent it.
func TestWhatWasShownFirstIsNotSaidTwice(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(root, "rooveterinaryinc.roo-cline", "tasks", "019a0000-0003-7000-8000-0a1b2c3d4e03")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(name, data string) {
		t.Helper()
		f, then := filepath.Join(at, name), time.Now().Add(-interop.TornFor)
		if err := errors.Join(os.WriteFile(f, []byte(data), 0o600), os.Chtimes(f, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	s := memory.New()
	defer s.Close()
	says := func() (all []string) {
		t.Helper()
		if _, err := importer.Import(t.Context(), s, []interop.Format{Format()}, []string{root}, interop.Options{}); err != nil {
			t.Fatal(err)
		}
		var evs []skein.Event
		for e, err := range s.Events(t.Context(), "019a0000-0003-7000-8000-0a1b2c3d4e03", 0) {
			if err != nil {
				t.Fatal(err)
			}
			evs = append(evs, e)
		}
		entries, err := skein.Entries(evs)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			all = append(all, string(e.Message.Role)+": "+e.Message.Words())
		}
		return all
	}
	put("ui_messages.json", `[{"ts":1766000000050,"type":"say","say":"text","text":"count"},{"ts":1766000000090,"type":"say","say":"text","text":"I count."}]`)
	if diff := cmp.Diff([]string{"user: count", "assistant: I count."}, says()); diff != "" {
		t.Errorf("what was shown alone (-want +got):\n%s", diff)
	}
	put("api_conversation_history.json", `[{"role":"user","content":"<user_message>\ncount\n</user_message>","ts":1766000000060},{"role":"assistant","content":"I count.","ts":1766000000080}]`)
	if diff := cmp.Diff([]string{"user: count", "assistant: I count."}, says()); diff != "" {
		t.Errorf("with what the model was told (-want +got):\n%s", diff)
	}
}
