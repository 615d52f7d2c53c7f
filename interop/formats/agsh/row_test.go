package agsh

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

func TestAgshIsRead(t *testing.T) {
	for name, change := range map[string]string{
		"as 0.1 has it":      `SELECT 1`,
		"without locked_by":  `ALTER TABLE sessions DROP COLUMN locked_by`,
		"without metadata":   `ALTER TABLE sessions DROP COLUMN metadata`,
		"with outputs":       `CREATE TABLE tool_outputs (session_id TEXT, name TEXT, content TEXT, created_at TEXT)`,
		"user_version 1":     `PRAGMA user_version = 1`,
		"user_version 2":     `PRAGMA user_version = 2`,
		"of the far future":  `PRAGMA user_version = 900`,
		"with one more word": `ALTER TABLE messages ADD COLUMN mood TEXT`,
	} {
		t.Run("sessions.db "+name, func(t *testing.T) {
			path, _ := march(t, change, said("assistant", `[{"type":"text","text":"two"}]`, 2))
			s := memory.New()
			defer s.Close()
			rep := bring(t, s, path)
			if got, want := tell(t, s, "s"), "created, user:one, assistant:two"; got != want || rep.Damaged != 0 || rep.Skipped != 0 {
				t.Errorf("it is read as %s (%+v), want %s", got, rep, want)
			}
		})
	}
	t.Run("meka.db: boundary, repair and block rows", func(t *testing.T) {
		s := memory.New()
		defer s.Close()
		path, err := filepath.Abs(filepath.Join("testdata", "august", mekaFile))
		if err != nil {
			t.Fatal(err)
		}
		bring(t, s, path)
		want := "created, noted, step, user:one, assistant:two, compacted to 5:one and two, user:three, assistant:four, rewound to 7, assistant:vier, rewound to 6, noted"
		if got := tell(t, s, "9d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01"); got != want {
			t.Errorf("it is read as\n%s\nwant\n%s", got, want)
		}
		if child, err := s.Session(t.Context(), "9d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e02"); err != nil || child.Parent == nil || child.Parent.Why != skein.Child {
			t.Errorf("its sub-agent is %+v, %v, want a child", child, err)
		}
	})
}

func TestAgshIsWritten(t *testing.T) {
	t.Run("a sessions.db of 0.1.2", TestASessionBecomesTheRowsThatTheProgramWrites)
	t.Run("the documented recipes work on it", TestTheRecipesForSessionsDBWorkOnWhatIsWritten)
	t.Run("a live session's lock is a PID in locked_by", TestALiveSessionHasItsHoldersPID)
	t.Run("and is one while it is written back", func(t *testing.T) {
		path, do := march(t)
		do(`UPDATE sessions SET locked_by = '2147483646'`)
		s := wentOn(t, path)
		l, err := skein.LeasesOf(s).Acquire(t.Context(), "s", skein.LeaseRequest{Program: "test"})
		if err != nil {
			t.Fatal(err)
		}
		locks := func(want string) {
			t.Helper()
			if done, err := writeback.Sync(t.Context(), s, Format(), "s"); err != nil || done.Events != 1 {
				t.Fatalf("Sync = %+v, %v, want 1 event written", done, err)
			}
			if got := rows(t, path, `SELECT locked_by FROM sessions`); got != want+"\n" {
				t.Errorf("locked_by is %swant %s", got, want)
			}
		}
		locks(fmt.Sprint(os.Getpid()))
		if err := skein.LeasesOf(s).Release(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		if _, err := skein.Add(t.Context(), s, "s", says(2, skein.RoleUser, words("and more"))); err != nil {
			t.Fatal(err)
		}
		locks("")
	})
}

func TestAgshBesides(t *testing.T) {
	t.Run("one lock for a session, and none for its neighbour", func(t *testing.T) {
		path, do := march(t)
		do(`INSERT INTO sessions VALUES ('n','2026-03-05T08:00:00+00:00','2026-03-05T08:00:00+00:00',NULL,NULL)`,
			fmt.Sprintf(`UPDATE sessions SET locked_by = '%d' WHERE id = 'n'`, os.Getppid()))
		if _, err := writeback.Sync(t.Context(), wentOn(t, path), Format(), "s"); err != nil {
			t.Errorf("Sync of a session beside one that is locked = %v, want it written", err)
		}
	})
	t.Run("a live process keeps it, a dead one does not", TestASessionThatItsProgramHasOpenIsNotWrittenBack)
	t.Run("a lock file, where there is one", TestTheLockFileOfLaterVersionsIsRespected)
}
