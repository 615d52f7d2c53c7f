// Package crush reads the sessions of crush (Charm).
//
// # Where
//
// crush.db in the data folder of each project: .crush in it or else in the nearest
// folder above that has one, or what options.data_directory of its crush.json says.
// The projects in which the program was used are listed in projects.json,
// {"projects": [{"path","data_dir","last_accessed"}]}, in $CRUSH_GLOBAL_DATA, else in
// crush/ of $XDG_DATA_HOME, ~/.local/share or, on Windows, %LOCALAPPDATA%. A file
// crush….db elsewhere is read too.
//
// # Tables
//
//	sessions(id, parent_session_id, title, message_count, prompt_tokens, completion_tokens, cost, updated_at, created_at)
//	messages(id, session_id, role, parts, model, created_at, updated_at, finished_at)
//	files(id, session_id, path, content, version, created_at, updated_at)
//
// and since then sessions.summary_message_id and todos, messages.provider and
// is_summary_message, read_files(session_id, path, read_at). Triggers maintain
// message_count and updated_at. Columns are read by name; of other tables, only
// goose_db_version, the migrations, is read.
//
// Times are in seconds, though the first SQL statements say milliseconds: the unit
// that gives a present-day time is assumed.
//
// # Rows
//
// Each session is a source: its row, its messages and files by rowid.
//
//	sessions  created, in the folder that has .crush, a child of parent_session_id; titled; noted crush:todos; a step with the
//	          cost. A parent's cost includes its children's, so a child's is not counted. The tokens are those of the last
//	          request, not a sum, and make no events; neither do times
//	messages  said by role user, assistant, tool, system. One that changes in place, as an answer does while it streams, is amended
//	files     noted crush:file with path, version, size and the lines that differ from the version before
//	read_files  records only
//
// parts is a list of {"type","data"}: text, reasoning, image_url, binary, tool_call
// {id, name, input, finished}, tool_result {tool_call_id, name, content, data,
// mime_type, metadata, is_error}, shell_command {command, output, exit_code}, in the
// words in which the model is sent it, and finish {reason, time, message, details}.
// The reason canceled is an interruption, error and content_filter are errors.
// Anything else is kept unchanged.
//
// The program continues from the message summary_message_id, so this message becomes
// compacted, and so does each that has is_summary_message and ended normally. In
// databases without that column an earlier summary is an ordinary answer.
//
// A call of agent or agentic_fetch runs a session of its own, MESSAGE$$CALL, or CALL
// in older versions. A session title-SESSION generated a title.
//
// # Evidence
//
// From the program's source, as github.com/charmbracelet/crush has it on 2026-11-21
// (internal/db/migrations, internal/message, internal/session, internal/projects,
// internal/agent), and from what is known of one real database, of August 2025, that
// was not available: tested with made-up ones.
package crush
