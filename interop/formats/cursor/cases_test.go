package cursor

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // the driver of the test's databases

	"github.com/skein-dev/skein/interop/interoptest"
)

var tables = []string{"blobs", "meta", "cursorDiskKV", "composerHeaders"}

// text quotes s for SQL.
func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// chat returns the statements of a CLI's database whose root lists the
// messages, of which some may be the same.
func chatOf(meta string, messages ...string) []string {
	all := []string{`CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)`, `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)`}
	var root []byte
	for _, m := range messages {
		sum := sha256.Sum256([]byte(m))
		root = append(append(root, 0x0a, 32), sum[:]...)
		all = append(all, fmt.Sprintf(`INSERT OR IGNORE INTO blobs VALUES ('%x', X'%x')`, sum, m))
	}
	const folder = "file:///home/ada/or%20chard"
	root = append(append(root, 9<<3|2, byte(len(folder))), folder...)
	sum := sha256.Sum256(root)
	meta = strings.Replace(meta, "ROOT", hex.EncodeToString(sum[:]), 1)
	return append(all,
		fmt.Sprintf(`INSERT INTO blobs VALUES ('%x', X'%x')`, sum, root),
		fmt.Sprintf(`INSERT INTO blobs VALUES ('%064x', X'0a00')`, 1),
		fmt.Sprintf(`INSERT INTO meta VALUES ('0', '%x')`, meta))
}

const createKV = `CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)`

const createItems = `CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)`

func kv(key, value string) string {
	return "INSERT INTO cursorDiskKV VALUES (" + text(key) + ", " + text(value) + ")"
}

// cases are the databases of testdata as the statements that make them, by the path
// of each. -update rebuilds them.
func cases() map[string][]string {
	const a, b, c = "3b5c1c52-0001-4a7e-8f55-0a1b2c3d4e01", "3b5c1c52-0002-4a7e-8f55-0a1b2c3d4e02", "3b5c1c52-0003-4a7e-8f55-0a1b2c3d4e03"
	return map[string][]string{
		"databases/cli/chats/0cc175b9c0f1b6a831c399e269772661/5c1d2e3f-0001-4a7e-8f55-0a1b2c3d4e01/store.db": chatOf(
			`{"agentId":"5c1d2e3f-0001-4a7e-8f55-0a1b2c3d4e01","latestRootBlobId":"ROOT","name":"Pears","mode":"plan","createdAt":1771000000000,"lastUsedModel":"gpt-5.2"}`,
			`{"role":"system","content":"You are an agent."}`,
			`{"role":"user","content":[{"type":"text","text":"<user_info>\nOS: linux\nWorkspace Path: /home/ada/orchard\n</user_info>\n<user_query>\nhow many <pears>?\n</user_query>"}]}`,
			`{"role":"assistant","id":"1","content":[{"type":"reasoning","text":"I look."},{"type":"text","text":"Let me see."},{"type":"tool-call","toolCallId":"t1","toolName":"Shell","args":{"command":"ls | wc -l","n":1.50}}]}`,
			`{"role":"tool","id":"t1","content":[{"type":"tool-result","toolCallId":"t1","toolName":"Shell","result":"7\n"}]}`,
			`{"role":"assistant","content":[{"type":"text","text":"Seven."},{"type":"novel","x":1}]}`,
			`{"role":"user","content":"<user_query>again</user_query>"}`,
			`{"role":"assistant","content":"Seven."}`,
			`{"role":"user","content":"<user_query>again</user_query>"}`,
		),
		"databases/editor/globalStorage/state.vscdb": {
			createItems, createKV,
			`INSERT INTO ItemTable VALUES ('cursorAuth/accessToken', 'never read')`,
			kv("agentKv:blob:00", "not a session's"),
			kv("composerData:"+a, `{"_v":10,"composerId":"`+a+`","name":"Count pears","createdAt":1766000000000,"unifiedMode":"agent","status":"completed","modelConfig":{"modelName":"claude-4.5-sonnet"},"blobEncryptionKey":"c2VjcmV0","usageData":{"default":{"costInCents":8,"amount":2},"free":{"costInCents":0}},"fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},{"bubbleId":"b2","type":2},{"bubbleId":"b3","type":2},{"bubbleId":"gone","type":2},{"bubbleId":"b4","type":2}]}`),
			kv("composerData:"+b, `{"_v":3,"composerId":"`+b+`","createdAt":1740000000000,"conversation":[{"type":1,"bubbleId":"i1","text":"an old one"},{"type":2,"bubbleId":"i2","text":"with its words inside"}]}`),
			kv("composerData:"+c, `{"composerId":"`+c+`","createdAt":1766000100000,"workspaceIdentifier":{"id":"w","uri":{"fsPath":"/home/ada/new","scheme":"file"}},"subagentInfo":{"parentComposerId":"`+a+`","toolCallId":"call_2"},"fullConversationHeadersOnly":[{"bubbleId":"c1","type":1}]}`),
			kv("composerData:empty", `null`),
			kv("bubbleId:"+a+":b0", `{"_v":3,"type":2,"text":"gone back over"}`),
			kv("bubbleId:"+a+":b4", `{"_v":3,"type":2,"bubbleId":"b4","createdAt":"2025-12-17T19:34:00.000Z","text":"Seven.","tokenCount":{"inputTokens":1200,"outputTokens":34}}`),
			kv("bubbleId:"+a+":b1", `{"_v":3,"type":1,"bubbleId":"b1","createdAt":"2025-12-17T19:33:20.000Z","text":"how many <pears>?","workspaceUris":["file:///home/ada/ignored"],"images":["data:image/png;base64,iVBORw0KGgo="]}`),
			kv("bubbleId:"+a+":b2", `{"_v":3,"type":2,"bubbleId":"b2","text":"","thinking":{"text":"I look.","signature":"s"},"timingInfo":{"clientStartTime":1766000001000,"clientEndTime":1766000003000},"toolFormerData":{"tool":15,"toolCallId":"call_1\nfc_1","name":"run_terminal_command_v2","rawArgs":"{\"command\":\"ls | wc -l\"}","status":"completed","result":"{\"output\":\"7\\n\",\"exitCodeV2\":0}"}}`),
			kv("bubbleId:"+a+":b3", `{"_v":3,"type":2,"bubbleId":"b3","toolFormerData":{"toolCallId":"call_2","name":"task_v2","params":"{\"prompt\":\"look\"}","rawArgs":"","status":"error","result":"{\"agentId\":\"`+c+`\"}","error":"{\"clientVisibleErrorMessage\":\"broke\"}"},"errorDetails":{"error":"ERR","message":"lost"}}`),
			kv("bubbleId:"+c+":c1", `{"type":1,"bubbleId":"c1","text":"look"}`),
		},
		"databases/editor/workspaceStorage/0f/state.vscdb": {
			createItems, `INSERT INTO ItemTable VALUES ('cursorAuth/refreshToken', 'never read')`,
			"INSERT INTO ItemTable VALUES ('composer.composerData', " + text(`{"allComposers":[{"composerId":"`+a+`"},{"composerId":"`+b+`"}],"selectedComposerIds":["`+a+`"]}`) + ")",
		},
		"databases/headers/globalStorage/state.vscdb": {
			createKV,
			`CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER, lastUpdatedAt INTEGER, isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER, value TEXT)`,
			"INSERT INTO composerHeaders VALUES ('" + b + "','w',1771000000000,1771000001000,0,0,0,NULL," + text(`{"type":"head","composerId":"`+b+`","name":"New","createdOnBranch":"main","activeBranch":{"branchName":"pears"},"workspaceIdentifier":{"uri":{"fsPath":"/home/ada/new"}}}`) + ")",
			"INSERT INTO composerHeaders VALUES ('" + c + "','w',1771000000000,1771000001000,0,0,0,NULL,'{}')",
			kv("composerData:"+b, `{"createdAt":1771000000000,"fullConversationHeadersOnly":[{"bubbleId":"n1","type":1}]}`),
			kv("bubbleId:"+b+":n1", `{"type":1,"bubbleId":"n1","text":"hello"}`),
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
