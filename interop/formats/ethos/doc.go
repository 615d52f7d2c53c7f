// Package ethos reads and writes the database of the agent Ethos.
//
// # Where
//
// $ETHOS_STATE_DIR/sessions.db, or ~/.ethos/sessions.db: one SQLite file in WAL mode
// for all surfaces. A file of that name, or ethos….db, elsewhere is read too. It is
// Ethos's if its tables have the columns that they always had.
//
// # Tables
//
// All are STRICT. Columns marked + were added to existing files by ALTER TABLE, so
// they are last and in an order that depends on the file's history: columns are
// addressed by name.
//
//	sessions       id, key (unique), platform, model, provider, personality_id, parent_session_id, working_dir, title,
//	               input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, estimated_cost_usd,
//	               api_call_count, compaction_count, metadata (JSON), created_at, updated_at,
//	               +turn_count, +last_compaction_turn, +pinned
//	messages       id, session_id, role, content, tool_call_id, tool_name, tool_calls, the four token counts,
//	               estimated_cost_usd, timestamp, +trace_id, +content_blocks, +deleted_at
//	messages_fts   full text over messages.content (porter ascii), kept by three triggers
//	compressions   id, session_id, created_at, engine_name, original_count, kept_count, summary_text, summary_tokens,
//	               pre_total_tokens, post_total_tokens, duration_ms, +kept_from_message_id
//	session_context_events
//	               what was put into prompts: records only, no events
//
// Others (tool_kv, API keys) are never read. user_version is 0, since 0.5.2 1; it
// says nothing that the columns do not. IDs are UUIDv4, times ISO 8601 in UTC with
// milliseconds. Generations, by what they have: 0.1.1 sessions and messages; 0.3.0
// compressions, trace_id, turn_count, last_compaction_turn; 0.4.2 pinned; 0.4.11
// deleted_at; 0.6.0 kept_from_message_id; content_blocks.
//
// # Rows
//
// Each session is a source: its row, its messages by rowid, its compressions. Rowids
// are the order in which rows were written. (The program itself shows messages by
// time, then rowid; they differ if a clock was set back.)
//
//	sessions       created; noted ethos:session with the key and metadata; changed, with whether it is pinned; titled.
//	               Counters make no events: usage comes from the messages. The key is not the session's key here:
//	               that would be the one that a chat in the same folder continues
//	user           said; content_blocks are files
//	assistant      said; tool_calls [{"id","name","input"}] are calls. Token columns that are not NULL are usage, and the
//	               model is then the session's. "\n\n[interrupted — REASON]" at the end marks an answer that broke off
//	tool_result    said by the tool. The sentinels ===TOOL_RESULT_START:NAME=== and ===TOOL_RESULT_END=== around the
//	               text are removed; in the text they are broken by U+200B after the first =, which is removed too.
//	               If they are not exactly like this, the text is kept unchanged
//	system         said, synthetic: for the screen only, no model sees it
//	user_steer     said, as a steer
//	any other      noted ethos:message, whole
//	deleted_at     a row that /undo removed: noted ethos:deleted, whole. If it was read before, what it said is
//	               withdrawn
//	compressions   compacted, up to the message before kept_from_message_id. Rows without it, or with one that does not
//	               exist, cover nothing, in the program as here
//
// A fork (parent_session_id) is a copy with new IDs and times, so what it shares with
// its parent is not known: it is a continuation of the parent.
//
// # Writing
//
// A session becomes the rows above, in a database with the tables of the newest
// generation and user_version 0, which every version opens, or in an existing
// database with the columns that it has. Its key is the one that it had, else
// cli:BASENAME if that is free, else cli:BASENAME:MILLISECONDS, as /new makes it.
// Reasoning, a tool's failed mark, and files other than images and documents whose
// bytes are available cannot be stored.
//
// # Evidence
//
// Checked on 2026-11-21: databases that the program's own store wrote (version 0.6.2,
// github.com/ethosagent/ethos at f843f61: extensions/session-sqlite/src,
// packages/types/src/session.ts), one with the statements of bd83816 (June 2026), and
// by that source. Earlier generations are known only from its history.
package ethos
