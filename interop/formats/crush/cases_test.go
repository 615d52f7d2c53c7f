package crush

import (
	"database/sql"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // the driver of the test's databases

	"github.com/skein-dev/skein/interop/interoptest"
)

// tables are the tables that an export restores.
var tables = []string{"sessions", "messages", "files", "read_files", "goose_db_version"}

// schema is the statements of the first migration, and more.
func schema(newest ...string) []string {
	return append([]string{
		`CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')))`,
		`INSERT INTO goose_db_version VALUES (1, 0, 1, '2025-08-07 10:00:00')`,
		`CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0 CHECK (message_count >= 0),
			prompt_tokens INTEGER NOT NULL DEFAULT 0 CHECK (prompt_tokens >= 0), completion_tokens INTEGER NOT NULL DEFAULT 0 CHECK (completion_tokens >= 0),
			cost REAL NOT NULL DEFAULT 0.0 CHECK (cost >= 0.0), updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL)`,
		`CREATE TABLE files (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, path TEXT NOT NULL, content TEXT NOT NULL, version INTEGER NOT NULL DEFAULT 0,
			created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE, UNIQUE(path, session_id, version))`,
		`CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL,
			updated_at INTEGER NOT NULL, finished_at INTEGER, FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE)`,
		`CREATE INDEX idx_messages_session_id ON messages (session_id)`,
	}, newest...)
}

// newest is what later migrations added.
func newest() []string {
	return schema(
		`ALTER TABLE sessions ADD COLUMN summary_message_id TEXT`, `ALTER TABLE messages ADD COLUMN provider TEXT`,
		`ALTER TABLE messages ADD COLUMN is_summary_message INTEGER DEFAULT 0 NOT NULL`, `ALTER TABLE sessions ADD COLUMN todos TEXT`,
		`CREATE TABLE read_files (session_id TEXT NOT NULL CHECK (session_id != ''), path TEXT NOT NULL, read_at INTEGER NOT NULL, PRIMARY KEY (path, session_id))`,
		`CREATE TABLE keys (secret TEXT)`, `INSERT INTO keys VALUES ('never read')`,
	)
}

// triggers are made after the rows, so that they do not change them.
func triggers() []string {
	return []string{
		`CREATE TRIGGER update_sessions_updated_at AFTER UPDATE ON sessions BEGIN UPDATE sessions SET updated_at = strftime('%s', 'now') WHERE id = new.id; END`,
		`CREATE TRIGGER update_messages_updated_at AFTER UPDATE ON messages BEGIN UPDATE messages SET updated_at = strftime('%s', 'now') WHERE id = new.id; END`,
		`CREATE TRIGGER update_session_message_count_on_insert AFTER INSERT ON messages BEGIN UPDATE sessions SET message_count = message_count + 1 WHERE id = new.session_id; END`,
		`CREATE TRIGGER update_session_message_count_on_delete AFTER DELETE ON messages BEGIN UPDATE sessions SET message_count = message_count - 1 WHERE id = old.session_id; END`,
	}
}

// cases are the databases of testdata as the statements that make them, by the path
// of each. -update rebuilds them.
func cases() map[string][]string {
	all := map[string][]string{
		"apples/.crush/crush.db": append(schema(),
			`INSERT INTO sessions (id, parent_session_id, title, message_count, prompt_tokens, completion_tokens, cost, updated_at, created_at) VALUES
			('5d0c5bb4-0001', NULL, 'Count the apples', 4, 900, 30, 0.0125, 1754564160, 1754564150),
			('toolu_01', '5d0c5bb4-0001', 'New Agent Session', 1, 10, 5, 0.0025, 1754564154, 1754564153)`,
			`INSERT INTO messages (id, session_id, role, parts, model, created_at, updated_at, finished_at) VALUES
			('m1', '5d0c5bb4-0001', 'user', '[{"type":"text","data":{"text":"how many <apples>?"}},{"type":"finish","data":{"reason":"stop","time":0}}]', '', 1754564150, 1754564150, NULL),
			('m2', '5d0c5bb4-0001', 'assistant', '[{"type":"reasoning","data":{"thinking":"I ask.","signature":"c2ln","started_at":1754564151,"finished_at":1754564152}},{"type":"text","data":{"text":"I ask."}},{"type":"tool_call","data":{"id":"toolu_01","name":"agent","input":"{\"prompt\":\"count\"}","type":"","finished":true}},{"type":"finish","data":{"reason":"tool_use","time":1754564153}}]', 'claude-sonnet-4', 1754564150999, 1754564153, 1754564153),
			('m3', '5d0c5bb4-0001', 'tool', '[{"type":"tool_result","data":{"tool_call_id":"toolu_01","name":"agent","content":"three","metadata":"{\"n\":3}","is_error":false}},{"type":"finish","data":{"reason":"stop","time":0}}]', '', 1754564154, 1754564154, NULL),
			('m4', 'toolu_01', 'user', '[{"type":"text","data":{"text":"count"}}]', '', 1754564153, 1754564153, NULL),
			('m5', '5d0c5bb4-0001', 'assistant', '[{"type":"text","data":{"text":"Thr"}},{"type":"finish","data":{"reason":"canceled","time":1754564160,"message":"Request cancelled"}}]', 'claude-sonnet-4', 1754564155, 1754564160, 1754564160)`,
		),
		"pears/.crush/crush.db": append(newest(),
			`INSERT INTO sessions (id, parent_session_id, title, message_count, prompt_tokens, completion_tokens, cost, updated_at, created_at, summary_message_id, todos) VALUES
			('6d0c5bb4-0001', NULL, 'Pears', 10, 900, 30, 0.5, 1786856500, 1786856400, 'p8', '[{"content":"count","status":"pending","active_form":"Counting"}]'),
			('p2$$call_1', '6d0c5bb4-0001', 'Look for pears', 1, 0, 0, 0.1, 1786856410, 1786856402, NULL, NULL)`,
			`INSERT INTO messages (id, session_id, role, parts, model, provider, created_at, updated_at, finished_at, is_summary_message) VALUES
			('p1', '6d0c5bb4-0001', 'user', '[{"type":"text","data":{"text":"how many pears?"}},{"type":"binary","data":{"Path":"pear.png","MIMEType":"image/png","Data":"iVBORw0KGgo="}},{"type":"image_url","data":{"url":"https://example.org/p.png"}},{"type":"shell_command","data":{"command":"ls","output":"pear","exit_code":0}}]', '', NULL, 1786856400, 1786856400, NULL, 0),
			('p2', '6d0c5bb4-0001', 'assistant', '[{"type":"tool_call","data":{"id":"call_1","name":"agent","input":"{\"prompt\":\"look\"}","provider_executed":false,"finished":true}},{"type":"tool_call","data":{"id":"call_2","name":"view","input":"{\"file_path\":\"a","provider_executed":false,"finished":false}},{"type":"finish","data":{"reason":"tool_use","time":1786856402}}]', 'gpt-5', 'openai', 1786856401, 1786856402, 1786856402, 0),
			('p3', '6d0c5bb4-0001', 'tool', '[{"type":"tool_result","data":{"tool_call_id":"call_1","name":"agent","content":"no","data":"","mime_type":"","metadata":"","is_error":true}}]', '', NULL, 1786856403, 1786856403, NULL, 0),
			('p4', '6d0c5bb4-0001', 'assistant', '[{"type":"text","data":{"text":"There were pears."}},{"type":"finish","data":{"reason":"end_turn","time":1786856404}}]', 'gpt-5', 'openai', 1786856404, 1786856404, 1786856404, 1),
			('p5', '6d0c5bb4-0001', 'user', '[{"type":"text","data":{"text":"go on","hidden":true}}]', '', NULL, 1786856405, 1786856405, NULL, 0),
			('p6', '6d0c5bb4-0001', 'assistant', '[{"type":"finish","data":{"reason":"error","time":1786856406,"message":"Bad Request","details":"too long"}}]', 'gpt-5', 'openai', 1786856406, 1786856406, 1786856406, 0),
			('p7', '6d0c5bb4-0001', 'assistant', '[{"type":"text","data":{"text":"half a summ"}}]', 'gpt-5', 'openai', 1786856407, 1786856407, NULL, 1),
			('p8', '6d0c5bb4-0001', 'assistant', CAST('[{"type":"text","data":{"text":"Pears were counted."}},{"type":"finish","data":{"reason":"end_turn","time":1786856408}}]' AS BLOB), 'gpt-5', 'openai', 1786856408, 1786856408, 1786856408, 1),
			('p9', '6d0c5bb4-0001', 'oracle', '[{"type":"novel","data":{"x":1}}]', '', NULL, 1786856409, 1786856409, NULL, 0),
			('p10', '6d0c5bb4-0001', 'assistant', '[{"type":"novel","data":{"x":1}},{"type":"tool_result","data":{"tool_call_id":"call_9","name":"shot","content":"","data":"iVBORw0KGgo=","mime_type":"image/png","metadata":"","is_error":false}}]', 'gpt-5', 'openai', 1786856410, 1786856410, NULL, 0),
			('c1', 'p2$$call_1', 'user', '[{"type":"text","data":{"text":"look"}}]', '', NULL, 1786856402, 1786856402, NULL, 0)`,
			`INSERT INTO files (id, session_id, path, content, version, created_at, updated_at) VALUES
			('f1', '6d0c5bb4-0001', '/home/ada/a.go', 'one' || char(10) || 'two' || char(10) || 'three' || char(10), 0, 1786856402, 1786856402),
			('f2', '6d0c5bb4-0001', '/home/ada/a.go', 'one' || char(10) || 'zwei' || char(10) || '2' || char(10) || 'three' || char(10), 1, 1786856403, 1786856403),
			('f3', '6d0c5bb4-0001', '/home/ada/b.go', '', 0, 1786856403, 1786856403),
			('f4', '6d0c5bb4-0001', '/home/ada/a.go', 'one' || char(10) || 'zwei' || char(10) || '2' || char(10) || 'three' || char(10), 2, 1786856404, 1786856404)`,
			`INSERT INTO read_files VALUES ('6d0c5bb4-0001', '/home/ada/a.go', 1786856402)`,
		),
	}
	for name := range all {
		all[name] = append(all[name], triggers()...)
	}
	return all
}

// build makes a database from statements.
func build(t testing.TB, path string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	run(t, db, statements...)
	return db
}

func run(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%.200s: %v", s, err)
		}
	}
}

func TestTheCasesAreWhatTheirStatementsMake(t *testing.T) {
	for name, statements := range cases() {
		made := filepath.Join(t.TempDir(), filepath.Base(name))
		build(t, made, statements...).Close()
		at := filepath.Join("testdata", filepath.FromSlash(name))
		if flag.Lookup("update").Value.String() == "true" {
			b, err := os.ReadFile(made)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, got := interoptest.Dump(t, made, tables...), interoptest.Dump(t, at, tables...)
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-statements +file):\n%s", at, diff)
		}
	}
}
