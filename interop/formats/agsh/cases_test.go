package agsh

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
var tables = []string{"sessions", "messages", "tool_outputs"}

// What later versions made of the tables.
const (
	mekaSessions = `CREATE TABLE sessions (id TEXT PRIMARY KEY, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
		parent_session_id TEXT REFERENCES sessions(id) ON DELETE CASCADE, cwd TEXT, permission TEXT, capabilities_json TEXT, token_id TEXT,
		additional_roots_json TEXT, subagent_spec_json TEXT, stat_turns INTEGER NOT NULL DEFAULT 0, stat_input_tokens INTEGER NOT NULL DEFAULT 0,
		stat_output_tokens INTEGER NOT NULL DEFAULT 0, stat_cache_creation_input_tokens INTEGER NOT NULL DEFAULT 0,
		stat_cache_read_input_tokens INTEGER NOT NULL DEFAULT 0, stat_redactions INTEGER NOT NULL DEFAULT 0,
		stat_redacted_images INTEGER NOT NULL DEFAULT 0, stat_redacted_bytes INTEGER NOT NULL DEFAULT 0)`
	mekaMessages = `CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
		role TEXT NOT NULL, content TEXT NOT NULL, created_at TEXT NOT NULL)`
)

// cases are the databases of testdata as the statements that make them, by the path
// of each. -update rebuilds them.
func cases() map[string][]string {
	message := `INSERT INTO messages (id, session_id, role, content, created_at) VALUES `
	return map[string][]string{
		"march/sessions.db": {
			createSessions, createMessages, createIndex,
			`INSERT INTO sessions VALUES ('7d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','2026-03-05T08:00:00.000000001+00:00','2026-03-05T08:01:00+00:00','4194000',NULL),
			('7d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e02','2026-03-05T09:00:00+00:00','2026-03-05T09:01:00.5+00:00',NULL,NULL)`,
			message + `(1,'7d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','user','how large is <this> folder?','2026-03-05T08:00:00.123456789+00:00'),
			(2,'7d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e02','user','hello','2026-03-05T08:00:01+00:00'),
			(3,'7d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','assistant','[{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"bash","input":{"command":"du -sh","z":1.50}},{"type":"tool_use","id":"t2","name":"find_files","input":{"pattern":"*"}}]','2026-03-05T08:00:02+00:00'),
			(4,'7d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','tool_results','[{"type":"tool_result","tool_use_id":"t1","content":"4.0K\t.","is_error":false},{"type":"tool_result","tool_use_id":"t2","content":"denied","is_error":true}]','2026-03-05T08:00:03+00:00'),
			(5,'7d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e02','assistant','no blocks, but words','2026-03-05T08:00:04+00:00'),
			(6,'7d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','assistant','[{"type":"text","text":"4 KB."},{"type":"novel","x":1}]','2026-03-05T08:00:05+00:00'),
			(7,'7d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e02','tool_results','gone wrong','2026-03-05T08:00:06+00:00'),
			(9,'7d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e02','oracle','a role of tomorrow','2026-03-05T08:00:06+00:00')`,
		},
		"april/sessions.db": {
			createSessions, createMessages, createIndex,
			`CREATE TABLE tool_outputs (session_id TEXT NOT NULL, name TEXT NOT NULL, content TEXT NOT NULL, created_at TEXT NOT NULL, PRIMARY KEY (session_id, name))`,
			`CREATE TABLE oauth_tokens (provider TEXT PRIMARY KEY, access_token TEXT, refresh_token TEXT, expires_at INTEGER, updated_at TEXT)`,
			`INSERT INTO oauth_tokens VALUES ('p','never read','never read',1,'')`,
			`INSERT INTO sessions VALUES ('8d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','2026-04-15T08:00:00+00:00','2026-04-15T08:01:00+00:00',NULL,NULL)`,
			message + `(21,'8d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','user','[Conversation summary from session compaction]' || char(10,10) || 'Apples were counted.','2026-04-15T08:00:00.5+00:00'),
			(22,'8d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','user','','2026-04-15T08:00:00.6+00:00'),
			(23,'8d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','user','<context>' || char(10) || 'cwd: /home/ada' || char(10) || '</context>' || char(10,10) || 'and pears?','2026-04-15T08:00:10+00:00'),
			(24,'8d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','assistant','[{"type":"thinking","thinking":"so","signature":null},{"type":"tool_use","id":"t9","name":"shot","input":{}}]','2026-04-15T08:00:11+00:00'),
			(25,'8d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','tool_results','[{"type":"tool_result","tool_use_id":"t9","content":[{"type":"text","text":"a shot"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}],"is_error":false}]','2026-04-15T08:00:12+00:00')`,
			`INSERT INTO tool_outputs VALUES ('8d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','out-1','a long output','2026-04-15T08:00:12+00:00')`,
		},
		"august/meka.db": {
			mekaSessions, mekaMessages, `PRAGMA user_version = 2`,
			`CREATE TABLE provider_credentials (id TEXT, secret TEXT)`, `INSERT INTO provider_credentials VALUES ('p','never read')`,
			`INSERT INTO sessions (id, created_at, updated_at, parent_session_id, cwd, permission, additional_roots_json, subagent_spec_json, stat_input_tokens, stat_output_tokens) VALUES
			('9d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','2026-08-27T08:00:00+00:00','2026-08-27T08:09:00+00:00',NULL,'/home/ada','write','["/tmp"]',NULL,70,7),
			('9d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e02','2026-08-27T08:05:00+00:00','2026-08-27T08:06:00+00:00','9d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','/home/ada',NULL,NULL,'{"name":"scout"}',0,0)`,
			message + `(1,'9d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','user','one','2026-08-27T08:00:01+00:00'),
			(2,'9d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','assistant','[{"type":"redacted_thinking","data":"xyz"},{"type":"text","text":"two"}]','2026-08-27T08:00:02+00:00'),
			(3,'9d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','compact_boundary','{"CompactBoundary":{"summary":{"role":"user","content":[{"type":"text","text":"one and two"}]},"replaced_count":2,"loaded_tools_snapshot":[]}}','2026-08-27T08:00:03+00:00'),
			(4,'9d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','user_blocks','[{"type":"text","text":"three"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]','2026-08-27T08:00:04+00:00'),
			(5,'9d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','assistant','[{"type":"text","text":"four"}]','2026-08-27T08:00:05+00:00'),
			(6,'9d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','repair','{"Repair":{"replaced_count":1,"messages":[{"role":"assistant","content":[{"type":"text","text":"vier"}]}]}}','2026-08-27T08:00:06+00:00'),
			(7,'9d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','repair','{"Repair":{"replaced_count":2,"messages":[]}}','2026-08-27T08:00:07+00:00'),
			(8,'9d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e01','repair','odd','2026-08-27T08:00:08+00:00'),
			(9,'9d0c5bb4-59f9-4f3f-8a4e-0d6a4b1d2e02','user','go and look','2026-08-27T08:05:01+00:00')`,
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
