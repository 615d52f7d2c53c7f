package goose

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
var tables = []string{"sessions", "messages", "usage_ledger", "schema_version"}

const (
	version  = `CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)`
	firstSQL = `CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT NOT NULL DEFAULT '', working_dir TEXT NOT NULL,
		created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, extension_data TEXT DEFAULT '{}',
		total_tokens INTEGER, input_tokens INTEGER, output_tokens INTEGER, accumulated_total_tokens INTEGER, accumulated_input_tokens INTEGER,
		accumulated_output_tokens INTEGER, schedule_id TEXT, recipe_json TEXT)`
	firstMessages = `CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL,
		content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER)`
	lastSQL = `CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '', user_set_name BOOLEAN DEFAULT FALSE,
		session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
		extension_data TEXT DEFAULT '{}', total_tokens INTEGER, input_tokens INTEGER, output_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER,
		accumulated_total_tokens INTEGER, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, accumulated_cache_read_tokens INTEGER,
		accumulated_cache_write_tokens INTEGER, accumulated_cost REAL, schedule_id TEXT, recipe_json TEXT, user_recipe_values_json TEXT, provider_name TEXT,
		model_config_json TEXT, goose_mode TEXT NOT NULL DEFAULT 'auto', archived_at TIMESTAMP, project_id TEXT, parent_session_id TEXT)`
	lastMessages = `CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL,
		content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER, metadata_json TEXT)`
	lastLedger = `CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
		created_timestamp INTEGER NOT NULL, model TEXT, input_tokens INTEGER, output_tokens INTEGER, total_tokens INTEGER, cache_read_tokens INTEGER,
		cache_write_tokens INTEGER, cost REAL, cost_source TEXT, is_compaction INTEGER DEFAULT 0)`
)

// What the rows of the cases say about who sees a message.
const (
	both   = `{"userVisible":true,"agentVisible":true}`
	person = `{"userVisible":true,"agentVisible":false}`
	model  = `{"userVisible":false,"agentVisible":true}`
	nobody = `{"userVisible":false,"agentVisible":false}`
	turn   = `{"userVisible":false,"agentVisible":true,"turnContext":true}`
)

// cases are the databases of testdata as the statements that make them, by the path
// of each. -update rebuilds them.
func cases() map[string][]string {
	return map[string][]string{
		"first/sessions.db": {
			version, `INSERT INTO schema_version VALUES (1, '2025-09-30 08:00:00')`, firstSQL, firstMessages,
			`INSERT INTO sessions (id, description, working_dir, created_at, updated_at, accumulated_total_tokens, accumulated_input_tokens, accumulated_output_tokens, schedule_id) VALUES
			('20250930_1', 'Count the apples', '/home/ada/apples', '2025-09-30 08:00:00', '2025-09-30 08:05:00', 330, 300, 30, 'daily'),
			('20250930_2', '', '/home/ada', '2025-09-30 09:00:00', '2025-09-30 09:00:00', NULL, NULL, NULL, NULL)`,
			`INSERT INTO messages (id, session_id, role, content_json, created_timestamp, timestamp) VALUES
			(1, '20250930_1', 'user', '[{"type":"text","text":"How many <apples>?"}]', 1759219200, '2025-09-30 08:00:00'),
			(2, '20250930_1', 'assistant', '[{"type":"thinking","thinking":"I look.","signature":"c2ln"},{"type":"text","text":"I look."},{"type":"toolRequest","id":"c1","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"ls","n":1.50}}}},{"type":"toolRequest","id":"c2","toolCall":{"status":"error","error":"-32602: no such tool"}}]', 1759219201, '2025-09-30 08:00:01'),
			(3, '20250930_1', 'user', '[{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":[{"type":"text","text":"a b c","annotations":{"audience":["assistant"]}},{"type":"text","text":"a b c","annotations":{"audience":["user"],"priority":0.0}},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}]}},{"type":"toolResponse","id":"c2","toolResult":{"status":"error","error":"no such tool"}}]', 1759219202, '2025-09-30 08:00:02'),
			(4, '20250930_2', 'user', '[{"type":"text","text":"hello"},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}]', 1759222800, '2025-09-30 09:00:00'),
			(5, '20250930_1', 'assistant', '[{"type":"text","text":"Three."}]', 1759219203, '2025-09-30 08:00:03'),
			(6, '20250930_1', 'oracle', '[{"type":"text","text":"a role of tomorrow"}]', 1759219204, '2025-09-30 08:00:04'),
			(7, '20250930_1', 'user', 'no list', 1759219205, '2025-09-30 08:00:05')`,
		},
		"last/sessions.db": {
			version, `INSERT INTO schema_version VALUES (16, '2026-08-16 04:00:00')`, lastSQL, lastMessages, lastLedger,
			`CREATE TABLE threads (id TEXT, secret TEXT)`, `INSERT INTO threads VALUES ('t', 'never read')`,
			`INSERT INTO sessions (id, name, user_set_name, session_type, working_dir, created_at, updated_at, accumulated_total_tokens, accumulated_input_tokens,
			accumulated_output_tokens, accumulated_cost, recipe_json, provider_name, model_config_json, goose_mode, archived_at, parent_session_id) VALUES
			('20260816_1', 'Pears', 1, 'user', '/home/ada/pears', '2026-08-16 05:00:00', '2026-08-16 05:10:00.123456+00:00', 13440, 12900, 540, 0.038, NULL, 'anthropic', '{"model_name":"claude-sonnet-4-5"}', 'approve', '2026-08-17 00:00:00', NULL),
			('20260816_2', 'CLI Session', 0, 'sub_agent', '/home/ada/pears', '2026-08-16 05:01:00', '2026-08-16 05:02:00', 120, 100, 20, NULL, '{"title":"scout"}', 'anthropic', '{"model_name":"claude-haiku-4-5"}', 'auto', NULL, '20260816_1'),
			('20260816_3', 'Nightly', 0, 'scheduled', '/home/ada', '2026-08-16 06:00:00', '2026-08-16 06:00:00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'auto', NULL, NULL)`,
			`INSERT INTO messages (id, message_id, session_id, role, content_json, created_timestamp, timestamp, metadata_json) VALUES
			(1, 'msg_0191-1', '20260816_1', 'user', '[{"type":"text","text":"how many pears?"}]', 1786856400, '', '` + person + `'),
			(2, 'msg_0191-2', '20260816_1', 'user', '[{"type":"text","text":"<turn-context>noon</turn-context>"}]', 1786856400, '', '{"userVisible":false,"agentVisible":false,"turnContext":true}'),
			(3, 'chatcmpl-1', '20260816_1', 'assistant', '[{"type":"toolRequest","id":"d1","toolCall":{"status":"success","value":{"name":"delegate","arguments":{"task":"look"}}},"_meta":{"goose_extension":"summon"}}]', 1786856401, '', '{"userVisible":true,"agentVisible":false,"inference":{"provider":"anthropic","requestedModel":"claude-sonnet-4-5"},"usage":{"inputTokens":10}}'),
			(4, 'msg_0191-3', '20260816_1', 'user', '[{"type":"toolResponse","id":"d1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"two"}],"isError":false}}}]', 1786856402, '', '` + person + `'),
			(5, 'msg_0191-4', '20260816_1', 'assistant', '[{"type":"systemNotification","notificationType":"inlineMessage","msg":"Compacting…"}]', 1786856403, '', '` + person + `'),
			(6, 'msg_0191-5', '20260816_1', 'user', '[{"type":"text","text":"There were two pears."}]', 1786856404, '', '` + nobody + `'),
			(7, 'msg_0191-6', '20260816_1', 'assistant', '[{"type":"text","text":"Your context was compacted. Go on."}]', 1786856404, '', '` + nobody + `'),
			(8, 'msg_0191-7', '20260816_1', 'user', '[{"type":"text","text":"how many pears?"}]', 1786856404, '', '` + nobody + `'),
			(9, 'chatcmpl-2', '20260816_1', 'assistant', '[{"type":"redactedThinking","data":"eHl6"},{"type":"text","text":"Two."}]', 1786856405, '', '` + person + `'),
			(10, 'msg_0191-8', '20260816_1', 'user', '[{"type":"text","text":"Pears: two; all is done."}]', 1786856410, '', '` + model + `'),
			(11, 'msg_0191-9', '20260816_1', 'user', '[{"type":"text","text":"noon again"}]', 1786856411, '', '` + turn + `'),
			(12, 'msg_0191-10', '20260816_1', 'user', '[{"type":"text","text":"and plums"}]', 1786856411, '', '{"userVisible":true,"agentVisible":true,"steer":true}'),
			(13, 'chatcmpl-3', '20260816_1', 'assistant', '[{"type":"text","text":"None"},{"type":"novel","x":1}]', 1786856412, '', '{"userVisible":true,"agentVisible":true,"outputTokenLimitReached":true}'),
			(14, 'msg_0192-1', '20260816_2', 'user', '[{"type":"text","text":"look"}]', 1786856460, '', '` + both + `'),
			(15, 'msg_0192-2', '20260816_2', 'assistant', '[{"type":"toolConfirmationRequest","id":"x","toolName":"shell","arguments":{},"prompt":null}]', 1786856461, '', NULL),
			(16, 'msg_0193-1', '20260816_3', 'user', '[{"type":"text","text":"tidy"}]', 1786860000, '', '` + both + `')`,
			`INSERT INTO usage_ledger (id, session_id, created_timestamp, model, input_tokens, output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, cost, cost_source, is_compaction) VALUES
			(1, '20260816_1', 1786856401, 'claude-sonnet-4-5', 12000, 400, 12400, 9000, 1500, 0.0365, 'provider_reported', 0),
			(2, '20260816_1', 1786856404, 'claude-sonnet-4-5', 900, 120, 1020, NULL, NULL, 0.0015, 'estimated', 1),
			(3, '20260816_1', 1786856406, NULL, 20, 0, 20, 0, 0, NULL, 'carried_forward', 0),
			(4, '20260816_1', 1786856407, NULL, 3, 1, 4, 0, 0, NULL, 'carried_forward', 0)`,
		},
	}
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
		at := filepath.Join("testdata", "databases", filepath.FromSlash(name))
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
