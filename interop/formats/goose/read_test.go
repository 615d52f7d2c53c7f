package goose

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
	err := records.Scan(Format(), interop.File{Path: "/sessions.db", Name: name}, bytes.NewReader(lines), func(r skein.Record, m interop.Made) error {
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
		u, err := look(t.Context(), filepath.Join("testdata", "databases", filepath.FromSlash(name)))
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

// autumn is a database of the last version with a session "20261001_1" in which the
// user said "one".
func autumn(t testing.TB, statements ...string) (path string, do func(statements ...string)) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, fileName)
	db := build(t, path, append([]string{
		`PRAGMA journal_mode = WAL`, `PRAGMA wal_autocheckpoint = 0`, // what is new is only in the -wal
		version, lastSQL, lastMessages, lastLedger,
		`INSERT INTO sessions (id, name, working_dir, created_at, updated_at) VALUES ('20261001_1','CLI Session','/home/ada','2026-10-01 08:00:00','2026-10-01 08:00:00')`,
		say("m1", "user", "one", 1, both),
	}, statements...)...)
	return path, func(statements ...string) { t.Helper(); run(t, db, statements...) }
}

// say is the statement that adds a text to the session, the given seconds after eight
// o'clock.
func say(id, role, text string, second int, seen string) string {
	return fmt.Sprintf(`INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, metadata_json)
		VALUES ('%s','20261001_1','%s','[{"type":"text","text":"%s"}]',%d,'%s')`, id, role, text, 1790841600+second, seen)
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
		if got := tell(t, s, "20261001_1"); got != want || rep.Skipped != 0 || rep.Damaged != 0 {
			t.Fatalf("after %q the session is\n%s\nwant\n%s\n%+v", step.do, got, want, rep)
		}
		if rep := bring(t, s, path); rep.Events != 0 {
			t.Fatalf("after %q a second Import = %+v, want nothing new", step.do, rep)
		}
	}
}

func TestWhatTheProgramChangesIsTakenIn(t *testing.T) {
	path, do := autumn(t)
	follow(t, path, do, "created, user:one", []step{
		{``, ""},
		{say("m2", "assistant", "two", 2, both), ", assistant:two"},
		{`UPDATE sessions SET name = 'Numbers', updated_at = '2026-10-01 08:00:09' WHERE id = '20261001_1'`, ", titled:Numbers"},
		{`UPDATE messages SET content_json = '[{"type":"text","text":"zwei"}]' WHERE message_id = 'm2'`, ", amended 3"},
		{`CREATE TEMP TABLE x AS SELECT * FROM messages; DELETE FROM messages; UPDATE x SET id = id + 10; INSERT INTO messages SELECT * FROM x; DROP TABLE x`, ""},
		{`DELETE FROM messages WHERE message_id = 'm2'`, ", -3"},
		{`DELETE FROM messages; DELETE FROM sessions`, ", changed"},
	})
}

func TestACompactionCoversWhatTheModelIsShownNoMore(t *testing.T) {
	path, do := autumn(t, say("m2", "assistant", "two", 2, both))
	compact := func(n int) string {
		return strings.Join([]string{
			`UPDATE messages SET metadata_json = replace(metadata_json, '"agentVisible":true', '"agentVisible":false')`,
			say(fmt.Sprint("s", n), "user", fmt.Sprint("summary ", n), 10*n, model), say(fmt.Sprint("c", n), "assistant", "go on", 10*n, model), say(fmt.Sprint("p", n), "user", "one", 10*n, model),
		}, ";")
	}
	follow(t, path, do, "created, user:one, assistant:two", []step{
		{``, ""},
		{compact(1), ", compacted to 3:summary 1, assistant:go on, user:one"},
		{say("m3", "assistant", "three", 12, both), ", assistant:three"},
		{compact(2), ", compacted to 7:summary 2, assistant:go on, user:one"},
		{say("m4", "user", "four", 30, both), ", user:four"},
	})
	s := memory.New()
	defer s.Close()
	bring(t, s, path)
	if got, err := s.Session(t.Context(), "20261001_1"); err != nil || got.Turns != 2 || got.Compactions != 2 {
		t.Errorf("the session has %d turns and %d compactions, %v, want 2 of each", got.Turns, got.Compactions, err)
	}
}

func TestUsageIsCountedOnce(t *testing.T) {
	path, do := autumn(t)
	s := memory.New()
	defer s.Close()
	request := func(input int, source string) string {
		return fmt.Sprintf(`INSERT INTO usage_ledger (session_id, created_timestamp, model, input_tokens, output_tokens, cost_source, is_compaction)
			VALUES ('20261001_1', 1790841609, 'm', %d, 1, '%s', 0)`, input, source)
	}
	for _, c := range []struct {
		do   string
		want int64
	}{
		{`UPDATE sessions SET accumulated_input_tokens = 100`, 100}, // an older version
		{`UPDATE sessions SET accumulated_input_tokens = 150`, 150},
		{request(150, "carried_forward") + ";" + request(30, "provider_reported") + `; UPDATE sessions SET accumulated_input_tokens = 180`, 180},
		{request(40, "estimated") + `; UPDATE sessions SET accumulated_input_tokens = 220`, 220},
		{`UPDATE sessions SET accumulated_input_tokens = 300`, 220}, // an older version once more
		{request(80, "carried_forward") + ";" + request(5, "estimated"), 305},
	} {
		do(c.do)
		bring(t, s, path)
		if got, err := s.Session(t.Context(), "20261001_1"); err != nil || got.Usage.Input != c.want {
			t.Errorf("after %q the session used %+v, %v, want %d", c.do, got.Usage, err, c.want)
		}
	}
	alone := memory.New()
	defer alone.Close()
	bring(t, alone, path)
	if got, err := alone.Session(t.Context(), "20261001_1"); err != nil || got.Usage.Input != 305 {
		t.Errorf("imported at once the session used %+v, %v, want 305", got.Usage, err)
	}
}

// migrated is a database that was made from the file of the case summer, and
// continued: IDs are new, and JSON is as another version writes it.
func migrated(t *testing.T, path string, more ...string) {
	t.Helper()
	message := func(n int, role, content string) string {
		return fmt.Sprintf(`INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, metadata_json)
			VALUES ('msg_20250710_103000_new%d', '20250710_103000', '%s', '%s', %d, '%s')`, n, role, content, 1752143400+min(n, 4), both)
	}
	build(t, path, append([]string{
		version, lastSQL, lastMessages, lastLedger,
		`INSERT INTO sessions (id, name, working_dir, created_at, updated_at, accumulated_input_tokens, accumulated_output_tokens)
			VALUES ('20250710_103000', 'Plum count', '/home/ada/plums', '2025-07-10 10:30:00', '2025-07-10 10:30:04', 300, 30)`,
		message(0, "user", `[{"type":"text","text":"count the plums"}]`),
		message(1, "assistant", `[{"type":"text","text":"I look."},{"type":"toolRequest","id":"t1","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"ls plums"}}}}]`),
		message(2, "user", `[{"type":"toolResponse","id":"t1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"one two","annotations":{"audience":["assistant"]}},{"type":"text","text":"one two","annotations":{"audience":["user"],"priority":0.0}}],"isError":false}}}]`),
		message(3, "assistant", `[{"type":"text","text":"Two."}]`),
		message(4, "user", `[{"type":"text","text":"thanks"}]`),
		message(5, "user", `[{"type":"text","text":"thanks"}]`),
	}, more...)...).Close()
}

func TestASessionInTheDatabaseAndInItsFileIsOne(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("testdata/files/summer/20250710_103000.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "20250710_103000.jsonl"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	migrated(t, filepath.Join(dir, fileName), `INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp)
		VALUES ('chatcmpl-9', '20250710_103000', 'assistant', '[{"type":"text","text":"Not at all."}]', 1752143500)`)
	s := memory.New()
	defer s.Close()
	rep := bring(t, s, dir)
	if rep.Sessions != 1 || rep.Messages != 7 {
		t.Errorf("Import = %+v, want 1 session with 7 messages", rep)
	}
	sess, err := s.Session(t.Context(), "20250710_103000")
	if err != nil || sess.Usage.Input != 300 || !strings.Contains(sess.Origin.Path, fileName) {
		t.Errorf("the session is %+v, %v, want the database's", sess, err)
	}
}

func TestAFileThatWasImportedBeforeItsDatabaseIsNotDoubled(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("testdata/files/summer/20250710_103000.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "20250710_103000.jsonl"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	s := memory.New()
	defer s.Close()
	bring(t, s, dir)
	migrated(t, filepath.Join(dir, fileName))
	if rep := bring(t, s, dir); rep.Sessions != 0 || rep.Messages != 0 {
		t.Errorf("Import of the database = %+v, want nothing new", rep)
	}
}

func TestACopyIsAFork(t *testing.T) {
	path, do := autumn(t, say("m2", "assistant", "two", 2, both))
	do(`INSERT INTO sessions (id, name, working_dir, created_at, updated_at) VALUES ('20261001_2','copy','/home/ada','2026-10-01 09:00:00','2026-10-01 09:00:00')`,
		`INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, metadata_json) SELECT message_id, '20261001_2', role, content_json, created_timestamp, metadata_json FROM messages`,
		strings.Replace(say("m3", "user", "other", 9, both), "20261001_1", "20261001_2", 1))
	s := memory.New()
	defer s.Close()
	bring(t, s, path)
	got, err := s.Session(t.Context(), "20261001_2")
	if err != nil || got.Parent == nil || got.Parent.Why != skein.Fork || got.Parent.Session != "20261001_1" || got.Messages != 3 {
		t.Errorf("the copy is %+v, %v, want a fork with 3 messages", got, err)
	}
}

func TestStrangeRowsAreReadAllTheSame(t *testing.T) {
	deep := strings.Repeat("[", 100000)
	row := `INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, metadata_json) VALUES `
	path, _ := autumn(t,
		row+`('x1','20261001_1','user','`+deep+`',1,'`+deep+`'), ('x2','20261001_1','user','[{"type":"toolResponse","id":"n","toolResult":{"status":"success","value":{"content":[{"deep":`+strings.Repeat("[", 900)+strings.Repeat("]", 900)+`}]}}}]',1e300,'[]'),
		('x3','20261001_1','assistant','[{"type":"toolRequest","id":"a","ID":"b","id":"c","toolCall":{"value":{"name":"x","arguments":{"n":1e999,"s":"\ud800"}}}},{"type":"toolRequest"},null,7,[],{"type":7}]',-9223372036854775808,'{}'),
		('x4','20261001_1','assistant','[NaN]',9223372036854775807,NULL), (CAST(x'ff' AS TEXT),'20261001_1',CAST(x'ff' AS TEXT),'[{"type":"text"}]','now',x'00'),
		('x6','../a'||char(0,10)||'b','user','[{"type":"text","text":"odd"}]',1,NULL), ('x7','nobody','user','[{"type":"text","text":"orphan"}]',1,NULL)`,
		`INSERT INTO usage_ledger (session_id, created_timestamp, input_tokens, output_tokens, cost) VALUES ('20261001_1', -5, -7, 9223372036854775807, 9e999), ('gone', 1, 3, 4, 'x')`,
		`INSERT INTO sessions (id, working_dir, created_at, model_config_json, parent_session_id) VALUES ('../a'||char(0,10)||'b', '', 'noon', '[', '../a'||char(0,10)||'b'), (NULL, '', 7, '{"model_name":7}', 'none')`,
	)
	s := memory.New()
	defer s.Close()
	rep := bring(t, s, path)
	if rep.Sessions != 4 || rep.Skipped != 0 {
		t.Errorf("Import = %+v, want 4 sessions", rep)
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
	build(t, path, lastMessages, `CREATE TABLE x (id, working_dir, created_at, updated_at)`, `CREATE VIEW sessions AS SELECT * FROM x`).Close()
	s := memory.New()
	defer s.Close()
	if rep := bring(t, s, path); rep.Unmatched != 1 || rep.Events != 0 {
		t.Errorf("Import = %+v, want 1 file that is not matched", rep)
	}
}

func TestWhatIsNoFileOfGooseIsNotMatched(t *testing.T) {
	for _, line := range []string{
		`{"type":"user","role":"user","created":1,"uuid":"x"}`, `{"role":"user","content":"hi"}`, `{"type":"session","description":"x","message_count":1}`, `[]`, ``,
	} {
		if match("/a/b.jsonl", []byte(line)).Sure != interop.No {
			t.Errorf("match(%s) = true, want false", line)
		}
	}
	long := []byte(`{"id":null,"role":"user","created":1752143400,"content":[{"type":"text","text":"` + strings.Repeat("x", 5000))
	if match("/a/b.jsonl", long[:4096]).Sure != interop.Known {
		t.Error("match of a long first line depends on its end, or not on the file's name")
	}
}

func TestPlacesAreThoseOfEachSystem(t *testing.T) {
	env := map[string]string{}
	h := interop.Home{Dir: filepath.FromSlash("/home/ada"), Env: func(name string) string { return env[name] }}
	for _, c := range []struct{ system, set, want string }{
		{"linux", "", "/home/ada/.local/share/goose/sessions"},
		{"linux", "XDG_DATA_HOME=/data", "/data/goose/sessions"},
		{"darwin", "", "/home/ada/.local/share/goose/sessions"},
		{"windows", "", "/home/ada/AppData/Roaming/Block/goose/data/sessions"},
		{"windows", "APPDATA=/app", "/app/Block/goose/data/sessions"},
		{"linux", "GOOSE_PATH_ROOT=/g", "/g/data/sessions"},
	} {
		clear(env)
		name, value, _ := strings.Cut(c.set, "=")
		env[name] = value
		if got := filepath.ToSlash(strings.Join(placesOn(c.system, h), " ")); got != c.want {
			t.Errorf("places on %s with %q = %s, want %s", c.system, c.set, got, c.want)
		}
	}
}
