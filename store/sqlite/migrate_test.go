package sqlite

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/schema"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// old makes a store with one session, and returns its file.
func old(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.db")
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := skein.Add(t.Context(), s, "a", skein.NewEvent(skein.KindCreated, 1, skein.Created{})); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func testConn(t *testing.T, name string) *engine.Conn {
	t.Helper()
	d, err := engine.Driver()
	if err != nil {
		t.Fatal(err)
	}
	c, err := engine.Connect(d, engine.DSN(name, "mode=rw"), schema.WriterPragmas...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// later returns the schema of a later version, with one step more than this one's.
func later(t *testing.T) schema.Steps {
	t.Helper()
	steps, err := schema.All()
	if err != nil {
		t.Fatal(err)
	}
	return append(steps, `ALTER TABLE sessions ADD COLUMN mood TEXT NOT NULL DEFAULT ''; CREATE TABLE later (x TEXT) STRICT`)
}

// wantVersion fails the test if a file does not have the given schema version.
func wantVersion(t *testing.T, name string, want int64) {
	t.Helper()
	if v, err := schema.FileVersion(testConn(t, name)); err != nil || v != want {
		t.Errorf("%s has schema %d (%v), want %d", filepath.Base(name), v, err, want)
	}
}

// A migration that fails leaves the file unchanged, and the next one runs after
// a copy was made.
func TestMigrationCopiesTheFileFirst(t *testing.T) {
	name := old(t)
	c := testConn(t, name)
	this, err := schema.All()
	if err != nil {
		t.Fatal(err)
	}
	var notice string
	o := Options{Notice: func(s string) { notice = s }, steps: append(this, "CREATE TABLE later (x TEXT) STRICT; CREATE TABLE wrong (x) STRICT")}
	if err := schema.Migrate(t.Context(), c, name, o.steps, o.Notice); err == nil {
		t.Error("a migration with an error = nil")
	}
	wantVersion(t, name, this.Version())
	o.steps = later(t)
	if err := schema.Migrate(t.Context(), c, name, o.steps, o.Notice); err != nil {
		t.Fatal(err)
	}
	wantVersion(t, name, o.steps.Version())
	copied := fmt.Sprintf("%s.v%d.bak", name, this.Version())
	if !strings.Contains(notice, copied) {
		t.Errorf("the notice is %q, want one that names %s", notice, copied)
	}
	if st, err := os.Stat(copied); err != nil || st.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
		t.Errorf("the copy: %v, %v", st, err)
	}
	var n int64
	if _, err := testConn(t, copied).One("SELECT count(*) FROM sessions", nil, &n); err != nil || n != 1 {
		t.Errorf("the copy has %d sessions (%v), want 1", n, err)
	}
}

// If several programs of a later version start at once, one migrates and the
// others wait for it. Then they continue with the migrated store.
func TestManyMigrateAtOnce(t *testing.T) {
	name, steps := old(t), later(t)
	notices := make(chan string, 100)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s, err := Open(t.Context(), name, Options{Notice: func(n string) { notices <- n }, steps: steps})
			if err != nil {
				t.Errorf("Open while others migrate: %v", err)
				return
			}
			_, err = skein.Add(t.Context(), s, "a", skein.Say(3, skein.UserSays(fmt.Sprint("more ", i))))
			if err := errors.Join(err, s.Close()); err != nil {
				t.Errorf("Add, and Close: %v", err)
			}
		})
	}
	all.Wait()
	if len(notices) != 1 {
		t.Errorf("%d of 8 migrate, want 1", len(notices))
	}
	wantVersion(t, name, steps.Version())
	wantVersion(t, name+".v4.bak", 4)
}

// An old copy does not count as a copy of the current file.
func TestMigrationCopiesAFileThatWentOnAgain(t *testing.T) {
	name := old(t)
	was := []byte("of an earlier migration")
	if err := errors.Join(os.WriteFile(name+".v4.bak", was, 0o600), os.Chtimes(name+".v4.bak", time.Unix(1, 0), time.Unix(1, 0))); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), name, Options{steps: later(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name + ".v4.bak"); err != nil || string(got) != string(was) {
		t.Errorf("the earlier copy is %.20q (%v), want %q", got, err, was)
	}
	wantVersion(t, name+".v4-2.bak", 4)
}

// After a later version has migrated the file, an older program that has it
// open no longer writes to it, and older programs cannot open it.
func TestOlderProgramsLeaveAMigratedFileAlone(t *testing.T) {
	name := old(t)
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := schema.Migrate(t.Context(), testConn(t, name), name, later(t), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := skein.Add(t.Context(), s, "a", skein.Say(3, skein.UserSays("more"))); !errors.Is(err, skein.ErrNewer) {
		t.Errorf("an older program adds to a migrated file: %v, want %v", err, skein.ErrNewer)
	}
	if _, err := Open(t.Context(), name, Options{}); !errors.Is(err, skein.ErrNewer) {
		t.Errorf("an older program opens a migrated file: %v, want %v", err, skein.ErrNewer)
	}
}

func TestBackupsOfAnEarlierSchemaAreRestored(t *testing.T) {
	dir, backup := t.TempDir(), old(t)
	s, err := Open(t.Context(), filepath.Join(dir, "x.db"), Options{steps: later(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.RestoreBackup(t.Context(), backup, filepath.Join(dir, "kept.db")); err != nil {
		t.Fatal(err)
	}
	if _, err := skein.Add(t.Context(), s, "a", skein.Say(3, skein.UserSays("more"))); err != nil {
		t.Errorf("Add to a session of the backup: %v", err)
	}
	wantVersion(t, s.path, later(t).Version())
	if left, err := filepath.Glob(filepath.Join(dir, ".restore-*")); err != nil || len(left) > 0 {
		t.Errorf("restoring leaves %v (%v)", left, err)
	}
}

// A file from a development build, with schema 1 or another of its own, is not
// mistaken for one of this version's.
func TestFilesOfDevelopmentBuildsAreRefusedUntouched(t *testing.T) {
	for i, v := range []int64{15, 1, 1} {
		name := old(t)
		c := testConn(t, name)
		if err := errors.Join(c.Script(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", schema.DevelopmentIDs[i], v)), c.Close()); err != nil {
			t.Fatal(err)
		}
		was, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		_, open := Open(t.Context(), name, Options{})
		_, salvage := salvageInto(t.Context(), name, filepath.Join(t.TempDir(), "y.db"), name+".kept", Options{})
		for what, err := range map[string]error{
			"Open": open, "RestoreBackup": s.RestoreBackup(t.Context(), name, filepath.Join(t.TempDir(), "kept.db")), "a salvage": salvage,
		} {
			if !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), "skein export") {
				t.Errorf("%s of a development build's file of schema %d = %v, want %v, and what to do", what, v, err, skein.ErrInvalid)
			}
		}
		if is, err := os.ReadFile(name); err != nil || string(is) != string(was) {
			t.Errorf("a development build's file of schema %d was changed (%v)", v, err)
		}
	}
}

// Never edit a migration that was released: add another one.
func TestReleasedMigrationsStayAsTheyWere(t *testing.T) {
	steps, err := schema.All()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"5d9849b7e724e3b37b82d89e4816c8c50806667a1e936d64b8fddd1fe585ee74",
		"b0ad0b181760eea685b156b3ac6298133f739438ffc01bb77a35edb790e5a742",
	} {
		if got := fmt.Sprintf("%x", sha256.Sum256([]byte(steps[i]))); got != want {
			t.Errorf("schema/%04d.sql has the sum %s, want %s", i+1, got, want)
		}
	}
}

// A store from before the index of edits has all edits in it soon after it is opened.
func TestAnOlderStoreGetsItsEdits(t *testing.T) {
	steps, err := schema.All()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "x.db")
	s, err := Open(t.Context(), name, Options{steps: steps[:1]})
	if err != nil {
		t.Fatal(err)
	}
	// Programs of that time did not ask for the watermark of edits.
	run := func(q string) {
		t.Helper()
		if err := s.change(t.Context(), func(t *txn.Tx) error { _, _, err := t.Exec(q); return err }); err != nil {
			t.Fatal(err)
		}
	}
	run(`CREATE TABLE edits_fed AS SELECT 0 AS upto`)
	said := skein.Say(3, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{{Kind: skein.PartCall, Call: &skein.Call{
		ID: "c", Name: "write", Input: []byte(`{"path":"/p/d/x.go","content":"package main"}`),
	}}}})
	if _, err := skein.Add(t.Context(), s, "a", skein.NewEvent(skein.KindCreated, 1, skein.Created{}), said); err != nil {
		t.Fatal(err)
	}
	run(`DROP TABLE edits_fed`)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantVersion(t, name, 1)
	if s, err = Open(t.Context(), name, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	n := 0
	for h, err := range s.Edits(t.Context(), edits.FileKeys("d/x.go")) {
		if n++; err != nil || h.Seq != 2 {
			t.Errorf("Edits(d/x.go) yields %+v, %v, want event 2", h, err)
		}
	}
	if n != 1 {
		t.Errorf("Edits(d/x.go) yields %d messages, want 1", n)
	}
}

func TestPragmas(t *testing.T) {
	name := old(t)
	c := testConn(t, name)
	for pragma, want := range map[string]int64{"auto_vacuum": 2, "page_size": 4096, "synchronous": 2, "application_id": schema.ApplicationID, "user_version": 4} {
		var got int64
		if _, err := c.One("PRAGMA "+pragma, nil, &got); err != nil || got != want {
			t.Errorf("PRAGMA %s = %d (%v), want %d", pragma, got, err, want)
		}
	}
	var mode string
	if _, err := c.One("PRAGMA journal_mode", nil, &mode); err != nil || mode != "wal" {
		t.Errorf("PRAGMA journal_mode = %s (%v), want wal", mode, err)
	}
	if _, err := schema.FileVersion(c); err != nil { // SQLite is too old
		t.Error(err)
	}
}

// New events are put into the index of edits even if it has got further than the events
// that are left.
func TestEditsAreFoundAfterTheNewestEventsAreGone(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	reopen := func() *Store {
		t.Helper()
		s, err := Open(t.Context(), name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := reopen()
	if _, err := skein.Add(t.Context(), s, "a", skein.NewEvent(skein.KindCreated, 1, skein.Created{})); err != nil {
		t.Fatal(err)
	}
	if err := s.change(t.Context(), func(t *txn.Tx) error {
		_, _, err := t.Exec(`UPDATE edits_fed SET upto = (SELECT max(id) FROM events) + 10`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = reopen()
	defer s.Close() //nolint:errcheck // nothing is lost
	said := skein.Say(3, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{{Kind: skein.PartCall, Call: &skein.Call{
		ID: "c", Name: "write", Input: []byte(`{"path":"/p/d/x.go","content":"package main"}`),
	}}}})
	if _, err := skein.Add(t.Context(), s, "a", said); err != nil {
		t.Fatal(err)
	}
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, err := range s.Edits(t.Context(), edits.FileKeys("d/x.go")) {
		if err != nil {
			t.Fatal(err)
		}
		found++
	}
	if found != 1 {
		t.Errorf("%d messages are found by their file, want 1", found)
	}
}

// An index of edits that lacks a line, or has one of nobody's, is found and made right.
func TestExamineFindsAndMendsTheIndexOfEdits(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing is lost
	write := func(path string) skein.Event {
		return skein.Say(3, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{{Kind: skein.PartCall, Call: &skein.Call{
			ID: "c", Name: "write", Input: skein.MustJSON(map[string]string{"path": path, "content": "package main"}),
		}}}})
	}
	now := skein.Amended{Seq: 2, Payload: write("/p/b.go").Payload}
	if _, err := skein.Add(t.Context(), s, "a", skein.NewEvent(skein.KindCreated, 1, skein.Created{}), write("/p/a.go"), write("/p/c.go"), skein.Say(4, skein.UserSays("thanks"))); err != nil {
		t.Fatal(err)
	}
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := skein.Add(t.Context(), s, "a", skein.NewEvent(skein.KindAmended, 5, now)); err != nil {
		t.Fatal(err)
	}
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	damaged := func(repair bool) (n int) {
		t.Helper()
		for f, err := range s.Examine(t.Context(), inspect.Examination{Repair: repair}) {
			if err != nil {
				t.Fatal(err)
			}
			if f.Area == "index" && f.Level != inspect.Fine {
				n++
			}
		}
		return n
	}
	if n := damaged(false); n > 0 {
		t.Fatalf("an intact index: %d findings, want none", n)
	}
	for what, q := range map[string]string{
		"a line is missing":                 `DELETE FROM edits WHERE event = 3`,
		"a line that the call does not add": `INSERT INTO edits (key, event) VALUES (17, 3)`,
		"a line of a message without calls": `INSERT INTO edits (key, event) VALUES (17, 4)`,
	} {
		if err := s.change(t.Context(), func(t *txn.Tx) error { _, _, err := t.Exec(q); return err }); err != nil {
			t.Fatal(err)
		}
		if n := damaged(false); n != 1 {
			t.Errorf("%s: %d findings, want 1", what, n)
		}
		damaged(true)
		if n := damaged(false); n > 0 {
			t.Errorf("%s: %d findings after the repair, want none", what, n)
		}
	}
}
