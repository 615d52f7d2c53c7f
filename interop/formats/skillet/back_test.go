package skillet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/interoptest"
	"github.com/skein-dev/skein/interop/writeback"
)

func TestWhatIsRewoundIsTakenOutOfRowsAndLog(t *testing.T) {
	const id = "ann_x_org:plan"
	s := newState(t)
	s.add("ann@x.org", "plan", 1000, hello, answer)
	s.add("ann@x.org", "plan", 2000, `{"type":"message","role":"user","content":"pears?"}`, answer)
	line := func(kind, more string) string {
		return fmt.Sprintf(`{"kind":%q,%s,"timestamp":"2026-01-01T00:00:00.000Z"}`, kind, more)
	}
	first := []string{line("user_message", `"userInput":"hello"`), line("final_result", `"finalResult":{"text":"done"}`)}
	slash := []string{line("user_message", `"userInput":"/compact info"`), line("final_result", `"finalResult":{"text":"4 items"}`)}
	pears := []string{line("user_message", `"userInput":"pears?"`), line("final_result", `"finalResult":{"text":"done"}`)}
	s.log("ann_x_org/plan.jsonl", append(append(append([]string{}, first...), pears...), slash...)...)
	s.bring()
	sess, err := s.store.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := skein.Add(t.Context(), s.store, id, skein.NewEvent(skein.KindRewound, 0, skein.Rewound{To: 3})); err != nil {
		t.Fatal(err)
	}
	done, err := writeback.Sync(t.Context(), s.store, Format(), id)
	if err != nil || done.Events != 1 || len(done.Losses) > 0 {
		t.Fatalf("Sync = %+v, %v, want the rewind at %d written", done, err, sess.Last+1)
	}
	if done, err := writeback.Sync(t.Context(), s.store, Format(), id); err != nil || done.Events != 0 {
		t.Fatalf("Sync again = %+v, %v, want nothing new", done, err)
	}
	if rep := s.bring(); rep.Events != 0 {
		t.Errorf("Import of it = %+v, want nothing new", rep)
	}
	want := strings.Join(append(append([]string{}, first...), slash...), "\n") + "\n"
	got, err := os.ReadFile(filepath.Join(s.dir, logsName, "ann_x_org", "plan.jsonl"))
	if err != nil || string(got) != want {
		t.Errorf("the log is\n%swant\n%s", got, want)
	}
	fresh := newState(t)
	bring(t, fresh.store, s.dir)
	if got, want := shown(t, fresh.store, id), "user hello | assistant done"; got != want {
		t.Errorf("another store reads %s, want %s", got, want)
	}
}

func TestAnyLineIsWrittenBack(t *testing.T) {
	interoptest.Back{
		Format: Format(), Session: "ann_x_org:plan", From: 17, Seeds: 8,
		Lay: func(t testing.TB) string {
			s := newState(t.(*testing.T))
			s.add("ann@x.org", "plan", 1000, hello, answer)
			s.log("ann_x_org/plan.jsonl", `{"kind":"user_message","userInput":"hello","timestamp":"2026-01-01T00:00:00.000Z"}`,
				`{"kind":"final_result","finalResult":{"text":"done"},"timestamp":"2026-01-01T00:00:01.000Z"}`)
			return filepath.Join(s.dir, databaseName)
		},
	}.Run(t)
}
