package pi_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/pi"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// A tally is the totals of a file.
type tally struct {
	Messages, Calls, Failed, Typed, Aborted int
	Usage                                   skein.Usage
}

// tallyOf counts a file's messages by encoding/json.
func tallyOf(t *testing.T, data []byte) (n tally) {
	t.Helper()
	for line := range bytes.Lines(data) {
		var r struct {
			Message struct {
				Role    string
				Stop    string `json:"stopReason"`
				IsError bool
				Content json.RawMessage
				Usage   struct {
					Input, Output, CacheRead, CacheWrite int64
					Cost                                 struct{ Total float64 }
				}
			}
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		m := r.Message
		var blocks []struct{ Type string }
		_ = json.Unmarshal(m.Content, &blocks) // a string has none
		for _, b := range blocks {
			if b.Type == "toolCall" {
				n.Calls++
			}
		}
		switch m.Role {
		case "":
			continue
		case "user":
			n.Typed++
		case "assistant":
			if m.Stop == "aborted" {
				n.Aborted++
			}
		case "toolResult":
			if m.IsError {
				n.Failed++
			}
		}
		n.Messages++
		u := m.Usage
		n.Usage = n.Usage.Plus(skein.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reported: int64(u.Cost.Total*1e9 + 0.5)})
	}
	return n
}

// read returns the same totals of what was imported.
func read(t *testing.T, s skein.Store) (n tally) {
	t.Helper()
	for sess, err := range s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		n.Usage, n.Messages = n.Usage.Plus(sess.Usage), n.Messages+sess.Messages
		for e, err := range s.Events(t.Context(), sess.ID, 0) {
			if err != nil {
				t.Fatal(err)
			}
			m, err := skein.Decode[skein.Message](e)
			if e.Kind != skein.KindSaid || err != nil {
				continue
			}
			if m.Typed() {
				n.Typed++
			}
			if m.Interrupted {
				n.Aborted++
			}
			for _, p := range m.Parts {
				if p.Call != nil {
					n.Calls++
				}
				if p.Result != nil && p.Result.Failed {
					n.Failed++
				}
			}
		}
	}
	n.Usage.Requests = 0
	return n
}

func TestCorpusAddsUpToWhatIsInTheFiles(t *testing.T) {
	root := os.Getenv("SKEIN_CORPUS")
	if root == "" {
		t.Skip("SKEIN_CORPUS is not set: no real sessions to import")
	}
	files, err := filepath.Glob(filepath.Join(root, "pi", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", root, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := memory.New()
		defer s.Close()
		rep := importAt(t, s, file)
		if rep.Damaged+rep.Skipped != 0 {
			t.Errorf("Import(%s) = %+v, want no damage", file, rep)
		}
		if diff := cmp.Diff(tallyOf(t, data), read(t, s)); diff != "" {
			t.Errorf("Import(%s) (-file +store):\n%s", file, diff)
		}
		var b bytes.Buffer
		path, err := filepath.EvalSymlinks(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := writeback.WriteSource(t.Context(), s, pi.Name, path, &b); err != nil || !bytes.Equal(b.Bytes(), data) {
			t.Errorf("WriteSource(%s) gives %d bytes, %v, want the %d of the file", file, b.Len(), err, len(data))
		}
		if rep := importAt(t, s, file); rep.Events != 0 {
			t.Errorf("second Import(%s) = %+v, want nothing new", file, rep)
		}
		t.Logf("%s: %+v", filepath.Base(file), read(t, s))
	}
}

func importAt(t *testing.T, s skein.Store, at string) interop.Report {
	t.Helper()
	rep, err := importer.Import(t.Context(), s, []interop.Format{pi.Format()}, []string{at}, interop.Options{})
	if err != nil {
		t.Fatalf("Import(%s) = %v", at, err)
	}
	return rep
}
