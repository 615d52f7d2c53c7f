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
// <key> is the working directory with every character but ASCII letters, digits and
// hyphens replaced by a hyphen; this cannot be reversed, so the project is taken from
// cwd in the lines. <session> is a UUID and becomes the session's ID; a sub-agent's
// is "agent-<id>", or for an inline one (see below) the UUID of its first line.
//
// # Lines
//
// One JSON object per line, LF after each, UTF-8. The fields that are read:
//
//	type               what the line is; see below
//	uuid, parentUuid   its ID, and that of the line it answers; null at a root
//	logicalParentUuid  the same across a compaction
//	timestamp          RFC 3339, UTC, milliseconds; not in file order
//	cwd, gitBranch     folder and branch; changed, if they are others than before.
//	                   HEAD: no branch is checked out
//	version, entrypoint
//	isSidechain        true on a sub-agent's lines
//	isMeta             the program wrote it: a caveat, a skill's text
//	sessionId          of the file that it was first written to
//	agentId, parentToolUseID, sourceToolUseID, requestId, promptSource, origin.kind
//
// What becomes of a line, by type:
//
//	user             message.content: a string, or blocks. Blocks tool_result make a
//	                 message of role tool, the others one of role user. isCompactSummary:
//	                 a compacted event. toolUseResult: facts in the message's meta
//	                 (agentId, status, filePath, persistedOutputPath, exitCode, …)
//	assistant        message{id, model, content, stop_reason, usage}: one line per
//	                 block; those with one id are one message. Model <synthetic> and
//	                 isApiErrorMessage: written by the program, synthetic
//	system           noted; subtype compact_boundary{trigger, preTokens} belongs to the
//	                 summary that follows; retractedMessageUuids and supersedesUuids
//	                 withdraw messages
//	attachment       queued_command: what was typed while the agent worked, role steer;
//	                 the other kinds are noted
//	progress         noted; the first agent_progress{agentId} of a sub-agent also says
//	                 which call runs it
//	summary          {summary, leafUuid}: a title for the session that has that line,
//	                 whatever file it is in
//	custom-title, ai-title   a title by the user, by a model
//	last-prompt      noted; leafUuid is the line that the session continues from: if that
//	                 is on another branch than the newest, it went back
//	anything else    noted, as "claude-code:<type>" with the whole line; of a run of
//	                 unknown types, one line for each so many bytes
//
// Blocks: text, thinking (its signature stays in the source record only),
// redacted_thinking, tool_use, tool_result (a string or blocks), image and document
// (base64 becomes a blob), others kept unchanged.
//
// # Usage
//
// usage is on each line of a message, with growing output_tokens. Input, output,
// cache_read and cache_creation tokens are copied unchanged, with the part of the
// last that is cached for an hour (cache_creation.ephemeral_1h_input_tokens);
// service_tier and speed (fast) are the service tier. The request is named "<message
// id>/<requestId>", by which the fold counts it once, with the largest output. costUSD,
// which older versions wrote on the line, is the reported cost.
//
// # Tree
//
// parentUuid makes a tree: going back to an earlier prompt begins a branch. Lines are
// grouped in segments, each from a user's input to the next one on its branch. If a
// message's parent is not in the newest segment, a rewound event to the end of the
// parent's segment comes first, so the newest leaf is the session and the abandoned
// branch stays in the log. Parallel tool calls and progress lines branch too, but
// inside a segment. If the parent is not in the file, the line before is taken instead.
// The same is done if the parent comes later, and then the two segments are one: lines
// are written in the background, and a quick answer can come before its prompt.
//
// # Sub-agents
//
// Older versions write a sub-agent's lines into the session's own file, with
// isSidechain; each root among them is a child session. Newer ones write a separate
// file. The link to the call is meta.json's toolUseId; the call whose input.prompt is
// the first message; or, on the parent's side, agentId in agent_progress and
// toolUseResult, as a tool event with the child's ID.
//
// # Copies
//
// Resuming (in versions before 1.0.90), --fork-session and background sessions copy
// lines into a new file, byte for byte except for sessionId and sessionKind; payloads
// hold neither, so that package interop recognizes the copies. Lines without a uuid
// that contain the session's ID are never recognized.
//
// # Writing
//
// A session is written under the folder of its working directory, which must be the
// one that the program is started in: it looks for sessions there. A folder's name of
// more than 200 characters is cut to that length and followed by a hyphen and a hash
// (Java's string hash, base 36). The session's ID must be a UUID.
//
//	text          a block of a user's or an assistant's line, one line per
//	              block of an answer, with the same message.id
//	tool call     tool_use, with the name and input of Claude Code's own tool where
//	              one fits (Bash, Read, Write, Edit, Glob, Grep, WebFetch, WebSearch,
//	              Task, TodoWrite, mcp__…), else as text; IDs have only letters,
//	              digits, _ and -, and are unique
//	result        tool_result, right after the answer that called; a call without
//	              one is answered as interrupted; toolUseResult for Bash, for what
//	              failed and for sub-agents (agentId)
//	reasoning     only with Anthropic's own signature
//	files         image and document blocks, as far as the provider accepts them
//	steer         attachment queued_command
//	system        left out at the beginning, else a user's line with isMeta
//	compaction    compact_boundary and the summary, before the messages that
//	              it does not cover
//	title         custom-title if the user gave it, else ai-title
//	sub-agent     <session>/subagents/agent-<id>.jsonl and .meta.json
//
// What was rewound is left out; a session that was rewound after it was read
// continues from the line before, as a branch. Each line's timestamp is later than
// the one before: versions up to 2.0 continue from the line with the latest timestamp
// (the first, if several have it), newer ones from the line that the newest
// last-prompt line names in leafUuid. So a sync writes that line too; if the session
// was rewound and nothing was said since, it writes only that line. A file without
// such a line is written only once more is said.
//
// # Prompts
//
// ~/.claude/history.jsonl keeps what was typed, for longer than the transcripts are
// kept; see [PromptHistory].
//
// # Evidence
//
// Reading: 14 real files of versions 1.0.98 to 2.1.236 (September 2025 to August
// 2026) and descriptions of other readers. Writing: versions 2.0.76 and 2.1.330 go on
// with what is written, and with what is synced, against a server in place of the
// provider (the test takes programs from SKEIN_CLAUDE), and show it in the terminal.
// Not verified: that the provider itself accepts it. 2026-11-21.
package claudecode
