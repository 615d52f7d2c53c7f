package llmlogs

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
var tables = []string{
	"conversations", "responses", "attachments", "prompt_attachments", "schemas", "fragments", "prompt_fragments", "system_fragments",
	"tools", "tool_calls", "tool_results", "tool_responses", "tool_results_attachments", "_llm_migrations", "logs", "log",
}

const (
	createConversations = `CREATE TABLE [conversations] ([id] TEXT PRIMARY KEY, [name] TEXT, [model] TEXT)`
	createResponses     = `CREATE TABLE "responses" ([id] TEXT PRIMARY KEY, [model] TEXT, [prompt] TEXT, [system] TEXT, [prompt_json] TEXT, [options_json] TEXT,
		[response] TEXT, [response_json] TEXT, [conversation_id] TEXT REFERENCES [conversations]([id]), [duration_ms] INTEGER, [datetime_utc] TEXT,
		[input_tokens] INTEGER, [output_tokens] INTEGER, [token_details] TEXT, [schema_id] TEXT, [resolved_model] TEXT)`
	createMigrations = `CREATE TABLE [_llm_migrations] ([name] TEXT PRIMARY KEY, [applied_at] TEXT)`
)

// cases are the databases of testdata as the statements that make them, by the path
// of each. -update rebuilds them.
func cases() map[string][]string {
	return map[string][]string{
		"first/logs.db": {
			`CREATE TABLE "log" ([provider] TEXT, [system] TEXT, [prompt] TEXT, [chat_id] TEXT, [response] TEXT, [model] TEXT, [timestamp] TEXT)`,
			`INSERT INTO log VALUES ('openai', NULL, 'one word for <pear>', NULL, 'Fruit.', 'gpt-3.5-turbo', '2023-04-01 09:00:00.250000')`,
			`INSERT INTO log VALUES ('openai', 'be terse', 'and in French?', '1', 'Poire.', 'gpt-3.5-turbo', '2023-04-01 09:01:00.250000')`,
		},
		"june/logs.db": {
			`CREATE TABLE "logs" ([id] INTEGER PRIMARY KEY, [model] TEXT, [prompt] TEXT, [system] TEXT, [prompt_json] TEXT, [options_json] TEXT, [response] TEXT,
			[response_json] TEXT, [reply_to_id] INTEGER, [chat_id] INTEGER, [duration_ms] INTEGER, [datetime_utc] TEXT)`,
			`INSERT INTO logs VALUES (1,'gpt-4','hello',NULL,NULL,'{}','Hi.','{}',NULL,NULL,900,'2023-07-01 09:00:00.250000'),
			(2,'gpt-4','alone','be kind',NULL,'{"temperature": 0.5}','Never.','{}',NULL,NULL,800,'2023-07-01 09:00:05'),
			(3,'gpt-4','again',NULL,NULL,'{}','Hello.','{}',1,1,700,'yesterday')`,
			createConversations, `CREATE TABLE [responses] ([id] TEXT PRIMARY KEY, [model] TEXT, [prompt] TEXT, [system] TEXT, [prompt_json] TEXT, [options_json] TEXT,
			[response] TEXT, [response_json] TEXT, [conversation_id] TEXT, [duration_ms] INTEGER, [datetime_utc] TEXT)`,
			`INSERT INTO conversations VALUES ('01h5aa3c0000000000000000a1','count to three','gpt-4')`,
			`INSERT INTO responses VALUES ('01h5aa3c0000000000000000b1','gpt-4','count to three',NULL,NULL,'{}','1 2 3','{}','01h5aa3c0000000000000000a1',10,'2023-07-12T10:00:00.123456'),
			('01h5aa3c0000000000000000b2','gpt-4','nobody''s',NULL,NULL,'{}','Indeed.','{}',NULL,10,'2023-07-12T10:00:01.123456')`,
		},
		"today/logs.db": {
			createConversations, createResponses, createMigrations,
			`CREATE VIRTUAL TABLE [responses_fts] USING FTS5 ([prompt], [response], content=[responses])`,
			`CREATE TABLE [attachments] ([id] TEXT PRIMARY KEY, [type] TEXT, [path] TEXT, [url] TEXT, [content] BLOB)`,
			`CREATE TABLE [prompt_attachments] ([response_id] TEXT, [attachment_id] TEXT, [order] INTEGER, PRIMARY KEY ([response_id], [attachment_id]))`,
			`CREATE TABLE [schemas] ([id] TEXT PRIMARY KEY, [content] TEXT)`,
			`CREATE TABLE [fragments] ([id] INTEGER PRIMARY KEY, [hash] TEXT, [content] TEXT, [datetime_utc] TEXT, [source] TEXT)`,
			`CREATE TABLE [prompt_fragments] ([response_id] TEXT, [fragment_id] INTEGER, [order] INTEGER, PRIMARY KEY ([response_id], [fragment_id], [order]))`,
			`CREATE TABLE [system_fragments] ([response_id] TEXT, [fragment_id] INTEGER, [order] INTEGER, PRIMARY KEY ([response_id], [fragment_id], [order]))`,
			`CREATE TABLE [tools] ([id] INTEGER PRIMARY KEY, [hash] TEXT, [name] TEXT, [description] TEXT, [input_schema] TEXT, [plugin] TEXT)`,
			`CREATE TABLE [tool_responses] ([tool_id] INTEGER, [response_id] TEXT, PRIMARY KEY ([tool_id], [response_id]))`,
			`CREATE TABLE [tool_calls] ([id] INTEGER PRIMARY KEY, [response_id] TEXT, [tool_id] INTEGER, [name] TEXT, [arguments] TEXT, [tool_call_id] TEXT)`,
			`CREATE TABLE [tool_results] ([id] INTEGER PRIMARY KEY, [response_id] TEXT, [tool_id] INTEGER, [name] TEXT, [output] TEXT, [tool_call_id] TEXT, [instance_id] INTEGER, [exception] TEXT)`,
			`CREATE TABLE [tool_results_attachments] ([tool_result_id] INTEGER, [attachment_id] TEXT, [order] INTEGER, PRIMARY KEY ([tool_result_id], [attachment_id]))`,
			`INSERT INTO _llm_migrations VALUES ('m001_initial','2025-06-01 09:00:00+00:00')`,
			`INSERT INTO conversations VALUES ('01jxa0000000000000000000a1','what is in the picture?','gpt-4o'), ('01jxa0000000000000000000a2','how late is it?','claude-sonnet-4')`,
			`INSERT INTO attachments VALUES ('aa01','image/png',NULL,NULL,X'89504e470d0a1a0a'), ('aa02','image/jpeg','/home/ada/cat.jpg',NULL,NULL), ('aa03','image/png',NULL,'https://example.org/a.png',NULL)`,
			`INSERT INTO schemas VALUES ('ab','{"type": "object"}')`,
			`INSERT INTO fragments VALUES (1,'h1','Pears are green.','2025-06-01T09:00:00','/home/ada/pears.txt'), (2,'h2','Be exact.','2025-06-01T09:00:00',NULL), (3,'h3','not used','2025-06-01T09:00:00',NULL)`,
			`INSERT INTO responses VALUES
			('01jxa0000000000000000000b1','gpt-4o','what is in the picture?','You see well.',NULL,'{"detail":"high"}','A pear & a <cat>.','{"id":"r1"}','01jxa0000000000000000000a1',1500,'2025-06-01T09:00:00.123456+00:00',1000,20,'{"prompt_tokens_details": {"cached_tokens": 600}, "completion_tokens_details": {"reasoning_tokens": 12}}','ab','gpt-4o-2024-08-06'),
			('01jxa0000000000000000000b2','claude-sonnet-4','how late is it?',NULL,NULL,'{}','','{}','01jxa0000000000000000000a2',100,'2025-06-01T10:00:00+00:00',50,5,'{"cache_read_input_tokens": 30, "cache_creation_input_tokens": 7}',NULL,NULL),
			('01jxa0000000000000000000b3','gpt-4o','and what colour?','You see well.',NULL,NULL,'Green.',NULL,'01jxa0000000000000000000a1',1500,'2025-06-01T09:05:00+00:00',NULL,NULL,NULL,NULL,NULL),
			('01jxa0000000000000000000b4','claude-sonnet-4','',NULL,NULL,'{}','Five to twelve.','{}','01jxa0000000000000000000a2',100,'2025-06-01T10:00:01+00:00',60,6,'',NULL,NULL)`,
			`INSERT INTO prompt_attachments VALUES ('01jxa0000000000000000000b1','aa01',0), ('01jxa0000000000000000000b1','aa02',1), ('01jxa0000000000000000000b3','aa01',0)`,
			`INSERT INTO prompt_fragments VALUES ('01jxa0000000000000000000b1',1,0)`,
			`INSERT INTO system_fragments VALUES ('01jxa0000000000000000000b3',2,0)`,
			`INSERT INTO tools VALUES (1,'th','llm_time','the time','{}',NULL)`,
			`INSERT INTO tool_responses VALUES (1,'01jxa0000000000000000000b2')`,
			`INSERT INTO tool_calls VALUES (1,'01jxa0000000000000000000b2',1,'llm_time','{"zone": "UTC", "n": 1.50}','toolu_1'), (2,'01jxa0000000000000000000b2',NULL,'shot','not JSON',NULL)`,
			`INSERT INTO tool_results VALUES (1,'01jxa0000000000000000000b4',1,'llm_time','11:55','toolu_1',NULL,NULL), (2,'01jxa0000000000000000000b4',NULL,'shot','',NULL,NULL,'no screen')`,
			`INSERT INTO tool_results_attachments VALUES (1,'aa03',0)`,
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
