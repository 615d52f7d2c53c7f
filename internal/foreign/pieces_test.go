package foreign

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// mixed creates a database of many talks with interleaved lines, and splits it.
func mixed(t *testing.T, talks, each int, place func(Row) string) (*DB, *Pieces) {
	t.Helper()
	path, db := fixture(t)
	run(t, db, `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < ? - 1) INSERT INTO talks SELECT 'talk ' || i, '', 0 FROM n`, talks)
	run(t, db, `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < ? - 1) INSERT INTO lines SELECT i + 1, 'talk ' || (i % ?), i, 0 FROM n`, talks*each, talks)
	in, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	ps, err := in.Split(t.Context(), Part{Table: "talks", Key: "id"}, Part{Table: "lines", Key: "talk", Place: place})
	if err != nil || ps.Len() != talks {
		t.Fatalf("Split() = %d pieces, %v, want %d", ps.Len(), err, talks)
	}
	return in, ps
}

// words returns the words in the lines of each piece.
func words(t *testing.T, db *DB, ps *Pieces) (all []string) {
	t.Helper()
	for p, err := range ps.All() {
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(db.Lines(p))
		if err != nil || int64(len(b)) != p.Size {
			t.Fatalf("Lines(%s) = %d bytes, %v, want %d", p.Key, len(b), err, p.Size)
		}
		said := p.Key + ":"
		for line := range strings.Lines(string(b)) {
			r, _, err := ParseRow([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			said += " " + r.Text("words")
		}
		if again, ok := ps.Of(p.Key); !ok || again != p {
			t.Errorf("Of(%s) = %v, %v, want %v", p.Key, again, ok, p)
		}
		all = append(all, said)
	}
	return all
}

func TestRowsOfManyKeysThatTakeTurnsAreToldApart(t *testing.T) {
	const talks, each = 300, 5
	db, ps := mixed(t, talks, each, nil)
	entries := int64(talks * (each + 1))
	for _, window := range []int64{entries + 7, entries, 7, 1} {
		if err := ps.groupBy(t.Context(), entries, window); err != nil {
			t.Fatal(err)
		}
		for i, got := range words(t, db, ps) {
			want := fmt.Sprintf("talk %d: ", i)
			for n := range each {
				want += fmt.Sprintf(" %d", i+n*talks)
			}
			if got != want {
				t.Fatalf("groupBy(%d, %d): lines of piece %d are %q, want %q", entries, window, i, got, want)
			}
		}
	}
}

// Split keeps little more than the hash of each key in memory, and nothing per row, so
// a database of a million sessions is read in little memory.
func TestOfAKeyLittleIsHeldWhateverItsRows(t *testing.T) {
	const talks, most = 30_000, 200
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, ps := mixed(t, talks, 2, nil)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / talks; each > most {
		t.Errorf("Split() of %d keys holds %d bytes of each, want at most %d", ps.Len(), each, most)
	} else {
		t.Logf("%d bytes of each key", each)
	}
	runtime.KeepAlive(ps)
}

func TestRowsOfManyKeysStandWhereTheirPlaceIs(t *testing.T) {
	db, ps := mixed(t, 3, 1500, func(r Row) string { return fmt.Sprintf("%06d", 5000-r.Int("id")) })
	for i, got := range words(t, db, ps) {
		want := fmt.Sprintf("talk %d: ", i)
		for n := 1499; n >= 0; n-- {
			want += fmt.Sprintf(" %d", i+n*3)
		}
		if got != want {
			t.Errorf("lines of piece %d are %.80q, want %.80q", i, got, want)
		}
	}
}

func TestRowsOfMoreKeysThanAreToldApartAreAnError(t *testing.T) {
	path, _ := fixture(t)
	db, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, err := db.newSplitter()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.add("first", "", Row{Table: "lines"}); err != nil {
		t.Fatal(err)
	}
	s.pieces.n = maxPieces
	if err := s.add("first", "", Row{Table: "lines"}); err != nil {
		t.Errorf("add of a key that is known = %v, want no error", err)
	}
	if err := s.add("last", "", Row{Table: "lines"}); err == nil || !strings.Contains(err.Error(), "table lines: there are rows of more than 1000000 sessions") {
		t.Errorf("add of one key too many = %v, want an error that names the table and says so", err)
	}
}

func TestMoreRowsThanCanBeSortedAreAnErrorOfTheirPieceAlone(t *testing.T) {
	db, ps := mixed(t, 2, 3, func(r Row) string { return fmt.Sprint(9 - r.Int("id")) })
	for what, p := range map[string]Piece{"rows": {first: 0, spans: maxSorted + 1}} {
		if _, err := ps.sorted(p); err == nil {
			t.Errorf("sorted() of too many %s gives no error", what)
		}
	}
	if got := len(words(t, db, ps)); got != 2 {
		t.Errorf("the others are %d pieces, want 2", got)
	}
}
