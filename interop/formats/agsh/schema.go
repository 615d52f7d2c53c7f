package agsh

import "github.com/skein-dev/skein"

// settings are the settings of a new database.
type settings struct {
	PageSize      int    `json:"page_size"`
	Encoding      string `json:"encoding"`
	AutoVacuum    int    `json:"auto_vacuum"`
	UserVersion   int    `json:"user_version"`
	ApplicationID int    `json:"application_id"`
	Journal       string `json:"journal"`
}

// object is a table or an index.
type object struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Table string `json:"table"`
	SQL   string `json:"sql"`
}

// frame returns the lines that make a new database: that of 0.1.
func frame() []byte {
	b := append(skein.MustJSON(struct {
		Settings settings `json:"database"`
	}{settings{4096, "UTF-8", 0, 0, 0, "delete"}}), '\n')
	for _, o := range []object{
		{"table", "sessions", "sessions", createSessions},
		{"table", "messages", "messages", createMessages},
		{"index", "idx_messages_session_id", "messages", createIndex},
	} {
		b = append(append(b, skein.MustJSON(struct {
			Object object `json:"schema"`
		}{o})...), '\n')
	}
	return b
}

const createSessions = `CREATE TABLE sessions (
	id TEXT PRIMARY KEY,
	created_at TEXT NOT NULL,
	updated_at TEXT NOT NULL,
	locked_by TEXT,
	metadata TEXT
)`

const createMessages = `CREATE TABLE messages (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	session_id TEXT NOT NULL,
	role TEXT NOT NULL,
	content TEXT NOT NULL,
	created_at TEXT NOT NULL,
	FOREIGN KEY (session_id) REFERENCES sessions(id)
)`

const createIndex = `CREATE INDEX idx_messages_session_id ON messages(session_id)`
