// Package qwen reads the transcripts of Qwen Code (https://github.com/QwenLM/qwen-code).
//
// # Where
//
// Under $QWEN_RUNTIME_DIR, else $QWEN_HOME, else ~/.qwen:
//
//	projects/<project>/chats/<session>.jsonl                    a session
//	projects/<project>/subagents/<session>/agent-<id>.jsonl     a background sub-agent of it
//	projects/<project>/subagents/<session>/agent-<id>.meta.json what it was started with
//	tmp/<hash>/chats/<session>.jsonl                            a session, for some versions
//
// <project> is the working directory with a hyphen for every character other than
// ASCII letters and digits. A folder named in the settings
// (advanced.runtimeOutputDir) is not searched. Package gemini reads what earlier
// versions wrote, documents in Gemini CLI's format.
//
// # Lines
//
// JSON Lines, only ever appended to:
//
//	{"uuid","parentUuid","sessionId","timestamp","type","subtype","cwd","version","gitBranch",
//	 "message":{"role","parts":[…]},"model","usageMetadata","toolCallResult","systemPayload","forkedFrom"}
//
// By type:
//
//	user         said. subtype mid_turn_user_message: role steer; notification, cron, background_task_completed, and
//	             provenance system, goal_control, goal_runtime: synthetic. systemPayload.displayText is what was shown
//	             as typed: other texts are synthetic, and if none equals it, it is added to them
//	assistant    said
//	tool_result  said, as a tool; of toolCallResult, status, errorType and what was shown, up to 16 KB, are in its meta
//	system       by subtype:
//	              custom_title      titled, by a model if titleSource is auto; nothing if repeated
//	              chat_compression  compacted: compressedHistory replaces everything before. It ends with messages as
//	                                they were, which are not covered; the text of what comes before them is the summary
//	              session_model     changed, and noted
//	              parent_session    noted; if nothing was said yet, it makes the session a child
//	              rewind, and all others  noted, whole except for what copies change
//
// A record with another cwd or gitBranch than the one before makes a changed event.
//
// Parts are the Gemini API's: text, text with thought, functionCall, functionResponse
// (output or error as text, else unchanged), inlineData, fileData; others are kept
// unchanged.
//
// # Usage
//
// promptTokenCount includes cachedContentTokenCount. candidatesTokenCount includes
// thoughtsTokenCount for most providers but not for Gemini: totalTokenCount shows
// which. What ui_telemetry repeats is not counted again; the usage of sub-agents
// without their own transcript is only there.
//
// # Tree
//
// parentUuid makes a tree, whose newest record is the session's current position. A
// record that does not continue the newest message comes with a rewound event. Titles
// and the like are not part of the path. If the parent is not in the file, the record
// before is taken instead.
//
// # Copies
//
// /branch copies records into a new file with their uuid; sessionId, parentUuid and
// forkedFrom differ, but payloads hold none of these, so it is recognized as a fork.
//
// # Evidence
//
// 2026-11-21: one real file (7 records, version 0.18.1); for the rest, the source:
// core/src/services/chatRecordingService.ts, sessionService.ts,
// session-api-history.ts, utils/conversation-chain.ts, agents/agent-transcript.ts,
// config/storage.ts. Tested on made-up files.
package qwen
