// Package copilot reads the sessions of GitHub Copilot's CLI.
//
// # Where
//
// Under $COPILOT_HOME, or ~/.copilot, on all systems; early versions used
// $XDG_STATE_HOME/.copilot:
//
//	session-state/<ID>/events.jsonl    the events of a session
//	session-state/<ID>/workspace.yaml  its title: name, or summary
//	session-state/<ID>.jsonl           events, in versions to about 0.0.380
//	history-session-state/*.json       documents, to about 0.0.340
//
// A session's folder also has plan.md, checkpoints and files, which are not
// conversation, and session-store.db has what the program computed from the events;
// neither is read.
//
// # Events
//
// JSON Lines, appended to:
//
//	{"type":T,"data":{…},"id":UUID,"timestamp":"2026-04-23T17:08:08.908Z","parentId":UUID,"agentId":…}
//
// What each T becomes (all others are noted, whole):
//
//	session.start            the session (created): context.cwd, gitRoot, branch, headCommit, repository and
//	                         repositoryHost, copilotVersion; noted
//	session.resume           resumed; changed, if it continues in another folder; noted
//	session.context_changed  changed; noted
//	session.model_change     changed; noted, because it also has the reasoning effort
//	session.error, abort     a step with the error
//	session.compaction_complete  compacted: summaryContent replaces what there was at compaction_start; a step with
//	                         compactionTokensUsed; without success it covers nothing
//	session.context_cleared  rewound, to the beginning
//	session.snapshot_rewind  rewound, to before upToEventId. Usually the program cuts the file there instead; then
//	                         what was cut off is withdrawn
//	session.shutdown         ended; a step for each model with its usage that was not reported before; noted, with
//	                         totalPremiumRequests, cost and totalNanoAiu unchanged: none of them is money
//	system.message           said by the system, unless it repeats the one before
//	system.notification      said by the program
//	user.message             said; a steer if delivery is steering; synthetic if source says that no user typed it
//	                         (skill-…, agent-…), if isAutopilotContinuation, and if there is only transformedContent,
//	                         which is what the model was sent. attachments are files; assetId names a
//	                         session.binary_asset
//	assistant.message        said: reasoningText (reasoningOpaque, encryptedContent as Meta), content, toolRequests.
//	                         Those with the same apiCallId, in chunks, are one message
//	assistant.reasoning      said, if the next message does not repeat it
//	assistant.turn_start, assistant.turn_end  nothing
//	tool.execution_start     a tool event, running; before it the call, if no message has it: the user ran the tool
//	tool.execution_complete  a tool event, and the answer: result.content is what the model was sent; detailedContent,
//	                         what was shown, is Meta of the tool event
//	subagent.started, completed, failed  a tool event that names the child
//	subagent.selected, deselected        changed: the profile
//
// A sub-agent's events are among those of the session and carry its agentId, or in
// early versions the call's ID as data.parentToolCallId. They make a session of their
// own. Its ID is that ID if it is a UUID, otherwise the session's ID, a period and
// that ID.
//
// # Usage
//
// A message has its output tokens (outputTokens); input tokens appear only in
// modelMetrics of session.shutdown. These metrics cover this run or, if the session
// was resumed, all runs together: the latter is assumed if they have at least as many
// output tokens as all runs reported. inputTokens includes tokens read from and
// written to the cache, outputTokens includes reasoningTokens. What was not reported
// before is added to the model's last request.
//
// # Documents
//
//	{"sessionId":…,"startTime":…,"chatMessages":[{"role":…,"content":…,"tool_calls":[…],"tool_call_id":…}],"timeline":[…]}
//
// The messages are those of the API; if there are none, what the screen showed is
// read: type user, copilot, tool_call_completed.
//
// The earliest files have lines with a prompt or an answer:
//
//	{"session_id":…,"cwd":…,"type":"userPromptSubmitted","prompt":…,"timestamp":1760000000000}
//	{"session_id":…,"cwd":…,"type":"assistantResponse","result":…,"timestamp":…}
//
// # Evidence
//
// Seen on a real file: events of version 1.0.34 (April 2026), with usage. From the
// types that the program's vendor generates of its events, read on 2026-11-21
// (nodejs/src/generated/session-events.ts of https://github.com/github/copilot-sdk):
// compaction, rewinds, sub-agents, attachments, what is cumulative. Only by other
// readers of such files: workspace.yaml, documents, the earliest lines. All but the
// first are tested on made-up files. Not verified: which session has
// subagent.started, and whether it carries the new agentId; both variants are read.
package copilot
