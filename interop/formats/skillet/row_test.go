package skillet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

func TestSkilletIsRead(t *testing.T) {
	t.Run("items of any shape", TestItemsOfEveryType)
	t.Run("rows of a turn", TestATurnOfRowsBecomesAConversation)
	t.Run("rows after a compaction, in the spelling of the wire", TestACompactionCoversWhatWasReadBefore)
	t.Run("the log of turns", TestALogWithoutRowsIsTheConversation)
}

func TestSkilletIsWritten(t *testing.T) {
	t.Run("rows and log together, back", TestASessionThatWentOnIsWrittenBack)
	t.Run("rows and log together, new", func(t *testing.T) {
		s := memory.New()
		defer s.Close()
		if _, err := s.Append(t.Context(), skein.Batch{Session: "mine", Events: []skein.Event{
			skein.NewEvent(skein.KindCreated, 1e12, skein.Created{Key: "cli:api/x", User: "ann@x.org"}), skein.Say(1e12, skein.UserSays("hi")),
			skein.Say(1e12+1, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("ho")}}),
		}}); err != nil {
			t.Fatal(err)
		}
		home := t.TempDir()
		if _, err := writeback.Export(t.Context(), s, Format(), "mine", home, writeback.Exports{NoSide: true}); err != nil {
			t.Fatal(err)
		}
		log, err := os.ReadFile(filepath.Join(home, "state", logsName, "ann_x_org", "cli_api_x.jsonl"))
		if want := `{"kind":"user_message","userInput":"hi","timestamp":"2001-09-09T01:46:40.000Z"}`; err != nil || !strings.HasPrefix(string(log), want+"\n") || !strings.Contains(string(log), `"finalResult":{"text":"ho"}`) {
			t.Errorf("the log is %s, %v, want a turn", log, err)
		}
		to := memory.New()
		defer to.Close()
		real, err := filepath.EvalSymlinks(home)
		if err != nil {
			t.Fatal(err)
		}
		bring(t, to, real)
		n := 0
		for sess, err := range to.Sessions(t.Context(), skein.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			if got := shown(t, to, string(sess.ID)); sess.Origin.ID != "ann@x.org:cli:api/x" || got != "user hi | assistant ho" {
				t.Errorf("%+v is read as %s", sess.Origin, got)
			}
		}
		if n != 1 {
			t.Errorf("there are %d sessions, want 1", n)
		}
	})
}

func TestSkilletBesides(t *testing.T) {
	t.Run("user and session name", TestSessionsGetTheNamesThatSkilletWouldGiveThem)
	t.Run("names are cleaned", TestSanitise)
	t.Run("and collide", TestNamesThatAreCleanedAlikeStayApart)
	t.Run("the log is followed", TestWatchFollowsRowsAndLogs)
	t.Run("the folder of the repository that one is in", TestPlaces)
	t.Run("compaction at more than 40", func(t *testing.T) {
		s := newState(t)
		items := func(n int) (all []string) {
			for i := range n {
				all = append(all, fmt.Sprintf(`{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a%d"}]}`, i))
			}
			return all
		}
		s.add("u", "n", 1, hello)
		s.add("u", "n", 2, items(41)...)
		s.bring()
		// What the program does when it has counted 41: one statement, then another.
		s.exec(`DELETE FROM session_items`)
		if rep := s.bring(); rep.Damaged != 0 {
			t.Errorf("Import between the two = %+v, want no damage", rep)
		}
		s.add("u", "n", 3, `{"id":"m1","type":"message","status":"completed","content":[{"type":"input_text","text":"hello"}],"role":"user"}`, `{"type":"compaction","encrypted_content":"xyz","id":"cmp_1"}`)
		s.bring()
		s.add("u", "n", 4, `{"type":"message","role":"user","content":"and now?"}`)
		s.bring()
		var evs []skein.Event
		for e, err := range s.store.Events(t.Context(), "u:n", 0) {
			if err != nil {
				t.Fatal(err)
			}
			evs = append(evs, e)
		}
		entries, err := skein.Entries(evs)
		if err != nil {
			t.Fatal(err)
		}
		open, compactions := []string{}, 0
		for _, e := range entries {
			if !e.Compacted && !e.Rewound {
				open = append(open, e.Message.Words())
			}
		}
		for _, e := range evs {
			if c, err := skein.Decode[skein.Compacted](e); e.Kind == skein.KindCompacted && err == nil && strings.Contains(string(c.Opaque), "xyz") {
				compactions++
			}
		}
		if got := strings.Join(open, " | "); compactions != 1 || !strings.HasSuffix(got, "and now?") || strings.Contains(got, "a40") {
			t.Errorf("after the compaction the model is shown %s, with %d compactions, want what came after it", got, compactions)
		}
	})
}
