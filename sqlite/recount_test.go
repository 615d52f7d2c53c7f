package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// Who examines the store is told what is yet to be worked out anew, and can
// have it done at once, however long it takes.
func TestExamineWorksRowsOutAnew(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := skein.Add(t.Context(), s, "a", skein.NewEvent(skein.KindCreated, 1, skein.Created{}), skein.Say(2, skein.UserSays("one")), skein.Say(3, skein.UserSays("two"))); err != nil {
		t.Fatal(err)
	}
	s.chores.close() // the test does it
	c := testConn(t, s.path)
	if _, _, err := c.exec(`DELETE FROM messages WHERE content = 'one'`); err != nil {
		t.Fatal(err)
	}
	for _, repair := range []bool{false, true} {
		var told []skein.Finding
		for f, err := range s.Examine(t.Context(), skein.Examination{Repair: repair}) {
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(f.Text, "worked out anew") {
				told = append(told, f)
			}
		}
		if len(told) != 1 || told[0].Mended != repair {
			t.Errorf("Examine with Repair %v tells %+v; want it once", repair, told)
		}
	}
	if got, err := s.Session(t.Context(), "a"); err != nil || got.First != "two" || got.Turns != 1 {
		t.Errorf("Session = %q, %d turns, %v; want the first words of what is left, 1 turn", got.First, got.Turns, err)
	}
}
