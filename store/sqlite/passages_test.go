package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/sqlite/hits"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// longText returns a text of several passages with a word at each end.
func longText(first, last string) string {
	var b strings.Builder
	b.WriteString(first + " 東京都 ")
	for i := 0; b.Len() < 2*search.LongText; i++ {
		fmt.Fprintf(&b, "parseConfig%d ", i%3000)
	}
	return b.String() + last
}

// agrees checks how many passages there are, and that the index has just the texts.
func (s *Store) agrees(t *testing.T, after string, passages int64) {
	t.Helper()
	if got := s.number(t, `SELECT count(*) FROM passages`); got != passages {
		t.Errorf("after %s there are %d passages, want %d", after, got, passages)
	}
	if err := s.run(t, `INSERT INTO words (words, rank) VALUES ('integrity-check', 1)`); err != nil {
		t.Errorf("after %s, the index disagrees with the texts: %v", after, err)
	}
}

func (s *Store) run(t *testing.T, queries ...string) (err error) {
	t.Helper()
	return s.change(t.Context(), func(tx *txn.Tx) error {
		for _, q := range queries {
			if _, _, err := tx.Exec(q); err != nil {
				return err
			}
		}
		return nil
	})
}

// Whatever takes a text out of the index takes all of its passages.
func TestLongTextsAreIndexedInPassages(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.db")
	s := openTest(t, name)
	for _, id := range []string{"purged", "shell", "masked", "kept"} {
		addText(t, s, skein.SessionID(id), "short "+id, longText("first"+id, "last"+id))
	}
	finds := func(query string, want int) {
		t.Helper()
		if r := find(t, s, query); len(r.Hits) != want {
			t.Errorf("Search(%s) finds %d, want %d", query, len(r.Hits), want)
		}
	}
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	finds("firstkept lastkept 京都", 1)
	each := s.number(t, `SELECT count(*) FROM passages`) / 4
	if each < 2 {
		t.Fatalf("a long text has %d passages, want several", each)
	}
	s.agrees(t, "a search", 4*each)

	if _, err := s.Delete(t.Context(), "purged", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	finds("lastpurged", 0)
	s.agrees(t, "Delete", 3*each)

	if err := s.run(t, `DELETE FROM messages WHERE session_id = 'shell'`); err != nil {
		t.Fatal(err)
	}
	finds("lastshell", 0)
	s.agrees(t, "a deletion in SQL", 2*each)

	if _, err := s.Scrub(t.Context(), "masked", []string{"lastmasked"}); err != nil {
		t.Fatal(err)
	}
	finds("lastmasked", 0)
	finds("firstmasked", 1)
	s.agrees(t, "Scrub", 2*each)
	data, err := os.ReadFile(name) // OFD locks survive the close
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(strings.ToLower(string(data)), "lastmasked") {
		t.Error("after Scrub, the file has the secret")
	}

	if err := s.rebuildIndex(); err != nil {
		t.Fatal(err)
	}
	finds("firstkept lastkept -firstmasked", 1)
	s.agrees(t, "a rebuild", 2*each)
}

func TestALongTextThatIsHalfIndexedIsFoundOnceAndGoes(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	s.index.close() // the test feeds the index
	addText(t, s, "a", longText("first", "last"))
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.run(t,
		`INSERT INTO words (words, rowid, text, extra) SELECT 'delete', x.id, x.text, x.extra FROM texts x JOIN passages p ON p.id = x.id AND p.start > 0`,
		`DELETE FROM passages WHERE start > 0`,
		`UPDATE indexed SET upto = upto - 1`); err != nil {
		t.Fatal(err)
	}
	s.agrees(t, "one step", 1)
	q := skein.Query{Terms: []skein.Term{{Words: []string{"first"}}, {Words: []string{"last"}}}, Each: true}
	x, err := hits.New(s.searchView(), q)
	if err != nil {
		t.Fatal(err)
	}
	// Store.Search would have the index catch up before.
	if r, err := x.Run(t.Context(), s.readers); err != nil || len(r.Hits) != 1 {
		t.Errorf("%d hits in a text that is half indexed, %v, want 1", len(r.Hits), err)
	}
	if err := s.run(t, `DELETE FROM messages WHERE session_id = 'a'`); err != nil {
		t.Fatal(err)
	}
	s.agrees(t, "a deletion in SQL", 0)
}
