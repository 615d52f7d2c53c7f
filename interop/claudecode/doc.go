// Package claudecode reads the transcripts of Claude Code.
//
// # Where
//
// Under $CLAUDE_CONFIG_DIR, else ~/.claude:
//
//	projects/<key>/<session>.jsonl                            a session
//	projects/<key>/<session>/subagents/agent-<id>.jsonl       a sub-agent of it
//	projects/<key>/<session>/subagents/agent-<id>.meta.json   what it was started with
//	projects/<key>/<session>/subagents/workflows/<w>/…        the same, in workflows
//	projects/<key>/agent-<id>.jsonl                           a sub-agent, in versions between 2.0 and 2.1
//	projects/<key>/<session>/tool-results/…                   long outputs, not read
//
// <key> is the working directory with every character but ASCII letters,
// digits and hyphens replaced by a hyphen; it cannot be turned back, so the
// project is taken from cwd in the lines. <session> is a UUID and becomes the
// session's ID; a sub-agent's is "agent-<id>", that of an inline one (see
// below) the UUID of its first line.
//
// # Lines
//
// One JSON object on each, LF after each, UTF-8. The fields that are read:
//
//	type               what the line is; see below
//	uuid, parentUuid   its ID, and that of the line it answers; null at a root
//	logicalParentUuid  the same across a compaction
//	timestamp          RFC 3339, UTC, milliseconds; not in order of the file
//	cwd, gitBranch, version, entrypoint
//	isSidechain        true on a sub-agent's lines
//	isMeta             a program wrote it: a caveat, a skill's text
//	sessionId          of the file that it was first written to
//	agentId, parentToolUseID, sourceToolUseID, requestId, promptSource, origin.kind
//
// and what becomes of a line, by type:
//
//	user             message.content: a string, or blocks. Blocks tool_result make a
//	                 message of role tool, the others one of role user. isCompactSummary:
//	                 a compacted event. toolUseResult: facts in the message's meta
//	                 (agentId, status, filePath, persistedOutputPath, exitCode, …)
//	assistant        message{id, model, content, stop_reason, usage}: one line for each
//	                 block; those of one id are one message. Model <synthetic> and
//	                 isApiErrorMessage: a program's words, synthetic
//	system           noted; subtype compact_boundary{trigger, preTokens} belongs to the
//	                 summary that follows; retractedMessageUuids and supersedesUuids
//	                 withdraw messages
//	attachment       queued_command: what was typed while the agent worked, role steer;
//	                 the other kinds are noted
//	progress         noted; the first agent_progress{agentId} of a sub-agent also says
//	                 which call runs it
//	summary          {summary, leafUuid}: a title for the session that has that line,
//	                 whatever file it is in
//	custom-title, ai-title   a title by a person, by a model
//	anything else    noted, as "claude-code:<type>" with the whole line
//
// Blocks: text, thinking (its signature stays in the source record only),
// redacted_thinking, tool_use, tool_result (a string or blocks), image and
// document (base64 becomes a blob), others kept as they are.
//
// # Usage
//
// usage stands on each line of a message, output_tokens growing. Input, output,
// cache_read and cache_creation tokens are taken over as they are; the request
// is named "<message id>/<requestId>", by which the fold counts it once, with
// the largest output.
//
// # Tree
//
// parentUuid makes a tree: going back to an earlier prompt begins a branch.
// Lines are grouped in segments, each from what a person put in to the next
// such line on its branch. A message whose parent is in another segment than
// the newest is preceded by a rewound event to the end of that segment, so the
// newest leaf is the session and what was left stays in the log. Parallel tool
// calls and progress lines branch too, but inside a segment. A parent that is
// not in the file, or comes later, is taken as the line before.
//
// # Sub-agents
//
// Older versions write a sub-agent's lines into the session's own file, with
// isSidechain; each root of theirs is a child session. Newer ones write a file
// of its own. The edge to the call is meta.json's toolUseId, the call whose
// input.prompt is the first message, or, from the parent's side as a tool
// event with the child's ID, agentId in agent_progress and toolUseResult.
//
// # Copies
//
// Resuming (in versions before 1.0.90), --fork-session and background sessions
// copy lines into a new file, byte for byte but for sessionId and sessionKind;
// payloads hold neither, so that package interop sees that they are the same.
// Lines without a uuid that have the session's ID in them are never the same.
//
// Checked on 14 real files of versions 1.0.98 to 2.1.236 (September 2025 to
// August 2026) and on descriptions of other readers, 2026-11-21.
package claudecode
