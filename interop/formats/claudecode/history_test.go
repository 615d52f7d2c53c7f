package claudecode

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
)

// recover imports the history of home.
func recoverAll(t *testing.T, s *memory.Store, home string) (interop.Report, PromptHistory) {
	t.Helper()
	h := PromptHistory{Known: func(context.Context, string) (bool, error) { return false, nil }}
	rep, err := importer.Import(t.Context(), s, []interop.Format{h.Format()}, []string{filepath.Join(home, "history.jsonl")}, interop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rep, h
}

func TestPromptsAreRecoveredWhateverElseIsInTheHistory(t *testing.T) {
	const a, b = "b0a7ce02-0000-4000-8000-00000000cafe", "b0a7ce03-0000-4000-8000-00000000cafe"
	home := realDir(t)
	lines := []string{
		`{"display":"one <&> \u2028","pastedContents":{},"timestamp":1763700000000,"project":"/srv/a","sessionId":"` + a + `"}`,
		`{"display":"one <&> \u2028","pastedContents":{},"timestamp":1763700000000,"project":"/srv/a","sessionId":"` + a + `"}`,
		`not JSON`, `{}`, `null`, `[1]`, ``, `{"display":"no session","project":"/srv/a"}`,
		`{"display":"bad session","sessionId":"../../x"}`, `{"display":"odd","sessionId":7}`,
		`{"display":["odd"],"timestamp":1e400,"project":{},"pastedContents":[],"sessionId":"` + b + `"}`,
		`{"display":"[Pasted text #1] and [Pasted text #12 +3 lines]","timestamp":"x","pastedContents":{"1":{"type":"text","content":"P1"},"12":{"type":"text","content":"P12"},"3":null},"sessionId":"` + b + `"}`,
		`{"display":"/model opus","project":"/srv/b","sessionId":"` + b + `"}`,
		`{"display":"torn","sessionId":"` + b,
	}
	if err := os.WriteFile(filepath.Join(home, "history.jsonl"), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	s := memory.New()
	defer s.Close()
	rep, h := recoverAll(t, s, home)
	if rep.Sessions != 2 || rep.Messages != 5 || h.Recovered != 2 || h.There != 0 {
		t.Errorf("Import = %+v, %+v, want two sessions with five messages", rep, h)
	}
	got := map[string][]string{}
	for _, id := range []string{a, b} {
		got[id[:8]] = said(t, s, RecoveredID(id))
	}
	want := map[string][]string{
		a[:8]: {"one <&> \u2028", "one <&> \u2028"},
		b[:8]: {"", "P1 and P12", "/model opus (by a program)"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what was asked (-want +got):\n%s", diff)
	}
	if rep, _ := recoverAll(t, s, home); rep.Events != 0 {
		t.Errorf("second Import = %+v, want nothing new", rep)
	}
}

// said returns what a person said in a session.
func said(t *testing.T, s *memory.Store, id skein.SessionID) (all []string) {
	t.Helper()
	for e, err := range s.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != skein.KindSaid {
			continue
		}
		m, err := skein.Decode[skein.Message](e)
		if err != nil {
			t.Fatal(err)
		}
		words := m.Words()
		if m.Synthetic {
			words += " (by a program)"
		}
		all = append(all, words)
	}
	return all
}

func TestAHistoryThatIsNoFileIsLeftAlone(t *testing.T) {
	home := realDir(t)
	if err := os.Mkdir(filepath.Join(home, "history.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := memory.New()
	defer s.Close()
	if rep, _ := recoverAll(t, s, home); rep.Sessions != 0 {
		t.Errorf("Import = %+v, want nothing", rep)
	}
	if _, err := (&PromptHistory{}).look(t.Context(), home); err == nil {
		t.Error("look at a folder in place of the history gives no error")
	}
}
