package interoptest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/store/memory"
)

// dump returns everything in the store as text, with DIR for the folder that the case
// was copied to.
func dump(t testing.TB, s *memory.Store, root string) string {
	t.Helper()
	var b strings.Builder
	evs := events(t, s)
	for _, id := range slices.Sorted(maps.Keys(evs)) {
		fmt.Fprintf(&b, "session %s\n", id)
		for _, e := range evs[id] {
			fmt.Fprintf(&b, "  %s\n", e)
		}
	}
	for f, err := range s.Files(context.Background(), "") {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "file %s: session %q, ID %q, copy of %q, %d bytes, %d records, %d damaged\n",
			filepath.ToSlash(f.Path), f.Session, f.ID, f.CopyOf, f.Offset, f.Records, f.Damaged)
		for r, err := range s.Records(context.Background(), f.Format, f.Path, 0) {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "  %d at %d: %d bytes, key %q, %d events", r.N, r.Offset, len(r.Raw), r.Key, r.Events)
			if r.Copy {
				b.WriteString(", copy")
			}
			if r.Damage != "" {
				fmt.Fprintf(&b, ", damaged: %s", r.Damage)
			}
			b.WriteByte('\n')
		}
	}
	return strings.ReplaceAll(b.String(), filepath.ToSlash(filepath.Dir(root+"/x")), "DIR")
}

// events returns the events of each session as text.
func events(t testing.TB, s *memory.Store) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for sess, err := range s.Sessions(context.Background(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		id := string(sess.ID)
		all[id] = nil
		for e, err := range s.Events(context.Background(), sess.ID, 0) {
			if err != nil {
				t.Fatal(err)
			}
			shown := ""
			if e.Seq <= sess.Base {
				shown = " (parent's)"
			}
			all[id] = append(all[id], fmt.Sprintf("%d%s %s %s %s %s", e.Seq, shown, e.Time, e.Kind, e.ClientID, clean(e.Payload)))
		}
	}
	return all
}

// clean returns a payload with slashes in its paths, so that golden files are
// the same on every system.
func clean(payload json.RawMessage) string {
	return strings.ReplaceAll(string(payload), `\\`, "/")
}

// sum adds up the content of the store.
func sum(t testing.TB, s *memory.Store) (sum FileTotals) {
	t.Helper()
	for sess, err := range s.Sessions(context.Background(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		sum.Messages += sess.Ever().Messages
		sum.Output += sess.Usage.Output
	}
	return sum
}

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
