// Package copilot reads the sessions of GitHub Copilot's CLI.
//
// # Where
//
// Under $COPILOT_HOME, or ~/.copilot, on all systems; early versions took
// $XDG_STATE_HOME/.copilot:
//
//	session-state/<ID>/events.jsonl    the events of a session
//	session-state/<ID>/workspace.yaml  its title: name, or summary
//	session-state/<ID>.jsonl           events, in versions to about 0.0.380
//	history-session-state/*.json       documents, to about 0.0.340
//
// Besides, in a session's folder, lie plan.md, checkpoints and files, which are
// no conversation, and in session-store.db what the program has worked out from
// the events; neither is read.
//
// # Events
//
// JSON Lines, appended to:
//
//	{"type":T,"data":{…},"id":UUID,"timestamp":"2026-04-23T17:08:08.908Z","parentId":UUID,"agentId":…}
//
// What each T becomes (all others are noted, whole):
//
//	session.start            the session (created): context.cwd, gitRoot, copilotVersion; noted
//	session.resume           resumed; changed, where it goes on in another folder; noted
//	session.context_changed  changed; noted
//	session.model_change     changed; noted, for it says how hard to think too
//	session.error, abort     a step with the error
//	session.compaction_complete  compacted: summaryContent stands for what there was at compaction_start; a step with
//	                         compactionTokensUsed; without success it covers nothing
//	session.context_cleared  rewound, to the beginning
//	session.snapshot_rewind  rewound, to before upToEventId. As a rule the program cuts the file there instead; then
//	                         what was cut off is withdrawn
//	session.shutdown         ended; a step for each model with what it used that was not told before; noted, with
//	                         totalPremiumRequests, cost and totalNanoAiu as they stand: none of them is money
//	system.message           said by the system, unless it is the one that there was
//	system.notification      said by a program
//	user.message             said; a steer where delivery is steering; synthetic where source says that no person typed it
//	                         (skill-…, agent-…), in isAutopilotContinuation, and where there is only transformedContent,
//	                         which is what the model was sent. attachments are files; assetId is that of a
//	                         session.binary_asset
//	assistant.message        said: reasoningText (reasoningOpaque, encryptedContent as Meta), content, toolRequests.
//	                         Those with the same apiCallId, in chunks, are one message
//	assistant.reasoning      said, if the message that follows does not say it
//	assistant.turn_start, assistant.turn_end  nothing
//	tool.execution_start     a tool event, running; before it the call, if no message asked for it: a person did
//	tool.execution_complete  a tool event, and the answer: result.content is what the model was told; detailedContent,
//	                         what was shown, is Meta of the tool event
//	subagent.started, completed, failed  a tool event that names the child
//	subagent.selected, deselected        changed: the profile
//
// The events of a sub-agent stand between those of the session and carry its
// agentId, in early versions the call's ID as data.parentToolCallId. They are a
// session of their own. Its ID is the session's, a full stop and that ID, unless
// it is a UUID.
//
// # Usage
//
// A message says how many tokens were written (outputTokens), nothing says what
// was read until modelMetrics in session.shutdown. That is of this run, or,
// where the session was resumed, of all runs together: it is taken for the
// latter if there is as much written in it as all runs told of. inputTokens has
// what was read from and written to the cache in it, outputTokens has
// reasoningTokens in it. What was not told before is counted to the last
// request of the model.
//
// # Documents
//
//	{"sessionId":…,"startTime":…,"chatMessages":[{"role":…,"content":…,"tool_calls":[…],"tool_call_id":…}],"timeline":[…]}
//
// The messages are those of the API; where there are none, what the screen
// showed is read: type user, copilot, tool_call_completed.
//
// The earliest files have lines with a prompt or an answer:
//
//	{"session_id":…,"cwd":…,"type":"userPromptSubmitted","prompt":…,"timestamp":1760000000000}
//	{"session_id":…,"cwd":…,"type":"assistantResponse","result":…,"timestamp":…}
//
// # Evidence
//
// Seen on a real file: events of version 1.0.34 (April 2026), with usage. From
// the types that the program's vendor generates of its events, read on
// 2026-11-21 (nodejs/src/generated/session-events.ts of
// https://github.com/github/copilot-sdk): compaction, rewinds, sub-agents,
// attachments, what is cumulative. By other readers of such files only:
// workspace.yaml, documents, the earliest lines. All but the first are tested
// on files made for it. In which session subagent.started stands, and whether it
// carries the new agentId, is not verified: both are read.
package copilot
