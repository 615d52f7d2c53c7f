package amp

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// bring imports one thread, written a minute ago, and returns the report and what the
// store would export.
func bring(t testing.TB, data []byte) (interop.Report, []byte) {
	t.Helper()
	dir := t.TempDir()
	at := filepath.Join(dir, "threads", "T-5f0c2a10-0009-4a6e-9d1e-0c4f5b7a9e09.json")
	if err := os.Mkdir(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, data, 0o600); err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-time.Minute)
	if err := os.Chtimes(at, then, then); err != nil {
		t.Fatal(err)
	}
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	rep, err := importer.Import(t.Context(), s, []interop.Format{Format()}, []string{dir}, interop.Options{})
	if err != nil {
		t.Fatalf("Import(%.200q) = %v", data, err)
	}
	if at, err = filepath.EvalSymlinks(at); err != nil {
		t.Fatal(err)
	}
	var lines, back bytes.Buffer
	if err := writeback.WriteSource(t.Context(), s, Name, at, &lines); err != nil && len(data) > 0 {
		t.Fatal(err)
	}
	for l := range bytes.Lines(lines.Bytes()) {
		p, err := interop.Piece(l)
		if err != nil {
			t.Fatal(err)
		}
		back.Write(p)
	}
	return rep, back.Bytes()
}

func TestAnyDocumentIsKeptWhateverIsInIt(t *testing.T) {
	const message = `{"role":"user","content":[{"type":"text","text":"one"}]}`
	for name, c := range map[string]struct {
		data              string
		messages, damaged int
	}{
		"cut off":                  {`{"id":"T-1","created":"then","messages":[` + message + `,{"role":"user","content":[{"type":"te`, 1, 1},
		"no messages":              {`{"id":"T-1","created":1761000000000,"messages":[]}`, 0, 0},
		"no JSON":                  {`hello`, 0, 1},
		"empty object":             {`{}`, 0, 0},
		"names twice":              {`{"id":"T-1","messages":[{"role":"user","role":"assistant","content":[{"type":"text","text":"x","text":"y"}]}]}`, 1, 0},
		"other case":               {`{"ID":"T-1","Messages":[],"messages":[{"Role":"user","role":"user","content":"x"}]}`, 1, 0},
		"another ID":               {`{"id":"../../etc/\u0000passwd","messages":[` + message + `]}`, 1, 0},
		"huge numbers":             {`{"id":"T-1","created":1e999,"messages":[{"role":"user","messageId":1e400,"meta":{"sentAt":-1e300},"content":"x","usage":{"inputTokens":99999999999999999999}}]}`, 1, 0},
		"deep":                     {`{"id":"T-1","messages":[{"role":"user","content":[{"type":"tool_use","id":"a","name":"b","input":` + strings.Repeat("[", 3000) + strings.Repeat("]", 3000) + `}]}]}`, 1, 0},
		"content of another shape": {`{"id":"T-1","messages":[{"role":"user","content":{"a":1}},{"role":7,"content":[1,"two",null,{"type":"tool_result"}]}]}`, 2, 0},
		"own parent":               {`{"id":"T-1","mainThreadID":"T-5f0c2a10-0009-4a6e-9d1e-0c4f5b7a9e09","messages":[` + message + `]}`, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			rep, back := bring(t, []byte(c.data))
			if rep.Messages != c.messages || rep.Damaged != c.damaged || rep.Skipped != 0 {
				t.Errorf("Import = %d messages, %d damaged, %d skipped, want %d, %d and none", rep.Messages, rep.Damaged, rep.Skipped, c.messages, c.damaged)
			}
			if string(back) != c.data {
				t.Errorf("its records are %.300q, want %.300q", back, c.data)
			}
		})
	}
}

func TestEveryCutOfAThreadKeepsItsBytes(t *testing.T) {
	data, err := os.ReadFile("testdata/old/threads3/T-5f0c2a10-0004-4a6e-9d1e-0c4f5b7a9e04.json")
	if err != nil {
		t.Fatal(err)
	}
	was := 0
	for n := range data {
		rep, back := bring(t, data[:n])
		if !bytes.Equal(back, data[:n]) {
			t.Fatalf("cut at byte %d its records are %q, want %q", n, back, data[:n])
		}
		if rep.Messages < was {
			t.Fatalf("cut at byte %d it has %d messages, at the byte before %d", n, rep.Messages, was)
		}
		was = rep.Messages
	}
}

func FuzzThread(f *testing.F) {
	for _, pattern := range []string{"testdata/*/threads*/*.json"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			f.Fatalf("Glob(%s) = %v, %v", pattern, names, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, back := bring(t, data); !bytes.Equal(back, data) {
			t.Errorf("its records are %q, want %q", back, data)
		}
	})
}
