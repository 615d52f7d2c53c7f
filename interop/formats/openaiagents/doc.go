// Package openaiagents reads the databases in which OpenAI's Agents SDK for
// Python keeps its sessions: SQLiteSession, AsyncSQLiteSession,
// AdvancedSQLiteSession, and SQLAlchemySession on SQLite.
//
// # Where
//
// Wherever the program that uses the SDK puts them: there is no usual place, so only
// paths that are given are searched, for files .db, .sqlite and .sqlite3. The pages
// with a file's schema are read in place; the file is copied only if they mention
// agent_messages.
//
// A program can also give the tables other names. Such tables cannot be recognized,
// and are not read.
//
// # Tables
//
//	agent_sessions(session_id PRIMARY KEY, created_at, updated_at)
//	agent_messages(id INTEGER PRIMARY KEY AUTOINCREMENT, session_id, message_data, created_at)
//
// and for advanced sessions
//
//	message_structure(id, session_id, message_id, branch_id, message_type, sequence_number, user_turn_number, branch_turn_number, tool_name, created_at)
//	turn_usage(id, session_id, branch_id, user_turn_number, requests, input_tokens, output_tokens, total_tokens,
//	           input_tokens_details, output_tokens_details, created_at)
//
// message_data is JSON in text, times are text in UTC. Other tables, which may
// be the program's own, are not read.
//
// # Rows
//
// Each session is a source: its row, its structure, its items and its turns by
// rowid.
//
//	agent_sessions     created; times make no events
//	agent_messages     an item, see below
//	message_structure  which branch an item was said in: the first that has it
//	turn_usage         a step, repeated as it grows
//
// The branch main is the session. A branch that was made at a turn of another has the
// items before that turn, by their IDs: it is a fork, SESSION:BRANCH, at the last of
// these items or, without any, a session of its own.
//
// # Items
//
// An item is an input item of the Responses API, as the SDK stores it, or a message
// as the Chat Completions API spells it. By type:
//
//	message, none   said by role user, assistant, system (developer), tool; content is a string or a list of input_text,
//	                output_text, refusal, input_image, input_file, input_audio; data: URLs and base64 become blobs
//	function_call   a call; arguments is JSON in a string. Any other *_call too, named by its type
//	*_output        a result. One of transfer_to_… says who continues: changed
//	web_search_call, file_search_call, code_interpreter_call, image_generation_call, mcp_call, mcp_list_tools
//	                a call and its result, because the provider ran it
//	reasoning       its content, else its summary; the item as Raw if something in it is encrypted
//	compaction      compacted, with the item as Opaque: only the provider can read it
//	any other       noted, whole; also one that EncryptedSession wrote
//
// Consecutive items of the model are one message. An item is identified by its
// content, since compaction clears a session and writes it again: what was read
// before stays, and messages that are already stored are not said again.
//
// # Evidence
//
// From the SDK's source, as github.com/openai/openai-agents-python has it on
// 2026-11-21 (src/agents/memory/sqlite_session.py, src/agents/extensions/memory). No
// real database was available: tested with made-up ones.
package openaiagents
