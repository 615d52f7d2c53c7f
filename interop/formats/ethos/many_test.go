package ethos

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/interoptest"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// many makes sessions s0, s1, …, all in one folder.
func many(t *testing.T, n int) (s *memory.Store, ids []skein.SessionID) {
	t.Helper()
	s = memory.New()
	t.Cleanup(func() { s.Close() })
	for i := range n {
		id := skein.SessionID(fmt.Sprintf("s%d", i))
		made(t, s, id, say(i, skein.RoleUser, words(fmt.Sprintf("fig %d", i))), say(i+1, skein.RoleAssistant, words("ripe")))
		ids = append(ids, id)
	}
	return s, ids
}

// exportAll writes sessions and returns what was reported for each.
func exportAll(t *testing.T, s skein.Store, ids []skein.SessionID, home string) (told []string) {
	t.Helper()
	err := writeback.ExportAll(t.Context(), s, Format(), ids, home, writeback.Exports{Now: now}, func(id skein.SessionID, done []writeback.Exported, err error) error {
		what := fmt.Sprint(id, " ", len(done))
		switch {
		case errors.Is(err, skein.ErrExists):
			what += " exists"
		case err != nil && strings.Contains(err.Error(), "no fig 3"):
			what += " not this one"
		case err != nil:
			what += " " + err.Error()
		}
		told = append(told, what)
		return nil
	})
	if err != nil {
		t.Fatalf("ExportAll() = %v", err)
	}
	return told
}

func TestManySessionsAreWrittenAsOneByOne(t *testing.T) {
	s, ids := many(t, 5)
	one, all := t.TempDir(), t.TempDir()
	for _, id := range ids {
		export(t, s, id, one)
	}
	if diff := cmp.Diff([]string{"s0 1", "s1 1", "s2 1", "s3 1", "s4 1"}, exportAll(t, s, ids, all)); diff != "" {
		t.Errorf("ExportAll tells (-want +got):\n%s", diff)
	}
	dump := func(home string) string {
		return string(interoptest.Dump(t, filepath.Join(home, fileName), "sessions", "messages"))
	}
	if diff := cmp.Diff(dump(one), dump(all)); diff != "" {
		t.Errorf("the database (-one by one +all):\n%s", diff)
	}
	rep, err := importer.Import(t.Context(), s, []interop.Format{Format()}, []string{all}, interop.Options{})
	if err != nil || rep.Events != 0 || rep.Skipped != 0 {
		t.Errorf("Import of what was written = %+v, %v, want nothing new", rep, err)
	}
}

func TestOneThatCannotBeWrittenKeepsNoOtherFromIt(t *testing.T) {
	s, ids := many(t, 6)
	home := t.TempDir()
	exportAll(t, s, ids[1:2], home)
	db, err := sql.Open("sqlite", filepath.Join(home, fileName))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("CREATE TRIGGER no BEFORE INSERT ON messages WHEN new.content LIKE '%fig 3%' BEGIN SELECT RAISE(ABORT, 'no fig 3'); END")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	want := []string{"s0 1", "s1 1", "s2 1", "s3 0 not this one", "s4 1", "s5 1"}
	if diff := cmp.Diff(want, exportAll(t, s, ids, home)); diff != "" {
		t.Errorf("ExportAll tells (-want +got):\n%s", diff)
	}
	to := memory.New()
	defer to.Close()
	if rep, err := importer.Import(t.Context(), to, []interop.Format{Format()}, []string{home}, interop.Options{}); err != nil || rep.Skipped != 0 {
		t.Fatalf("Import = %+v, %v", rep, err)
	}
	var got []skein.SessionID
	for sess, err := range to.Sessions(t.Context(), skein.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, sess.ID)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]skein.SessionID{"s0", "s1", "s2", "s4", "s5"}, got); diff != "" {
		t.Errorf("the database has (-want +got):\n%s", diff)
	}
}
