package foreign

import (
	"io"
	"strings"
	"testing"
)

// Rows are sorted by Place, and rows with the same place stay in order; an empty part
// has only its table.
func TestRowsStandWhereTheirPlaceIs(t *testing.T) {
	path, db := fixture(t, "CREATE TABLE secrets (talk TEXT, word TEXT)")
	run(t, db, "INSERT INTO talks VALUES ('a', '1', 0), ('b', '2', 0)")
	run(t, db, "INSERT INTO secrets VALUES ('a', 'hush')")
	for _, words := range []string{"3 c", "1 a", "2 b", "1 a again"} {
		run(t, db, "INSERT INTO lines (talk, words) VALUES ('a', ?)", words)
	}
	in, err := Open(t.Context(), path)
	if err != nil {
		t.Fatalf("Open(%s) = %v", path, err)
	}
	defer in.Close()
	place := func(r Row) string { return strings.Fields(r.Text("words"))[0] }
	ps, err := in.Split(t.Context(), Part{Table: "talks", Key: "id"}, Part{Table: "lines", Key: "talk", Place: place},
		Part{Table: "secrets", Key: "talk", Empty: true})
	if err != nil || ps.Len() != 2 {
		t.Fatalf("Split() = %v, %v, want two pieces", ps, err)
	}
	a, _ := ps.Of("a")
	b, err := io.ReadAll(in.Lines(a))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(b)) {
		if r, ok, err := ParseRow([]byte(line)); err != nil || !ok {
			t.Fatalf("ParseRow(%s) = %v, %v", line, ok, err)
		} else if got = append(got, r.Text("words")); r.Table == "secrets" {
			t.Errorf("a row of secrets came: %s", line)
		}
	}
	if want := "|1 a|1 a again|2 b|3 c"; strings.Join(got, "|") != want {
		t.Errorf("lines of %q are %q, want %q", a.Key, strings.Join(got, "|"), want)
	}
	if frame := string(in.Frame("talks", "secrets")); !strings.Contains(frame, "CREATE TABLE secrets") {
		t.Errorf("Frame(talks, secrets) = %s, want secrets in it", frame)
	}
}
