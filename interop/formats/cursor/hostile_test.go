package cursor

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein/interop"
)

// spoiled imports the database that statements make under a name, changed by
// spoil.
func spoiled(t testing.TB, name string, spoil func([]byte) []byte, statements ...string) interop.Report {
	t.Helper()
	at := filepath.Join(place(t), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
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
	_, rep := bring(t, at)
	return rep
}

const editorDB = "globalStorage/state.vscdb"

func TestWhatIsNoTableIsNotRead(t *testing.T) {
	for name, statements := range map[string][]string{
		"an editor without sessions": {createItems, `INSERT INTO ItemTable VALUES ('cursorDiskKV', 'x')`},
		"a view":                     {`CREATE VIEW cursorDiskKV AS SELECT 'composerData:a' AS key, '{}' AS value`},
		"other columns":              {`CREATE TABLE cursorDiskKV (k, v)`},
		"no rowid":                   {`CREATE TABLE cursorDiskKV (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID`, kv("composerData:a", "{}")},
	} {
		if rep := spoiled(t, editorDB, nil, statements...); rep.Sessions != 0 || rep.Events != 0 {
			t.Errorf("Import of %s = %+v, want nothing", name, rep)
		}
	}
	if rep := spoiled(t, "chats/a/b/store.db", nil, `CREATE TABLE blobs (id, data)`, `CREATE VIEW meta AS SELECT '0' AS key, '7b7d' AS value`); rep.Sessions != 0 {
		t.Errorf("Import of a view in place of meta = %+v, want nothing", rep)
	}
}

func TestOddComposersAreReadAsFarAsTheyGo(t *testing.T) {
	rep := spoiled(t, editorDB, nil,
		createKV,
		kv("composerData:", `{}`),
		kv("composerData:../../etc/passwd\n", `{"name":"slashes","fullConversationHeadersOnly":[{"bubbleId":"a"},{"bubbleId":"a"},{"bubbleId":7},7,{"bubbleId":"b:c"}]}`),
		kv("bubbleId:../../etc/passwd\n:a", `{"type":1,"type":2,"text":"twice","createdAt":1e999,"tokenCount":{"inputTokens":-1}}`),
		kv("bubbleId:../../etc/passwd\n:b:c", `{"type":1,"text":"a colon"}`),
		kv("composerData:deep", `{"fullConversationHeadersOnly":`+strings.Repeat("[", 3000)+strings.Repeat("]", 3000)+`}`),
		kv("composerData:none", `nothing`),
		kv("composerData:own", `{"subagentInfo":{"parentComposerId":"own"},"createdAt":"then","usageData":{"a":{"costInCents":1e308},"b":7},"conversation":[{"type":1,"text":"hi"},7]}`),
		`INSERT INTO cursorDiskKV VALUES ('composerData:null', NULL), ('composerData:blob', X'7b7d'), (NULL, 'x'), (7, 'y'), (X'ff', 'z')`,
	)
	if rep.Messages != 3 || rep.Skipped != 0 {
		t.Errorf("Import = %+v, want three messages and nothing skipped", rep)
	}
}

func TestDamagedPagesHideNoMoreThanTheyHold(t *testing.T) {
	statements := cases()["databases/editor/globalStorage/state.vscdb"]
	whole := spoiled(t, editorDB, nil, statements...)
	size := 0
	spoiled(t, editorDB, func(b []byte) []byte { size = len(b); return b }, statements...)
	for at := 0; at < size; at += 4096 {
		rep := spoiled(t, editorDB, func(b []byte) []byte {
			return append(append(bytes.Clone(b[:at]), bytes.Repeat([]byte{0xa5}, 4096)...), b[at+4096:]...)
		}, statements...)
		if rep.Messages > whole.Messages {
			t.Errorf("with the page at %d damaged there are %d messages, of %d", at, rep.Messages, whole.Messages)
		}
	}
}

func TestRootsThatGoInCirclesEnd(t *testing.T) {
	var child [32]byte
	child[0] = 0xee
	id := fmt.Sprintf("%x", child)
	var wide []byte
	for range 2000 {
		wide = append(append(wide, 0x12, 32), child[:]...)
	}
	meta := fmt.Sprintf("%x", `{"latestRootBlobId":"`+id+`","createdAt":1e400,"name":"a\u0000b"}`)
	rep := spoiled(t, "chats/a/b/store.db", nil,
		`CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)`, `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)`,
		fmt.Sprintf(`INSERT INTO blobs VALUES ('%s', X'%x')`, id, wide), `INSERT INTO blobs VALUES (NULL, 'x'), ('', NULL), ('q', X'ffffffffffffffffffff')`,
		`INSERT INTO meta VALUES ('0', '`+meta+`'), ('1', 'not hex'), (NULL, NULL)`)
	if rep.Messages != 0 || rep.Skipped != 0 {
		t.Errorf("Import = %+v, want no messages and nothing skipped", rep)
	}
}

// A root of roots, each of which names the next at least twice, would have more
// messages than there are atoms.
func TestRootsThatMultiplyAreBounded(t *testing.T) {
	statements := []string{`CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)`, `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)`}
	hash := func(n int) (h [32]byte) { h[0], h[31] = byte(n), 7; return h }
	for n := range maxChain {
		var data []byte
		next := hash(n + 1)
		for range 100 {
			data = append(append(data, 0x0a, 32), next[:]...)
		}
		if n == maxChain-1 {
			data = []byte(`{"role":"user","content":"x"}`)
		}
		statements = append(statements, fmt.Sprintf(`INSERT INTO blobs VALUES ('%x', X'%x')`, hash(n), data))
	}
	statements = append(statements, fmt.Sprintf(`INSERT INTO meta VALUES ('0', '%x')`, fmt.Sprintf(`{"latestRootBlobId":"%x"}`, hash(0))))
	if rep := spoiled(t, "chats/a/b/store.db", nil, statements...); rep.Messages > 1100 {
		t.Errorf("Import of %d blobs = %d messages, want at most 1100", maxChain, rep.Messages)
	}
}

func FuzzRoot(f *testing.F) {
	f.Add([]byte{0x0a, 2, 1, 2, 0x48, 1, 0x51, 1, 2, 3, 4, 5, 6, 7, 8, 0x5d, 1, 2, 3, 4})
	f.Add([]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		n := 0
		fields(data, func(_ int, v []byte) { n += len(v) })
		if n > len(data) {
			t.Errorf("fields of %d bytes have %d", len(data), n)
		}
	})
}
