package crush

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
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/llm/window"
	"github.com/skein-dev/skein/store/memory"
)

// items returns what the reader makes of the lines of a source, each event as
// text.
func items(t testing.TB, name string, lines []byte) (all []string) {
	t.Helper()
	err := records.Scan(Format(), interop.File{Path: "/x/.crush/crush.db", Name: name}, bytes.NewReader(lines), func(r skein.Record, m interop.Made) error {
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

// plums is a database with a session "s" in which the user said "one".
func plums(t testing.TB, statements ...string) (path string, do func(statements ...string)) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, fileName)
	db := build(t, path, append(append(newest(), triggers()...), append([]string{
		`INSERT INTO sessions (id, title, updated_at, created_at) VALUES ('s', 'New Session', 1786856400, 1786856400)`,
		say("m1", "user", "one", 1, ""),
	}, statements...)...)...)
	return path, func(statements ...string) { t.Helper(); run(t, db, statements...) }
}

// say is the statement that adds a text to the session "s"; one that has ended
// has a reason.
func say(id, role, text string, second int, reason string) string {
	return fmt.Sprintf(`INSERT INTO messages (id, session_id, role, parts, created_at, updated_at) VALUES ('%s', 's', '%s', '%s', %d, 0)`,
		id, role, parts(text, reason), 1786856400+second)
}

func parts(text, reason string) string {
	end := ""
	if reason != "" {
		end = `,{"type":"finish","data":{"reason":"` + reason + `","time":1}}`
	}
	return `[{"type":"text","data":{"text":"` + text + `"}}` + end + `]`
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
	path, do := plums(t)
	follow(t, path, do, "created, user:one", []step{
		{``, ""},
		{say("m2", "assistant", "tw", 2, ""), ", assistant:tw"},
		{`UPDATE messages SET parts = '` + parts("two", "end_turn") + `' WHERE id = 'm2'`, ", amended 3"},
		{`UPDATE sessions SET title = 'Numbers'`, ", titled:Numbers"},
		{`INSERT INTO files VALUES ('f1', 's', '/a', 'x', 0, 1786856403, 1786856403)`, ", noted"},
		{say("m3", "user", "three", 4, ""), ", user:three"},
		{`DELETE FROM messages WHERE id = 'm3'`, ", -7"},
		{`DELETE FROM messages; DELETE FROM files; DELETE FROM sessions`, ", changed"},
	})
}

func TestASummaryIsOneWhenItIsWhole(t *testing.T) {
	path, do := plums(t, say("m2", "assistant", "two", 2, "end_turn"))
	part := func(text, reason string) string {
		return `UPDATE messages SET parts = '` + parts(text, reason) + `' WHERE id = 'm3'`
	}
	s := memory.New()
	defer s.Close()
	for _, c := range []struct {
		do   string
		want int
	}{
		{say("m3", "assistant", "one an", 3, "") + `; UPDATE messages SET is_summary_message = 1 WHERE id = 'm3'`, 3},
		{part("one and", ""), 3},
		{part("one and two", "end_turn") + `; UPDATE sessions SET summary_message_id = 'm3'`, 1},
		{say("m4", "user", "four", 5, ""), 2},
	} {
		do(c.do)
		bring(t, s, path)
		if got := shown(t, s); len(got) != c.want {
			t.Errorf("after %q the model is shown %q, want %d messages", c.do, got, c.want)
		}
	}
	if got := shown(t, s); !strings.Contains(got[0], "one and two") {
		t.Errorf("the model is shown %q, want the summary first", got)
	}
}

// shown returns what the model is shown of the session "s".
func shown(t *testing.T, s skein.Store) (all []string) {
	t.Helper()
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
	for _, m := range v.Messages {
		words := ""
		for _, p := range m.Parts {
			words += string(p.Text)
		}
		all = append(all, words)
	}
	return all
}

func TestACostIsCountedOnce(t *testing.T) {
	path, do := plums(t)
	s := memory.New()
	defer s.Close()
	for _, cost := range []float64{0.25, 0.5, 0.5, 0.75} { // a parent's includes its children's
		do(fmt.Sprintf(`UPDATE sessions SET cost = %f WHERE id = 's'`, cost),
			fmt.Sprintf(`INSERT OR REPLACE INTO sessions (id, parent_session_id, title, cost, updated_at, created_at) VALUES ('m1$$c', 's', 'x', %f, 1, 1)`, cost/2))
		bring(t, s, path)
		got, err := s.Session(t.Context(), "s")
		child, err2 := s.Session(t.Context(), "m1$$c")
		if err != nil || err2 == nil && child.Usage.Reported != 0 || got.Usage.Reported != int64(cost*1e9) {
			t.Errorf("with %f the session cost %+v, %v, its child %+v", cost, got.Usage, err, child.Usage)
		}
	}
}

func TestSessionsThatAreWrittenToADatabaseKeepTheirCounts(t *testing.T) {
	path, do := plums(t)
	do(`INSERT INTO sessions (id, title, updated_at, created_at) VALUES ('t', 'x', 1, 1)`, strings.Replace(say("m9", "user", "nine", 1, ""), "'s'", "'t'", 1))
	s := memory.New()
	defer s.Close()
	bring(t, s, path)
	home := t.TempDir()
	for _, id := range []skein.SessionID{"s", "t"} {
		if _, err := writeback.Export(t.Context(), s, Format(), id, home, writeback.Exports{}); err != nil {
			t.Fatal(err)
		}
	}
	var n int
	db := build(t, filepath.Join(home, fileName))
	if err := db.QueryRow(`SELECT count(*) FROM sessions WHERE message_count = 1`).Scan(&n); err != nil || n != 2 {
		t.Errorf("%d sessions have the count 1, %v, want 2", n, err)
	}
}

func TestStrangeRowsAreReadAllTheSame(t *testing.T) {
	deep := strings.Repeat("[", 100000)
	row := `INSERT INTO messages (id, session_id, role, parts, created_at, updated_at, model) VALUES `
	path, _ := plums(t,
		row+`('x1','s','user','`+deep+`',1,1,NULL), ('x2','s','tool','[{"type":"tool_result","data":{"tool_call_id":"n","content":7,"metadata":"`+strings.Repeat("[", 900)+`","data":"!"}}]',1e300,1,x'00'),
		('x3','s','assistant','[{"type":"tool_call","data":{"id":"a","ID":"b","id":"c","name":7,"input":"{\"n\":1e999}"}},{"type":"tool_call"},null,7,[],{"type":7,"data":{}},{"type":"finish","data":[]}]',-9223372036854775808,1,'m'),
		('x4','s','assistant','[NaN]',9223372036854775807,1,NULL), (CAST(x'ff' AS TEXT),'s',CAST(x'ff' AS TEXT),x'ff00','now',1,NULL), (NULL,'s','user','[]',1,1,NULL),
		('x6','../a'||char(0,10)||'b','user','[{"type":"text","data":{"text":"odd"}}]',1,1,NULL), ('x7','nobody','user','[{"type":"text","data":{"text":"orphan"}}]',1,1,NULL)`,
		`INSERT INTO files VALUES ('f1','s',CAST(x'00ff' AS TEXT),x'ff',9223372036854775807,'x','y'), (NULL,'s','../../x','',-1,1,1)`,
		`INSERT INTO sessions (id, parent_session_id, title, cost, updated_at, created_at, summary_message_id, todos) VALUES ('../a'||char(0,10)||'b', '../a'||char(0,10)||'b', '', 9e999, 'noon', 'noon', '', '['), (NULL, 'none', 'x', 1, 7, 7, 'x', '7')`,
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
	build(t, path, `CREATE TABLE messages (id, session_id, role, parts, created_at)`, `CREATE TABLE x (id, parent_session_id, title, message_count, created_at)`, `CREATE VIEW sessions AS SELECT * FROM x`).Close()
	s := memory.New()
	defer s.Close()
	if rep := bring(t, s, path); rep.Unmatched != 1 || rep.Events != 0 {
		t.Errorf("Import = %+v, want 1 file that is not matched", rep)
	}
}
