package sqlite

import (
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/listing"
)

// SQLite finds the same titles as Go does, whatever their letters, whether few
// or many match.
func TestTitlesAreFoundWhateverTheirLetters(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	titles := []string{"Übung macht den Meister", "300 \u212aELVIN", "STRASSE", "straße", "İstanbul", "50% off_", "日本語の題"}
	for i := range listing.Many + 10 {
		titles = append(titles, fmt.Sprintf("Common %d", i))
	}
	var bs []skein.Batch
	for i, title := range titles {
		bs = append(bs, skein.Batch{Session: skein.SessionID(fmt.Sprint("id-of-", i)), Events: []skein.Event{
			skein.NewEvent(skein.KindCreated, skein.Time(i), skein.Created{Title: title}), skein.Say(skein.Time(i), skein.UserSays("first words")),
		}})
	}
	if _, err := s.Append(t.Context(), bs...); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"übung", "ÜBUNG", "kelvin", "K", "\u212a", "strasse", "straSSE", "ß", "i", "istan", "%", "_", "日本", "common", "common 77", "nothing", "first"} {
		n := 0
		for _, title := range titles {
			if strings.Contains(strings.ToLower(title), strings.ToLower(want)) {
				n++
			}
		}
		got := 0
		for _, err := range s.Sessions(t.Context(), skein.Filter{Title: want}) {
			if err != nil {
				t.Fatal(err)
			}
			got++
		}
		if got != n {
			t.Errorf("Sessions with the title %q are %d, want %d", want, got, n)
		}
	}
}

// Names are found through narrow indexes, however wide the rows are.
func TestNamesAreFoundThroughNarrowIndexes(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	for query, want := range map[string]string{
		`SELECT n FROM sessions WHERE instr(lower(CASE title WHEN '' THEN first_words ELSE title END), 'x') > 0`:  "USING COVERING INDEX sessions_by_name",
		`SELECT s.n, s.title FROM sessions s WHERE s.binned = 0 AND substr(s.id, -4) = '1234' ORDER BY +s.recent`: "USING INDEX sessions_by_end",
		`SELECT n FROM files WHERE id <> session AND substr(id, -4) = '1234' AND format <> ''`:                    "USING INDEX files_by_other_id",
		`SELECT s.title FROM sessions s WHERE s.n IN (SELECT value FROM json_each('[]')) ORDER BY +s.recent DESC`: "USING INTEGER PRIMARY KEY",
	} {
		var plan string
		if err := s.read(t.Context(), func(c *engine.Conn) error {
			return c.Query("EXPLAIN QUERY PLAN "+query, nil, func(row []driver.Value) error {
				plan += row[3].(string) + "; "
				return nil
			})
		}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(plan, want) {
			t.Errorf("%s goes by %q, want %q", query, plan, want)
		}
	}
}
