package ethos

import "github.com/skein-dev/skein"

// settings are the settings of a new database. Version 0 is brought up to date by any
// version that opens it.
type settings struct {
	PageSize      int    `json:"page_size"`
	Encoding      string `json:"encoding"`
	AutoVacuum    int    `json:"auto_vacuum"`
	UserVersion   int    `json:"user_version"`
	ApplicationID int    `json:"application_id"`
	Journal       string `json:"journal"`
}

// object is a table, an index or a trigger.
type object struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Table string `json:"table"`
	SQL   string `json:"sql"`
}

// frame returns the lines that make a new database.
func frame() []byte {
	b := append(skein.MustJSON(struct {
		Settings settings `json:"database"`
	}{settings{4096, "UTF-8", 0, 0, 0, "wal"}}), '\n')
	for _, o := range schema() {
		b = append(append(b, skein.MustJSON(struct {
			Object object `json:"schema"`
		}{o})...), '\n')
	}
	return b
}

func schema() []object {
	return []object{
		{"table", "sessions", "sessions", createSessions},
		{"index", "idx_sessions_key", "sessions", "CREATE INDEX idx_sessions_key ON sessions(key)"},
		{"index", "idx_sessions_platform", "sessions", "CREATE INDEX idx_sessions_platform ON sessions(platform)"},
		{"table", "messages", "messages", createMessages},
		{"index", "idx_messages_session", "messages", "CREATE INDEX idx_messages_session ON messages(session_id, timestamp)"},
		{"table", "messages_fts", "messages_fts", createText},
		{"trigger", "messages_ai", "messages", createInsert},
		{"trigger", "messages_ad", "messages", createDelete},
		{"trigger", "messages_au", "messages", createUpdate},
		{"table", "compressions", "compressions", createCompressions},
		{"index", "idx_compressions_session", "compressions", "CREATE INDEX idx_compressions_session ON compressions(session_id, created_at)"},
	}
}

const createSessions = `CREATE TABLE sessions (
	id TEXT PRIMARY KEY,
	key TEXT UNIQUE NOT NULL,
	platform TEXT NOT NULL,
	model TEXT NOT NULL,
	provider TEXT NOT NULL,
	personality_id TEXT,
	parent_session_id TEXT,
	working_dir TEXT,
	title TEXT,
	input_tokens INTEGER NOT NULL DEFAULT 0,
	output_tokens INTEGER NOT NULL DEFAULT 0,
	cache_read_tokens INTEGER NOT NULL DEFAULT 0,
	cache_creation_tokens INTEGER NOT NULL DEFAULT 0,
	estimated_cost_usd REAL NOT NULL DEFAULT 0,
	api_call_count INTEGER NOT NULL DEFAULT 0,
	compaction_count INTEGER NOT NULL DEFAULT 0,
	metadata TEXT,
	created_at TEXT NOT NULL,
	updated_at TEXT NOT NULL,
	turn_count INTEGER NOT NULL DEFAULT 0,
	last_compaction_turn INTEGER NOT NULL DEFAULT 0,
	pinned INTEGER NOT NULL DEFAULT 0
) STRICT`

const createMessages = `CREATE TABLE messages (
	id TEXT PRIMARY KEY,
	session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
	role TEXT NOT NULL,
	content TEXT NOT NULL,
	tool_call_id TEXT,
	tool_name TEXT,
	tool_calls TEXT,
	input_tokens INTEGER,
	output_tokens INTEGER,
	cache_read_tokens INTEGER,
	cache_creation_tokens INTEGER,
	estimated_cost_usd REAL,
	timestamp TEXT NOT NULL,
	trace_id TEXT,
	content_blocks TEXT,
	deleted_at TEXT
) STRICT`

const createText = `CREATE VIRTUAL TABLE messages_fts USING fts5(
	content,
	content='messages',
	content_rowid='rowid',
	tokenize='porter ascii'
)`

const createInsert = `CREATE TRIGGER messages_ai AFTER INSERT ON messages BEGIN
	INSERT INTO messages_fts(rowid, content) VALUES (new.rowid, new.content);
END`

const createDelete = `CREATE TRIGGER messages_ad AFTER DELETE ON messages BEGIN
	INSERT INTO messages_fts(messages_fts, rowid, content) VALUES ('delete', old.rowid, old.content);
END`

const createUpdate = `CREATE TRIGGER messages_au AFTER UPDATE OF content ON messages BEGIN
	INSERT INTO messages_fts(messages_fts, rowid, content) VALUES ('delete', old.rowid, old.content);
	INSERT INTO messages_fts(rowid, content) VALUES (new.rowid, new.content);
END`

const createCompressions = `CREATE TABLE compressions (
	id TEXT PRIMARY KEY,
	session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
	created_at TEXT NOT NULL,
	engine_name TEXT NOT NULL,
	original_count INTEGER NOT NULL,
	kept_count INTEGER NOT NULL,
	summary_text TEXT,
	summary_tokens INTEGER NOT NULL,
	pre_total_tokens INTEGER NOT NULL,
	post_total_tokens INTEGER NOT NULL,
	duration_ms INTEGER NOT NULL,
	kept_from_message_id TEXT
) STRICT`
