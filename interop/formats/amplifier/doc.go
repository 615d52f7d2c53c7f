// Package amplifier reads and writes the sessions of Amplifier.
//
// # Where
//
// Under $AMPLIFIER_HOME, else ~/.amplifier, a folder for each session:
//
//	projects/<slug>/sessions/<id>/
//	    transcript.jsonl   the conversation, rewritten with every save
//	    metadata.json      who, where, with what
//	    events.jsonl       a log, appended to
//	    *.backup           transcript and metadata before the last save
//	    config.md, *.bak-<label>-<time>, folders of hooks: kept, not read
//
// <slug> stands for the working directory, see [Slug]; only working_dir in the
// metadata is reliable. <id> is a UUID; for a fork any name; for a sub-agent's
// session, which is beside its parent, <parent span>-<child span>_<agent>. The
// program's store writes files with mode 0600. A session's time of last use is its
// folder's: saving changes it by renaming, appending to the log does not. There is no
// lock.
//
// # transcript.jsonl
//
// An object on each line, as Python's json.dumps writes it, with a space after commas
// and colons and UTF-8 unescaped. Never null: members and elements that are null are
// left out. role:
//
//	user       content: a string, or blocks. Hooks insert messages as user too:
//	           metadata.source is hook, or it begins with <system-reminder
//	assistant  content, tool_calls, thinking_text
//	tool       name, tool_call_id, content: a string, often JSON
//
// system and developer are never written; they are read. Blocks: text, thinking,
// redacted_thinking, reasoning, tool_call or tool_use, tool_result, image. A call is
// {id, tool, arguments}, earlier {id, type, function{name, arguments as a string}},
// {id, name, input} or {id, name, arguments}. The time is metadata.timestamp, in
// earlier versions timestamp, in the earliest missing.
//
// A call's result with a session_id in it says which session the call ran.
//
// # metadata.json
//
// Indented by 2, no final newline: session_id, created, bundle, model
// (provider/model), turn_count, working_dir, name and description with their times,
// incremental. A fork has parent_id, forked_from_turn and forked_at, and no
// working_dir; a sub-agent's session parent_id, trace_id, agent_name and more. It
// becomes a noted event with everything except turn_count and incremental, a changed
// event and a titled event.
//
// # events.jsonl
//
// An envelope on each line: ts, lvl, schema{name amplifier.log, ver}, event, promoted
// members (session_id, status, duration_ms, request_id, error, …) and data. tool:pre,
// tool:post and tool:error make tool events, llm:response a step with its usage and
// cost, session:resume and session:end resumed and ended events, <tool>:agent_spawned
// says which call runs which session. The others are noted unchanged; the data of a
// line longer than 16 KB stays in its record only. A sub-agent's log begins with
// session:fork, whose data names the parent as parent_id, parent or data.parent;
// session:start names it as parent_id. Until the first save, nothing else names the
// parent.
//
// # Order
//
// The records of a folder are its lines, as package folder defines them: log and
// transcript merged by their times, each in its own order, then the metadata, which
// every save changes, then the rest.
//
// # Damage
//
// Amplifier itself discards a transcript with one bad line and continues with the
// backup, or with nothing. Here each good line is kept and each bad one reported; the
// backup is read if the transcript has no message, or if the metadata is damaged or
// missing. A session that ended before its first save has only a log: its prompts are
// its messages.
//
// # Forks
//
// A fork is a copy of the first lines, word for word, with results inserted for calls
// that have none, and of the log up to the same time, with the parent in
// parent_session_id; since times moved into metadata, nothing of the log is copied.
// The keys of lines come from the session that was forked first, which is found by
// following the metadata, so that package interop recognizes the copies. A fork that
// copied nothing is a continuation of its parent.
//
// # Writing
//
// A session is written as Amplifier's store and its logging hook would write it: the
// same tree, Python's spelling, mode 0600, the folder's time set to that of the last
// message, which Amplifier takes for the time of last use. An ID without an
// underscore that can be a folder's name is kept; others become a UUID, or for a
// sub-agent's session a span followed by _agent. Reasoning that Amplifier did not
// write itself goes to thinking_text, which is sent to no provider: its signature is
// not known. A call without a result gets one after those of its siblings before the
// conversation continues, and before a user message the turn is closed by an answer.
// The cost of requests goes to the log, where Amplifier sums it up.
//
// Writing into an existing folder does what a save does: it backs up both files, then
// writes each to a temporary file and renames it; lines are appended to the log.
//
// Checked on files that the session store and the fork of amplifier-app-cli
// f16375f and amplifier-foundation d0d96f7 wrote, and on their sources,
// 2026-11-21.
package amplifier
