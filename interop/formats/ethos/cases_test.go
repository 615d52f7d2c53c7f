package ethos

import (
	"database/sql"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // the driver of the test's databases

	"github.com/skein-dev/skein/interop/interoptest"
)

// tables are the tables that an export restores.
var tables = []string{"sessions", "messages", "compressions", "session_context_events"}

// cases are the databases of testdata as the statements that make them. -update
// rebuilds them.
func cases() map[string][]string {
	first := strings.Split(createSessions, ",\n\tturn_count")[0] + "\n) STRICT"
	firstMessages := strings.Split(createMessages, ",\n\ttrace_id")[0] + "\n) STRICT"
	text := []string{createText, createInsert, createDelete, createUpdate}
	session := `INSERT INTO sessions (id, key, platform, model, provider, working_dir, title, created_at, updated_at) VALUES `
	message := `INSERT INTO messages (id, session_id, role, content, tool_call_id, tool_name, tool_calls, timestamp) VALUES `
	return map[string][]string{
		"first": append([]string{
			first, firstMessages,
			session + `('6f0c2f0e-1d0b-4a37-8a55-0d8b7c7a1e01','cli:pears','cli','gpt-5','openai','/home/ada/pears',NULL,'2026-04-02T08:00:00.000Z','2026-04-02T08:01:00.000Z')`,
			message + `('6f0c2f0e-1d0b-4a37-8a55-0d8b7c7a1e02','6f0c2f0e-1d0b-4a37-8a55-0d8b7c7a1e01','user','count the pears',NULL,NULL,NULL,'2026-04-02T08:00:00.100Z'),
			('6f0c2f0e-1d0b-4a37-8a55-0d8b7c7a1e03','6f0c2f0e-1d0b-4a37-8a55-0d8b7c7a1e01','assistant','','','','[{"id":"c1","name":"terminal","input":{"b":1,"a":"ls"}},{"id":"c2","name":"terminal","input":{}}]','2026-04-02T08:00:01.000Z'),
			('6f0c2f0e-1d0b-4a37-8a55-0d8b7c7a1e04','6f0c2f0e-1d0b-4a37-8a55-0d8b7c7a1e01','tool_result','seven','c1','terminal',NULL,'2026-04-02T08:00:01.000Z'),
			('6f0c2f0e-1d0b-4a37-8a55-0d8b7c7a1e05','6f0c2f0e-1d0b-4a37-8a55-0d8b7c7a1e01','assistant','Seven.',NULL,NULL,NULL,'2026-04-02T08:00:00.500Z')`,
		}, text...),
		"june": append([]string{
			first, firstMessages,
			`ALTER TABLE messages ADD COLUMN trace_id TEXT`, `ALTER TABLE messages ADD COLUMN deleted_at TEXT`,
			`ALTER TABLE sessions ADD COLUMN turn_count INTEGER NOT NULL DEFAULT 0`, `ALTER TABLE sessions ADD COLUMN last_compaction_turn INTEGER NOT NULL DEFAULT 0`,
			`ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0`, strings.Replace(createCompressions, ",\n\tkept_from_message_id TEXT", "", 1),
			session + `('a0000000-0000-4000-8000-000000000001','cli:quince','cli','claude-sonnet-4-5','anthropic','/home/ada/quince','Quinces','2026-06-09T09:00:00.000Z','2026-06-09T09:00:05.000Z')`,
			message + `('a0000000-0000-4000-8000-000000000002','a0000000-0000-4000-8000-000000000001','user','undone',NULL,NULL,NULL,'2026-06-09T09:00:00.000Z'),
			('a0000000-0000-4000-8000-000000000003','a0000000-0000-4000-8000-000000000001','user','kept',NULL,NULL,NULL,'2026-06-09T09:00:01.000Z')`,
			`UPDATE messages SET deleted_at = '2026-06-09T09:00:00.500Z' WHERE content = 'undone'`,
			`INSERT INTO compressions VALUES ('a0000000-0000-4000-8000-000000000009','a0000000-0000-4000-8000-000000000001','2026-06-09T09:00:02.000Z','semantic_summary',2,1,'Quinces were talked of.',5,90,10,3)`,
		}, text...),
		"newest": append([]string{
			createSessions, createMessages, createCompressions,
			`CREATE TABLE session_context_events (id TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, message_id TEXT NOT NULL,
				kind TEXT NOT NULL, mode TEXT NOT NULL, hash TEXT NOT NULL, meta TEXT NOT NULL, timestamp INTEGER NOT NULL) STRICT`,
			`CREATE TABLE tool_kv (tool TEXT, scope_id TEXT, key TEXT, value TEXT, expires_at INTEGER, PRIMARY KEY (tool, scope_id, key)) STRICT`,
			`INSERT INTO tool_kv VALUES ('mail','x','password','never read',NULL)`,
			session + `('b0000000-0000-4000-8000-000000000001','cli:fig','cli','claude-sonnet-4-5','anthropic','/home/ada/fig','Figs','2026-08-20T10:00:00.000Z','2026-08-20T10:09:00.000Z'),
			('b0000000-0000-4000-8000-000000000101','telegram:bot1:555:42','telegram','gpt-5','openai',NULL,NULL,'2026-08-20T11:00:00.000Z','2026-08-20T11:00:00.000Z'),
			('b0000000-0000-4000-8000-000000000201','cli:fig:1787220000000','cli','gpt-5','openai','/home/ada/fig',NULL,'2026-08-20T12:00:00.000Z','2026-08-20T12:00:00.000Z'),
			('b0000000-0000-4000-8000-000000000301','cli:fig:fork:1787220000001','cli','claude-sonnet-4-5','anthropic','/home/ada/fig','Figs','2026-08-20T13:00:00.000Z','2026-08-20T13:00:00.000Z')`,
			`UPDATE sessions SET pinned = 1, metadata = '{"lang": "en"}', personality_id = 'gardener', input_tokens = 30 WHERE key = 'cli:fig'`,
			`UPDATE sessions SET parent_session_id = 'b0000000-0000-4000-8000-000000000001' WHERE key LIKE '%fork%'`,
			message + `('b0000000-0000-4000-8000-000000000002','b0000000-0000-4000-8000-000000000001','user','are the figs ripe?',NULL,NULL,NULL,'2026-08-20T10:00:00.010Z'),
			('b0000000-0000-4000-8000-000000000003','b0000000-0000-4000-8000-000000000001','assistant','I look.',NULL,NULL,'[{"id":"toolu_1","name":"look","input":{"tree":"fig"}}]','2026-08-20T10:00:01.000Z'),
			('b0000000-0000-4000-8000-000000000004','b0000000-0000-4000-8000-000000000001','tool_result','===TOOL_RESULT_START:look===' || char(10) || 'ripe, and says =' || char(8203) || '==TOOL_RESULT_END===' || char(10) || '===TOOL_RESULT_END===','toolu_1','look',NULL,'2026-08-20T10:00:02.000Z'),
			('b0000000-0000-4000-8000-000000000005','b0000000-0000-4000-8000-000000000001','user_steer','quick',NULL,NULL,NULL,'2026-08-20T10:00:02.500Z'),
			('b0000000-0000-4000-8000-000000000006','b0000000-0000-4000-8000-000000000001','assistant','They are ri' || char(10) || char(10) || '[interrupted — stopped by the person]',NULL,NULL,NULL,'2026-08-20T10:00:03.000Z'),
			('b0000000-0000-4000-8000-000000000007','b0000000-0000-4000-8000-000000000001','system','Model switched.',NULL,NULL,NULL,'2026-08-20T10:00:04.000Z'),
			('b0000000-0000-4000-8000-000000000008','b0000000-0000-4000-8000-000000000001','oracle','a role of tomorrow',NULL,NULL,NULL,'2026-08-20T10:00:05.000Z'),
			('b0000000-0000-4000-8000-000000000102','b0000000-0000-4000-8000-000000000101','user','a photo',NULL,NULL,NULL,'2026-08-20T11:00:00.000Z'),
			('b0000000-0000-4000-8000-000000000202','b0000000-0000-4000-8000-000000000201','assistant','odd calls',NULL,NULL,'[{"id":"","name":"x"},7,{"id":"c","name":"y","input":NaN}]','not a time'),
			('b0000000-0000-4000-8000-000000000302','b0000000-0000-4000-8000-000000000301','user','are the figs ripe?',NULL,NULL,NULL,'2026-08-20T13:00:00.000Z')`,
			`UPDATE messages SET input_tokens = 12, output_tokens = 4, cache_read_tokens = 100, cache_creation_tokens = 7, estimated_cost_usd = 0.0015, trace_id = 't1' WHERE content = 'I look.'`,
			`UPDATE messages SET content_blocks = '[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"video"}]' WHERE content = 'a photo'`,
			`INSERT INTO compressions VALUES ('b0000000-0000-4000-8000-000000000010','b0000000-0000-4000-8000-000000000001','2026-08-20T10:05:00.000Z','semantic_summary',6,4,'Figs were looked at.',6,900,90,12,'b0000000-0000-4000-8000-000000000005')`,
			`INSERT INTO session_context_events VALUES ('e1','b0000000-0000-4000-8000-000000000001','m','skill','full','h','{}',1787220000000)`,
			`PRAGMA user_version = 1`,
		}, text...),
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
		made := filepath.Join(t.TempDir(), fileName)
		build(t, made, statements...).Close()
		at := filepath.Join("testdata", name, fileName)
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
