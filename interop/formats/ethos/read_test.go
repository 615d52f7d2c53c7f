package ethos

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/records"
	"github.com/skein-dev/skein/store/memory"
)

// items returns what the reader makes of the lines of a source, each event as
// text.
func items(t testing.TB, name string, lines []byte) (all []string) {
	t.Helper()
	err := records.Scan(Format(), interop.File{Name: name}, bytes.NewReader(lines), func(r skein.Record, m interop.Made) error {
		for i, it := range m.Items {
			if _, err := skein.FactsOf(it.Event); err != nil {
				t.Errorf("record %.200q gives an event that no store takes: %v", r.Raw, err)
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
	for name := range cases() {
		u, err := look(t.Context(), filepath.Join("testdata", name, fileName))
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

func TestRowsCutAtEveryByteGiveAPrefix(t *testing.T) {
	for name, lines := range sources(t) {
		_, id, _ := strings.Cut(name, "#")
		whole := items(t, id, lines)
		for at := range lines {
			if got := items(t, id, lines[:at]); len(got) > len(whole) || !slices.Equal(got, whole[:len(got)]) {
				t.Fatalf("%s cut at byte %d gives\n%s\nwant a prefix of\n%s", name, at, strings.Join(got, "\n"), strings.Join(whole, "\n"))
			}
		}
	}
}

func FuzzRows(f *testing.F) {
	for _, lines := range sources(f) {
		f.Add(lines)
	}
	f.Fuzz(func(t *testing.T, lines []byte) { items(t, "s", lines) })
}

// bring imports the files at path.
func bring(t testing.TB, s skein.Store, path string) interop.Report {
	t.Helper()
	rep, err := importer.Import(t.Context(), s, []interop.Format{Format()}, []string{path}, interop.Options{})
	if err != nil {
		t.Fatalf("Import(%s) = %v", path, err)
	}
	return rep
}

// tell returns the events of a session, each in a few words.
func tell(t testing.TB, s skein.Store, id skein.SessionID) string {
	t.Helper()
	var words []string
	for e, err := range s.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatalf("Events(%s) = %v", id, err)
		}
		f, err := skein.FactsOf(e)
		switch {
		case err != nil:
			t.Fatal(err)
		case f.Message != nil:
			words = append(words, string(f.Role)+":"+f.Text)
		case f.Titled != nil:
			words = append(words, "title:"+f.Titled.Title)
		case f.Amended != nil && f.Amended.Withdrawn:
			words = append(words, fmt.Sprint("-", f.Amended.Seq))
		case f.Amended != nil:
			words = append(words, fmt.Sprint("amended ", f.Amended.Seq))
		case f.Changed != nil && f.Changed.Pinned != nil:
			words = append(words, fmt.Sprint("pinned:", *f.Changed.Pinned))
		default:
			words = append(words, string(e.Kind))
		}
	}
	return strings.Join(words, ", ")
}

// fig is a database as the newest version writes it, with a session "s" in which the
// user said "one".
func fig(t testing.TB, statements ...string) (path string, do func(statements ...string)) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, fileName)
	db := build(t, path, append([]string{
		`PRAGMA journal_mode = WAL`,
		createSessions, createMessages, createText, createInsert, createDelete, createUpdate, createCompressions,
		`INSERT INTO sessions (id, key, platform, model, provider, created_at, updated_at) VALUES ('s','cli:fig','cli','m','p','2026-08-20T10:00:00.000Z','2026-08-20T10:00:00.000Z')`,
		said("1", "user", "one"),
	}, statements...)...)
	return path, func(statements ...string) { t.Helper(); run(t, db, statements...) }
}

// said is the statement that adds a message to the session "s".
func said(id, role, content string) string {
	return fmt.Sprintf(`INSERT INTO messages (id, session_id, role, content, timestamp) VALUES ('%s','s','%s','%s','2026-08-20T10:00:0%s.000Z')`, id, role, content, id)
}

func TestWhatTheProgramChangesIsTakenIn(t *testing.T) {
	path, do := fig(t)
	s := memory.New()
	defer s.Close()
	want := "created, noted, pinned:false, user:one"
	for _, step := range []struct{ do, adds string }{
		{``, ""},
		{said("2", "assistant", "two"), ", assistant:two"},
		{`UPDATE sessions SET input_tokens = 5, updated_at = '2026-08-20T10:00:09.000Z'`, ""},
		{`UPDATE sessions SET title = 'Fig'`, ", title:Fig"},
		{`UPDATE sessions SET title = 'Figs', pinned = 1`, ", pinned:true, title:Figs"},
		{`UPDATE sessions SET title = 'Fig', pinned = 0`, ", pinned:false, title:Fig"},
		{`UPDATE messages SET deleted_at = '2026-08-20T10:00:09.000Z' WHERE id = '2'`, ", -5, noted"},
		{`UPDATE messages SET deleted_at = NULL WHERE id = '2'`, ", amended 5"},
		{`UPDATE messages SET content = 'zwei' WHERE id = '2'`, ", amended 5"},
		{`INSERT INTO compressions VALUES ('c','s','2026-08-20T10:00:09.000Z','e',2,1,'sum',1,1,1,1,'2')`, ", compacted"},
		{said("3", "user", "three"), ", user:three"},
		{`DELETE FROM messages WHERE id = '1'`, ", -4"},
		{`PRAGMA foreign_keys = ON; DELETE FROM sessions`, ", changed"},
	} {
		if step.do != "" {
			do(step.do)
		}
		want += step.adds
		rep := bring(t, s, path)
		if got := tell(t, s, "s"); got != want || rep.Skipped != 0 || rep.Damaged != 0 {
			t.Fatalf("after %q the session is\n%s\nwant\n%s\n%+v", step.do, got, want, rep)
		}
		if rep := bring(t, s, path); rep.Events != 0 {
			t.Fatalf("after %q a second Import = %+v, want nothing new", step.do, rep)
		}
	}
}

func TestStrangeRowsAreReadAllTheSame(t *testing.T) {
	deep := strings.Repeat("[", 100000)
	path, _ := fig(t,
		`INSERT INTO messages (id, session_id, role, content, tool_calls, content_blocks, timestamp) VALUES ('a','s','assistant','x','[`+deep+`','`+deep+`','now')`,
		`INSERT INTO messages (id, session_id, role, content, tool_calls, timestamp) VALUES ('b','s','assistant',CAST(x'ff00ed' AS TEXT),'[{"id":"q","ID":"r","id":"z","input":{"n":1e999,"s":"\ud800"}}]','2026-08-20T10:00:00.000Z')`,
		`INSERT INTO messages (id, session_id, role, content, input_tokens, output_tokens, estimated_cost_usd, timestamp) VALUES ('n','s','assistant','',-5,9223372036854775807,1e300,'2026-08-20T10:00:00.000Z')`,
		`INSERT INTO messages (id, session_id, role, content, timestamp) VALUES ('c','nobody','user','orphan','2026-08-20T10:00:00.000Z')`,
		`INSERT INTO sessions (id, key, platform, model, provider, created_at, updated_at) VALUES ('../a'||char(0,10)||'b','k','cli','m','p','',''), ('','k2','cli','m','p','','')`,
		`INSERT INTO messages (id, session_id, role, content, timestamp) VALUES ('d','../a'||char(0,10)||'b','user','in an odd session','2026-08-20T10:00:00.000Z')`,
	)
	s := memory.New()
	defer s.Close()
	rep := bring(t, s, path)
	if rep.Sessions != 3 || rep.Messages != 6 || rep.Skipped != 0 {
		t.Errorf("Import = %+v, want 3 sessions and 6 messages", rep)
	}
	for sess, err := range s.Sessions(t.Context(), skein.Filter{}) {
		if err != nil || sess.ID.Check() != nil {
			t.Errorf("session %q: %v, %v", sess.ID, err, sess.ID.Check())
		}
	}
	if got, want := tell(t, s, "nobody"), "created, user:orphan"; got != want {
		t.Errorf("a session without its row is %q, want %q", got, want)
	}
}

func TestAViewInPlaceOfATableIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), fileName)
	build(t, path, createSessions, `CREATE TABLE x (id, session_id, role, content, timestamp)`, `CREATE VIEW messages AS SELECT * FROM x`).Close()
	s := memory.New()
	defer s.Close()
	if rep := bring(t, s, path); rep.Unmatched != 1 || rep.Events != 0 {
		t.Errorf("Import = %+v, want 1 file that is not matched", rep)
	}
}

func TestSamplesAreReadAndWrittenAgain(t *testing.T) {
	dir := os.Getenv("SKEIN_SAMPLES")
	if dir == "" {
		t.Skip("SKEIN_SAMPLES is not set: no real databases to read")
	}
	for _, c := range []struct {
		name               string
		sessions, messages int
	}{{"state", 4, 8}, {"seed-era-v0.4.15", 1, 4}} {
		root, err := filepath.EvalSymlinks(filepath.Join(dir, "ethos", c.name))
		if err != nil {
			t.Fatal(err)
		}
		s := memory.New()
		defer s.Close()
		rep := bring(t, s, root)
		if rep.Sessions != c.sessions || rep.Messages != c.messages || rep.Damaged != 0 || rep.Skipped != 0 {
			t.Errorf("Import(%s) = %+v, want %d sessions with %d messages", c.name, rep, c.sessions, c.messages)
		}
		if rep := bring(t, s, root); rep.Events != 0 {
			t.Errorf("Import(%s) again = %+v, want nothing new", c.name, rep)
		}
		exact(t, s, filepath.Join(root, fileName))
		t.Logf("%s: %d sessions, %d bytes of records", c.name, rep.Sessions, rep.Bytes)
	}
}
