// Package adk reads the SQLite databases in which Google's Agent Development Kit
// keeps sessions: those of SqliteSessionService, and of DatabaseSessionService
// on SQLite, in Python and Go.
//
// # Where
//
// adk run and adk web keep an agent's sessions in .adk/session.db in its folder; the
// working directory and the folders in it are searched. Other programs name the file
// as they like: a path that is given is searched for files .db, .sqlite and .sqlite3.
// The pages with a file's schema are read in place; the file is copied only if they
// mention invocation_id.
//
// # Tables
//
//	sessions(app_name, user_id, id, state, create_time, update_time)
//	events(id, app_name, user_id, session_id, invocation_id, timestamp, …)
//	app_states(app_name, state, update_time)
//	user_states(app_name, user_id, state, update_time)
//
// Versions before 1.22, and Go, have a column for each field of an event: author,
// actions, long_running_tool_ids_json, branch, content, grounding_metadata,
// custom_metadata, usage_metadata, citation_metadata, partial, turn_complete,
// error_code, error_message, interrupted, input_transcription, output_transcription.
// There, actions is a Python pickle, which is not read (that would mean running it),
// or, in Go, JSON, which is read. Later versions have event_data, the whole event as
// JSON, sessions.event_sequence and adk_internal_metadata(key, value). Times are
// seconds, or text in UTC; an event's is in the time zone of the machine that wrote
// it, so the time in event_data is used if there is one. Other tables are not read.
//
// # Rows
//
// Each session is a source, called APP/USER/ID, escaped: its row, then its events by
// rowid. The states of apps and users belong to no session.
//
//	sessions  created, in the folder that has .adk; noted adk:session with app and user. state and times make no events
//	events    said, see below
//
// # Events
//
// JSON is read as Python spells it (function_call) and as other languages do
// (functionCall). An event is said by its author, the user or an agent; one that has
// only results is said by the tools. By part:
//
//	text                text, reasoning if it is a thought
//	function_call       a call; one without an ID is identified by its position
//	function_response   a result: the text if there is nothing else, otherwise the response unchanged; {"error":…} is a failure
//	executable_code, code_execution_result   a call of code_execution and its result
//	inline_data, file_data  a file
//	any other           kept unchanged
//
// A transcription of speech is the text if there is no other. usage_metadata is the
// answer's usage: it counts cached tokens as part of the prompt, and thoughts apart
// from the answer. A call in long_running_tool_ids is running until a user's event
// has its result. Among the actions, transfer_to_agent becomes changed,
// rewind_before_invocation_id becomes rewound to before that invocation, and
// compaction becomes compacted, up to its end, with the earlier summaries whose
// events it does not cover. Other actions go into the message's Meta, except requests
// for credentials, which hold secrets. An event that says nothing is noted adk:event.
// All agents of an app speak in one session; Meta has their branch.
//
// # Evidence
//
// From the kit's source, as github.com/google/adk-python has it on 2026-11-21
// (sessions/sqlite_session_service.py, sessions/schemas/v0.py and v1.py,
// sessions/migration, events/event.py, events/event_actions.py). No real database was
// available: tested with made-up ones. Not verified: what Go writes, which is read by
// the same names.
package adk
