// Package skillet reads and writes the sessions of Skillet (skilled-crew).
//
// # Where
//
// In a state folder: $SKILLET_HOME/state; for a Skillet that runs from a checkout,
// .skilled-agent/state in the nearest folder above with a .git; for an installed one,
// $XDG_STATE_HOME/skilled-crew or ~/.local/state/skilled-crew, on every system:
//
//	.agent_sessions.sqlite
//	.agent_session_logs/<user>/<session>.jsonl
//
// The other databases there (users with their passwords, costs, jobs) are never
// opened.
//
// The database has no version, uses a rollback journal, and has one table:
//
//	session_items(id INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL, session_name TEXT NOT NULL,
//	              created_at INTEGER NOT NULL, item_json TEXT NOT NULL)
//	INDEX idx_session ON session_items(user_id, session_name, created_at)
//
// A session is all rows with the same user (an email address) and name, in the order
// of created_at (milliseconds; the same for all rows of a turn, which are added at
// once when it has ended) and id. The Agents SDK calls it USER:NAME, which is its ID
// in Origin and of its source. A generated name, session_<time>_<random>, is not used
// as a title.
//
// The log is named after both, cleaned: each run of characters other than a-zA-Z0-9_-
// becomes one _, with no _ at either end. In its first turn a session has only a log.
// So that its ID does not change when the rows come, the ID here is USER:NAME as in
// the log's name, and so is its first title; the user is recorded nowhere else. For a
// session that a watch saw first, Origin keeps the log's spelling for good, and its
// source has the true one as soon as there are rows. If the rows have a different
// name, the session is titled again.
//
// Two sessions can share one log; the one that began first is taken for its owner:
// commands that are only in the log go to it, and the others are written back without
// their log, which is reported. The IDs of the others end in ~ and a hash of their
// name. Rows and log are one session here; the rows are read first.
//
// # Rows
//
// item_json is an item of the Agents SDK; after a compaction also one as the
// Responses API spells it (call_id for callId, input_text in a user's message
// with a status). By type:
//
//	message, none     said by role user, assistant, system (developer); content is a string or a list of input_text,
//	                  output_text, refusal, input_image, input_file, audio; data: URLs and base64 become blobs
//	function_call     a call; arguments is JSON in a string. Any other *_call too: computer, shell, apply_patch,
//	                  tool_search, named by its type, its input action or operation
//	function_call_result, *_call_result, *_output   a result. One of transfer_to_<agent> says who continues: changed
//	hosted_tool_call  a call and its result
//	reasoning         content, rawContent or providerData's summary as text; the item as Raw if something in it is encrypted
//	compaction        compacted, with the item as Opaque: only the provider can read it
//	any other         noted, whole
//
// Consecutive items of the model are one message.
//
// # Compaction
//
// When more than 40 items other than user messages have accumulated after a turn, the
// program replaces all rows by what the provider made of them: some of the user's
// messages and one compaction item. What was read before stays (see Made.Instead):
// the compacted event covers it, and messages that are already stored are not said
// again.
//
// # Log
//
// JSON Lines, only appended to: what is sent to the screen, turn by turn, with steps
// as they happen.
//
//	{"kind":"user_message","userInput":"…" or [items],"timestamp":"…Z"}
//	{"kind":"step","stepResult":{"type":T,…},"timestamp":"…Z"}
//	{"kind":"final_result","finalResult":{"text":"…","jobIds":[…]},"timestamp":"…Z","model":"PROVIDER/MODEL"}
//
// T is agent_start, agent_end {agentName}, agent_tool_start {agentName, toolName,
// toolArgumentsStr}, agent_tool_end {agentName, toolName, result}, handoff
// {agentName, toAgentName}, text {text}. The conversation is in the rows, so lines
// are noted; but commands such as /compact, and turns that broke off, are only in the
// log: when such a turn has ended, or the next one begins, it is said and at once
// rewound, so that it can be found but no model is shown it. The model and first
// agent: changed. For a session without rows (it is in its first turn, or the
// database is lost), the log's messages, calls and results are said; when rows come,
// they replace them.
//
// # Writing
//
// A session is written as rows, with one created_at per turn, in the SDK's spelling,
// and as the log that the turns would have had. Its name is its key, else its time
// and a hash of its ID; its user is Skillet's default user. What a compaction covers
// is in neither. To a log without rows, only what is known to belong to the session
// is added. An existing log is appended to, and the database is changed in one
// transaction. What was rewound since is removed from both: its rows, as the SDK's
// popItem removes them, and its turns, because the program shows the log when it
// resumes a session; other turns of the log stay.
//
// # Evidence
//
// Checked on 2026-11-21: databases and logs written by the code of
// https://github.com/skilled-crew/skilled_crew 1.0.11
// (packages/_skillet_agent/src/session, libs/skillet_paths.ts) with
// https://github.com/openai/openai-agents-js 0.8.2
// (packages/agents-core/src/types/protocol.ts,
// packages/agents-openai/src/memory), one of them after a compaction.
package skillet
