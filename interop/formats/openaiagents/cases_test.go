package openaiagents

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
var tables = []string{"agent_sessions", "agent_messages", "message_structure", "turn_usage"}

// schema is the SQL with which the SDK makes its tables.
func schema() []string {
	return []string{
		`CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)`,
		`CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_data TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
			FOREIGN KEY (session_id) REFERENCES agent_sessions (session_id) ON DELETE CASCADE)`,
		`CREATE INDEX idx_agent_messages_session_id ON agent_messages (session_id, id)`,
		`CREATE TABLE users (name TEXT, password TEXT)`, `INSERT INTO users VALUES ('ada', 'never read')`,
	}
}

// advanced is the SQL of the further tables of advanced sessions.
func advanced() []string {
	return append(schema(),
		`CREATE TABLE message_structure (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_id INTEGER NOT NULL, branch_id TEXT NOT NULL DEFAULT 'main',
			message_type TEXT NOT NULL, sequence_number INTEGER NOT NULL, user_turn_number INTEGER, branch_turn_number INTEGER, tool_name TEXT, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)`,
		`CREATE TABLE turn_usage (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, branch_id TEXT NOT NULL DEFAULT 'main', user_turn_number INTEGER NOT NULL,
			requests INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, total_tokens INTEGER DEFAULT 0, input_tokens_details JSON,
			output_tokens_details JSON, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, UNIQUE(session_id, branch_id, user_turn_number))`,
	)
}

// cases are the databases of testdata as the statements that make them, by the path
// of each. -update rebuilds them.
func cases() map[string][]string {
	return map[string][]string{
		"plain/conversations.db": append(schema(),
			`INSERT INTO agent_sessions VALUES ('user_1:apples', '2026-03-05 08:00:00', '2026-03-05 08:05:00'), ('chat', '2026-03-05 09:00:00', '2026-03-05 09:00:00')`,
			`INSERT INTO agent_messages VALUES
			(1, 'user_1:apples', '{"role": "user", "content": "How many <apples>?"}', '2026-03-05 08:00:00'),
			(2, 'user_1:apples', '{"id": "rs_1", "summary": [{"text": "I look.", "type": "summary_text"}], "type": "reasoning", "encrypted_content": "xyz"}', '2026-03-05 08:00:01'),
			(3, 'user_1:apples', '{"id": "msg_1", "content": [{"annotations": [], "text": "I look.", "type": "output_text"}], "role": "assistant", "status": "completed", "type": "message"}', '2026-03-05 08:00:01'),
			(4, 'user_1:apples', '{"arguments": "{\"path\":\"apples\",\"n\":1.50}", "call_id": "call_1", "name": "list", "type": "function_call", "id": "fc_1", "status": "completed"}', '2026-03-05 08:00:01'),
			(5, 'chat', '{"role": "user", "content": [{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}, {"type": "input_file", "file_id": "file_1"}]}', '2026-03-05 09:00:00'),
			(6, 'user_1:apples', '{"arguments": "{}", "call_id": "call_2", "name": "transfer_to_counter", "type": "function_call"}', '2026-03-05 08:00:01'),
			(7, 'user_1:apples', '{"call_id": "call_1", "output": "three", "type": "function_call_output"}', '2026-03-05 08:00:02'),
			(8, 'user_1:apples', '{"call_id": "call_2", "output": "{\"assistant\": \"Counter\"}", "type": "function_call_output"}', '2026-03-05 08:00:02'),
			(9, 'user_1:apples', '{"id": "ws_1", "action": {"query": "apple", "type": "search"}, "status": "completed", "type": "web_search_call"}', '2026-03-05 08:00:03'),
			(10, 'user_1:apples', '{"id": "ci_1", "code": "1+2", "container_id": "c", "outputs": [{"type": "logs", "logs": "3"}], "status": "completed", "type": "code_interpreter_call"}', '2026-03-05 08:00:03'),
			(11, 'user_1:apples', '{"id": "ig_1", "result": "iVBORw0KGgo=", "status": "completed", "type": "image_generation_call"}', '2026-03-05 08:00:03'),
			(12, 'user_1:apples', '{"id": "mcp_1", "arguments": "{\"q\":1}", "name": "count", "server_label": "shop", "output": "3", "type": "mcp_call"}', '2026-03-05 08:00:03'),
			(13, 'user_1:apples', '{"id": "sh_1", "call_id": "call_3", "action": {"commands": ["ls"]}, "type": "shell_call"}', '2026-03-05 08:00:04'),
			(14, 'user_1:apples', '{"call_id": "call_3", "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}], "type": "shell_call_output"}', '2026-03-05 08:00:04'),
			(15, 'user_1:apples', '{"id": "msg_2", "content": [{"text": "Thr", "type": "output_text"}, {"refusal": "No.", "type": "refusal"}], "role": "assistant", "status": "incomplete", "type": "message"}', '2026-03-05 08:00:05'),
			(16, 'user_1:apples', '{"role": "developer", "content": "Be brief."}', '2026-03-05 08:00:06'),
			(17, 'chat', '{"role": "assistant", "content": "I call.", "tool_calls": [{"id": "t1", "type": "function", "function": {"name": "look", "arguments": "{\"a\":1}"}}]}', '2026-03-05 09:00:01'),
			(18, 'chat', '{"role": "tool", "tool_call_id": "t1", "content": "seen"}', '2026-03-05 09:00:02'),
			(19, 'chat', '{"__enc__": 1, "v": 1, "kid": "k", "payload": "gAAA"}', '2026-03-05 09:00:03'),
			(20, 'chat', '{"type": "novel", "x": 1}', '2026-03-05 09:00:04'),
			(21, 'chat', 'no JSON', '2026-03-05 09:00:05'),
			(22, 'chat', '{"type": "computer_call_output", "call_id": "cc", "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw0KGgo="}}', '2026-03-05 09:00:06')`,
		),
	}
}

// branched is a session "b" with branches that diverge.
func branched() []string {
	return append(advanced(),
		`INSERT INTO agent_sessions VALUES ('b', '2026-03-05 08:00:00', '2026-03-05 08:05:00')`,
		`INSERT INTO agent_messages VALUES
		(1, 'b', '{"role": "user", "content": "one"}', '2026-03-05 08:00:00'), (2, 'b', '{"role": "assistant", "content": "eins"}', '2026-03-05 08:00:01'),
		(3, 'b', '{"role": "user", "content": "two"}', '2026-03-05 08:00:02'), (4, 'b', '{"role": "assistant", "content": "zwei"}', '2026-03-05 08:00:03'),
		(5, 'b', '{"role": "user", "content": "deux"}', '2026-03-05 08:00:04'), (6, 'b', '{"role": "assistant", "content": "2"}', '2026-03-05 08:00:05'),
		(7, 'b', '{"role": "user", "content": "three"}', '2026-03-05 08:00:06'), (8, 'b', '{"role": "user", "content": "anew"}', '2026-03-05 08:00:07'),
		(9, 'b', '{"role": "user", "content": "trois"}', '2026-03-05 08:00:08')`,
		`INSERT INTO message_structure (session_id, message_id, branch_id, message_type, sequence_number, user_turn_number, branch_turn_number, created_at) VALUES
		('b', 1, 'main', 'user', 1, 1, 1, ''), ('b', 2, 'main', 'assistant', 2, 1, 1, ''), ('b', 3, 'main', 'user', 3, 2, 2, ''), ('b', 4, 'main', 'assistant', 4, 2, 2, ''),
		('b', 1, 'french', 'user', 5, 1, 1, ''), ('b', 2, 'french', 'assistant', 6, 1, 1, ''), ('b', 5, 'french', 'user', 7, 2, 2, ''), ('b', 6, 'french', 'assistant', 8, 2, 2, ''),
		('b', 7, 'main', 'user', 9, 3, 3, ''), ('b', 8, 'empty', 'user', 10, 1, 1, ''),
		('b', 1, 'deep', 'user', 11, 1, 1, ''), ('b', 2, 'deep', 'assistant', 12, 1, 1, ''), ('b', 5, 'deep', 'user', 13, 2, 2, ''), ('b', 6, 'deep', 'assistant', 14, 2, 2, ''), ('b', 9, 'deep', 'user', 15, 3, 3, ''),
		('b', 1, 'unused', 'user', 16, 1, 1, '')`,
		`INSERT INTO turn_usage VALUES
		(1, 'b', 'main', 1, 1, 100, 10, 110, '{"cached_tokens": 40}', '{"reasoning_tokens": 4}', '2026-03-05 08:00:01'),
		(2, 'b', 'french', 2, 1, 50, 5, 55, NULL, 'null', '2026-03-05 08:00:05'), (3, 'b', 'main', 3, 0, 0, 0, 0, NULL, NULL, '2026-03-05 08:00:06')`,
	)
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
