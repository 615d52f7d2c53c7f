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
// <project> is the working directory with a hyphen for all but ASCII letters and
// digits. A folder that the settings name (advanced.runtimeOutputDir) is not
// looked for. What versions before wrote, documents in Gemini CLI's shape, is
// another format's: package gemini reads it.
//
// # Lines
//
// JSON Lines, only ever appended to:
//
//	{"uuid","parentUuid","sessionId","timestamp","type","subtype","cwd","version","gitBranch",
//	 "message":{"role","parts":[…]},"model","usageMetadata","toolCallResult","systemPayload","forkedFrom"}
//
// by type:
//
//	user         said. subtype mid_turn_user_message: role steer; notification, cron, background_task_completed, and
//	             provenance system, goal_control, goal_runtime: synthetic. systemPayload.displayText is what was shown
//	             as typed: other texts beside it are synthetic, and where none is it, it stands beside them
//	assistant    said
//	tool_result  said, as a tool; of toolCallResult, status, errorType and what was shown, up to 16 KB, are in its meta
//	system       by subtype:
//	              custom_title      titled, by a model if titleSource is auto; nothing where it is repeated
//	              chat_compression  compacted: compressedHistory stands in place of all before. It ends with messages as
//	                                they were, which are not covered; the words of what comes before them are the summary
//	              session_model     changed, and noted
//	              parent_session    noted; before anything was said, it makes the session a child
//	              rewind, and all others  noted, whole but for what copies change
//
// Parts are the Gemini API's: text, text with thought, functionCall,
// functionResponse (output or error as text, else as it is), inlineData,
// fileData; others are kept as they are.
//
// # Usage
//
// promptTokenCount is with cachedContentTokenCount. candidatesTokenCount is with
// thoughtsTokenCount for most providers and without for Gemini's:
// totalTokenCount tells. What ui_telemetry repeats is not counted again; what
// sub-agents without a transcript of their own used stands only there.
//
// # Tree
//
// parentUuid makes a tree, whose newest record is where the session stands. What
// goes on from elsewhere than the newest message comes with a rewound event. Titles
// and the like stand beside the line. A parent that is not in the file is taken
// as the record before.
//
// # Copies
//
// /branch copies records into a new file with their uuid; sessionId, parentUuid
// and forkedFrom differ, and no payload holds these: so it is a fork.
//
// # Evidence
//
// 2026-11-21: one real file (7 records, version 0.18.1); for the rest, the source:
// core/src/services/chatRecordingService.ts, sessionService.ts,
// session-api-history.ts, utils/conversation-chain.ts, agents/agent-transcript.ts,
// config/storage.ts. Tested on made-up files.
package qwen
