package interoptest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/skein-dev/skein/internal/foreign"
)

// Dump returns the full content of some tables of the database at path: the
// statements that made them, the rows with their rowids and the type of each
// value, and the AUTOINCREMENT counters. Two databases with the same Dump have the
// same .dump of these tables.
func Dump(t testing.TB, path string, tables ...string) []byte {
	t.Helper()
	db, err := foreign.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	b := &bytes.Buffer{}
	frame := bytes.SplitAfter(db.Frame(tables...), []byte("\n"))
	for _, kind := range []string{"", "table", "index", "trigger"} { // the order of .dump
		for _, l := range frame {
			if bytes.Contains(l, []byte(`"schema":{"type":"`+kind+`"`)) || kind == "" && bytes.HasPrefix(l, []byte(`{"database"`)) {
				b.Write(l)
			}
		}
	}
	for _, name := range append(slices.Clone(tables), "sqlite_sequence") {
		if _, ok := db.Table(name); !ok {
			continue
		}
		if err := db.Rows(t.Context(), name, "", func(r foreign.Row) error {
			b.Write(r.AppendLine(nil))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}
