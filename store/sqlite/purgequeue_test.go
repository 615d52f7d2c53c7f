package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/purge"
	"github.com/skein-dev/skein/store/sqlite/textindex"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// fillIndex indexes n messages in several index segments.
func fillIndex(t *testing.T, s *Store, id skein.SessionID, n int, word string) {
	t.Helper()
	for from := 0; from < n; from += 100 {
		var texts []string
		for i := from; i < min(n, from+100); i++ {
			texts = append(texts, fmt.Sprintf("%s%04d of %s and %x", word, i, id, sha256.Sum256(fmt.Append(nil, id, i))))
		}
		addText(t, s, id, texts...)
		if err := s.indexAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// wantNoByte checks that none of the store's files contains a word.
func wantNoByte(t *testing.T, name, word string) {
	t.Helper()
	files, err := filepath.Glob(name + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if st, err := os.Stat(f); err != nil || st.IsDir() {
			continue
		}
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(data, []byte(word)); i >= 0 {
			t.Errorf("%s has the deleted word %s at byte %d", filepath.Base(f), word, i)
		}
	}
}

// However few steps each process does, and whatever is appended and deleted in
// between, the words of deleted text are removed.
func TestResidueGoesStepByStep(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.db")
	s := openTest(t, name)
	s.maintenance.close() // the test does the steps
	fillIndex(t, s, "a", 1500, "goingword")
	fillIndex(t, s, "b", 1500, "stayingword")
	fillIndex(t, s, "c", 300, "latergoing")
	if _, err := s.Delete(t.Context(), "a", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	steps := 0
	for more := true; more; steps++ {
		if steps == 2 {
			if _, err := s.Delete(t.Context(), "c", skein.Deletion{}); err != nil {
				t.Fatal(err)
			}
		}
		if steps > 1000 {
			t.Fatal("after 1000 steps there is still something to merge")
		}
		fillIndex(t, s, "d", 3, "newword")
		if err := s.write(t.Context(), func(tx *txn.Tx) (err error) {
			more, err = textindex.SegmentMerger{Tx: tx}.MergeStep(2)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d steps of 2 pages", steps)
	if steps < 10 {
		t.Errorf("all was merged in %d steps, want more: each of them must be small", steps)
	}
	if owed, err := (cleaner{s.core}).owed(t.Context()); err != nil || !owed {
		t.Errorf("owed() = %v, %v before pages and log were given back, want true", owed, err)
	}
	if err := (cleaner{s.core}).sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.number(t, "SELECT count(*) FROM maintenance"); n != 0 {
		t.Errorf("%d tasks of maintenance are left, want none", n)
	}
	wantNoByte(t, name, "oingwor")
	wantNoByte(t, name, "atergoi")
	if r := find(t, s, "stayingword0007"); len(r.Hits) != 1 {
		t.Errorf("Search finds %d of what stays, want 1", len(r.Hits))
	}
}

// New small segments of the index do not keep the merge of the large ones from
// continuing.
func TestResidueGoesBesideNewParts(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.db")
	s := openTest(t, name)
	s.maintenance.close()
	fillIndex(t, s, "a", 1000, "goingword")
	fillIndex(t, s, "b", 4000, "stayingword")
	if err := s.write(t.Context(), func(tx *txn.Tx) error { return tx.Script(`INSERT INTO words (words) VALUES ('optimize')`) }); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete(t.Context(), "a", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	steps := 0
	for more := true; more; steps++ {
		if steps > 1000 {
			t.Fatal("after 1000 steps the merge has not ended")
		}
		if err := s.write(t.Context(), func(tx *txn.Tx) (err error) {
			more, err = textindex.SegmentMerger{Tx: tx}.MergeStep(fewestPages / 2)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			fillIndex(t, s, skein.SessionID(fmt.Sprint("new", i)), 1, "newword")
		}
	}
	t.Logf("%d steps", steps)
	if err := (cleaner{s.core}).sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantNoByte(t, name, "oingwor")
}

// Processes that write only a little each do a part of the pending work.
func TestEveryProcessPaysOfTheResidue(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.db")
	s := openTest(t, name)
	fillIndex(t, s, "a", 300, "goingword")
	fillIndex(t, s, "b", 300, "stayingword")
	// This is the state after a process was killed right after its deletion.
	if err := s.write(t.Context(), func(tx *txn.Tx) error {
		h, err := tx.Head("a")
		if err != nil {
			return err
		}
		return purge.Purger{Tx: tx}.Begin(&h, 0)
	}); err != nil {
		t.Fatal(err)
	}
	wantFinding(t, s, inspect.Examination{}, true)
	if err := s.Close(); err != nil { // this process only filled the store
		t.Fatal(err)
	}
	for range 20 {
		if s = openTest(t, name); s.number(t, "SELECT count(*) FROM maintenance") == 0 {
			break
		}
		addText(t, s, "b", "more")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	wantFinding(t, s, inspect.Examination{}, false)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantNoByte(t, name, "oingwor")
}

func TestDoctorMendsResidue(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.db")
	s := openTest(t, name)
	s.maintenance.close()
	fillIndex(t, s, "a", 300, "goingword")
	fillIndex(t, s, "b", 100, "stayingword")
	if _, err := s.Delete(t.Context(), "a", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	wantFinding(t, s, inspect.Examination{Repair: true}, true)
	wantFinding(t, s, inspect.Examination{}, false)
	wantNoByte(t, name, "oingwor")
}

// A store whose texts are all deleted does not spend long merging them.
func TestResidueOfAllTextsGoesAtOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.db")
	s := openTest(t, name)
	s.maintenance.close()
	fillIndex(t, s, "a", 300, "goingword")
	if _, err := s.Delete(t.Context(), "a", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	if err := (cleaner{s.core}).sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantNoByte(t, name, "oingwor")
	fillIndex(t, s, "b", 100, "newword")
	if r := find(t, s, "newword0007"); len(r.Hits) != 1 {
		t.Errorf("Search finds %d of what is new, want 1", len(r.Hits))
	}
}

// wantFinding checks whether an examination finds that deleted words are left.
func wantFinding(t *testing.T, s *Store, x inspect.Examination, want bool) {
	t.Helper()
	said := ""
	for f, err := range s.Examine(context.Background(), x) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(f.Text, "words of deleted text") {
			said = f.Text
			if f.Mended != x.Repair || !f.Mendable {
				t.Errorf("Examine(%+v) yields %+v", x, f)
			}
		}
	}
	if got := said != ""; got != want {
		t.Errorf("Examine(%+v) says %q of deleted words, want that it says so: %v", x, said, want)
	}
}
