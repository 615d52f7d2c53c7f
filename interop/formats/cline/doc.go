// Package cline reads the tasks of Cline (https://cline.bot), of its command line
// and of Roo Code and Kilo Code, which came from it.
//
// # Where
//
// tasks/<id>/ in globalStorage/saoudrizwan.claude-dev,
// rooveterinaryinc.roo-cline and kilocode.kilo-code, below User of the folder for
// settings of VS Code, VS Code Insiders, VSCodium, Cursor and Windsurf, and of
// their servers on other machines (~/.vscode-server/data/User), where these are
// there; Cline's command
// line has tasks/ in $CLINE_DATA_DIR, $CLINE_DIR/data or ~/.cline/data, and in newer
// versions sessions/<id>/ beside it. A task's ID is the time in milliseconds, or a
// UUID.
//
//	api_conversation_history.json   what the model was told and answered: an array; of Roo Code in 2026
//	                                {"version":2,"messages":[…]}. Content is Anthropic's or the AI SDK's
//	ui_messages.json                what was shown: an array of {ts, type: say or ask, say or ask: …, text, …};
//	                                claude_messages.json in 2024
//	task_metadata.json              Cline: model_usage[{ts, model_id, model_provider_id}], files
//	history_item.json               Roo Code: workspace, parentTaskId, mode, status
//	<id>.json, <id>.messages.json   the command line's newer sessions: what they are, and {messages:[…]}; a file of
//	                                messages of another name is another agent's, a child
//
// Each is written anew on each save. A folder is a unit: its small files stand
// first, whole, then the messages, one for each line, as they came to be: what was
// shown behind the message to the model that its conversationHistoryIndex names,
// or that is as old. So what is new comes last. Other files are not read:
// settings, checkpoints, which are git repositories, and copies of files.
//
// # What becomes of it
//
//	api messages      said. <task>, <user_message>, <feedback>, <answer> are taken off a person's words; environment
//	                  details are synthetic. Calls in XML, as up to 2025, are taken out of the words, and what begins
//	                  "[read_file for 'a.go'] Result:" is their result. isSummary is compacted; Roo Code kept what it covers
//	                  since 2026 and removed it before. Up to 2025 they have no time: it is that of what was shown before
//	api_req_started   a step: tokens, cost as the program counts it, reason and words of a failure. deleted_api_reqs
//	                  and subagent_usage are steps too, the cost of condense_context is. Of Roo Code's
//	                  OpenAI models tokensIn have the cached ones in them
//	metrics           in api messages: usage of a session of the command line; of a task only if nothing shown counts
//	errors, condense_context, checkpoints, truncation   noted
//	other shown       the same as the messages. If only these are left, they are made messages
//
// cwd is that of taskHistory.json beside tasks (../../state), history_item.json or
// <id>.json, else what the program told the model.
//
// # Evidence
//
// No folder of a person's was at hand: fixture-tested. Shapes as in the source of
// https://github.com/cline/cline (src/core/storage/disk.ts,
// src/shared/ExtensionMessage.ts) and https://github.com/RooCodeInc/Roo-Code
// (src/core/task-persistence), checked on 2026-11-21; those of sessions/ as
// public readers of them agree.
package cline
