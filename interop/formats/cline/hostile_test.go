package cline

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// bring imports a task with one file, written a minute ago, and returns the
// report and the bytes of the file as the store has them.
func bring(t testing.TB, name string, data []byte) (interop.Report, []byte) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "tasks", "1740000000000")
	if err := os.MkdirAll(dir, 0o700); err != nil {
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
	rep, err := importer.Import(t.Context(), s, []interop.Format{Format()}, []string{root}, interop.Options{})
	if err != nil {
		t.Fatalf("Import(%.200q) = %v", data, err)
	}
	var lines, back bytes.Buffer
	if err := writeback.WriteSource(t.Context(), s, Name, dir, &lines); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(lines.Bytes()) {
		l, err := folder.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		back.Write(l.Data())
	}
	return rep, back.Bytes()
}

func TestAnyFileIsKeptWhateverIsInIt(t *testing.T) {
	const asks = `{"role":"user","content":"<task>\none\n</task>"}`
	for name, c := range map[string]struct {
		file, data        string
		messages, damaged int
	}{
		"cut off":                 {apiName, `[` + asks + `,{"role":"user","content":[{"type":"te`, 1, 1},
		"empty":                   {apiName, ``, 0, 0},
		"no messages":             {apiName, `[ ]`, 0, 0},
		"no JSON":                 {apiName, `hello`, 0, 1},
		"numbers for messages":    {apiName, `[1,"two",null,` + asks + `]`, 1, 3},
		"names twice":             {apiName, `[{"role":"user","role":"assistant","content":"a","content":"b"}]`, 1, 0},
		"huge numbers":            {apiName, `[{"role":"user","content":"a","ts":1e400},{"role":"assistant","content":"b","ts":-1e99,"metrics":{"tokens":{"prompt":1e99},"cost":1e99}}]`, 2, 0},
		"deep":                    {apiName, `[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":` + strings.Repeat("[", 3000) + strings.Repeat("]", 3000) + `}]}]`, 1, 0},
		"XML that does not end":   {apiName, `[{"role":"assistant","content":"<read_file>\n<path>a</path"}]`, 1, 0},
		"a bomb of tags":          {apiName, `[{"role":"assistant","content":"` + strings.Repeat("<read_file><path>", 20000) + `"}]`, 1, 0},
		"content that ends twice": {apiName, `[{"role":"assistant","content":"<write_to_file><content>a</content></content></write_to_file>"}]`, 1, 0},
		"what was shown":          {uiName, `[{"ts":"then","say":"task","text":7},{"say":"api_req_started","text":"{\"tokensIn\":NaN}"},{"say":"text","text":"words"}]`, 1, 0},
		"another file's shape":    {itemName, `["a"]`, 0, 1},
		"own parent":              {itemName, `{"parentTaskId":"1740000000000","workspace":"a\u0000b","mode":"x"}`, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			rep, back := bring(t, c.file, []byte(c.data))
			if rep.Messages != c.messages || rep.Damaged != c.damaged || rep.Skipped != 0 {
				t.Errorf("Import = %d messages, %d damaged, %d skipped, want %d, %d and none", rep.Messages, rep.Damaged, rep.Skipped, c.messages, c.damaged)
			}
			if string(back) != c.data {
				t.Errorf("its records are %.300q, want %.300q", back, c.data)
			}
		})
	}
}

func TestAFileThatIsBeingWrittenIsWaitedFor(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "tasks", "1740000000000")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, apiName), []byte(`[{"role":"user","content":"one"},{"ro`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := memory.New()
	defer s.Close()
	rep, err := importer.Import(t.Context(), s, []interop.Format{Format()}, []string{root}, interop.Options{})
	if err != nil || rep.Messages != 0 || rep.Skipped != 1 {
		t.Errorf("Import = %+v, %v, want the folder skipped", rep, err)
	}
}

func TestEveryCutOfATaskKeepsItsBytes(t *testing.T) {
	for name, from := range map[string]string{apiName: "testdata/native/saoudrizwan.claude-dev/tasks/1765000000000/" + apiName, oldName: "testdata/xml/saoudrizwan.claude-dev/tasks/1741000000000/" + oldName} {
		data, err := os.ReadFile(filepath.FromSlash(from))
		if err != nil {
			t.Fatal(err)
		}
		for n := range data {
			if _, back := bring(t, name, data[:n]); !bytes.Equal(back, data[:n]) {
				t.Fatalf("%s cut at byte %d: its records are %q, want %q", name, n, back, data[:n])
			}
		}
	}
}

func FuzzTask(f *testing.F) {
	names, err := filepath.Glob("testdata/*/*/tasks/*/*.json")
	if err != nil || len(names) == 0 {
		f.Fatalf("Glob = %v, %v", names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, filepath.Base(name) == uiName)
	}
	f.Fuzz(func(t *testing.T, data []byte, ui bool) {
		name := apiName
		if ui {
			name = uiName
		}
		if _, back := bring(t, name, data); !bytes.Equal(back, data) {
			t.Errorf("its records are %q, want %q", back, data)
		}
	})
}
