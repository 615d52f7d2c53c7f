package adk

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
	"github.com/skein-dev/skein/llm/window"
	"github.com/skein-dev/skein/store/memory"
)

// items returns what the reader makes of the lines of a source, each event as
// text.
func items(t testing.TB, name string, lines []byte) (all []string) {
	t.Helper()
	err := records.Scan(Format(), interop.File{Path: "/x/.adk/session.db", Name: name}, bytes.NewReader(lines), func(r skein.Record, m interop.Made) error {
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
	f.Fuzz(func(t *testing.T, lines []byte) { items(t, "app/ada/s", lines) })
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
	path = filepath.Join(dir, "session.db")
	db := build(t, path, append(append(lite(),
		`INSERT INTO sessions VALUES ('app', 'ada', 's', '{}', 1772697600, 1772697600)`,
		occur("e1", "i1", 0, text("user", "one"))), statements...)...)
	return path, func(statements ...string) { t.Helper(); run(t, db, statements...) }
}

// text is the JSON of what somebody says.
func text(author, words string) string {
	return `"author":"` + author + `","content":{"parts":[{"text":"` + words + `"}]}`
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
	follow(t, path, do, "created, noted, user:one", []step{
		{``, ""},
		{`UPDATE sessions SET update_time = update_time + 1, state = '{"a":1}'`, ""},
		{occur("e2", "i1", 1, text("app", "two")), ", assistant:two"},
		{`UPDATE events SET event_data = replace(event_data, '"two"', '"zwei"') WHERE id = 'e2'`, ", amended 4"},
		{occur("e0", "i2", -5, text("user", "three")), ", user:three"}, // a clock that went back
		{`DELETE FROM events WHERE id = 'e0'`, ", -6"},
		{`DELETE FROM events; DELETE FROM sessions`, ", changed"},
	})
}

func TestTwoUsersCanHaveASessionOfOneID(t *testing.T) {
	path, do := database(t)
	do(`INSERT INTO sessions VALUES ('app', 'bob', 's', '{}', 1772697600, 1772697600)`, strings.Replace(occur("e1", "i1", 0, text("user", "uno")), "'ada'", "'bob'", 1))
	s := memory.New()
	defer s.Close()
	if rep := bring(t, s, path); rep.Sessions != 2 || rep.Messages != 2 {
		t.Errorf("Import = %+v, want 2 sessions with a message each", rep)
	}
	var first []string
	for sess, err := range s.Sessions(t.Context(), skein.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if first = append(first, sess.First); !strings.HasPrefix(string(sess.ID), "s") {
			t.Errorf("session %s, want s, or s with a hash", sess.ID)
		}
	}
	if slices.Sort(first); !slices.Equal(first, []string{"one", "uno"}) {
		t.Errorf("the sessions begin with %q, want one and uno", first)
	}
}

func TestUsageIsThatOfEachAnswer(t *testing.T) {
	answer := func(id string, second int) string {
		return occur(id, "i1", second, text("app", id)+`,"usage_metadata":{"prompt_token_count":100,"cached_content_token_count":30,"candidates_token_count":7,"thoughts_token_count":3}`)
	}
	path, _ := database(t, answer("e2", 1), answer("e3", 2))
	s := memory.New()
	defer s.Close()
	bring(t, s, path)
	want := skein.Usage{Input: 140, CacheRead: 60, Output: 20, Reasoning: 6, Requests: 2}
	if got, err := s.Session(t.Context(), "s"); err != nil || got.Usage != want {
		t.Errorf("the session used %+v, %v, want %+v", got.Usage, err, want)
	}
}

func TestTheModelIsShownWhatTheKitWouldShow(t *testing.T) {
	path, _ := database(t,
		occur("e2", "i1", 1, text("app", "two")), occur("e3", "i2", 2, text("user", "wrong")), occur("e4", "i3", 3, `"author":"user","actions":{"rewind_before_invocation_id":"i2"}`),
		occur("e5", "i4", 4, text("user", "three")), occur("e6", "i4", 5, text("app", "four")),
		occur("e7", "i4", 6, `"author":"user","actions":{"compaction":{"start_timestamp":1772697600.5,"end_timestamp":1772697601.5,"compacted_content":{"parts":[{"text":"one and two"}]}}}`))
	s := memory.New()
	defer s.Close()
	bring(t, s, path)
	var evs []skein.Event
	for e, err := range s.Events(t.Context(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		evs = append(evs, e)
	}
	v, err := window.Context(evs, window.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range v.Messages {
		for _, p := range m.Parts {
			got = append(got, string(p.Text))
		}
	}
	if len(got) != 3 || !strings.Contains(got[0], "one and two") || got[1] != "three" || got[2] != "four" {
		t.Errorf("the model is shown %q, want a summary, three and four", got)
	}
}

func TestStrangeRowsAreReadAllTheSame(t *testing.T) {
	deep := strings.Repeat("[", 100000)
	row := `INSERT INTO events VALUES `
	path, _ := database(t,
		row+`('x1','app','ada','s','i',1,'`+deep+`'), ('x2','app','ada','s','i',1e300,'{"author":7,"content":{"parts":`+strings.Repeat("[", 900)+strings.Repeat("]", 900)+`}}'),
		('x3','app','ada','s',x'00','now','{"author":"app","timestamp":1e999,"content":{"parts":[{"function_call":{"id":"a","id":"b","Id":"c","name":7,"args":{"n":1e999,"s":"\ud800"}}},{"function_call":{}},{"function_response":{}},null,7,[],{"text":7},{"inline_data":{}},{"code_execution_result":{}}]},"long_running_tool_ids":[7,"b"]}'),
		('x4','app','ada','s','i',1,'[NaN]'), ('x5','app','ada','s','i',1,x'80'), (CAST(x'ff' AS TEXT),CAST(x'ff' AS TEXT),'%2f','a/b','i',1,'{"author":"user","content":{"parts":[{"text":"bytes"}]}}'),
		('x6','app','ada','../a'||char(0,10)||'b','i',1,'{"author":"user","content":{"parts":[{"text":"odd"}]}}'), ('x7','app','ada','nobody','i',1772697600,'{"author":"user","content":{"parts":[{"text":"orphan"}]}}'),
		('x8','app','ada','s','i',1,'{"author":"user","actions":{"compaction":{"start_timestamp":1e999,"end_timestamp":"x","compacted_content":{"parts":7}}}}'),
		('x9','app','ada','s','i',1,'{"author":"user","actions":{"rewind_before_invocation_id":"never","transfer_to_agent":""},"usage_metadata":{"prompt_token_count":1e300,"candidates_token_count":-4}}')`,
		`INSERT INTO sessions VALUES ('app', 'ada', '../a'||char(0,10)||'b', '[', 'noon', 'noon'), ('', '', '', '', 7, 7)`,
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

func TestOtherDatabasesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	build(t, filepath.Join(dir, "view.db"), `CREATE TABLE x (app_name, user_id, id)`, `CREATE VIEW sessions AS SELECT * FROM x`,
		`CREATE TABLE events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)`).Close()
	build(t, filepath.Join(dir, "other.sqlite"), `CREATE TABLE sessions (id)`).Close()
	build(t, filepath.Join(dir, "half.sqlite3"), `CREATE TABLE events (id, invocation_id)`).Close()
	s := memory.New()
	defer s.Close()
	if rep := bring(t, s, dir); rep.Unmatched != 3 || rep.Events != 0 {
		t.Errorf("Import = %+v, want 3 files that are not matched", rep)
	}
}

func TestANameIsTakenApartAsItWasMade(t *testing.T) {
	for _, c := range [][3]string{{"app", "ada", "s"}, {"a/b", "ü %2f", ""}, {"", "", ""}, {"..", ".", "\x00\n"}} {
		at := t.TempDir()
		db := build(t, filepath.Join(at, "a.db"), lite()...)
		if _, err := db.Exec(`INSERT INTO sessions VALUES (?, ?, ?, '', 1, 1)`, c[0], c[1], c[2]); err != nil {
			t.Fatal(err)
		}
		u, err := look(t.Context(), filepath.Join(at, "a.db"))
		if err != nil {
			t.Fatal(err)
		}
		ss, err := u.Sources(t.Context())
		if err != nil || u.Close() != nil {
			t.Fatal(err)
		}
		if app, user, id := parts(ss[0].Name); app != c[0] || user != c[1] || id != c[2] {
			t.Errorf("parts(%q) = %q, %q, %q, want %q", ss[0].Name, app, user, id, c)
		}
	}
}

func TestPlacesAreThoseOfTheAgentsHere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [b] c")
	for _, name := range []string{"one/.adk/session.db", "two/.adk/session.db", "three/x", ".adk/session.db"} {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, p := range places(interop.Home{Cwd: dir}) {
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	if want := ".adk/session.db one/.adk/session.db two/.adk/session.db"; filepath.Separator == '/' && strings.Join(got, " ") != want {
		t.Errorf("places = %q, want %s", got, want)
	}
	if got := places(interop.Home{}); got != nil {
		t.Errorf("places without a working directory = %q, want none", got)
	}
}
