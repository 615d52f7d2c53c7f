package foreign

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var shelf = Shelf{Table: "kv", Key: "key", Value: "value"}

// shelfDB returns the copy of a database with a table of keys and values.
func shelfDB(t *testing.T, statements ...string) *DB {
	t.Helper()
	at, _ := fixture(t, append([]string{`CREATE TABLE kv (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)`}, statements...)...)
	db, err := Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func marks(t *testing.T, db *DB, first, end string) (all []string) {
	t.Helper()
	err := db.Marks(t.Context(), shelf, first, end, func(m Mark) error {
		row, ok, err := db.At(t.Context(), shelf, m)
		all = append(all, fmt.Sprintf("%s %d bytes, %t: %s", m.Key, m.Size, ok, strings.TrimSpace(string(row.AppendLine(nil)))))
		return err
	})
	if err != nil {
		t.Fatalf("Marks(%q, %q) = %v", first, end, err)
	}
	return all
}

func TestMarksAreOfARangeOfKeysInOrder(t *testing.T) {
	db := shelfDB(t, `INSERT INTO kv VALUES ('b:2', 'zwei'), ('a', 'not'), ('b:1', X'00ff'), ('b;', 'not'), (NULL, 'not'), ('b:3', NULL), ('b:2', 'two')`)
	want := []string{
		`b:1 2 bytes, true: {"table":"kv","rowid":3,"row":{"key":"b:1","value":{"blob":"AP8="}}}`,
		`b:2 3 bytes, true: {"table":"kv","rowid":7,"row":{"key":"b:2","value":"two"}}`,
		`b:3 0 bytes, true: {"table":"kv","rowid":6,"row":{"key":"b:3","value":null}}`,
	}
	if diff := cmp.Diff(want, marks(t, db, "b:", "b;")); diff != "" {
		t.Errorf("Marks of b: (-want +got):\n%s", diff)
	}
}

func TestAValueThatIsTooLongIsADamagedRow(t *testing.T) {
	db := shelfDB(t, fmt.Sprintf(`INSERT INTO kv VALUES ('a', zeroblob(%d))`, MaxValue+1))
	if got := marks(t, db, "a", "b"); len(got) != 1 || !strings.Contains(got[0], `"damage"`) {
		t.Errorf("Marks and At of a value that is too long = %q, want a damaged row", got)
	}
}

func TestAShelfThatIsNotThereIsAnError(t *testing.T) {
	db := shelfDB(t)
	for _, s := range []Shelf{{Table: "other", Key: "key", Value: "value"}, {Table: "kv", Key: "k", Value: "value"}} {
		if err := db.Marks(t.Context(), s, "a", "b", func(Mark) error { return nil }); err == nil {
			t.Errorf("Marks(%+v) = nil, want an error", s)
		}
		if _, _, err := db.At(t.Context(), s, Mark{}); err == nil {
			t.Errorf("At(%+v) = nil, want an error", s)
		}
	}
}
