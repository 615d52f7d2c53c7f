package opencode

import (
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/writeback"
)

func say(second int, m skein.Message) skein.Event {
	return skein.Say(skein.At(epoch.Add(time.Duration(second)*time.Second)), m)
}

func asks(second int, parts ...skein.Part) skein.Event {
	return say(second, skein.Message{Role: skein.RoleUser, Parts: parts})
}

func answers(second int, parts ...skein.Part) skein.Event {
	return say(second, skein.Message{Role: skein.RoleAssistant, Parts: parts, Usage: &skein.Usage{Input: 9, Output: 5, Reasoning: 2, Reported: 1_500_000}})
}

func saysCalls(id, name, input string) skein.Part {
	return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: name, Input: []byte(input)}}
}

func results(second int, rs ...skein.Result) skein.Event {
	m := skein.Message{Role: skein.RoleTool}
	for i := range rs {
		m.Parts = append(m.Parts, skein.Part{Kind: skein.PartResult, Result: &rs[i]})
	}
	return say(second, m)
}

// made is a session of these events.
func made(t *testing.T, s skein.Store, id skein.SessionID, c skein.Created, evs ...skein.Event) {
	t.Helper()
	c.Cwd, c.Provider, c.Model = "/home/ada/fig", "anthropic", "claude-sonnet-4-5"
	first := skein.NewEvent(skein.KindCreated, skein.At(epoch), c)
	if _, err := s.Append(t.Context(), skein.Batch{Session: id, Events: append([]skein.Event{first}, evs...)}); err != nil {
		t.Fatal(err)
	}
}

func export(t *testing.T, s skein.Store, id skein.SessionID, home string) writeback.Exported {
	t.Helper()
	done, err := writeback.Export(t.Context(), s, Format(), id, home, writeback.Exports{NoSide: true, Now: epoch.Add(time.Hour)})
	if err != nil {
		t.Fatalf("Export(%s) = %v", id, err)
	}
	return done[0]
}

// rows returns what a query finds, one line per row.
func rows(t *testing.T, path, query string) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rs, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rs.Close()
	columns, err := rs.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for rs.Next() {
		cells, at := make([]any, len(columns)), make([]any, len(columns))
		for i := range cells {
			at[i] = &cells[i]
		}
		if err := rs.Scan(at...); err != nil {
			t.Fatal(err)
		}
		for i, c := range cells {
			if i > 0 {
				b.WriteString("|")
			}
			if c != nil {
				fmt.Fprint(&b, c)
			}
		}
		b.WriteString("\n")
	}
	if err := rs.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestASessionBecomesTheRowsThatTheProgramWrites(t *testing.T) {
	s := store(t)
	png, err := base64.StdEncoding.DecodeString("iVBORw0KGgo=")
	if err != nil {
		t.Fatal(err)
	}
	blob := skein.NewBlob(png)
	made(t, s, "odd id", skein.Created{Title: "Figs"}, asks(1, skein.TextPart("are the <figs> ripe?")),
		answers(2, skein.Part{Kind: skein.PartReasoning, Text: "hm"}, skein.TextPart("I look."), saysCalls("c1", "Bash", `{"command":"ls","timeout":1.50}`), saysCalls("c2", "squeeze", `{"fig":1}`), saysCalls("c3", "read", `{"file_path":"/a"}`)),
		results(3, skein.Result{CallID: "c1", Text: "ripe\n"}, skein.Result{CallID: "c2", Text: "soft"}, skein.Result{CallID: "c3", Text: "no", Failed: true}),
		answers(4, skein.TextPart("They are.")))
	pic := asks(8, skein.TextPart("and this?"), skein.Part{Kind: skein.PartFile, File: &skein.File{Name: "a.png", Media: "image/png", Blob: blob.Hash, Size: 8}})
	if _, err := s.Append(t.Context(), skein.Batch{Session: "odd id", Events: []skein.Event{pic}, Blobs: []skein.Blob{blob}}); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	done := export(t, s, "odd id", home)
	if want := (interop.Losses{{What: "names of tools, and of what they take: those of opencode's", Count: 2, First: 3}, {What: "calls of tools that opencode does not have: as text", Count: 1, First: 3}, {What: "model: opencode continues with the one in its settings", Count: 1}}); cmp.Diff(want, done.Losses) != "" {
		t.Errorf("Export loses %+v, want %+v", done.Losses, want)
	}
	path := filepath.Join(home, fileName)
	for query, want := range map[string]string{
		`SELECT id = '` + done.Spot.ID + `', project_id, parent_id, directory, title, version, cost, tokens_input, tokens_output, tokens_reasoning, agent, model, time_created FROM session`: `1|global||/home/ada/fig|Figs|1.18.33|0.003|18|6|4|build||1787302800000` + "\n",
		`SELECT id, worktree, sandboxes FROM project`: "global|/|[]\n",
		`SELECT json_extract(data, '$.role'), json_extract(data, '$.finish'), json_extract(data, '$.tokens.total'), time_created, json_extract(data, '$.time.completed'), json_extract(data, '$.modelID'), json_extract(data, '$.model.modelID') FROM message ORDER BY time_created, id`: "user|||1787302801000|||\nassistant|tool-calls|14|1787302802000|1787302803000|claude-sonnet-4-5|\nassistant|stop|14|1787302804000|1787302804000|claude-sonnet-4-5|\nuser|||1787302808000|||\n",
		`SELECT json_extract(p.data, '$.type'), json_extract(p.data, '$.text'), json_extract(p.data, '$.tool'), json_extract(p.data, '$.state.status'), json_extract(p.data, '$.state.input'), json_extract(p.data, '$.state.output'), json_extract(p.data, '$.state.error'), json_extract(p.data, '$.url') FROM part p JOIN message m ON m.id = p.message_id ORDER BY m.time_created, m.id, p.id`: `text|are the <figs> ripe?||||||
step-start|||||||
reasoning|hm||||||
text|I look.||||||
tool||bash|completed|{"command":"ls"}|ripe
||
text|[opencode has no tool squeeze. It was called with:
{"fig":1}
and answered:
soft]||||||
tool||read|error|{"filePath":"/a"}||no|
step-finish|||||||
step-start|||||||
text|They are.||||||
step-finish|||||||
text|and this?||||||
file|||||||data:image/png;base64,iVBORw0KGgo=
`,
		`SELECT count(*) FROM message a JOIN message u ON u.id = json_extract(a.data, '$.parentID') AND u.id < a.id AND json_extract(u.data, '$.role') = 'user'`: "2\n",
		`PRAGMA integrity_check`:                              "ok\n",
		`PRAGMA foreign_key_check`:                            "",
		`PRAGMA journal_mode`:                                 "wal\n",
		`SELECT count(*), min(time_completed) FROM migration`: "38|1787306400000\n",
	} {
		if got := rows(t, path, query); got != want {
			t.Errorf("%s gives\n%swant\n%s", query, got, want)
		}
	}
}

// The program takes a message whose ID is smaller than its answer's for answered, and
// the times in IDs wrap around every 795 days.
func TestIDsAreOfTheTimeOfWriting(t *testing.T) {
	s := store(t)
	made(t, s, "s", skein.Created{}, asks(-3600*24*400, skein.TextPart("long ago")), answers(-3600*24*399, skein.TextPart("yes")))
	home := t.TempDir()
	export(t, s, "s", home)
	now := uint64(epoch.Add(time.Hour).UnixMilli()) * idCount & idBits
	for id := range strings.Lines(rows(t, filepath.Join(home, fileName), `SELECT id FROM message UNION SELECT id FROM part`)) {
		if n := numberIn(id); n >= now || n < now-120_000*idCount {
			t.Errorf("ID %s is not of the last two minutes before %x", id, now)
		}
	}
	sess := strings.TrimSpace(rows(t, filepath.Join(home, fileName), `SELECT id FROM session`))
	if !isSession(sess) {
		t.Errorf("the program has no IDs like %q", sess)
	}
}

// The program sorts messages by time and then ID, and the parts of a message by ID.
func TestTheOrderHoldsWhereTheTimesInIDsBeginAgain(t *testing.T) {
	const (
		again = 26 << 36 // milliseconds: 2026-08-14T11:19:55.136Z
		query = `SELECT json_extract(p.data, '$.text') FROM message m JOIN part p ON p.message_id = m.id
			WHERE json_extract(p.data, '$.type') = 'text' ORDER BY m.time_created, m.id, p.id`
		want = "one\nfirst\ntwo\nsecond, \nand more\nthree\n"
	)
	// The clock of this machine is behind that of the other program's.
	second, three := answers(-30*86400, skein.TextPart("second, "), skein.TextPart("and more")), asks(-30*86400, skein.TextPart("three"))
	s, home := store(t), t.TempDir()
	shows := func(dir string) {
		t.Helper()
		if got := rows(t, filepath.Join(dir, fileName), query); got != want {
			t.Errorf("the program shows\n%swant\n%s", got, want)
		}
	}

	p := newPlace(t)
	for i, m := range []string{"one", "first", "two"} {
		ms := again + (i-1)*1000
		data := fmt.Sprintf(asked, ms)
		if m == "first" {
			data = fmt.Sprintf(said, ms, ms, "")
		}
		id := messageID(uint64(ms)*idCount, "")
		p.run(`INSERT INTO message VALUES (?, ?, ?, ?, ?)`, id, ses, ms, ms, data)
		p.run(`INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)`, partID(uint64(ms)*idCount, ""), id, ses, ms, ms, text(m))
	}
	p.bring(s)
	if _, err := skein.Add(t.Context(), s, ses, second, three); err != nil {
		t.Fatal(err)
	}
	if _, err := writeback.Sync(t.Context(), s, Format(), ses); err != nil {
		t.Fatal(err)
	}
	shows(p.dir)

	made(t, s, "new", skein.Created{}, asks(0, skein.TextPart("one")), answers(0, skein.TextPart("first")), asks(0, skein.TextPart("two")), second, three)
	if _, err := writeback.Export(t.Context(), s, Format(), "new", home, writeback.Exports{NoSide: true, Now: time.UnixMilli(again)}); err != nil {
		t.Fatal(err)
	}
	shows(home)
	if got, want := rows(t, filepath.Join(home, fileName), strings.Replace(query, "m.time_created, ", "", 1)), want; got != want {
		t.Errorf("by ID it shows\n%swant\n%s", got, want)
	}
}

func TestACompactionIsWrittenWhereItsCoverEnds(t *testing.T) {
	s := store(t)
	made(t, s, "s", skein.Created{}, asks(1, skein.TextPart("one")), answers(2, skein.TextPart("first")), asks(3, skein.TextPart("two")),
		skein.NewEvent(skein.KindCompacted, skein.At(epoch), skein.Compacted{To: 3, Summary: "summed"}), answers(5, skein.TextPart("second")))
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	export(t, s, "s", home)
	p := &place{t: t, dir: home}
	is := store(t)
	p.bring(is)
	id := skein.SessionID(sessions(t, is)[0])
	events := told(t, is, id)
	at := 0
	for _, want := range []string{`"text":"one"`, `"text":"first"`, `"name":"opencode:compaction"`, `"summary":"summed"`, `"text":"two"`, `"text":"second"`} {
		next := strings.Index(events[at:], want)
		if next < 0 {
			t.Fatalf("%s does not come where it should in\n%s", want, events)
		}
		at += next
	}
}

func TestASessionOfAnotherProgramGoesOnWithTheModelUsedLast(t *testing.T) {
	p := newPlace(t)
	p.user(2000, text("mine"))
	p.run(`UPDATE session SET time_updated = 5, model = '{"id":"fig-2","providerID":"orchard","variant":"high"}'`)
	s := store(t)
	made(t, s, "s", skein.Created{Model: "plum-1"}, asks(1, skein.TextPart("theirs")))
	done := export(t, s, "s", p.dir)
	got := rows(t, filepath.Join(p.dir, fileName), `SELECT json_extract(data, '$.model') FROM message WHERE session_id = '`+done.Spot.ID+`'`)
	if want := `{"providerID":"orchard","modelID":"fig-2"}` + "\n"; got != want {
		t.Errorf("the prompt is for the model %s, want %s", got, want)
	}
	if want := "model: opencode continues with the one that it used last"; !slices.ContainsFunc(done.Losses, func(l interop.Loss) bool { return l.What == want }) {
		t.Errorf("Export loses %+v, want %q among it", done.Losses, want)
	}
}

func TestASessionIsWrittenBesideOthers(t *testing.T) {
	p := newPlace(t)
	p.user(2000, text("mine"))
	p.run(`INSERT INTO project (id, worktree, time_created, time_updated, sandboxes) VALUES ('abc', '/home/ada/fig', 1, 1, '[]')`)
	p.run(`ALTER TABLE session DROP COLUMN metadata`)
	s := store(t)
	made(t, s, "s", skein.Created{}, asks(1, skein.TextPart("theirs")))
	export(t, s, "s", p.dir)
	if got, want := rows(t, filepath.Join(p.dir, fileName), `SELECT project_id, count(*) FROM session GROUP BY 1`), "abc|1\nglobal|1\n"; got != want {
		t.Errorf("sessions by project are\n%swant\n%s", got, want)
	}
	_, err := writeback.Export(t.Context(), s, Format(), "s", p.dir, writeback.Exports{NoSide: true})
	if !errors.Is(err, skein.ErrExists) {
		t.Errorf("Export again = %v, want %v", err, skein.ErrExists)
	}
}

func TestWhatTheProgramWouldThrowAwayIsNotWrittenBack(t *testing.T) {
	p := newPlace(t)
	p.user(2000, text("one"))
	p.user(4000, text("two"))
	p.run(`UPDATE session SET revert = '{"messageID":"msg_4000"}'`)
	s := store(t)
	p.bring(s)
	if _, err := skein.Add(t.Context(), s, ses, say(9, skein.UserSays("three"))); err != nil {
		t.Fatal(err)
	}
	if _, err := writeback.Sync(t.Context(), s, Format(), ses); !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), "was rewound in") {
		t.Errorf("Sync = %v, want it refused", err)
	}
	if got := rows(t, filepath.Join(p.dir, fileName), `SELECT count(*) FROM message`); got != "2\n" {
		t.Errorf("the database has %s messages, want 2", got)
	}
}

func TestNothingIsWrittenToTheFolderOfOld(t *testing.T) {
	p := newPlace(t)
	if err := errors.Join(p.db.Close(), os.Remove(filepath.Join(p.dir, fileName))); err != nil {
		t.Fatal(err)
	}
	p.moveOut(old())
	s := store(t)
	p.bring(s)
	if _, err := skein.Add(t.Context(), s, ses, say(9, skein.UserSays("three"))); err != nil {
		t.Fatal(err)
	}
	if _, err := writeback.Sync(t.Context(), s, Format(), ses); !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), "no longer reads") {
		t.Errorf("Sync = %v, want it refused", err)
	}
}
