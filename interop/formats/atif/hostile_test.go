package atif

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

// bring imports one document, written a minute ago, and returns the report and what
// the store would export.
func bring(t testing.TB, data []byte) (interop.Report, *memory.Store, []byte) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "trajectory.json")
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
	if err := writeback.WriteSource(t.Context(), s, Name, at, &lines); err != nil {
		t.Fatal(err)
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

func TestAnyDocumentIsKeptWhateverIsInIt(t *testing.T) {
	const (
		head = `{"schema_version":"ATIF-v1.5","session_id":"s","agent":{"name":"a","version":"1"},`
		hi   = `{"step_id":1,"source":"user","message":"hi"}`
	)
	for name, c := range map[string]struct {
		data              string
		messages, damaged int
	}{
		"cut off":             {head + `"steps":[` + hi + `,{"step_id":2,"sour`, 1, 1},
		"no steps":            {head + `"steps":[]}`, 0, 0},
		"no array":            {head + `"steps":{"a":[` + hi + `]}}`, 0, 0},
		"names twice":         {head + `"steps":[{"source":"user","source":"agent","message":"x","message":"y"}]}`, 1, 0},
		"other case":          {head + `"Steps":[` + hi + `],"steps":[{"Source":"agent","source":"user","message":"x"}]}`, 1, 0},
		"hostile IDs":         {`{"schema_version":"ATIF-v1.7","trajectory_id":"../../etc/\u0000pass\nwd","steps":[` + hi + `]}`, 1, 0},
		"no IDs":              {`{"schema_version":"ATIF-v1.7","steps":[` + hi + `]}`, 1, 0},
		"huge numbers":        {head + `"steps":[{"step_id":1e999,"source":"agent","message":"x","metrics":{"prompt_tokens":1e400,"cached_tokens":-5,"cost_usd":1e300}}],"final_metrics":{"total_cost_usd":1e308}}`, 1, 0},
		"Python's numbers":    {head + `"steps":[` + hi + `,{"source":"agent","message":"NaN \"Infinity","metrics":{"logprobs":[NaN,-Infinity]}},` + hi + `]}`, 3, 0},
		"deep":                {head + `"steps":[{"source":"agent","message":"","tool_calls":[{"tool_call_id":"c","function_name":"f","arguments":` + strings.Repeat(`{"a":`, 1500) + "1" + strings.Repeat("}", 1500) + `}]}]}`, 1, 0},
		"others' shapes":      {head + `"steps":[7,"x",null,{"source":9},{"source":"user","message":{"a":1}},{"source":"agent","message":null,"tool_calls":{"a":1},"observation":{"results":[1,{"content":7}]}}]}`, 3, 3},
		"embedded in nothing": {`{"schema_version":"ATIF-v1.7","subagent_trajectories":[{"trajectory_id":"x","steps":[` + hi + `]}]}`, 0, 0},
		"embedded twice":      {head + `"steps":[` + hi + `],"subagent_trajectories":[{"trajectory_id":"x","steps":[` + hi + `]},{"trajectory_id":"x","steps":[` + hi + `]}]}`, 3, 0},
		"bytes behind":        {head + `"steps":[` + hi + `]} more`, 1, 0},
		"no UTF-8":            {head + `"steps":[{"source":"user","message":"a` + "\xff" + `b"}]}`, 1, 0},
		"not ours":            {`{"steps":[` + hi + `]}`, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			rep, _, back := bring(t, []byte(c.data))
			if rep.Messages != c.messages || rep.Damaged != c.damaged || rep.Skipped != 0 {
				t.Errorf("Import = %d messages, %d damaged, %d skipped, want %d, %d and none", rep.Messages, rep.Damaged, rep.Skipped, c.messages, c.damaged)
			}
			if string(back) != c.data {
				t.Errorf("its records are %.300q, want %.300q", back, c.data)
			}
		})
	}
}

func TestAPictureIsReadOnlyFromBelowTheFolder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	png := "\x89PNG\r\n\x1a\n and more"
	for name, text := range map[string]string{"out.png": png, "in/ok.png": png, "in/secret.png": "key = 1", "in/ok.txt": png} {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tr := &trajectory{file: interop.File{Path: filepath.Join(dir, "in", "t.json"), Beside: func(rel string) ([]byte, bool) {
		b, err := os.ReadFile(filepath.Join(dir, "in", filepath.FromSlash(rel)))
		return b, err == nil
	}}}
	for at, want := range map[string]bool{
		"ok.png": true, "./ok.png": true, "../out.png": false, "x/../../out.png": false, "secret.png": false, "ok.txt": false,
		filepath.ToSlash(filepath.Join(dir, "in/ok.png")): false, "data:image/png;base64,aGk=": true, "https://example.org/a.png": false,
	} {
		if f, blob := tr.image("image/png", at); f == nil || (blob != nil) != want {
			t.Errorf("image(%s) = %+v, read: %v, want %v", at, f, blob != nil, want)
		}
	}
}

func TestEveryCutOfADocumentKeepsItsBytes(t *testing.T) {
	data, err := os.ReadFile("testdata/inside.json")
	if err != nil {
		t.Fatal(err)
	}
	was := 0
	for n := range data {
		rep, _, back := bring(t, data[:n])
		if !bytes.Equal(back, data[:n]) {
			t.Fatalf("cut at byte %d its records are %q, want %q", n, back, data[:n])
		}
		if rep.Messages < was {
			t.Fatalf("cut at byte %d it has %d messages, at the byte before %d", n, rep.Messages, was)
		}
		was = rep.Messages
	}
}

func FuzzDocument(f *testing.F) {
	names, err := filepath.Glob("testdata/*.json")
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
		if _, _, back := bring(t, data); !bytes.Equal(back, data) {
			t.Errorf("its records are %q, want %q", back, data)
		}
	})
}
