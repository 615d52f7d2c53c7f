package interoptest_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/claudecode"
	"github.com/skein-dev/skein/interop/formats/codex"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/sqlite"
)

// corpus returns the folder of transcripts.
func corpus(t *testing.T) string {
	t.Helper()
	root := os.Getenv("SKEIN_CORPUS")
	if root == "" {
		t.Skip("SKEIN_CORPUS is not set: no real transcripts to import")
	}
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// onDisk returns a new store on disk.
func onDisk(t *testing.T) skein.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "skein.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return s
}

func bring(t *testing.T, s skein.Store, root string) interop.Report {
	t.Helper()
	rep, err := importer.Import(t.Context(), s, []interop.Format{claudecode.Format(), codex.Format()}, []string{root}, interop.Options{})
	if err != nil {
		t.Fatalf("Import(%s) = %v", root, err)
	}
	return rep
}

// sources calls each for every file that was imported.
func sources(t *testing.T, s skein.Store, each func(f skein.SourceFile, data []byte)) {
	t.Helper()
	n := 0
	for f, err := range skein.SourcesOf(s).Files(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		each(f, data)
		n++
	}
	if n == 0 {
		t.Fatal("nothing was imported")
	}
}

// said returns all texts in the store.
func said(t *testing.T, s skein.Store) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for sess, err := range s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range s.Events(t.Context(), sess.ID, 0) {
			if err != nil {
				t.Fatal(err)
			}
			switch e.Kind {
			case skein.KindSaid:
				m, err := skein.Decode[skein.Message](e)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range m.Parts {
					all[p.Text.UTF8()] = true
				}
			case skein.KindCompacted:
				c, err := skein.Decode[skein.Compacted](e)
				if err != nil {
					t.Fatal(err)
				}
				all[c.Summary] = true
			}
		}
	}
	return all
}

// One import into a store on disk serves all tests that only read it.
func TestCorpus(t *testing.T) {
	root, s := corpus(t), onDisk(t)
	rep := bring(t, s, root)
	t.Run("loses no text and no byte", func(t *testing.T) { losesNothing(t, s, rep) })
	t.Run("what is on the newest branch is the session", func(t *testing.T) { newestBranch(t, s) })
	t.Run("imported twice adds nothing", func(t *testing.T) { twice(t, s, root) })
}

func losesNothing(t *testing.T, s skein.Store, rep interop.Report) {
	all, damaged, found := said(t, s), 0, 0
	sources(t, s, func(f skein.SourceFile, data []byte) {
		rs, bad := rows(data)
		damaged += bad
		for _, r := range rs {
			content := r.Message.Content
			if r.Type == "response_item" && r.Payload.Type == "message" && (r.Payload.Role == "user" || r.Payload.Role == "assistant") {
				content = r.Payload.Content
			} else if r.Type != "user" && r.Type != "assistant" {
				continue
			}
			for _, text := range texts(content) {
				found++
				if text != "" && !all[text] {
					t.Errorf("%s: %s's text is not in the store: %.200q", filepath.Base(f.Path), r.Type, text)
				}
			}
		}
		var got bytes.Buffer
		if err := writeback.WriteSource(t.Context(), s, f.Format, f.Path, &got); err != nil || !bytes.Equal(got.Bytes(), data) {
			t.Errorf("WriteSource(%s) gives %d bytes and the error %v, want the file's %d", f.Path, got.Len(), err, len(data))
		}
	})
	if found == 0 || rep.Damaged != damaged {
		t.Errorf("Import reports %d damaged records, want %d, among %d texts", rep.Damaged, damaged, found)
	}
}

func twice(t *testing.T, s skein.Store, root string) {
	if rep := bring(t, s, root); rep.Events != 0 || rep.Unchanged != rep.Files {
		t.Errorf("second Import = %+v, want nothing new", rep)
	}
	empty := memory.New()
	defer empty.Close()
	bring(t, stutter{empty}, root)
	if got, want := total(t, empty), total(t, s); got != want {
		t.Errorf("usage when every batch is appended twice: %+v, want %+v", got, want)
	}
}

// stutter is a store to which everything is appended twice.
type stutter struct{ *memory.Store }

func (s stutter) Append(ctx context.Context, bs ...skein.Batch) ([]skein.Receipt, error) {
	if _, err := s.Store.Append(ctx, bs...); err != nil {
		return nil, err
	}
	return s.Store.Append(ctx, bs...)
}

func total(t *testing.T, s skein.Store) (u skein.Usage) {
	t.Helper()
	for sess, err := range s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		u = u.Plus(sess.Usage)
	}
	return u
}

func TestCorpusCountsEachRequestOnce(t *testing.T) {
	root, s := corpus(t), memory.New()
	defer s.Close()
	if _, err := importer.Import(t.Context(), s, []interop.Format{claudecode.Format()}, []string{root}, interop.Options{}); err != nil {
		t.Fatal(err)
	}
	naive, once := int64(0), map[string]int64{}
	sources(t, s, func(_ skein.SourceFile, data []byte) {
		rs, _ := rows(data)
		for _, r := range rs {
			if r.Type == "assistant" && r.Message.Model != "<synthetic>" {
				k := r.Message.ID + " " + r.RequestID
				naive += r.Message.Usage.Output
				once[k] = max(once[k], r.Message.Usage.Output)
			}
		}
	})
	want := int64(0)
	for _, n := range once {
		want += n
	}
	got := total(t, s).Output
	if got != want || naive <= want {
		t.Errorf("output tokens: %d, want %d (all lines would be %d)", got, want, naive)
	}
	t.Logf("output tokens: %d, each line's would be %d", got, naive)
}

// newestBranch checks that the prompts that a session still has are those on the path
// from its newest line to the root.
func newestBranch(t *testing.T, s skein.Store) {
	sources(t, s, func(f skein.SourceFile, data []byte) {
		if f.Format != claudecode.Name {
			return
		}
		want := chain(data)
		var evs []skein.Event
		for e, err := range s.Events(t.Context(), f.Session, 0) {
			if err != nil {
				t.Fatal(err)
			}
			evs = append(evs, e)
		}
		ens, err := skein.Entries(evs)
		if err != nil {
			t.Fatal(err)
		}
		for _, en := range ens {
			if text := asWritten(&en.Message); en.Message.Typed() && !en.Rewound != want[text] && !strings.Contains(text, "[Request interrupted") {
				t.Errorf("%s: %.80q: rewound %t, on the newest branch %t", filepath.Base(f.Path), text, en.Rewound, want[text])
			}
		}
	})
}

// asWritten returns the text of m as it is in the file: for a command, its envelope,
// which is beside what the person typed.
func asWritten(m *skein.Message) string {
	if p := m.Parts[0]; p.Synthetic && strings.HasPrefix(string(p.Text), "<command-") {
		return string(p.Text)
	}
	return m.Words()
}

// chain returns the texts on the path from the last line to the root. If a parent is
// not in the file, the path continues with the line before.
func chain(data []byte) map[string]bool {
	rs, _ := rows(data)
	at, i := map[string]int{}, -1
	for n, r := range rs {
		if r.UUID != "" && !r.IsSidechain {
			at[r.UUID] = n
			if r.Type == "user" || r.Type == "assistant" {
				i = n
			}
		}
	}
	out := map[string]bool{}
	for i >= 0 {
		r := rs[i]
		out[strings.Join(texts(r.Message.Content), "\n\n")] = true
		parent := r.LogicalParentUUID
		if r.ParentUUID != nil {
			parent = *r.ParentUUID
		}
		n, known := at[parent]
		switch {
		case parent == "":
			return out
		case known && n < i:
			i = n
		default:
			i--
		}
	}
	return out
}
