// Package claudecode reads and writes the transcripts of Claude Code.
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
//	last-prompt      noted; leafUuid is the line that the session goes on from: if that
//	                 is on another branch than the newest, it went back
//	anything else    noted, as "claude-code:<type>" with the whole line; of a run of
//	                 types that are not known, one line for each so many bytes
//
// Blocks: text, thinking (its signature stays in the source record only),
// redacted_thinking, tool_use, tool_result (a string or blocks), image and
// document (base64 becomes a blob), others kept as they are.
//
// # Usage
//
// usage stands on each line of a message, output_tokens growing. Input, output,
// cache_read and cache_creation tokens are taken over as they are, and what of
// the last was for an hour (cache_creation.ephemeral_1h_input_tokens); service_tier
// and speed (fast) are the service tier. The request is named
// "<message id>/<requestId>", by which the fold counts it once, with the largest
// output.
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
// # Writing
//
// A session is written under the folder of its working directory, which must
// be the one that the program is started in: it looks for sessions by that. A
// folder's name of more than 200 characters is cut there, with a hyphen and a
// hash (the string's in Java, base 36) behind. The session's ID must be a UUID.
//
//	text          a block of a user's or an assistant's line, one line for each
//	              block of an answer, with the same message.id
//	tool call     tool_use, with the name and input of Claude Code's own tool where
//	              one fits (Bash, Read, Write, Edit, Glob, Grep, WebFetch, WebSearch,
//	              Task, TodoWrite, mcp__…), else in words; IDs have only letters,
//	              digits, _ and -, and none comes twice
//	result        tool_result, right behind the answer that called; a call that has
//	              none is answered as interrupted; toolUseResult for Bash, for what
//	              failed and for sub-agents (agentId)
//	reasoning     only with Anthropic's own signature
//	files         image and document blocks, as far as the provider takes them
//	steer         attachment queued_command
//	system        left out at the beginning, else a user's line with isMeta
//	compaction    compact_boundary and the summary, before the messages that it
//	              left standing
//	title         custom-title if a person gave it, else ai-title
//	sub-agent     <session>/subagents/agent-<id>.jsonl and .meta.json
//
// What was gone back over is left out; a session that went back after it was
// read goes on from the line before, as a branch. No line is older than the one
// before it, nor as old: versions to 2.0 go on from the line with the latest
// timestamp, of several from the first, newer ones from the one that the newest
// last-prompt line names in leafUuid, so a sync writes that line too: of a session
// that went back and said no more, only that one. Files without such a line are
// written once more is said.
//
// # Prompts
//
// ~/.claude/history.jsonl keeps what was typed, longer than the transcripts;
// see [History].
//
// # Evidence
//
// Reading: 14 real files of versions 1.0.98 to 2.1.236 (September 2025 to
// August 2026) and descriptions of other readers. Writing: versions 2.0.76 and
// 2.1.330 go on with what is written, and with what is synced, against a server
// in the provider's place (the test takes programs from SKEIN_CLAUDE), and show
// it in the terminal. Not verified: that the provider itself takes it.
// 2026-11-21.
package claudecode
