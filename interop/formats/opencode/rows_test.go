package opencode

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver of the test's databases

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
)

const (
	ses   = "ses_5a0000000001AAAAAAAAAAAAAA"
	asked = `{"role":"user","time":{"created":%d},"agent":"build","model":{"providerID":"p","modelID":"m"}}`
	said  = `{"role":"assistant","parentID":"msg_1","mode":"build","agent":"build","path":{"cwd":"/home/ada/fig","root":"/home/ada/fig"},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"modelID":"m","providerID":"p","time":{"created":%d,"completed":%d}%s}`
)

// A place is a data folder of the program's, with a database to which a test
// gives rows.
type place struct {
	t   *testing.T
	dir string
	db  *sql.DB
}

// newPlace makes a database as the program does, with one session.
func newPlace(t *testing.T) *place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, dir: dir}
	p.open()
	p.run(`INSERT INTO project (id, worktree, time_created, time_updated, sandboxes) VALUES ('global', '/', 1, 1, '[]')`)
	p.run(`INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) VALUES (?, 'global', 'odd-fig', '/home/ada/fig', 'New session - 2026-08-21T09:00:00.000Z', '1.18.33', 1000, 1000)`, ses)
	return p
}

func (p *place) open() {
	p.t.Helper()
	path := filepath.Join(p.dir, fileName)
	if err := foreign.Build(p.t.Context(), path, bytes.NewReader(newDatabase(1))); err != nil {
		p.t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		p.t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	p.t.Cleanup(func() { db.Close() })
	p.db = db
}

func (p *place) run(query string, args ...any) {
	p.t.Helper()
	if _, err := p.db.Exec(query, args...); err != nil {
		p.t.Fatalf("%s: %v", query, err)
	}
}

// user and model insert a message at a time, with its parts.
func (p *place) user(at int, parts ...string) { p.put(at, fmt.Sprintf(asked, at), parts) }

func (p *place) model(at int, more string, parts ...string) {
	p.put(at, fmt.Sprintf(said, at, at+5, more), parts)
}

func (p *place) put(at int, data string, parts []string) {
	p.t.Helper()
	id := fmt.Sprintf("msg_%d", at)
	p.run(`INSERT INTO message VALUES (?, ?, ?, ?, ?)`, id, ses, at, at, data)
	for i, part := range parts {
		p.run(`INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)`, fmt.Sprintf("prt_%d_%d", at, i), id, ses, at, at, part)
	}
}

// bring imports the folder.
func (p *place) bring(s skein.Store) interop.Report {
	p.t.Helper()
	rep, err := importer.Import(p.t.Context(), s, []interop.Format{Format()}, []string{p.dir}, interop.Options{})
	if err != nil {
		p.t.Fatalf("Import(%s) = %v", p.dir, err)
	}
	return rep
}

// told returns the events of a session, one per line: its kind, and the relevant part
// of its payload.
func told(t *testing.T, s skein.Store, id skein.SessionID) string {
	t.Helper()
	var b strings.Builder
	for e, err := range s.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatalf("Events(%s) = %v", id, err)
		}
		if e.Kind != skein.KindCreated {
			fmt.Fprintf(&b, "%s %s\n", e.Kind, e.Payload)
		}
	}
	return b.String()
}

// shown returns the session's live messages: role, and texts, calls and results.
func shown(t *testing.T, s skein.Store, id skein.SessionID) string {
	t.Helper()
	var evs []skein.Event
	for e, err := range s.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatalf("Events(%s) = %v", id, err)
		}
		evs = append(evs, e)
	}
	entries, err := skein.Entries(evs)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		for _, p := range e.Message.Parts {
			switch {
			case p.Call != nil:
				fmt.Fprintf(&b, "%s calls %s %s\n", e.Message.Role, p.Call.Name, p.Call.Input)
			case p.Result != nil:
				fmt.Fprintf(&b, "%s answers %q\n", e.Message.Role, p.Result.Text)
			default:
				fmt.Fprintf(&b, "%s %s %q\n", e.Message.Role, p.Kind, p.Text)
			}
		}
	}
	return b.String()
}

func sessions(t *testing.T, s skein.Store) (ids []string) {
	t.Helper()
	for sess, err := range s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, string(sess.ID))
	}
	return ids
}

// moveOut makes the early versions' folder from the database's session.
func (p *place) moveOut(parts map[string]string) {
	p.t.Helper()
	for name, data := range parts {
		at := filepath.Join(p.dir, folderName, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(data), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}

// touchAll makes every file below dir newer.
func touchAll(t *testing.T, dir string) {
	t.Helper()
	at := time.Now().Add(time.Hour)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, at, at)
	})
	if err != nil {
		t.Fatal(err)
	}
}

var epoch = time.Date(2026, 8, 21, 9, 0, 0, 0, time.UTC)

func store(t *testing.T) *memory.Store {
	t.Helper()
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	return s
}

func text(s string) string { return `{"type":"text","text":` + string(skein.MustJSON(s)) + `}` }

func valid(t *testing.T, data string) {
	t.Helper()
	if !json.Valid([]byte(data)) {
		t.Fatalf("the test's own JSON is none: %s", data)
	}
}
