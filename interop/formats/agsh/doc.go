// Package agsh reads and writes the databases of the agent shell agsh, now called
// meka.
//
// # Where
//
// agsh: sessions.db in $AGSH_DATA_DIR, or in agsh/ in the system's data folder:
// $XDG_DATA_HOME or ~/.local/share, ~/Library/Application Support, %APPDATA%. meka
// (0.27 and later): meka.db in $MEKA_DATA_DIR, or in meka/ there. A file agsh….db or
// meka….db elsewhere is read too.
//
// # Tables
//
//	sessions(id, created_at, updated_at, locked_by, metadata)
//	messages(id INTEGER PRIMARY KEY AUTOINCREMENT, session_id, role, content, created_at)
//
// in 0.1. Other versions are recognized by their columns; user_version says nothing
// useful. 0.8 adds tool_outputs(session_id, name, content, created_at), 0.12 drops
// locked_by (from then on, the lock is an OS lock on locks/<id>.lock), 0.24 adds
// parent_session_id and drops metadata, 0.27 adds cwd, permission, capabilities_json,
// token_id and the counters stat_turns, stat_input_tokens, stat_output_tokens,
// stat_cache_creation_input_tokens, stat_cache_read_input_tokens, stat_redactions,
// stat_redacted_images, stat_redacted_bytes; 0.38 additional_roots_json; 0.40
// subagent_spec_json. oauth_tokens, mcp_oauth_credentials and provider_credentials
// are never read.
//
// IDs are UUIDv4; times RFC 3339 in UTC with +00:00 and 0, 3, 6 or 9 digits.
// locked_by is the decimal PID of the program that has the session open, or
// NULL; a program that was killed leaves it there.
//
// # Rows
//
// Each session is a source: its row, its messages by ID, its tool outputs. A row's
// role decides what it becomes:
//
//	sessions      created, a child of parent_session_id; noted agsh:session with permission, roots and the sub-agent's
//	              specification, if any; a step with the token counts, repeated as they grow.
//	              locked_by and times make no events
//	user          said. Since 0.10 the program puts <context>\n…\n</context>\n\n before what was typed.
//	              "[Conversation summary from session compaction]\n\n…" is what /compact of 0.2 to 0.16 left in place of
//	              all rows: compacted. Rows with no content, which 0.8 wrote for results when compacting: nothing
//	assistant     said: a JSON array of blocks text, tool_use, thinking, redacted_thinking; anything else is one text
//	tool_results  said: an array with the results of one answer, {tool_use_id, content, is_error}; content is a string or
//	              an array of text and image. Anything else is noted, because the program skips it
//	user_blocks   said: an array of text and image
//	compact_boundary  {"CompactBoundary":{"summary":M,"replaced_count":N,…}}: M replaces the last N messages:
//	              compacted, if that is all of them; otherwise rewound to before them, and M said
//	repair        {"Repair":{"replaced_count":N,"messages":[M,…]}}: rewound to before the last N, and each M said
//	any other     noted agsh:ROLE
//	tool_outputs  records only: the results repeat them
//
// A fork is a copy with new IDs that does not name its parent.
//
// # Writing
//
// A session becomes rows of 0.1, in a database with these two tables, or in an
// existing database with the columns that it has. All results of an answer are one
// row; a call without a result is answered as interrupted, because the program would
// send it as it is. In a database of 0.38 and later, an image is a block of
// user_blocks; what was rewound is written too, and taken back by a repair of no
// messages; and a summary is a boundary that replaces everything the program continues
// with, followed by what the summary does not cover. Older versions have no row for
// these: what was rewound is not written, or its rows are deleted if they were, as
// 0.2 deletes those that it compacts; and of a compaction, only what it covers is
// written. Reasoning, other files and system messages cannot be stored. locked_by is
// the PID of the skein process that has the session open.
//
// # Evidence
//
// Checked on 2026-11-21 by the source of github.com/k4yt3x/meka: the tables of every
// tag from 0.1.0 to 0.41.0, src/session.rs, agent.rs and provider.rs of 0.1.2,
// conversation.rs of 258a677 (August 2026), migrations.rs of 0.43.0; and by a
// database that was made with the statements of 0.1.2. No real database was
// available.
package agsh
