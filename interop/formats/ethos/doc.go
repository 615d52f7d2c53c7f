// Package ethos reads and writes the database of the agent Ethos.
//
// # Where
//
// $ETHOS_STATE_DIR/sessions.db, or ~/.ethos/sessions.db: one SQLite file in WAL
// mode for all surfaces. A file of that name, or ethos….db, elsewhere is looked
// at too. It is ours if its tables have the columns that they always had.
//
// # Tables
//
// All are STRICT. Columns marked + were added to files that were there, by
// ALTER TABLE, so they stand last and in an order that depends on the file's
// life: columns are addressed by name.
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
//	               what was put into prompts: kept as records, no events
//
// Others (tool_kv, API keys) are never read. user_version is 0, since 0.5.2 1;
// it says nothing that the columns do not. IDs are UUIDv4, times ISO 8601 in
// UTC with milliseconds. Generations by what is there: 0.1.1 sessions and
// messages; 0.3.0 compressions, trace_id, turn_count, last_compaction_turn;
// 0.4.2 pinned; 0.4.11 deleted_at; 0.6.0 kept_from_message_id; content_blocks.
//
// # Rows
//
// Each session is a source: its row, its messages by rowid, its compressions.
// Rowids are the order in which rows were written. (The program itself shows
// messages by time, then rowid; a clock that was set back makes the difference.)
//
//	sessions       created; noted ethos:session with the key and metadata; changed, whether it is pinned; titled.
//	               Counters make no events: usage is what messages tell. The key is not the session's key here:
//	               that would be the one that a chat in the same folder goes on in
//	user           said; content_blocks are files
//	assistant      said; tool_calls [{"id","name","input"}] are calls. Token columns that are not NULL are usage, the
//	               model then is the session's. "\n\n[interrupted — REASON]" at the end marks an answer that broke off
//	tool_result    said by the tool. The sentinels ===TOOL_RESULT_START:NAME=== and ===TOOL_RESULT_END=== around the
//	               text are taken away; in it they are broken by U+200B after the first =, which is taken back.
//	               Where they are not exactly so, the text is kept as it stands
//	system         said, synthetic: for the screen, no model sees it
//	user_steer     said, as a steer
//	any other      noted ethos:message, whole
//	deleted_at     a row that /undo took: noted ethos:deleted, whole. Of one that was read before, what it said is
//	               withdrawn
//	compressions   compacted, up to the message before kept_from_message_id. Rows without it, or with one that is not
//	               there, cover nothing, in the program as here
//
// A fork (parent_session_id) is a copy with new IDs and times, so nothing tells
// what it has in common with its parent: it is a continuation of that.
//
// # Writing
//
// A session becomes the rows above, in a database with the tables of the
// newest generation and user_version 0, which every version opens, or in the
// one that is there with the columns that it has. Its key is the one that it
// had, else cli:BASENAME if that is free, else cli:BASENAME:MILLISECONDS, the
// shape of /new. Reasoning, failed marks of tools and files that are neither
// image nor document with their bytes at hand cannot be held.
//
// # Evidence
//
// Checked on 2026-11-21: databases that the program's own store wrote (version
// 0.6.2, github.com/ethosagent/ethos at f843f61: extensions/session-sqlite/src,
// packages/types/src/session.ts), one with the statements of bd83816 (June
// 2026), and by that source. Generations before are known by its history only.
package ethos
