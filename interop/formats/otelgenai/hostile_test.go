package otelgenai

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// bring imports one file, written a minute ago, and returns the report and what the
// store would export.
func bring(t testing.TB, name string, data []byte) (interop.Report, *memory.Store, []byte) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, name)
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
	if rep.Unmatched > 0 {
		return rep, s, data
	}
	var lines, back bytes.Buffer
	if err := writeback.WriteSource(t.Context(), s, Name, at, &lines); err != nil && len(data) > 0 {
		t.Fatal(err)
	}
	if unit(name) == "" {
		return rep, s, lines.Bytes()
	}
	for l := range bytes.Lines(lines.Bytes()) {
		p, err := interop.Piece(l)
		if err != nil {
			t.Fatal(err)
		}
		back.Write(p)
	}
	return rep, s, back.Bytes()
}

// request returns a span of a request of a conversation.
func request(conversation, in, out string) string {
	quote := func(s string) string { return string(skein.MustJSON(s)) }
	return `{"traceId":"t","spanId":` + quote(conversation+in+out) + `,"attributes":[` +
		`{"key":"gen_ai.conversation.id","value":{"stringValue":` + quote(conversation) + `}},` +
		`{"key":"gen_ai.input.messages","value":{"stringValue":` + quote(in) + `}},` +
		`{"key":"gen_ai.output.messages","value":{"stringValue":` + quote(out) + `}}]}`
}

func traces(spans ...string) string {
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Join(spans, ",") + `]}]}]}`
}

// text returns a message of one text.
func text(role, words string) string {
	return `{"role":"` + role + `","parts":[{"type":"text","content":"` + words + `"}]}`
}

func list(messages ...string) string { return "[" + strings.Join(messages, ",") + "]" }

func TestAnyFileIsKeptWhateverIsInIt(t *testing.T) {
	hi := request("c", list(text("user", "hi")), list(text("assistant", "yes")))
	deep := strings.Repeat(`{"kvlistValue":{"values":[{"key":"a","value":`, 900) + `{"intValue":"1"}` + strings.Repeat(`}]}}`, 900)
	for name, c := range map[string]struct {
		file, data        string
		messages, damaged int
	}{
		"cut off":          {"a.json", traces(hi)[:len(traces(hi))-9], 0, 1},
		"lines in .json":   {"a.json", traces(hi) + "\n" + traces(hi) + "\n", 2, 0},
		"lines":            {"a.jsonl", traces(hi) + "\n" + traces(request("c", list(text("user", "hi"), text("assistant", "yes"), text("user", "go")), "[]")) + "\n", 3, 0},
		"torn line":        {"a.jsonl", traces(hi) + "\n" + traces(hi)[:40], 2, 1},
		"nobody's spans":   {"a.json", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"GET"}]}]}]}`, 0, 0},
		"names twice":      {"a.json", `{"resourceSpans":[{"scopeSpans":[],"scopeSpans":[{"spans":[` + hi + `]}]}]}`, 2, 0},
		"hostile IDs":      {"a.json", traces(request("../\x00\n", list(text("user", "hi")), "[]")), 1, 0},
		"others' shapes":   {"a.json", traces(request("c", `[7,"x",{"role":"user"},{"role":"user","parts":[1,"two",{"type":"text"},{"type":"blob","content":"no"},{"type":"uri","uri":"x"},{"type":9}]}]`, `{"a":1}`), `7`, `null`), 2, 0},
		"huge numbers":     {"a.json", traces(`{"startTimeUnixNano":"99999999999999999999","attributes":[{"key":"gen_ai.usage.input_tokens","value":{"intValue":"9e99"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":1e400}}]}`), 0, 0},
		"deep":             {"a.json", traces(`{"attributes":[{"key":"gen_ai.input.messages","value":`+deep+`}]}`, hi), 2, 0},
		"messages":         {"a.json", list(text("user", "hi"), text("assistant", "yes")), 2, 0},
		"Gemini's content": {"a.json", `[{"role":"user","parts":[{"text":"hi"}]}]`, 0, 0},
		"other lists":      {"a.json", `[1,2,3]`, 0, 0},
		"no UTF-8":         {"a.json", list(text("user", "a\xffb")), 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			rep, _, back := bring(t, c.file, []byte(c.data))
			if rep.Messages != c.messages || rep.Damaged != c.damaged || rep.Skipped != 0 {
				t.Errorf("Import = %d messages, %d damaged, %d skipped, want %d, %d and none", rep.Messages, rep.Damaged, rep.Skipped, c.messages, c.damaged)
			}
			if string(back) != c.data {
				t.Errorf("its records are %.300q, want %.300q", back, c.data)
			}
		})
	}
}

func TestEveryCutOfADocumentKeepsItsBytes(t *testing.T) {
	for _, name := range []string{"messages.json", "traces.json"} {
		data, err := os.ReadFile("testdata/documents/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(data); n += 1 + len(data)/700 {
			if _, _, back := bring(t, name, data[:n]); !bytes.Equal(back, data[:n]) {
				t.Fatalf("cut at byte %d its records are %q, want %q", n, back, data[:n])
			}
		}
	}
}

func FuzzDocument(f *testing.F) {
	names, err := filepath.Glob("testdata/documents/*.json")
	if err != nil || len(names) == 0 {
		f.Fatalf("Glob = %v, %v", names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, _, back := bring(t, "a.json", data); !bytes.Equal(back, data) {
			t.Errorf("its records are %q, want %q", back, data)
		}
	})
}
