package agsh

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/interoptest"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

func add(t testing.TB, s skein.Store, id skein.SessionID, evs ...skein.Event) {
	t.Helper()
	if _, err := skein.Add(t.Context(), s, id, evs...); err != nil {
		t.Fatal(err)
	}
}

func last(t testing.TB, s skein.Store, id skein.SessionID) skein.Seq {
	t.Helper()
	sess, err := s.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return sess.Last
}

func back(to skein.Seq) skein.Event {
	return skein.NewEvent(skein.KindRewound, 0, skein.Rewound{To: to})
}

func sums(to skein.Seq, summary string) skein.Event {
	return skein.NewEvent(skein.KindCompacted, 0, skein.Compacted{To: to, Summary: summary})
}

// synced writes back what is new, and checks that a second time nothing is written,
// that an import adds nothing, and that another store shows the same.
func synced(t testing.TB, s skein.Store, path string) writeback.Synced {
	t.Helper()
	done, err := writeback.Sync(t.Context(), s, Format(), "s")
	if err != nil || done.Events == 0 {
		t.Fatalf("Sync = %+v, %v, want events written", done, err)
	}
	before := tell(t, s, "s")
	if again, err := writeback.Sync(t.Context(), s, Format(), "s"); err != nil || again.Events != 0 {
		t.Fatalf("Sync again = %+v, %v, want nothing new", again, err)
	}
	if rep := bring(t, s, path); rep.Events != 0 || rep.Damaged != 0 {
		t.Fatalf("Import of what was written = %+v, want nothing new; now\n%s\nbefore\n%s", rep, tell(t, s, "s"), before)
	}
	fresh := memory.New()
	defer fresh.Close()
	bring(t, fresh, path)
	if got, want := interoptest.Shown(t, fresh, "s"), interoptest.Shown(t, s, "s"); got != want {
		t.Fatalf("another store is shown\n%swant\n%s\nrows\n%s", got, want, rows(t, path, `SELECT id, role, content FROM messages ORDER BY id`))
	}
	return done
}

func TestWhatIsRewoundIsTakenOutOfAnOldDatabase(t *testing.T) {
	path, do := march(t)
	do(`INSERT INTO sessions VALUES ('n','2026-03-05T08:00:00+00:00','2026-03-05T08:00:00+00:00',NULL,NULL)`,
		`INSERT INTO messages (session_id, role, content, created_at) VALUES ('n','user','of another','2026-03-05T08:00:00+00:00')`,
		said("assistant", `[{"type":"text","text":"two"},{"type":"tool_use","id":"a","name":"bash","input":{}}]`, 2),
		said("tool_results", `[{"type":"tool_result","tool_use_id":"a","content":"x","is_error":false}]`, 3),
		said("assistant", `[{"type":"text","text":"three"}]`, 4))
	s := memory.New()
	defer s.Close()
	bring(t, s, path)
	add(t, s, "s", says(1, skein.RoleUser, words("four")))
	synced(t, s, path)
	add(t, s, "s", back(2), says(2, skein.RoleUser, words("another way")), says(3, skein.RoleAssistant, words("gladly")))
	if done := synced(t, s, path); len(done.Losses) != 0 {
		t.Errorf("Sync loses %+v, want nothing", done.Losses)
	}
	list := `SELECT session_id, role, content FROM messages ORDER BY id`
	want := "s|user|one\nn|user|of another\ns|user|another way\ns|assistant|[{\"type\":\"text\",\"text\":\"gladly\"}]\n"
	if got := rows(t, path, list); got != want {
		t.Errorf("the rows are\n%swant\n%s", got, want)
	}
	// Only a rewind, and then a return to what was rewound.
	end := last(t, s, "s")
	add(t, s, "s", back(2))
	synced(t, s, path)
	if got, want := rows(t, path, list), "s|user|one\nn|user|of another\n"; got != want {
		t.Errorf("after going back the rows are\n%swant\n%s", got, want)
	}
	add(t, s, "s", back(end))
	synced(t, s, path)
	if got := rows(t, path, list); got != want {
		t.Errorf("after going forth again the rows are\n%swant\n%s", got, want)
	}
	if got := rows(t, path, `PRAGMA integrity_check`); got != "ok\n" {
		t.Errorf("the database is %s", got)
	}
	// The program continues.
	do(said("user", "five", 9))
	bring(t, s, path)
	if got := interoptest.Shown(t, s, "s"); !strings.HasSuffix(got, "user \"five\"\n") {
		t.Errorf("what its program added is shown as\n%s", got)
	}
}

// The side file has the rewound messages too, so that a third store has everything
// that the second one has.
func TestTheSideFileHasWhatWasTakenOut(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	first, second, third := memory.New(), memory.New(), memory.New()
	for _, s := range []*memory.Store{first, second, third} {
		defer s.Close()
	}
	composed(t, first, odd, says(1, skein.RoleUser, words("one")), says(2, skein.RoleAssistant, words("two")), says(3, skein.RoleUser, words("three")))
	if _, err := writeback.Export(t.Context(), first, Format(), odd, home, writeback.Exports{}); err != nil {
		t.Fatal(err)
	}
	bring(t, second, home)
	add(t, second, odd, back(3), says(5, skein.RoleUser, words("drei")))
	for range 2 {
		if done, err := writeback.Sync(t.Context(), second, Format(), odd); err != nil {
			t.Fatalf("Sync = %+v, %v", done, err)
		}
	}
	if got, want := rows(t, filepath.Join(home, fileName), `SELECT content FROM messages WHERE role = 'user' ORDER BY id`), "one\ndrei\n"; got != want {
		t.Errorf("the database has\n%swant\n%s", got, want)
	}
	bring(t, third, home)
	if got, want := tell(t, third, odd), tell(t, second, odd); got != want {
		t.Errorf("a third store has\n%s\nwant\n%s", got, want)
	}
	if rep := bring(t, third, home); rep.Events != 0 {
		t.Errorf("Import again = %+v, want nothing new", rep)
	}
}

func meka(t testing.TB, statements ...string) (path string, s skein.Store) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(home, mekaFile)
	build(t, path, append([]string{
		mekaSessions, mekaMessages,
		`INSERT INTO sessions (id, created_at, updated_at) VALUES ('s','2026-08-27T08:00:00+00:00','2026-08-27T08:00:00+00:00')`, said("user", "one", 1),
	}, statements...)...).Close()
	m := memory.New()
	t.Cleanup(func() { m.Close() })
	bring(t, m, path)
	return path, m
}

func TestMekaHasRowsForGoingBackAndSummingUp(t *testing.T) {
	path, s := meka(t, said("assistant", `[{"type":"text","text":"two"}]`, 2))
	add(t, s, "s", // 1 created, 2 one, 3 two
		says(4, skein.RoleUser, words("three")), says(5, skein.RoleAssistant, words("four")), // 4, 5
		back(3), says(7, skein.RoleUser, words("drei")), // 6, 7
		sums(3, "one and two"), says(9, skein.RoleAssistant, words("vier")), // 8, 9
	)
	if done := synced(t, s, path); len(done.Losses) != 0 {
		t.Errorf("Sync loses %+v, want nothing", done.Losses)
	}
	want := `user|one
assistant|[{"type":"text","text":"two"}]
user|three
assistant|[{"type":"text","text":"four"}]
repair|{"Repair":{"replaced_count":2,"messages":[]}}
compact_boundary|{"CompactBoundary":{"summary":{"role":"user","content":[{"type":"text","text":"one and two"}]},"replaced_count":2,"loaded_tools_snapshot":[]}}
user|drei
assistant|[{"type":"text","text":"vier"}]
`
	list := `SELECT role, content FROM messages ORDER BY id`
	if got := rows(t, path, list); got != want {
		t.Errorf("the rows are\n%swant\n%s", got, want)
	}
	fresh := memory.New()
	defer fresh.Close()
	bring(t, fresh, path)
	if got, want := tell(t, fresh, "s"), "created, user:one, assistant:two, user:three, assistant:four, rewound to 3, compacted to 6:one and two, user:drei, assistant:vier"; got != want {
		t.Errorf("read again it is\n%s\nwant\n%s", got, want)
	}
	// Back to before the summary, and to it again.
	add(t, s, "s", back(5))
	synced(t, s, path)
	want += `repair|{"Repair":{"replaced_count":3,"messages":[]}}
user|one
assistant|[{"type":"text","text":"two"}]
user|three
assistant|[{"type":"text","text":"four"}]
`
	if got := rows(t, path, list); got != want {
		t.Errorf("after going back to before the summary the rows are\n%swant\n%s", got, want)
	}
	add(t, s, "s", back(9), sums(9, "all"), says(12, skein.RoleUser, words("five")))
	synced(t, s, path)
}

// After any number of turns, rewinds and summaries, written back at any moment,
// another store reads from the file what the session shows.
func TestAnyLineIsWrittenBack(t *testing.T) {
	t.Run("sessions.db", func(t *testing.T) {
		interoptest.Back{Format: Format(), Session: "s", From: 17, Seeds: 8, Lay: func(t testing.TB) string {
			path, _ := march(t)
			return path
		}}.Run(t)
	})
	t.Run("meka.db", func(t *testing.T) {
		interoptest.Back{Format: Format(), Session: "s", From: 17, Seeds: 8, Sums: true, Lay: func(t testing.TB) string {
			path, _ := meka(t)
			return path
		}}.Run(t)
	})
}
