// Package agsh reads the databases of the agent shell agsh.
//
// Its sessions are in one SQLite file, sessions.db (0.1 to 0.26), of these
// tables:
//
//	sessions(id, created_at, updated_at, locked_by, metadata)
//	messages(id, session_id, role, content, created_at)
//
// Later versions left locked_by and metadata away and added columns and tables;
// what is there is seen by looking. Times are RFC 3339 with up to nine digits.
// A message's content goes by its role: user is the text as it was typed,
// assistant a JSON array of blocks (text, tool_use; what is none is one text),
// tool_results an array with all results of one answer.
//
// Each session is a source of the database, its row first and then its
// messages by ID. Tables with credentials are never read.
package agsh
