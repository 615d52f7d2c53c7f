package openaiagents

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
	"github.com/skein-dev/skein/interop/interoptest"
	"github.com/skein-dev/skein/interop/records"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// items returns what the reader makes of the lines of a source, each event as
// text.
func items(t testing.TB, name string, lines []byte) (all []string) {
	t.Helper()
	err := records.Scan(Format(), interop.File{Path: "/x/a.db", Name: name}, bytes.NewReader(lines), func(r skein.Record, m interop.Made) error {
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
				t.Errorf("source %q of %s has what is not of sessions: %s", s.Name, name, b)
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
			words = append(words, "titled:"+f.Titled.Title)
		case f.Amended != nil && f.Amended.Withdrawn:
			words = append(words, fmt.Sprint("-", f.Amended.Seq))
		case f.Amended != nil:
			words = append(words, fmt.Sprint("amended ", f.Amended.Seq))
		case f.Compacted != nil:
			words = append(words, fmt.Sprintf("compacted to %d:%s", f.Compacted.To, f.Compacted.Summary))
		default:
			words = append(words, string(e.Kind))
		}
	}
	return strings.Join(words, ", ")
}

// database is one with the session "s", in which the user said "one".
func database(t testing.TB, statements ...string) (path string, do func(statements ...string)) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "agents.db")
	db := build(t, path, append(append(append([]string{`PRAGMA journal_mode = WAL`, `PRAGMA wal_autocheckpoint = 0`}, schema()...),
		`INSERT INTO agent_sessions VALUES ('s', '2026-03-05 08:00:00', '2026-03-05 08:00:00')`,
		add(`{"role":"user","content":"one"}`)), statements...)...)
	return path, func(statements ...string) { t.Helper(); run(t, db, statements...) }
}

// add is the statement that adds items to the session "s".
func add(items ...string) string {
	return `INSERT INTO agent_messages (session_id, message_data, created_at) VALUES ('s', '` + strings.Join(items, `', '2026-03-05 08:00:01'), ('s', '`) + `', '2026-03-05 08:00:01')`
}

type step struct{ do, adds string }

func follow(t *testing.T, path string, do func(...string), want string, steps []step) {
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
	path, do := database(t)
	follow(t, path, do, "created, user:one", []step{
		{``, ""},
		{`UPDATE agent_sessions SET updated_at = '2026-03-05 08:00:09'`, ""},
		{add(`{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"so"}]}`, `{"role":"assistant","content":"two"}`), ", assistant:so, assistant:two"},
		{add(`{"role":"user","content":"one"}`), ", user:one"},
		{`DELETE FROM agent_messages WHERE id = 4`, ", -5"}, // pop_item
		{`DELETE FROM agent_messages; DELETE FROM agent_sessions`, ", changed"},
	})
}

func TestWhatACompactionTookIsKept(t *testing.T) {
	path, do := database(t, add(`{"role":"assistant","content":"two"}`, `{"role":"user","content":"three"}`))
	follow(t, path, do, "created, user:one, assistant:two, user:three", []step{
		{``, ""},
		{
			`DELETE FROM agent_messages; ` + add(`{"id":"m","type":"message","role":"user","status":"completed","content":[{"type":"input_text","text":"three"}]}`, `{"id":"c","type":"compaction","encrypted_content":"xyz"}`),
			", compacted to 3:",
		},
		{add(`{"role":"assistant","content":"four"}`), ", assistant:four"},
	})
}

func TestABranchIsAFork(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "sessions.sqlite3")
	db := build(t, path, branched()...)
	s := memory.New()
	defer s.Close()
	wants := func(id skein.SessionID, want string) {
		t.Helper()
		if got := tell(t, s, id); got != want {
			t.Errorf("session %s is %s, want %s", id, got, want)
		}
	}
	if rep := bring(t, s, path); rep.Sessions != 4 || rep.Damaged != 0 {
		t.Errorf("Import = %+v, want 4 sessions", rep)
	}
	wants("b", "created, user:one, assistant:eins, user:two, assistant:zwei, user:three, step")
	wants("b:french", "created, user:one, assistant:eins, created, user:deux, assistant:2, step")
	wants("b:deep", "created, user:one, assistant:eins, created, user:deux, assistant:2, created, user:trois")
	wants("b:empty", "created, user:anew")
	run(t, db, `UPDATE turn_usage SET input_tokens = 150 WHERE id = 1`,
		`INSERT INTO agent_messages VALUES (10, 'b', '{"role":"assistant","content":"3"}', ''), (11, 'b', '{"role":"user","content":"last"}', '2026-03-05 08:01:00')`,
		`INSERT INTO message_structure (session_id, message_id, branch_id, message_type, sequence_number) VALUES ('b', 10, 'deep', 'assistant', 17), ('b', 1, 'late', 'user', 18), ('b', 2, 'late', 'assistant', 19), ('b', 11, 'late', 'user', 20)`)
	bring(t, s, path)
	if rep := bring(t, s, path); rep.Events != 0 {
		t.Errorf("second Import = %+v, want nothing new", rep)
	}
	wants("b:deep", "created, user:one, assistant:eins, created, user:deux, assistant:2, created, user:trois, assistant:3")
	wants("b:late", "created, user:one, assistant:eins, created, user:last")
	got, err := s.Session(t.Context(), "b")
	if err != nil || got.Usage.Input != 110 || got.Usage.Output != 10 {
		t.Errorf("the session used %+v, %v, want 110 tokens read and 10 written", got.Usage, err)
	}
	home := t.TempDir()
	if done, err := writeback.Export(t.Context(), s, Format(), "b", home, writeback.Exports{}); err != nil || !done[0].Exact {
		t.Fatalf("Export = %+v, %v, want it exact", done, err)
	}
	if was, is := interoptest.Dump(t, path, tables...), interoptest.Dump(t, filepath.Join(home, "sessions.sqlite3"), tables...); !bytes.Equal(was, is) {
		t.Errorf("written again the database is\n%s\nwant\n%s", is, was)
	}
}

func TestBranchesImportedInPiecesAreTheSame(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "sessions.db")
	db := build(t, path, branched()...)
	at := memory.New()
	defer at.Close()
	bring(t, at, path)
	run(t, db, `CREATE TEMP TABLE m AS SELECT * FROM agent_messages`, `CREATE TEMP TABLE x AS SELECT * FROM message_structure`,
		`DELETE FROM agent_messages`, `DELETE FROM message_structure`)
	pieces := memory.New()
	defer pieces.Close()
	for id := range 10 {
		run(t, db, fmt.Sprintf(`INSERT INTO agent_messages SELECT * FROM m WHERE id = %d`, id),
			fmt.Sprintf(`INSERT OR IGNORE INTO message_structure SELECT * FROM x WHERE id <= (SELECT max(id) FROM x WHERE message_id = %d AND id NOT IN (SELECT id FROM x AS y WHERE EXISTS (SELECT 1 FROM x AS z WHERE z.message_id = y.message_id AND z.id < y.id)))`, id))
		bring(t, pieces, path)
	}
	for _, id := range []skein.SessionID{"b", "b:french", "b:deep", "b:empty"} {
		a, b := strings.ReplaceAll(tell(t, at, id), ", step", ""), strings.ReplaceAll(tell(t, pieces, id), ", step", "")
		if a != b {
			t.Errorf("session %s in pieces is %s, want %s", id, b, a)
		}
	}
}

func TestStrangeRowsAreReadAllTheSame(t *testing.T) {
	deep := strings.Repeat("[", 100000)
	path, do := database(t,
		add(deep, `{"role":"user","content":`+strings.Repeat("[", 900)+strings.Repeat("]", 900)+`}`, `[NaN]`, `{}`, `{"type":7}`, `{"role":7,"content":{}}`,
			`{"type":"function_call","call_id":"a","call_id":"b","CALL_ID":"c","name":7,"arguments":{"n":1e999,"s":"\ud800"}}`, `{"type":"function_call_output"}`,
			`{"role":"assistant","tool_calls":[7,{},{"id":"x"}]}`, `{"type":"reasoning","summary":7}`, `{"type":"mcp_list_tools","tools":[]}`, `{"type":"_call"}`, `{"type":"_output","output":[[]]}`),
		`INSERT INTO agent_messages (session_id, message_data, created_at) VALUES ('s', x'ff', 'now'), ('s', CAST(x'ff' AS TEXT), -1), ('../a'||char(0,10)||'b', '{"role":"user","content":"odd"}', NULL), ('nobody', '{"role":"user","content":"orphan"}', 1)`,
		`INSERT INTO agent_sessions VALUES ('../a'||char(0,10)||'b', 'x', 'y'), (NULL, 1, 2)`)
	do(advanced()[len(schema()):]...)
	do(`INSERT INTO message_structure (session_id, message_id, branch_id, message_type, sequence_number) VALUES ('s', 1, '../'||char(0), 'user', 1), ('s', 1, 'main', 'user', 1), ('s', 2, 'main', 'x', 2), ('s', 2, '', 'x', 2), ('s', 99, 'gone', 'x', 2), ('s', 3, 'gone', 'x', 3)`,
		`INSERT INTO turn_usage VALUES (1, 's', 'gone', 9223372036854775807, 1, -5, 9223372036854775807, 1, '{"cached_tokens":1e99}', '[', 'x'), (2, 's', 'never', 1, 1, 5, 6, 1, NULL, NULL, NULL)`)
	s := memory.New()
	defer s.Close()
	rep := bring(t, s, path)
	if rep.Sessions != 5 || rep.Skipped != 0 {
		t.Errorf("Import = %+v, want 5 sessions", rep)
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

func TestOtherDatabasesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	build(t, filepath.Join(dir, "view.db"), `CREATE TABLE x (session_id)`, `CREATE VIEW agent_messages AS SELECT * FROM x`, `CREATE VIEW agent_sessions AS SELECT * FROM x`).Close()
	build(t, filepath.Join(dir, "other.sqlite"), `CREATE TABLE x (session_id)`).Close()
	build(t, filepath.Join(dir, "half.sqlite3"), `CREATE TABLE agent_messages (session_id)`).Close()
	s := memory.New()
	defer s.Close()
	if rep := bring(t, s, dir); rep.Unmatched != 3 || rep.Events != 0 {
		t.Errorf("Import = %+v, want 3 files that are not matched", rep)
	}
	for name, want := range map[string]string{"/a/b.db-wal": "/a/b.db", "/a/b.sqlite": "/a/b.sqlite", "/a/b.json": "", "/a/b.db-x": "", "/a/.db": "/a/.db"} {
		if got := unit(name); got != want {
			t.Errorf("unit(%s) = %q, want %q", name, got, want)
		}
	}
}
