package skillet

import (
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/writeback"
)

// Cleaned, ann.x and ann@x are the same user. The first one keeps the log, whatever
// the other's name; and what the other said in it is not said twice.
func TestTwoSessionsThatHaveOneLogStayTheirOwn(t *testing.T) {
	for _, users := range [][2]string{{"ann.x", "ann@x"}, {"ann@x", "ann.x"}} {
		first, second := skein.SessionID("ann_x:plan"), skein.SessionID(second(users[1], "plan"))
		s := newState(t)
		asks := func(words string) string {
			return `{"kind":"user_message","userInput":"` + words + `","timestamp":"2026-01-01T00:00:00.000Z"}`
		}
		row := func(words string) string { return `{"type":"message","role":"user","content":"` + words + `"}` }
		s.add(users[0], "plan", 1000, row("pears"), answer)
		s.log("ann_x/plan.jsonl", asks("pears"))
		s.bring()
		s.add(users[1], "plan", 2000, row("apples"), answer)
		s.log("ann_x/plan.jsonl", asks("apples"), `{"kind":"final_result","finalResult":{"text":"done"},"timestamp":"2026-01-01T00:00:01.000Z"}`)
		for range 2 {
			rep := s.bring()
			for id, want := range map[skein.SessionID]string{first: "user pears | assistant done", second: "user apples | assistant done"} {
				if got := shown(t, s.store, string(id)); got != want {
					t.Errorf("%s shows %q, want %q", id, got, want)
				}
			}
			if got := found(t, s.store, "apples"); len(got) != 1 || got[0] != second {
				t.Errorf("what %s said is found in %v", second, got)
			}
			if rep.Damaged != 0 || rep.Amended != 0 {
				t.Errorf("Import of a log that two have = %+v, want no change of what was there", rep)
			}
		}
		for _, id := range []skein.SessionID{second, first} {
			if _, err := skein.Add(t.Context(), s.store, id, skein.Say(1e12, skein.UserSays("more"))); err != nil {
				t.Fatal(err)
			}
			done, err := writeback.Sync(t.Context(), s.store, Format(), id)
			if err != nil || done.Events != 1 {
				t.Fatalf("Sync of %s = %+v, %v, want 1 event written", id, done, err)
			}
			if told := len(done.Losses) > 0; told != (id == second) {
				t.Errorf("Sync of %s loses %v, want the log named where it is another's", id, done.Losses)
			}
		}
		if rep := s.bring(); rep.Events != 0 {
			t.Errorf("Import of what was written back = %+v, want nothing new", rep)
		}
	}
}
