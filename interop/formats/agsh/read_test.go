package agsh

import (
	"bytes"
	"fmt"
	"io"
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
		u, err := look(t.Context(), filepath.Join("testdata", filepath.FromSlash(name)))
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
			if bytes.Contains(b, []byte("never read")) {
				t.Errorf("source %q of %s has a credential: %s", s.Name, name, b)
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
		case f.Amended != nil && f.Amended.Withdrawn:
			words = append(words, fmt.Sprint("-", f.Amended.Seq))
		case f.Amended != nil:
			words = append(words, fmt.Sprint("amended ", f.Amended.Seq))
		case f.Compacted != nil:
			words = append(words, fmt.Sprintf("compacted to %d:%s", f.Compacted.To, f.Compacted.Summary))
		case f.Rewound != nil:
			words = append(words, fmt.Sprint("rewound to ", f.Rewound.To))
		default:
			words = append(words, string(e.Kind))
		}
	}
	return strings.Join(words, ", ")
}

// march is a database as 0.1 writes it, with a session "s" in which the user said
// "one".
func march(t testing.TB, statements ...string) (path string, do func(statements ...string)) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, fileName)
	db := build(t, path, append([]string{
		createSessions, createMessages, createIndex,
		`INSERT INTO sessions VALUES ('s','2026-03-05T08:00:00+00:00','2026-03-05T08:00:00+00:00',NULL,NULL)`,
		said("user", "one", 1),
	}, statements...)...)
	return path, func(statements ...string) { t.Helper(); run(t, db, statements...) }
}

// said returns the statement that adds a message to the session "s" the given seconds
// after eight o'clock.
func said(role, content string, second int) string {
	return fmt.Sprintf(`INSERT INTO messages (session_id, role, content, created_at) VALUES ('s','%s','%s','2026-03-05T08:00:%02d.5+00:00')`, role, content, second)
}

func follow(t *testing.T, path string, do func(...string), want string, steps []struct{ do, adds string }) {
	t.Helper()
	s := memory.New()
	defer s.Close()
	for _, step := range steps {
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

func TestWhatTheProgramChangesIsTakenIn(t *testing.T) {
	path, do := march(t)
	follow(t, path, do, "created, user:one", []struct{ do, adds string }{
		{``, ""},
		{`UPDATE sessions SET locked_by = '4711', updated_at = '2026-03-05T08:00:09+00:00'`, ""},
		{said("assistant", "two", 2), ", assistant:two"},
		{`UPDATE messages SET content = 'zwei' WHERE id = 2`, ", amended 3"},
		{`DELETE FROM messages WHERE id = 1`, ", -2"},
		{`DELETE FROM messages; DELETE FROM sessions`, ", changed"},
	})
}

func TestRowsThatACompactionTookAreKept(t *testing.T) {
	path, do := march(t, said("assistant", "two", 2), said("user", "three", 3))
	summary := `DELETE FROM messages; INSERT INTO messages (session_id, role, content, created_at)
		SELECT 's', 'user', '` + summaryMark + `' || char(10,10) || 'one and two', '2026-03-05T08:00:20+00:00'; ` + said("user", "three", 20)
	follow(t, path, do, "created, user:one, assistant:two, user:three", []struct{ do, adds string }{
		{``, ""},
		{summary, ", compacted to 4:one and two"},
		{said("assistant", "four", 30), ", assistant:four"},
		{said("user", "three", 31), ", user:three"},
	})
}

func TestCountersOfALiveSessionAreCountedOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, mekaFile)
	db := build(t, path, cases()["august/meka.db"]...)
	s := memory.New()
	defer s.Close()
	for _, tokens := range []int64{70, 100, 250} {
		run(t, db, fmt.Sprintf(`UPDATE sessions SET stat_input_tokens = %d WHERE id LIKE '%%01'`, tokens))
		bring(t, s, path)
		got, err := s.Session(t.Context(), "9d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01")
		if err != nil || got.Usage.Input != tokens || got.Usage.Output != 7 {
			t.Errorf("with %d tokens counted the session used %+v, %v", tokens, got.Usage, err)
		}
	}
}

func TestStrangeRowsAreReadAllTheSame(t *testing.T) {
	deep := strings.Repeat("[", 100000)
	path, _ := march(t,
		said("assistant", deep, 2), said("user_blocks", "{}", 3), said("compact_boundary", `{"CompactBoundary":{"replaced_count":-1}}`, 4),
		said("repair", `{"Repair":{"replaced_count":1e99}}`, 5), said("repair", `{"Repair":{"replaced_count":9999,"messages":[7,{"role":"user"}]}}`, 6),
		said("assistant", `[{"type":"tool_use","id":"a","ID":"b","id":"c","name":"x","input":{"n":1e999,"s":"\ud800"}},{"type":"tool_use"},null,7]`, 7),
		said("tool_results", `[{"type":"tool_result","tool_use_id":"c","content":{"deep":`+strings.Repeat("[", 900)+strings.Repeat("]", 900)+`}}]`, 8),
		said("assistant", `[NaN]`, 9),
		`INSERT INTO messages (session_id, role, content, created_at) VALUES ('s', CAST(x'ff' AS TEXT), x'00', 'now')`,
		`INSERT INTO sessions VALUES ('../a'||char(0,10)||'b', '', '', NULL, NULL), (NULL, '', '', 'x', 'y')`,
		`INSERT INTO messages (session_id, role, content, created_at) VALUES ('../a'||char(0,10)||'b', 'user', 'odd', '2026-03-05T08:00:00+00:00'), ('nobody', 'user', 'orphan', '2026-03-05T08:00:00+00:00')`,
	)
	s := memory.New()
	defer s.Close()
	rep := bring(t, s, path)
	if rep.Sessions != 3 || rep.Skipped != 0 {
		t.Errorf("Import = %+v, want 3 sessions", rep)
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
	build(t, path, createMessages, `CREATE TABLE x (id, created_at, updated_at)`, `CREATE VIEW sessions AS SELECT * FROM x`).Close()
	s := memory.New()
	defer s.Close()
	if rep := bring(t, s, path); rep.Unmatched != 1 || rep.Events != 0 {
		t.Errorf("Import = %+v, want 1 file that is not matched", rep)
	}
}

func TestPlacesAreThoseOfEachSystem(t *testing.T) {
	env := map[string]string{}
	h := interop.Home{Dir: filepath.FromSlash("/home/ada"), Env: func(name string) string { return env[name] }}
	for _, c := range []struct{ system, set, want string }{
		{"linux", "", "/home/ada/.local/share/agsh/sessions.db /home/ada/.local/share/meka/meka.db"},
		{"linux", "XDG_DATA_HOME=/data", "/data/agsh/sessions.db /data/meka/meka.db"},
		{"darwin", "", "/home/ada/Library/Application Support/agsh/sessions.db /home/ada/Library/Application Support/meka/meka.db"},
		{"windows", "", "/home/ada/AppData/Roaming/agsh/sessions.db /home/ada/AppData/Roaming/meka/meka.db"},
		{"linux", "MEKA_DATA_DIR=/m", "/home/ada/.local/share/agsh/sessions.db /m/meka.db"},
		{"linux", "AGSH_DATA_DIR=/a", "/a/sessions.db /home/ada/.local/share/meka/meka.db"},
	} {
		clear(env)
		name, value, _ := strings.Cut(c.set, "=")
		env[name] = value
		if got := filepath.ToSlash(strings.Join(placesOn(c.system, h), " ")); got != c.want {
			t.Errorf("places on %s with %q = %s, want %s", c.system, c.set, got, c.want)
		}
	}
}
