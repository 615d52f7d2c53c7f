package opencode

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/records"
)

// items returns what the reader makes of the lines of a source, each event as
// text.
func items(t testing.TB, name string, lines []byte) (all []string) {
	t.Helper()
	err := records.Scan(Format(), interop.File{Name: name}, bytes.NewReader(lines), func(r skein.Record, m interop.Made) error {
		before := len(all)
		for i, it := range m.Items {
			if _, err := skein.FactsOf(it.Event); err != nil {
				t.Errorf("record %.200q gives an event that no store takes: %v", r.Raw, err)
			}
			if it.To > before+i {
				t.Errorf("record %.200q speaks of item %d, of %d", r.Raw, it.To, before+i)
			}
			all = append(all, fmt.Sprintf("%d %s/%d %s to %d: %s", r.N, m.Key, i, it.Event.Kind, it.To, it.Event.Payload))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sources returns the lines of each source of the cases.
func sources(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range []string{"db/november/opencode.db", "reverted/opencode.db", "tree/october/storage"} {
		at, err := filepath.Abs(filepath.Join("testdata", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		u, err := look(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		defer u.Close()
		ss, err := u.Sources(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range ss {
			r, err := u.Open(t.Context(), s.Name)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			all[name+"#"+s.Name] = b
		}
	}
	return all
}

// A cut at each byte of whole sessions would take minutes: they are 1 to 97
// bytes apart.
func TestLinesCutAnywhereGiveAPrefix(t *testing.T) {
	for name, lines := range sources(t) {
		_, id, _ := strings.Cut(name, "#")
		whole := items(t, id, lines)
		for at := 0; at < len(lines); at += 1 + at%97 {
			if got := items(t, id, lines[:at]); len(got) > len(whole) || !slices.Equal(got, whole[:len(got)]) {
				t.Fatalf("%s cut at byte %d gives\n%s\nwant a prefix of\n%s", name, at, strings.Join(got, "\n"), strings.Join(whole, "\n"))
			}
		}
	}
}

func FuzzLines(f *testing.F) {
	for _, lines := range sources(f) {
		f.Add(lines)
	}
	f.Fuzz(func(t *testing.T, lines []byte) { items(t, ses, lines) })
}

// FuzzData checks what must hold for any column data and any file: nothing panics,
// and a store takes every event.
func FuzzData(f *testing.F) {
	for _, lines := range sources(f) {
		for line := range bytes.Lines(lines) {
			if row, ok, err := foreign.ParseRow(line); err == nil && ok && row.Text("data") != "" {
				f.Add(row.Text("data"))
			} else if l, err := folder.Parse(line); err == nil && l.File != "" {
				f.Add(string(l.Data()))
			}
		}
	}
	f.Add(`{"time":{"created":1},"agent":"a","content":[{"type":"tool","id":"c","name":"n","state":{"status":"error","input":"{}","content":[],"error":{"message":"m"}},"time":{}}],"tokens":{"input":1}}`)
	f.Add(`{"id":"m","role":"assistant","parts":[{"type":"text","text":"x"}],"summary":true,"finish":"stop","revert":{"messageID":"m"}}`)
	f.Fuzz(func(t *testing.T, data string) {
		at, b := int64(1000), []byte{}
		row := func(table string, columns []string, values ...foreign.Value) {
			b = foreign.Row{Table: table, Columns: columns, Values: values}.AppendLine(b)
		}
		columns := []string{"id", "message_id", "session_id", "type", "time_created", "data"}
		for _, id := range []string{"m", "m2"} {
			row("message", columns, id, nil, ses, nil, at, data)
			row("part", columns, "p"+id, id, ses, nil, at, data)
		}
		items(t, ses, b)
		b = nil
		row("session", []string{"id", "revert", "model"}, ses, data, data)
		for _, kind := range []string{"user", "assistant", "compaction", data} {
			row("session_message", columns, "n", nil, ses, kind, at, data)
		}
		items(t, ses, b)
		b = nil
		for _, name := range []string{"session/x/" + ses, "message/" + ses + "/m", "part/m/p", "todo/" + ses, "session/part/" + ses + "/m/q"} {
			b = folder.Whole(folder.File{Name: name + ".json"}, []byte(data)).Append(b)
		}
		items(t, ses, b)
	})
}
