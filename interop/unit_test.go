package interop_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver of the toy databases

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
)

// box is a format whose sessions are folders x.box: talk.jsonl has toys, and
// note.txt a title.
func box() interop.Format { return headed("") }

// headed is box with folders whose file head says what they are.
func headed(head string) interop.Format {
	return interop.Format{
		Name: "box", Doc: "for tests", Places: func(interop.Home) []string { return nil },
		Unit: func(name string) string {
			for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
				if strings.HasSuffix(dir, ".box") {
					return dir
				}
			}
			return ""
		},
		Look: func(ctx context.Context, path string) (interop.Unit, error) {
			return interop.OpenFolder(ctx, path, interop.Folder{
				Leave:  func(name string) bool { return strings.HasSuffix(name, ".box") },
				ByLine: func(name string) bool { return strings.HasSuffix(name, ".jsonl") },
				Head:   head,
			})
		},
		Open: func(f interop.File) interop.Reader {
			return &boxReader{toyReader{id: strings.TrimSuffix(path.Base(f.Path), ".box"), at: map[string]int{}}}
		},
		Write: writeBox,
		Put:   interop.PutFolder,
	}
}

type boxReader struct{ toyReader }

func (r *boxReader) Read(l interop.Line) (m interop.Made, err error) {
	in, err := folder.Parse(l.Body)
	switch {
	case err != nil:
		return m, err
	case in.Line != nil:
		return r.toyReader.Read(interop.Line{N: l.N, Number: l.Number, Body: in.Data()})
	case in.File == "note.txt":
		title := skein.NewEvent(skein.KindTitled, 0, skein.Titled{Title: string(in.Data()), By: skein.BySource})
		return interop.Made{Key: skein.ClientID("note:" + r.id), Floating: true, Items: []interop.Item{{Event: title}}}, nil
	}
	return m, nil
}

// base is a format whose sessions are in a database, toys.db.
func base() interop.Format {
	return interop.Format{
		Name: "base", Doc: "for tests", Places: func(interop.Home) []string { return nil },
		Unit: func(name string) string {
			if i := strings.LastIndex(name, "toys.db"); i >= 0 {
				return name[:i] + "toys.db"
			}
			return ""
		},
		Look: func(ctx context.Context, path string) (interop.Unit, error) {
			return interop.OpenDatabase(ctx, path, interop.Database{Mentions: []string{"talks"}, Ours: func(db *foreign.DB) []foreign.Part {
				if t, ok := db.Table("toys"); !ok || !t.Has("id", "talk", "word") {
					return nil
				}
				return []foreign.Part{{Table: "talks", Key: "id"}, {Table: "toys", Key: "talk"}, {Table: "sqlite_sequence"}}
			}})
		},
		Open:  func(f interop.File) interop.Reader { return &baseReader{id: f.Name} },
		Write: writeBase,
		Put:   interop.PutDatabase,
	}
}

type baseReader struct{ id string }

func (r *baseReader) Read(l interop.Line) (m interop.Made, err error) {
	row, ok, err := foreign.ParseRow(l.Body)
	if !ok || err != nil {
		return m, err
	}
	m.Key = skein.ClientID(row.Table + ":" + strconv.FormatInt(*row.Rowid, 10))
	switch row.Table {
	case "talks":
		m.Begin = []interop.Begin{{ID: skein.SessionID(r.id), Created: skein.Created{Origin: &skein.Origin{ID: r.id}}}}
		m.Items = []interop.Item{{Event: skein.NewEvent(skein.KindTitled, 0, skein.Titled{Title: row.Text("title"), By: skein.BySource})}}
	case "toys":
		m.Items = []interop.Item{{Event: skein.Say(0, skein.UserSays(row.Text("word")))}}
	}
	return m, nil
}

func (p *place) bringUnits() interop.Report {
	p.Helper()
	rep, err := importer.Import(context.Background(), p.store, []interop.Format{box(), base()}, []string{p.dir}, interop.Options{})
	if err != nil {
		p.Fatalf("Import(%s) = %v", p.dir, err)
	}
	return rep
}

// toys makes a database with two talks.
func (p *place) toys(statements ...string) *sql.DB {
	p.Helper()
	db, err := sql.Open("sqlite", p.path("toys.db"))
	if err != nil {
		p.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	p.Cleanup(func() { db.Close() })
	exec(p.T, db, append([]string{
		`CREATE TABLE talks (id TEXT PRIMARY KEY, title TEXT)`,
		`CREATE TABLE toys (id INTEGER PRIMARY KEY AUTOINCREMENT, talk TEXT, word TEXT)`,
		`INSERT INTO talks VALUES ('a', 'A'), ('b/c', 'B')`,
		`INSERT INTO toys VALUES (1,'a','one'), (2,'b/c','two'), (3,'a','three')`,
	}, statements...)...)
	return db
}

func exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestSessionsInADatabase(t *testing.T) {
	p := newPlace(t)
	db := p.toys()
	if rep := p.bringUnits(); rep.Sessions != 2 || rep.Files != 1 || rep.Damaged != 0 || rep.Skipped != 0 {
		t.Errorf("Import = %+v, want 2 sessions of 1 file", rep)
	}
	p.wants("a", "created T:A one three")
	if rep := p.bringUnits(); rep.Events != 0 || rep.Unchanged != 1 {
		t.Errorf("Import again = %+v, want nothing new in 1 file", rep)
	}
	exec(t, db, `UPDATE toys SET word = 'uno' WHERE id = 1`, `INSERT INTO toys VALUES (4,'a','four')`)
	if rep := p.bringUnits(); rep.Events != 2 || rep.Amended != 1 || rep.Grown != 1 {
		t.Errorf("Import of a changed and a new row = %+v, want 1 amended and 1 new event of 1 session", rep)
	}
	p.wants("a", "created T:A one three 3:=uno four")
	exec(t, db, `DELETE FROM toys WHERE id = 3`)
	p.bringUnits()
	p.wants("a", "created T:A one three 3:=uno four -4")
	exec(t, db, `DELETE FROM toys WHERE talk = 'a'`, `DELETE FROM talks WHERE id = 'a'`)
	if rep := p.bringUnits(); rep.Events != 0 {
		t.Errorf("Import without a session that its program deleted = %+v, want it kept as it was", rep)
	}
	exec(t, db, `VACUUM`)
	if rep := p.bringUnits(); rep.Events != 0 || rep.Skipped != 0 {
		t.Errorf("Import after VACUUM = %+v, want nothing new", rep)
	}
}

func TestWhatADamagedDatabaseHidesIsNotRemoved(t *testing.T) {
	p := newPlace(t)
	db := p.toys(
		`WITH RECURSIVE n(i) AS (SELECT 11 UNION ALL SELECT i+1 FROM n WHERE i < 400) INSERT INTO toys SELECT i, 'a', printf('%0100d', i) FROM n`)
	p.bringUnits()
	was, err := p.store.Session(t.Context(), "a")
	if err != nil || was.Messages != 392 {
		t.Fatalf("Session(a) = %d messages, %v, want 392", was.Messages, err)
	}
	whole, err := os.ReadFile(p.path("toys.db"))
	if err != nil {
		t.Fatal(err)
	}
	hurt := slices.Clone(whole)
	page := bytes.Index(hurt, []byte("000200")) / 4096 * 4096
	copy(hurt[page:page+4096], bytes.Repeat([]byte{0xff}, 4096))
	p.raw("toys.db", string(hurt))
	if rep := p.bringUnits(); rep.Events != 0 || rep.Skipped == 0 {
		t.Errorf("Import of a database with a damaged page = %+v, want it named and nothing withdrawn", rep)
	}
	if is, err := p.store.Session(t.Context(), "a"); err != nil || is.Messages != was.Messages {
		t.Errorf("Session(a) = %d messages, %v, want all %d that were read", is.Messages, err, was.Messages)
	}
	p.raw("toys.db", string(whole))
	exec(t, db, `DELETE FROM toys WHERE id = 200`)
	if rep := p.bringUnits(); rep.Events != 1 || rep.Amended != 1 {
		t.Errorf("Import of the database without damage and one row = %+v, want that one withdrawn", rep)
	}
}

func TestADatabaseWithADamagedSchemaIsNamed(t *testing.T) {
	p := newPlace(t)
	p.toys()
	data, err := os.ReadFile(p.path("toys.db"))
	if err != nil {
		t.Fatal(err)
	}
	copy(data[108:], "\xff\xff\xff\xff\xff\xff") // where the offsets of its entries are
	p.raw("toys.db", string(data))
	if rep := p.bringUnits(); rep.Failed != 1 || rep.Unmatched != 0 {
		t.Errorf("Import of a database with a damaged schema = %+v, want it named with the error", rep)
	}
}

func TestATitleThatItsProgramChangesIsSetAnew(t *testing.T) {
	p := newPlace(t)
	db := p.toys()
	for _, title := range []string{"A", "B", "A", "B"} {
		exec(t, db, `UPDATE talks SET title = '`+title+`' WHERE id = 'a'`)
		p.bringUnits()
		s, err := p.store.Session(t.Context(), "a")
		if err != nil || s.Title != title {
			t.Errorf("after the title became %s, Session(a) has %q, %v", title, s.Title, err)
		}
	}
	p.wants("a", "created T:A one three T:B T:A T:B")
	if rep := p.bringUnits(); rep.Events != 0 {
		t.Errorf("Import again = %+v, want nothing new", rep)
	}
}

func TestADatabaseOfAnotherProgramIsLeftAlone(t *testing.T) {
	p := newPlace(t)
	db, err := sql.Open("sqlite", p.path("toys.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec(t, db, `CREATE TABLE other (x)`, `CREATE VIEW toys AS SELECT 1 AS id, 'a' AS talk, 'no' AS word`)
	if rep := p.bringUnits(); rep.Files != 0 || rep.Unmatched != 1 || rep.Events != 0 {
		t.Errorf("Import = %+v, want 1 file that is not matched", rep)
	}
	if err := os.WriteFile(p.path("toys.db"), []byte("no database, but words"), 0o600); err != nil {
		t.Fatal(err)
	}
	if rep := p.bringUnits(); rep.Files != 0 || rep.Unmatched != 1 {
		t.Errorf("Import of no database = %+v, want 1 file that is not matched", rep)
	}
}

func TestDeletingASessionOfADatabaseLeavesTheOthers(t *testing.T) {
	p := newPlace(t)
	p.toys()
	p.bringUnits()
	if _, err := skein.LifecycleOf(p.store).Delete(t.Context(), "a", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	for f, err := range skein.SourcesOf(p.store).Files(t.Context(), "base") {
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range skein.SourcesOf(p.store).Records(t.Context(), "base", f.Path, 0) {
			if err != nil || strings.Contains(string(r.Raw), "three") {
				t.Errorf("after Delete %s has the record %s, %v", f.Path, r.Raw, err)
			}
		}
	}
	if s, err := p.store.Session(t.Context(), skein.SessionID("base~"+shortOf(p))); err != nil || s.Messages != 1 {
		t.Errorf("the other session is %+v, %v, want 1 message", s, err)
	}
}

// shortOf returns the hash in the ID of the session whose own ID has a slash.
func shortOf(p *place) string {
	for _, id := range p.sessions() {
		if at := strings.IndexByte(id, '~'); at >= 0 {
			return id[at+1:]
		}
	}
	p.Fatalf("sessions %v, want one whose ID was changed", p.sessions())
	return ""
}

func TestSessionsInFolders(t *testing.T) {
	p := newPlace(t)
	p.raw("a.box/talk.jsonl", line("a1")+line("a2"))
	p.raw("a.box/note.txt", "Title")
	p.raw("a.box/sub/b.box/talk.jsonl", line("b1"))
	if rep := p.bringUnits(); rep.Sessions != 2 || rep.Files != 2 || rep.Unmatched != 0 {
		t.Errorf("Import = %+v, want 2 sessions in 2 folders", rep)
	}
	p.wants("a", "created T:Title a1 a2")
	p.wants("b", "created b1")
	p.raw("a.box/talk.jsonl", line("a1")+line("a2=new")+line("a3"))
	if rep := p.bringUnits(); rep.Events != 2 || rep.Unchanged != 1 {
		t.Errorf("Import of a folder that has changed = %+v, want 2 events, and 1 folder as it was", rep)
	}
	p.wants("a", "created T:Title a1 a2 4:=new a3")
	if err := os.Remove(p.path("a.box/note.txt")); err != nil {
		t.Fatal(err)
	}
	p.bringUnits()
	p.wants("a", "created T:Title a1 a2 4:=new a3 -2")
}

func TestAForkInAFolderKeepsItsCopiesWhenItIsReadAgain(t *testing.T) {
	p := newPlace(t)
	p.raw("a.box/talk.jsonl", line("a1")+line("a2")+line("a3"))
	p.raw("b.box/about.txt", "its time is a record, before the others")
	p.raw("b.box/talk.jsonl", line("a1")+line("a2")+line("b1"))
	p.bringUnits()
	p.wants("b", "created a1 a2 fork(a@3) b1")
	copies := func() (keys []string) {
		for r, err := range skein.SourcesOf(p.store).Records(t.Context(), "box", p.path("b.box"), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if r.Copy {
				keys = append(keys, string(r.Key))
			}
		}
		return keys
	}
	want := []string{"a1", "a2"}
	if got := copies(); !slices.Equal(got, want) {
		t.Fatalf("copies in b.box are %q, want %q", got, want)
	}
	if err := os.Chtimes(p.path("b.box/about.txt"), time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if rep := p.bringUnits(); rep.Events != 0 {
		t.Errorf("Import of a folder with another time = %+v, want no events", rep)
	}
	if got := copies(); !slices.Equal(got, want) {
		t.Errorf("when the folder was read again, copies in it are %q, want %q", got, want)
	}
}

func TestAFolderIsFoundByAnyOfItsFiles(t *testing.T) {
	p := newPlace(t)
	p.raw("a.box/talk.jsonl", line("a1"))
	p.raw("a.box/note.txt", "Title")
	rep, err := importer.Import(t.Context(), p.store, []interop.Format{box()}, []string{p.path("a.box/talk.jsonl")}, interop.Options{})
	if err != nil || rep.Sessions != 1 {
		t.Fatalf("Import = %+v, %v, want 1 session", rep, err)
	}
	p.wants("a", "created T:Title a1")
	if rep := p.bringUnits(); rep.Unchanged != 1 {
		t.Errorf("Import of the folder = %+v, want it unchanged", rep)
	}
}

func TestTheLinesOfADatabaseAreKept(t *testing.T) {
	p := newPlace(t)
	p.toys()
	p.bringUnits()
	var b strings.Builder
	if err := writeback.WriteSource(t.Context(), p.store, "base", p.path("toys.db")+"#b%2Fc", &b); err != nil {
		t.Fatal(err)
	}
	want := `{"table":"talks","rowid":2,"row":{"id":"b/c","title":"B"}}
{"table":"toys","rowid":2,"row":{"id":2,"talk":"b/c","word":"two"}}
`
	if b.String() != want || !json.Valid([]byte(strings.SplitN(want, "\n", 2)[0])) {
		t.Errorf("WriteSource gives\n%swant\n%s", b.String(), want)
	}
}

func TestOfASourceOnlyTheRecordsThatChangedAreStoredAgain(t *testing.T) {
	p := newPlace(t)
	db := p.toys()
	for range 2 {
		exec(t, db, `WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1000) INSERT INTO toys (talk, word) SELECT 'a', 'a word that is long enough to count' FROM n`)
	}
	p.bringUnits()
	exec(t, db, `UPDATE talks SET title = 'Other' WHERE id = 'a'`, `UPDATE toys SET word = 'new' WHERE id = 500`, `INSERT INTO toys (talk, word) VALUES ('a', 'last')`)
	rep := p.bringUnits()
	if rep.Events != 3 || rep.Amended != 1 || rep.Bytes > 1000 {
		t.Errorf("Import = %+v, want 3 events, 1 of them amended, and less than 1000 bytes stored", rep)
	}
	p.same("a")
	exec(t, db, `DELETE FROM toys WHERE id > 400`)
	if rep := p.bringUnits(); rep.Bytes > 1000 || rep.Amended != 1604 {
		t.Errorf("Import after rows were deleted = %+v, want 1604 withdrawn, and less than 1000 bytes stored", rep)
	}
	p.same("a")
	exec(t, db, `UPDATE talks SET title = 'Again' WHERE id = 'a'`, `DELETE FROM toys WHERE id IN (10, 399, 400)`)
	p.bringUnits()
	p.same("a")
}

// same compares the records of a talk with its rows.
func (p *place) same(talk string) {
	p.Helper()
	var is strings.Builder
	if err := writeback.WriteSource(context.Background(), p.store, "base", p.path("toys.db")+"#"+talk, &is); err != nil {
		p.Fatal(err)
	}
	db, err := foreign.Open(context.Background(), p.path("toys.db"))
	if err != nil {
		p.Fatal(err)
	}
	defer db.Close()
	ps, err := db.Split(context.Background(), foreign.Part{Table: "talks", Key: "id"}, foreign.Part{Table: "toys", Key: "talk"})
	if err != nil {
		p.Fatal(err)
	}
	piece, _ := ps.Of(talk)
	want, err := io.ReadAll(db.Lines(piece))
	if err != nil || is.String() != string(want) {
		p.Errorf("the records of %s are %d bytes, those of its rows %d, %v; want them equal", talk, is.Len(), len(want), err)
	}
}
