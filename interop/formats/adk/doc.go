// Package adk reads the SQLite databases in which Google's Agent Development Kit
// keeps sessions: those of SqliteSessionService, and of DatabaseSessionService
// on SQLite, in Python and Go.
//
// # Where
//
// adk run and adk web keep an agent's sessions in .adk/session.db of its folder;
// those of the working directory and of the folders in it are looked at. Other
// programs name the file as they like: a path that is named is looked at, in
// files .db, .sqlite and .sqlite3. Of each the pages with its schema are read
// where it lies; it is copied only if these name invocation_id.
//
// # Tables
//
//	sessions(app_name, user_id, id, state, create_time, update_time)
//	events(id, app_name, user_id, session_id, invocation_id, timestamp, …)
//	app_states(app_name, state, update_time)
//	user_states(app_name, user_id, state, update_time)
//
// Versions before 1.22, and Go, have a column for each field of an event:
// author, actions, long_running_tool_ids_json, branch, content,
// grounding_metadata, custom_metadata, usage_metadata, citation_metadata,
// partial, turn_complete, error_code, error_message, interrupted,
// input_transcription, output_transcription. actions is a Python pickle there,
// which is not read (nobody can without running it), or in Go JSON, which is.
// Later ones have event_data, the whole event as JSON, sessions.event_sequence
// and adk_internal_metadata(key, value). Times are seconds, or text in UTC; the
// events' in the zone of the machine that wrote them, so that in event_data is
// taken where there is one. Other tables are not read.
//
// # Rows
//
// Each session is a source, called APP/USER/ID, escaped; its row and its events
// by rowid. The states of apps and users are nobody's.
//
//	sessions  created, in the folder that .adk lies in; noted adk:session with app and user. state and times make no events
//	events    said, see below
//
// # Events
//
// JSON is read as Python spells it (function_call) and as others do
// (functionCall). An event is said by author user or an agent; one with results
// alone is the tools'. By part:
//
//	text                text, reasoning if it is a thought
//	function_call       a call; one without an ID is known by its place
//	function_response   a result: the text if that is all, else the response as it stands; {"error":…} has failed
//	executable_code, code_execution_result   a call of code_execution and its result
//	inline_data, file_data  a file
//	any other           kept as it stands
//
// What was heard in a talk is text where there is nothing else. usage_metadata is
// the answer's usage: what was cached is part of the prompt there, and thoughts
// are none of the answer. A call in long_running_tool_ids is running until a
// person's event has its result. Of the actions transfer_to_agent is changed,
// rewind_before_invocation_id is rewound to before that invocation, compaction is
// compacted: with the summaries before it whose events it does not cover, up to
// its end. Others are the message's Meta, but for what was asked for to sign in,
// which has secrets. An event that says nothing is noted adk:event. All agents of
// an app speak in one session; Meta has their branch.
//
// # Evidence
//
// From the kit's source, as github.com/google/adk-python has it on 2026-11-21
// (sessions/sqlite_session_service.py, sessions/schemas/v0.py and v1.py,
// sessions/migration, events/event.py, events/event_actions.py). No database of
// a program was at hand: tested with made-up ones. Not verified: what Go writes,
// which is read by the same names.
package adk
