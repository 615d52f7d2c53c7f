// Package goose reads the sessions of goose (Block, now AAIF).
//
// # Where
//
// sessions.db, and beside it the <session>.jsonl of versions before 1.10, in
// data/sessions of $GOOSE_PATH_ROOT; otherwise on Linux and macOS in goose/sessions
// of $XDG_DATA_HOME or ~/.local/share, on Windows in Block\goose\data\sessions of
// %APPDATA%. A file goose….db elsewhere is read too.
//
// # Tables
//
// Columns are read by name; schema_version (1 to 16 are known) decides nothing. All
// versions have
//
//	sessions(id, description, working_dir, created_at, updated_at, extension_data, schedule_id, recipe_json,
//	         total_tokens, input_tokens, output_tokens, accumulated_total_tokens, accumulated_input_tokens, accumulated_output_tokens)
//	messages(id INTEGER PRIMARY KEY AUTOINCREMENT, session_id, role, content_json, created_timestamp, timestamp, tokens)
//
// 2 adds user_recipe_values_json, 3 messages.metadata_json, 4 name and
// user_set_name, 5 session_type, 6 provider_name and model_config_json, 7
// messages.message_id; later ones goose_mode, archived_at, project_id, the
// counts of what was cached, accumulated_cost, parent_session_id and
//
//	usage_ledger(id, session_id, created_timestamp, model, input_tokens, output_tokens, total_tokens, cache_read_tokens,
//	             cache_write_tokens, cost, cost_source, is_compaction)
//
// created_timestamp is in seconds; the others are text in UTC, with or without
// a zone. Other tables are not read.
//
// # Rows
//
// Each session is a source: its row, its messages and its requests by rowid.
//
//	sessions      created, a child of parent_session_id; noted goose:session with recipe, schedule, mode and project; the tag
//	              sub_agent, scheduled or hidden for session_type; status archived; titled, by the user if user_set_name;
//	              a step with the accumulated counts, repeated as they grow, if the ledger has no requests.
//	              extension_data and times make no events
//	messages      said, see below
//	usage_ledger  a step; input_tokens includes cached tokens. carried_forward is what older versions had counted in the
//	              session's row, and adds to that count
//
// A session whose messages have the IDs of another's is its copy: a fork.
//
// # Messages
//
// content_json is a list of text, image, thinking, redactedThinking, toolRequest {id,
// toolCall{status, value{name, arguments}, error}}, frontendToolRequest, toolResponse
// {id, toolResult{status, value{content, isError} or a list, error}}, error, and
// systemNotification, contextLengthExceeded, summarizationRequested,
// conversationCompacted. A message that has only those last four is noted
// goose:notice. Anything else is kept unchanged, including a malformed toolRequest. A
// user message that has only results is said by the tools. If a result has the same
// text twice in a row, once for the model and once for the user, it is read once.
//
// metadata_json says who sees a message. What the user does not see (userVisible
// false) is synthetic; steer makes a steer. When the program compacts, it hides all
// messages from the model (agentVisible false) and adds a user message with the
// summary, one of its own, and a copy of the last prompt, all visible only to the
// model. So the first such message after others that the model no longer sees becomes
// compacted. A tool's call and result that were summarized on their own stay as they
// are, with the summary after them.
//
// # Files
//
// JSON Lines, rewritten with every message: {working_dir, description, schedule_id,
// message_count, …_tokens}, which the oldest lack, then messages {id, role, created,
// content, metadata}. The session is named after the file. The first database was
// made from these files, which were left in place: what is in both is one session,
// the database's if both are found at once; if the file was imported first, what the
// database adds goes into a fork.
//
// # Evidence
//
// From the program's source, as github.com/block/goose and
// github.com/aaif-goose/goose have it on 2026-11-21 (session_manager.rs of schemas 5,
// 7 and 16, session/storage.rs, session/legacy.rs, conversation/message.rs, context
// management), and what others have published of a database of 1.46.0. No real
// database or file was available: tested with made-up ones. Not verified: sub-agents
// before parent_session_id (they have no parent), resuming.
package goose
