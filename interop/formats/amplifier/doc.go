// Package amplifier reads and writes the sessions of Amplifier.
//
// # Where
//
// Under $AMPLIFIER_HOME, else ~/.amplifier, a folder for each session:
//
//	projects/<slug>/sessions/<id>/
//	    transcript.jsonl   the conversation, written anew with every save
//	    metadata.json      who, where, with what
//	    events.jsonl       a log, appended to
//	    *.backup           transcript and metadata before the last save
//	    config.md, *.bak-<label>-<time>, folders of hooks: kept, not read
//
// <slug> is the working directory, see [Slug]; working_dir in the metadata is
// the only truth. <id> is a UUID, of a fork any name, of a sub-agent's session
// <parent span>-<child span>_<agent>: these lie beside their parent. What the
// program's store writes has mode 0600. A session was last used when its
// folder changed, which saving does by renaming and appending to the log does
// not. There is no lock.
//
// # transcript.jsonl
//
// An object on each line as Python's json.dumps writes it, with a space behind
// commas and colons, all of UTF-8 as it is. Never null: members and elements
// that are null are left out. role:
//
//	user       content: a string, or blocks. What hooks put in is a user's too:
//	           metadata.source is hook, or it begins with <system-reminder
//	assistant  content, tool_calls, thinking_text
//	tool       name, tool_call_id, content: a string, often JSON
//
// system and developer are never written; they are read. Blocks: text,
// thinking, redacted_thinking, reasoning, tool_call or tool_use, tool_result,
// image. A call is {id, tool, arguments}, before that {id, type, function{name,
// arguments as a string}}, {id, name, input} or {id, name, arguments}. The time
// is metadata.timestamp, before that timestamp, before that there was none.
//
// A call's result with a session_id in it says which session the call ran.
//
// # metadata.json
//
// Indented by 2, no final newline: session_id, created, bundle, model
// (provider/model), turn_count, working_dir, name and description with their
// times, incremental. A fork has parent_id, forked_from_turn and forked_at, and
// no working_dir; a sub-agent's session parent_id, trace_id, agent_name and
// more. It gives a noted event with all but turn_count and incremental, a
// changed one and a titled one.
//
// # events.jsonl
//
// An envelope on each line: ts, lvl, schema{name amplifier.log, ver}, event,
// what was promoted (session_id, status, duration_ms, request_id, error, …) and
// data. tool:pre, tool:post and tool:error make tool events, llm:response a
// step with its usage and cost, session:resume and session:end resumed and
// ended events, <tool>:agent_spawned says which call runs which session. The
// others are noted as they are; of a line longer than 16 KB, the data is left
// to its record. A sub-agent's log begins with session:fork, whose data names
// the parent as parent_id, parent or data.parent; session:start names it as
// parent_id. Until the first save nothing else does.
//
// # The order
//
// The records of a folder are its lines as package folder has them: log and
// transcript merged by their times, each in its own order, then the metadata,
// which every save changes, then the rest.
//
// # What goes wrong
//
// Amplifier itself takes a transcript with one bad line for none and goes on
// with the backup, or with nothing. Here each good line is kept, and each bad
// one named; the backup is read where the transcript has no message, or the
// metadata is damaged or gone. A session that ended before its first save has
// only a log: its prompts are its messages.
//
// # Forks
//
// A fork is a copy of the first lines, word for word, with results put in for
// calls that have none, and of the log up to the same time, where the parent
// stands in parent_session_id; since times moved into metadata that is nothing
// at all. Lines have their keys from the session that was forked first, which
// is found by following the metadata, so that package interop sees the copies.
// A fork of which nothing is a copy hangs on its parent as a continuation.
//
// # Writing
//
// A session is written as Amplifier's store and its logging hook would write
// it: the same tree, Python's spelling, mode 0600, the folder's time that of
// the last word, for that is when Amplifier thinks it was used. An ID without
// an underscore that can be a folder's name stays; others become a UUID, of a
// sub-agent's session a span with _agent behind it. Reasoning that Amplifier
// has not written itself goes to thinking_text, which no provider is sent: its
// signature is not known. A call without a result gets one behind those of its
// siblings before the conversation goes on, and before a person's words the
// turn is closed by an answer. What requests cost goes to the log, from where
// Amplifier sums it up.
//
// Writing into a folder that there is already does what a save does: backups of
// both files, then each written beside its place and renamed; to the log lines
// are added.
//
// Checked on files that the session store and the fork of amplifier-app-cli
// f16375f and amplifier-foundation d0d96f7 wrote, and on their sources,
// 2026-11-21.
package amplifier
