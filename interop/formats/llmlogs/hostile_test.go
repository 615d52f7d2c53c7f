package llmlogs

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
)

// bring imports the database that statements make, changed by spoil.
func bring(t testing.TB, spoil func([]byte) []byte, statements ...string) interop.Report {
	t.Helper()
	at := filepath.Join(t.TempDir(), fileName)
	if err := build(t, at, statements...).Close(); err != nil {
		t.Fatal(err)
	}
	if spoil != nil {
		b, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, spoil(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	rep, err := importer.Import(t.Context(), s, []interop.Format{Format()}, []string{at}, interop.Options{})
	if err != nil {
		t.Fatalf("Import = %v", err)
	}
	return rep
}

func TestWhatIsNoTableIsNotRead(t *testing.T) {
	rep := bring(t, nil, createConversations, `CREATE VIEW responses AS SELECT 'a' AS id, 'm' AS model, 'prompt' AS prompt, 'r' AS response, 'c' AS conversation_id`)
	if rep.Sessions != 0 || rep.Files != 0 {
		t.Errorf("Import of a view in place of a table = %+v, want nothing", rep)
	}
	rep = bring(t, nil, createConversations, createResponses, `CREATE TABLE log (x)`,
		`CREATE VIEW attachments AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i AS id FROM n`,
		`INSERT INTO responses (id, model, prompt, response, conversation_id, datetime_utc) VALUES ('r1', 'm', 'p', 'a', 'c1', '2025-01-01T00:00:00')`,
		`CREATE TRIGGER spoil AFTER INSERT ON responses BEGIN DELETE FROM conversations; END`)
	if rep.Sessions != 1 || rep.Messages != 2 {
		t.Errorf("Import beside a view without end = %+v, want one session with two messages", rep)
	}
}

func TestOddRowsAreKept(t *testing.T) {
	rep := bring(t, nil, createConversations, createResponses,
		`CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, arguments TEXT, tool_call_id TEXT)`,
		`CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, output TEXT, tool_call_id TEXT)`,
		`CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, "order" INTEGER)`,
		`INSERT INTO conversations VALUES ('../../etc/' || char(10) || 'x' || char(0), 'odd', 7), ('', 'none', 'm'), (NULL, 'null', 'm'), ('empty', 'no responses', 'm')`,
		`INSERT INTO responses (id, model, prompt, response, conversation_id, datetime_utc, duration_ms, input_tokens, token_details) VALUES
		('r1', 'm', X'ff00', CAST(X'c328' AS TEXT), '../../etc/' || char(10) || 'x' || char(0), '2025-01-01 00:00:00', 9223372036854775807, -5, '{"cache_read_input_tokens": 1e999}'),
		('r1b', 'm', 'p', 7, '', 1735689600, 1.5, 9e99, '[['),
		(NULL, 'm', 'p', 'a', NULL, 'x', NULL, NULL, NULL)`,
		`INSERT INTO tool_calls VALUES (1, 'nobody', NULL, 'x', '{', NULL), (2, 'r1', NULL, NULL, '{"a":1,"a":2}', NULL)`,
		`INSERT INTO tool_results VALUES (1, 'r1', NULL, NULL, NULL, NULL)`,
		`INSERT INTO prompt_attachments VALUES ('r1', 'missing', 0)`)
	if rep.Sessions != 2 || rep.Skipped != 0 {
		t.Errorf("Import = %+v, want two sessions and nothing skipped", rep)
	}
}

func TestADamagedDatabaseGivesWhatCanBeRead(t *testing.T) {
	statements := cases()["today/logs.db"]
	whole := bring(t, nil, statements...)
	size := 0
	bring(t, func(b []byte) []byte { size = len(b); return b }, statements...)
	for at := 4096; at < size; at += 4096 {
		rep := bring(t, func(b []byte) []byte {
			return append(append(bytes.Clone(b[:at]), bytes.Repeat([]byte{0xa5}, 4096)...), b[at+4096:]...)
		}, statements...)
		if rep.Messages > whole.Messages {
			t.Errorf("with the page at %d damaged there are %d messages, of %d", at, rep.Messages, whole.Messages)
		}
	}
	if rep := bring(t, func(b []byte) []byte { return b[:size/2] }, statements...); rep.Messages > whole.Messages {
		t.Errorf("of half a database there are %d messages, of %d", rep.Messages, whole.Messages)
	}
}

func TestRowsInALiveLogAreSeen(t *testing.T) {
	at := filepath.Join(t.TempDir(), fileName)
	db := build(t, at, append([]string{`PRAGMA journal_mode = WAL`, `PRAGMA wal_autocheckpoint = 0`}, cases()["today/logs.db"]...)...)
	s := memory.New()
	defer s.Close()
	look := func() int {
		rep, err := importer.Import(t.Context(), s, []interop.Format{Format()}, []string{at}, interop.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return rep.Messages
	}
	if n := look(); n == 0 {
		t.Error("Import of a database whose rows are in its -wal gives no messages")
	}
	run(t, db, `INSERT INTO responses (id, model, prompt, response, conversation_id, datetime_utc) VALUES ('01jxa0000000000000000000b9','gpt-4o','more?','No.','01jxa0000000000000000000a1','2025-06-01T09:09:00')`)
	if n := look(); n != 2 {
		t.Errorf("Import after a further response gives %d messages, want 2", n)
	}
}

func FuzzRow(f *testing.F) {
	f.Add([]byte(`{"table":"responses","rowid":1,"row":{"id":"a","prompt":"p","response":"r","token_details":"{}"}}`))
	f.Add([]byte(`{"table":"tool_calls","row":{"response_id":"a","name":null,"arguments":"{"}}`))
	f.Add([]byte(`{"table":"attachments","row":{"id":7,"content":{"blob":"AA=="}}}`))
	f.Add([]byte(`{"table":"conversations","damage":"gone"}`))
	f.Fuzz(func(t *testing.T, row []byte) {
		r := Format().Open(interop.File{Path: "/x/logs.db", Name: "c", Beside: func(string) ([]byte, bool) { return nil, false }})
		for n := range 2 {
			if _, err := r.Read(interop.Line{N: n, Body: row}); err != nil {
				return
			}
		}
		if _, err := r.Read(interop.Line{N: 2, Body: []byte(`{"table":"responses","row":{"id":"z","prompt":"p","response":"r"}}`)}); err != nil {
			t.Errorf("a response behind %q: %v", row, err)
		}
	})
}
