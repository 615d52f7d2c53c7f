package amplifier_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// Amplifier has its log open and appends to it: what is written back is appended too,
// so that no line of either is lost, and the file's mode does not change.
func TestTheLogIsAppendedTo(t *testing.T) {
	f, s := newFolder(t), memory.New()
	defer s.Close()
	f.save(user(1, "one"))
	log := filepath.Join(f.path, "events.jsonl")
	had := `{"ts": "2026-11-21T10:00:00.000+00:00", "lvl": "INFO", "schema": {"name": "amplifier.log", "ver": "1.0.0"}, "event": "session:start", "session_id": "` + string(liveID) + `"}` + "\n"
	if err := os.WriteFile(log, []byte(had), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(log, 0o640); err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	bring(t, s, f.path)
	usage := skein.Message{Role: skein.RoleAssistant, Model: "m", Request: "r", Usage: &skein.Usage{Input: 1, Output: 2}, Parts: []skein.Part{skein.TextPart("of skein")}}
	if _, err := skein.Add(t.Context(), s, liveID, skein.Say(1_795_000_001_000, skein.UserSays("two")), skein.Say(1_795_000_002_000, usage)); err != nil {
		t.Fatal(err)
	}
	if done, err := writeback.Sync(t.Context(), s, amplifier.Format(), liveID); err != nil || done.Events != 2 {
		t.Fatalf("Sync = %+v, %v, want two events written", done, err)
	}
	const own = `{"event": "session:end"}` + "\n"
	if _, err := program.WriteString(own); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(b); !strings.HasPrefix(got, had) || !strings.HasSuffix(got, own) || len(got) <= len(had)+len(own) {
		t.Errorf("after Sync, and another line of Amplifier's, the log is\n%swant what it had, what skein said, and that line", got)
	}
	if info, err := os.Stat(log); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the log has the mode %v, %v, want 0640 as before", info.Mode(), err)
	}
}
