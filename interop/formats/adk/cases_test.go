package adk

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // the driver of the test's databases

	"github.com/skein-dev/skein/interop/interoptest"
)

// tables are the tables that an export restores.
var tables = []string{"sessions", "events", "app_states", "user_states", "adk_internal_metadata"}

// lite is the SQL with which the kit's own SQLite service makes its tables.
func lite() []string {
	return []string{
		`CREATE TABLE app_states (app_name TEXT PRIMARY KEY, state TEXT NOT NULL, update_time REAL NOT NULL)`,
		`CREATE TABLE user_states (app_name TEXT NOT NULL, user_id TEXT NOT NULL, state TEXT NOT NULL, update_time REAL NOT NULL, PRIMARY KEY (app_name, user_id))`,
		`CREATE TABLE sessions (app_name TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, create_time REAL NOT NULL, update_time REAL NOT NULL, PRIMARY KEY (app_name, user_id, id))`,
		`CREATE TABLE events (id TEXT NOT NULL, app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL, invocation_id TEXT NOT NULL, timestamp REAL NOT NULL, event_data TEXT NOT NULL,
			PRIMARY KEY (app_name, user_id, session_id, id), FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions(app_name, user_id, id) ON DELETE CASCADE)`,
		`CREATE TABLE credentials (token TEXT)`, `INSERT INTO credentials VALUES ('never read')`,
	}
}

// occur returns the statement that adds an event to the session app, ada, s, the
// given seconds after eight o'clock.
func occur(id, invocation string, second int, data string) string {
	at := 1772697600 + second
	return fmt.Sprintf(`INSERT INTO events VALUES ('%s', 'app', 'ada', 's', '%s', %d.5, '{"id":"%s","invocation_id":"%s","timestamp":%d.5,%s}')`, id, invocation, at, id, invocation, at, data)
}

// cases are the databases of testdata as the statements that make them, by the path
// of each. -update rebuilds them.
func cases() map[string][]string {
	return map[string][]string{
		"pickled/sessions.db": { // before 1.22, by way of SQLAlchemy
			`CREATE TABLE sessions (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, id VARCHAR(128) NOT NULL, state TEXT NOT NULL, create_time DATETIME NOT NULL, update_time DATETIME NOT NULL, PRIMARY KEY (app_name, user_id, id))`,
			`CREATE TABLE app_states (app_name VARCHAR(128) NOT NULL, state TEXT NOT NULL, update_time DATETIME NOT NULL, PRIMARY KEY (app_name))`,
			`CREATE TABLE events (id VARCHAR(128) NOT NULL, app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, session_id VARCHAR(128) NOT NULL, invocation_id VARCHAR(256) NOT NULL, author VARCHAR(256) NOT NULL,
				actions BLOB NOT NULL, long_running_tool_ids_json TEXT, branch VARCHAR(256), timestamp DATETIME NOT NULL, content TEXT, grounding_metadata TEXT, custom_metadata TEXT, usage_metadata TEXT, citation_metadata TEXT,
				partial BOOLEAN, turn_complete BOOLEAN, error_code VARCHAR(256), error_message TEXT, interrupted BOOLEAN, input_transcription TEXT, output_transcription TEXT, PRIMARY KEY (id, app_name, user_id, session_id))`,
			`INSERT INTO app_states VALUES ('shop', '{"n": 1}', '2026-03-05 08:00:00.000000')`,
			`INSERT INTO sessions VALUES ('shop', 'ada@example.org', 's1', '{}', '2026-03-05 08:00:00.000000', '2026-03-05 08:05:00.000000'), ('shop', 'bob', 's2', '{}', '2026-03-05 09:00:00.000000', '2026-03-05 09:00:00.000000')`,
			`INSERT INTO events (id, app_name, user_id, session_id, invocation_id, author, actions, long_running_tool_ids_json, branch, timestamp, content, usage_metadata, error_code, error_message, interrupted) VALUES
			('e1', 'shop', 'ada@example.org', 's1', 'i1', 'user', x'80059514', NULL, NULL, '2026-03-05 08:00:00.250000', '{"parts": [{"text": "how many <apples>?"}], "role": "user"}', NULL, NULL, NULL, NULL),
			('e2', 'shop', 'ada@example.org', 's1', 'i1', 'shop', x'80059514', '["adk-2"]', NULL, '2026-03-05 08:00:01.000000', '{"parts": [{"text": "I look.", "thought": true, "thought_signature": "c2ln"}, {"text": "I look."}, {"function_call": {"id": "adk-1", "name": "count", "args": {"what": "apple", "n": 1.50}}}, {"function_call": {"id": "adk-2", "name": "ask", "args": {}}}], "role": "model"}', '{"prompt_token_count": 100, "candidates_token_count": 20, "thoughts_token_count": 5, "cached_content_token_count": 40, "total_token_count": 125}', NULL, NULL, NULL),
			('e3', 'shop', 'ada@example.org', 's1', 'i1', 'shop', x'80059514', NULL, 'shop.counter', '2026-03-05 08:00:02.000000', '{"parts": [{"function_response": {"id": "adk-1", "name": "count", "response": {"result": "three"}}}, {"function_response": {"id": "adk-2", "name": "ask", "response": {"status": "pending", "ticket": 7}}}], "role": "user"}', NULL, NULL, NULL, NULL),
			('e4', 'shop', 'bob', 's2', 'i9', 'user', x'80059514', NULL, NULL, '2026-03-05 09:00:00.000000', '{"parts": [{"inline_data": {"data": "-_8=", "mime_type": "image/png", "display_name": "a.png"}}, {"file_data": {"file_uri": "gs://b/c", "mime_type": "text/plain"}}], "role": "user"}', NULL, NULL, NULL, NULL),
			('e5', 'shop', 'ada@example.org', 's1', 'i2', 'user', x'80059514', NULL, NULL, '2026-03-05 08:01:00.000000', '{"parts": [{"function_response": {"id": "adk-2", "name": "ask", "response": {"error": "no"}}}], "role": "user"}', NULL, NULL, NULL, NULL),
			('e6', 'shop', 'ada@example.org', 's1', 'i2', 'counter', x'80059514', NULL, NULL, '2026-03-05 08:01:01.000000', NULL, NULL, 'MAX_TOKENS', 'too long', 1),
			('e7', 'shop', 'ada@example.org', 's1', 'i2', 'counter', '{"stateDelta":{"a":1},"transferToAgent":"shop"}', NULL, NULL, '2026-03-05 08:01:02.000000', NULL, NULL, NULL, NULL, NULL)`,
		},
		"json/database.sqlite": { // since, by way of SQLAlchemy
			`CREATE TABLE adk_internal_metadata ("key" VARCHAR(128) NOT NULL, value VARCHAR(256) NOT NULL, PRIMARY KEY ("key"))`, `INSERT INTO adk_internal_metadata VALUES ('schema_version', '1')`,
			`CREATE TABLE sessions (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, id VARCHAR(128) NOT NULL, state TEXT NOT NULL, create_time DATETIME NOT NULL, update_time DATETIME NOT NULL, event_sequence INTEGER NOT NULL, PRIMARY KEY (app_name, user_id, id))`,
			`CREATE TABLE events (id VARCHAR(128) NOT NULL, app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, session_id VARCHAR(128) NOT NULL, invocation_id VARCHAR(256) NOT NULL, timestamp DATETIME NOT NULL, event_data TEXT, PRIMARY KEY (id, app_name, user_id, session_id))`,
			`INSERT INTO sessions VALUES ('app', 'ada', 's', '{}', '2026-03-05 08:00:00.000000', '2026-03-05 08:05:00.000000', 3)`,
			`INSERT INTO events VALUES ('e1', 'app', 'ada', 's', 'i1', '2026-03-05 09:00:00.000000', '{"author": "user", "content": {"parts": [{"text": "hello"}], "role": "user"}, "invocation_id": "i1", "id": "e1", "timestamp": 1772697600.25, "actions": {"state_delta": {}, "artifact_delta": {}, "requested_auth_configs": {}, "requested_tool_confirmations": {}}}'),
			('e2', 'app', 'ada', 's', 'i1', '2026-03-05 09:00:01.000000', '{"author": "app", "modelVersion": "gemini-2.5-flash", "finishReason": "STOP", "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 2, "toolUsePromptTokenCount": 3}, "content": {"parts": [{"executableCode": {"code": "1+1", "language": "PYTHON"}}, {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}, {"text": "2"}, {"novel": 1}], "role": "model"}, "actions": {"stateDelta": {"k": 1}, "requestedAuthConfigs": {"adk-1": {"secret": "x"}}}, "groundingMetadata": {"webSearchQueries": ["q"]}, "timestamp": 1772697601.0}')`,
		},
		"lite/.adk/session.db": append(lite(),
			`INSERT INTO sessions VALUES ('app', 'ada', 's', '{}', 1772697600.5, 1772697700.5)`,
			occur("e1", "i1", 0, `"author":"user","content":{"parts":[{"text":"one"}],"role":"user"}`),
			occur("e2", "i1", 1, `"author":"root","branch":"root.helper","content":{"parts":[{"function_call":{"name":"look","args":{}}}],"role":"model"}`),
			occur("e3", "i1", 2, `"author":"root","content":{"parts":[{"function_response":{"name":"look","response":{"files":["a"]}}}],"role":"user"},"actions":{"transfer_to_agent":"helper"}`),
			occur("e4", "i2", 3, `"author":"user","content":{"parts":[{"text":"two"}],"role":"user"}`),
			occur("e5", "i2", 4, `"author":"helper","content":{"parts":[{"text":"zwei"}],"role":"model"}`),
			occur("e6", "i3", 5, `"author":"user","actions":{"rewind_before_invocation_id":"i2"}`),
			occur("e7", "i4", 6, `"author":"user","input_transcription":{"text":"said aloud","finished":true}`),
			occur("e8", "i4", 7, `"author":"helper","output_transcription":{"text":"heard"},"turn_complete":true`),
			occur("e9", "i4", 8, `"author":"helper","turn_complete":true`),
			occur("e10", "i5", 9, `"author":"user","actions":{"compaction":{"start_timestamp":1772697600.5,"end_timestamp":1772697602.5,"compacted_content":{"parts":[{"text":"one was looked at"}],"role":"model"}}}`),
			occur("e11", "i5", 10, `"author":"user","actions":{"compaction":{"startTimestamp":1772697606.5,"endTimestamp":1772697607.5,"compactedContent":{"parts":[{"text":"words were said"}],"role":"model"}}}`),
		),
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
