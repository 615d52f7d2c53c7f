package skillet

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver of the databases that tests make

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

const schema = `CREATE TABLE session_items (id INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL,
	session_name TEXT NOT NULL, created_at INTEGER NOT NULL, item_json TEXT NOT NULL)`

const index = `CREATE INDEX idx_session ON session_items (user_id, session_name, created_at)`

// A state is one of Skillet's state folders and a store.
type state struct {
	*testing.T
	dir   string
	store *memory.Store
	db    *sql.DB
}

func newState(t *testing.T) *state {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &state{T: t, dir: dir, store: memory.New()}
	t.Cleanup(func() { s.store.Close() })
	return s
}

func (s *state) open() *sql.DB {
	s.Helper()
	if s.db == nil {
		db, err := sql.Open("sqlite", filepath.Join(s.dir, databaseName))
		if err != nil {
			s.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		s.Cleanup(func() { db.Close() })
		s.db = db
		s.exec(schema)
		s.exec(index)
	}
	return s.db
}

func (s *state) exec(q string, args ...any) {
	s.Helper()
	if _, err := s.open().Exec(q, args...); err != nil {
		s.Fatalf("%s: %v", q, err)
	}
}

// add adds items of a session, as one turn at this millisecond.
func (s *state) add(user, name string, at int64, items ...string) {
	s.Helper()
	for _, it := range items {
		s.exec(`INSERT INTO session_items (user_id, session_name, created_at, item_json) VALUES (?, ?, ?, ?)`, user, name, at, it)
	}
}

func (s *state) log(name string, lines ...string) {
	s.Helper()
	path := filepath.Join(s.dir, logsName, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		s.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		s.Fatal(err)
	}
}

func (s *state) bring() interop.Report {
	s.Helper()
	return bring(s.T, s.store, s.dir)
}

func bring(t testing.TB, store skein.Store, dir string) interop.Report {
	t.Helper()
	rep, err := importer.Import(context.Background(), store, []interop.Format{Format()}, []string{dir}, interop.Options{})
	if err != nil {
		t.Fatalf("Import(%s) = %v", dir, err)
	}
	return rep
}

// tell returns the events of a session, each in a few words.
func tell(t testing.TB, s skein.Store, id string) string {
	t.Helper()
	var words []string
	for e, err := range s.Events(context.Background(), skein.SessionID(id), 0) {
		if err != nil {
			t.Fatalf("Events(%s) = %v", id, err)
		}
		words = append(words, word(t, e))
	}
	return strings.Join(words, " | ")
}

func word(t testing.TB, e skein.Event) string {
	t.Helper()
	f, err := skein.FactsOf(e)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case f.Message != nil:
		out := string(f.Message.Role)
		for _, p := range f.Message.Parts {
			switch {
			case p.Call != nil:
				out += fmt.Sprintf(" %s(%s)", p.Call.Name, p.Call.Input)
			case p.Result != nil:
				out += " =" + string(p.Result.Text)
				for _, f := range p.Result.Files {
					out += " file " + f.Media
				}
			case p.File != nil:
				out += " file " + p.File.Media + p.File.URL
			case p.Kind == skein.PartText:
				out += " " + string(p.Text)
			default:
				out += " " + string(p.Kind) + ":" + string(p.Text)
			}
		}
		return out
	case f.Amended != nil && f.Amended.Withdrawn:
		return fmt.Sprintf("-%d", f.Amended.Seq)
	case f.Amended != nil:
		return fmt.Sprintf("amended %d", f.Amended.Seq)
	case f.Compacted != nil:
		return fmt.Sprintf("compacted to %d", f.Compacted.To)
	case e.Kind == skein.KindChanged:
		return "changed " + string(e.Payload)
	case e.Kind == skein.KindNoted:
		n, _ := skein.Decode[skein.Noted](e)
		return n.Name
	}
	return string(e.Kind)
}

func (s *state) wants(id, want string) {
	s.Helper()
	if got := tell(s.T, s.store, id); got != want {
		s.Errorf("events of %s:\n%s\nwant\n%s", id, got, want)
	}
}

const (
	hello  = `{"type":"message","role":"user","content":"hello"}`
	call   = `{"type":"function_call","callId":"c1","name":"echo","status":"completed","arguments":"{\"s\":\"x\"}","providerData":{"type":"function_call"}}`
	result = `{"type":"function_call_result","name":"echo","callId":"c1","status":"completed","output":{"type":"text","text":"echo x"}}`
	answer = `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"done","providerData":{"annotations":[]}}],"providerData":{}}`
)

func TestATurnOfRowsBecomesAConversation(t *testing.T) {
	s := newState(t)
	s.add("ann@x.org", "plan", 1000, hello, call, result, answer)
	s.add("bob@x.org", "plan", 2000, `{"role":"user","content":"mine"}`)
	if rep := s.bring(); rep.Sessions != 2 || rep.Files != 1 || rep.Skipped != 0 {
		t.Errorf("Import = %+v, want 2 sessions of 1 state", rep)
	}
	s.wants("ann_x_org:plan", `created | user hello | assistant echo({"s":"x"}) | tool =echo x | assistant done`)
	s.wants("bob_x_org:plan", "created | user mine")
	if rep := s.bring(); rep.Events != 0 || rep.Unchanged != 1 {
		t.Errorf("Import again = %+v, want nothing new", rep)
	}
	sess, err := s.store.Session(t.Context(), "ann_x_org:plan")
	if err != nil || sess.Title != "plan" || sess.Turns != 1 {
		t.Errorf("session = %+v, %v, want the title plan and 1 turn", sess, err)
	}
}

func TestRowsComeByTheirTimesAndThenTheirNumbers(t *testing.T) {
	s := newState(t)
	s.add("u", "n", 5, `{"role":"user","content":"three"}`)
	s.add("u", "n", 3, `{"role":"user","content":"one"}`, `{"role":"user","content":"two"}`)
	s.bring()
	s.wants("u:n", "created | user one | user two | user three")
}

func TestItemsOfEveryType(t *testing.T) {
	s := newState(t)
	for i, c := range []struct{ item, want string }{
		{`{"type":"message","role":"system","content":"rules"}`, "system rules"},
		{`{"role":"user","content":[{"type":"input_image","image":"data:image/png;base64,aGk="},{"type":"input_text","text":"see"}]}`, "user file image/png see"},
		{`{"role":"user","content":[{"type":"input_image","image":"https://x.org/a.png"}]}`, "user file https://x.org/a.png"},
		{`{"role":"user","content":[{"type":"input_file","file":{"id":"file_1"}}]}`, "user other:"},
		{`{"type":"message","role":"assistant","status":"completed","content":[{"type":"refusal","refusal":"no"}]}`, "assistant no"},
		{`{"type":"reasoning","content":[{"type":"input_text","text":"hm"}]}`, "assistant reasoning:hm"},
		{`{"type":"reasoning","content":[],"providerData":{"encryptedContent":"x","summary":[{"type":"summary_text","text":"sum"}]}}`, "assistant reasoning:sum"},
		{`{"type":"reasoning","content":[],"providerData":{"summary":[]}}`, ""},
		{`{"type":"function_call","callId":"f","name":"a","status":"in_progress","arguments":"no json"}`, `assistant a("no json") | tool`},
		{`{"type":"function_call_output","call_id":"f","output":[{"type":"input_text","text":"o"},{"type":"input_image","image_url":"data:image/png;base64,aGk="}]}`, "tool =o file image/png"},
		{`{"type":"function_call_result","name":"transfer_to_ed","callId":"g","status":"completed","output":"{\"assistant\":\"Ed\"}"}`, `tool ={"assistant":"Ed"} | changed {"agent":"Ed"}`},
		{`{"type":"hosted_tool_call","id":"h","name":"web_search","status":"completed","output":"found"}`, "assistant web_search() | tool =found"},
		{`{"type":"shell_call","callId":"s","action":{"commands":["ls"]}}`, `assistant shell({"commands":["ls"]})`},
		{`{"type":"shell_call_output","callId":"s","output":[{"stdout":"a"}]}`, "tool ="},
		{`{"type":"computer_call_result","callId":"p","output":{"type":"computer_screenshot","data":"data:image/png;base64,aGk="}}`, "tool = file image/png"},
		{`{"type":"unheard_of","x":1}`, "skillet:item"},
		{`{"type":"message","role":"martian","content":"x"}`, "skillet:item"},
		{`[1]`, "skillet:item"},
		{`{"role":"user","content":[{"type":"input_text","text":"\ud801"}]}`, "user \xed\xa0\x81"},
		{`{"role":"user","content":"\ud800<b>"}`, "user \xed\xa0\x80<b>"},
	} {
		name := fmt.Sprint("n", i)
		s.add("u", name, 1, hello, c.item)
		s.bring()
		want := "created | user hello"
		if c.want != "" {
			want += " | " + c.want
		}
		if got := tell(t, s.store, "u:"+name); got != want {
			t.Errorf("item %s tells %q, want %q", c.item, got, want)
		}
	}
}

func TestACompactionCoversWhatWasReadBefore(t *testing.T) {
	s := newState(t)
	s.add("u", "n", 1, hello, call, result, answer)
	s.log("u/n.jsonl", `{"kind":"user_message","userInput":"hello","timestamp":"2026-01-01T00:00:00.000Z"}`)
	s.bring()
	s.exec(`DELETE FROM session_items`)
	s.add("u", "n", 2, `{"id":"m","type":"message","status":"completed","content":[{"type":"input_text","text":"hello"}],"role":"user"}`,
		`{"id":"cmp","type":"compaction","encrypted_content":"AAA"}`)
	s.bring()
	s.add("u", "n", 3, `{"role":"user","content":"more"}`)
	s.bring()
	said := `created | user hello | assistant echo({"s":"x"}) | tool =echo x | assistant done | skillet:user_message | compacted to 5 | user more`
	s.wants("u:n", said)
	if rep := s.bring(); rep.Events != 0 {
		t.Errorf("Import again = %+v, want nothing new", rep)
	}
	done, err := writeback.Export(t.Context(), s.store, Format(), "u:n", t.TempDir(), writeback.Exports{})
	if err != nil || !done[0].Exact {
		t.Errorf("Export = %+v, %v, want it exact", done, err)
	}
	late := memory.New()
	defer late.Close()
	bring(t, late, s.dir)
	if got, want := tell(t, late, "u:n"), "created | user hello | compacted to 0 | user more | skillet:user_message"; got != want {
		t.Errorf("first import after the compaction tells %s, want %s", got, want)
	}
}

func TestRowsThatChangeOrGoAreAmended(t *testing.T) {
	s := newState(t)
	s.add("u", "n", 1, hello, answer)
	s.bring()
	s.exec(`UPDATE session_items SET item_json = replace(item_json, 'hello', 'bye') WHERE id = 1`)
	s.exec(`DELETE FROM session_items WHERE id = 2`)
	if rep := s.bring(); rep.Amended != 2 {
		t.Errorf("Import = %+v, want 2 amended", rep)
	}
	s.wants("u:n", "created | user hello | assistant done | amended 2 | -3")
}

func TestALogWithoutRowsIsTheConversation(t *testing.T) {
	s := newState(t)
	lines := []string{
		`{"kind":"user_message","userInput":"hello","timestamp":"2026-01-01T00:00:00.000Z"}`,
		`{"kind":"step","stepResult":{"type":"agent_start","agentName":"top"},"timestamp":"2026-01-01T00:00:01.000Z"}`,
		`{"kind":"step","stepResult":{"type":"agent_tool_start","agentName":"top","toolName":"echo","toolArgumentsStr":"{\"s\":1}"},"timestamp":"2026-01-01T00:00:01.000Z"}`,
		`{"kind":"step","stepResult":{"type":"agent_tool_end","agentName":"top","toolName":"echo","result":"1"},"timestamp":"2026-01-01T00:00:01.000Z"}`,
		`{"kind":"step","stepResult":{"type":"text","text":"done"},"timestamp":"2026-01-01T00:00:02.000Z"}`,
	}
	s.log("u/n.jsonl", lines...)
	s.bring()
	s.wants("u:n", `created | user hello | skillet:step | changed {"agent":"top"} | assistant echo({"s":1}) | tool =1 | assistant done`)
	s.log("u/n.jsonl", `{"kind":"final_result","finalResult":{"text":"done"},"timestamp":"2026-01-01T00:00:03.000Z","model":"openai/gpt-5"}`)
	s.add("u", "n", 1767225603000, hello, call, result, answer)
	s.bring()
	var now []string
	entries := 0
	for e, err := range s.store.Events(t.Context(), "u:n", 0) {
		if err != nil {
			t.Fatal(err)
		}
		now = append(now, word(t, e))
		_ = entries
	}
	view := shown(t, s.store, "u:n")
	if want := `user hello | assistant echo({"s":"x"}) | tool =echo x | assistant done`; view != want {
		t.Errorf("when rows have come the session shows %s, want %s; events %s", view, want, strings.Join(now, " | "))
	}
}

// shown returns the live messages of a session.
func shown(t testing.TB, s skein.Store, id string) string {
	t.Helper()
	var all []skein.Event
	for e, err := range s.Events(context.Background(), skein.SessionID(id), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	entries, err := skein.Entries(all)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, e := range entries {
		if !e.Rewound {
			words = append(words, word(t, skein.Say(0, e.Message)))
		}
	}
	return strings.Join(words, " | ")
}

func TestNamesThatAreCleanedAlikeStayApart(t *testing.T) {
	s := newState(t)
	s.add("a@b", "n", 1, `{"role":"user","content":"one"}`)
	s.add("a.b", "n", 2, `{"role":"user","content":"two"}`)
	s.log("a_b/n.jsonl", `{"kind":"user_message","userInput":"two","timestamp":"2026-01-01T00:00:00.000Z"}`)
	s.bring()
	s.wants("a_b:n", "created | user one | skillet:user_message") // it began first
	s.wants(second("a.b", "n"), "created | user two")
	if rep := s.bring(); rep.Events != 0 {
		t.Errorf("Import again = %+v, want nothing new", rep)
	}
}

func TestSanitise(t *testing.T) {
	for in, want := range map[string]string{
		"john@example.com": "john_example_com", " a b ": "a_b", "session_2026-05-27T20:11:02.482Z_ab": "session_2026-05-27T20_11_02_482Z_ab",
		"..": "", "é": "", "a.@b": "a_b", "a._b": "a__b", "../../x": "x",
	} {
		if got := sanitise(in); got != want {
			t.Errorf("sanitise(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestUnits(t *testing.T) {
	for in, want := range map[string]string{
		"/s/.agent_sessions.sqlite": "/s/.agent_sessions.sqlite", "/s/.agent_sessions.sqlite-wal": "/s/.agent_sessions.sqlite",
		"/s/.agent_sessions.sqlite-shm": "", "/s/.user_store.sqlite": "", "/s/.agent_session_logs/u/n.jsonl": "/s/.agent_sessions.sqlite",
		"/s/.agent_session_logs/n.jsonl": "/s/.agent_sessions.sqlite", "/s/.agent_session_logs/a/b/n.jsonl": "", "/s/u/n.jsonl": "", "n.jsonl": "",
	} {
		if got := unitOf(in); got != want {
			t.Errorf("unitOf(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	home := interop.Home{Dir: filepath.Join(root, "home"), Cwd: filepath.Join(root, "a", "b"), Env: func(k string) string { return env[k] }}
	want := []string{filepath.Join(root, "home", ".local", "state", "skilled-crew"), filepath.Join(root, ".skilled-agent", "state")}
	if got := places(home); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("places = %v, want %v: a repository that Skillet was never run from comes last", got, want)
	}
	if err := os.Mkdir(filepath.Join(root, ".skilled-agent"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := places(home); strings.Join(got, " ") != want[1]+" "+want[0] {
		t.Errorf("places = %v, want %v: Skillet ran from this repository", got, want[1]+" "+want[0])
	}
	env["SKILLET_HOME"] = filepath.Join(root, "s")
	if got := places(home); len(got) != 1 || got[0] != filepath.Join(root, "s", "state") {
		t.Errorf("places with SKILLET_HOME = %v, want only its state", got)
	}
}

func TestHostileStates(t *testing.T) {
	s := newState(t)
	db, err := sql.Open("sqlite", filepath.Join(s.dir, databaseName))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{`CREATE TABLE real (a)`, `CREATE VIEW session_items AS SELECT 1 AS id, 'u' AS user_id, 'n' AS session_name, 1 AS created_at, '{}' AS item_json`} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	if rep := s.bring(); rep.Sessions != 0 || rep.Unmatched != 1 {
		t.Errorf("Import of a view in place of the table = %+v, want nothing matched", rep)
	}
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	s.log("u/n.jsonl", `{"kind":"user_message","userInput":"a"}`, `not json`, `{"kind":1}`, `{"kind":"step","stepResult":`+deep+`}`, `{"kind":"nan","x":NaN}`)
	rep := s.bring()
	if rep.Sessions != 1 || rep.Damaged != 4 {
		t.Errorf("Import of a damaged log = %+v, want 1 session and 4 damaged records", rep)
	}
	s.wants("u:n", "created | user a")
}

func FuzzItem(f *testing.F) {
	for _, it := range []string{hello, call, result, answer, `{"type":"compaction"}`, `{"content":[{"type":"input_image","image":{}}]}`} {
		f.Add(it)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := open(interop.File{Name: "u/n"})
		if !json.Valid([]byte(text)) {
			text = string(skein.MustJSON(text))
		}
		row := []byte(`{"table":"session_items","rowid":1,"row":{"id":1,"user_id":"u","session_name":"n","created_at":1,"item_json":` + string(skein.MustJSON(text)) + `}}`)
		made, err := r.Read(interop.Line{Body: row})
		if err != nil {
			return
		}
		for _, it := range made.Items {
			if _, err := skein.FactsOf(skein.Event{Seq: 1, Kind: it.Event.Kind, Payload: it.Event.Payload}); err != nil {
				t.Errorf("item %q makes an event that cannot be read: %v", text, err)
			}
		}
	})
}

func TestSourcesComeBackByteForByte(t *testing.T) {
	s := newState(t)
	s.add("ann@x.org", "plan", 1000, hello, call, result, answer)
	s.log("ann_x_org/plan.jsonl", `{"kind":"user_message","userInput":"hello"}`, "damage \xff", "")
	s.bring()
	var b bytes.Buffer
	if err := writeback.WriteSource(t.Context(), s.store, Name, filepath.Join(s.dir, databaseName)+"#ann_x_org%2Fplan", &b); err != nil {
		t.Fatal(err)
	}
	u, err := openUnit(t.Context(), filepath.Join(s.dir, databaseName))
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if _, err := u.Sources(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := u.Open(t.Context(), "ann_x_org/plan")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var want bytes.Buffer
	if _, err := want.ReadFrom(r); err != nil || want.String() != b.String() || b.Len() == 0 {
		t.Errorf("WriteSource gives\n%s%v, want\n%s", b.String(), err, want.String())
	}
}
