// Package cline reads the tasks of Cline (https://cline.bot), of its command line,
// and of its forks Roo Code and Kilo Code.
//
// # Where
//
// tasks/<id>/ in globalStorage/saoudrizwan.claude-dev, rooveterinaryinc.roo-cline and
// kilocode.kilo-code, below User in the settings folder of VS Code, VS Code Insiders,
// VSCodium, Cursor and Windsurf, and of their remote servers
// (~/.vscode-server/data/User), if these exist; Cline's command line has tasks/ in
// $CLINE_DATA_DIR, $CLINE_DIR/data or ~/.cline/data, and in newer versions
// sessions/<id>/ beside it. A task's ID is the time in milliseconds, or a UUID.
//
//	api_conversation_history.json   what the model was sent and answered: an array; of Roo Code in 2026
//	                                {"version":2,"messages":[…]}. Content is Anthropic's or the AI SDK's
//	ui_messages.json                what was shown: an array of {ts, type: say or ask, say or ask: …, text, …};
//	                                claude_messages.json in 2024
//	task_metadata.json              Cline: model_usage[{ts, model_id, model_provider_id}], files
//	history_item.json               Roo Code: workspace, parentTaskId, mode, status
//	<id>.json, <id>.messages.json   the command line's newer sessions: metadata, and {messages:[…]}; a file of
//	                                messages with another name is another agent's, a child
//
// Each is rewritten on each save. A folder is a unit: its small files come first,
// whole, then the messages, one per line, in the order in which they came: what was
// shown comes after the message to the model that its conversationHistoryIndex names,
// or that has the same time. So what is new comes last. Other files are not read:
// settings, checkpoints (git repositories), and copies of files.
//
// # Events
//
//	api messages      said. <task>, <user_message>, <feedback>, <answer> are removed from the user's text; environment
//	                  details are synthetic. Calls in XML, used up to 2025, are taken out of the text, and what begins
//	                  "[read_file for 'a.go'] Result:" is their result. isSummary is compacted; Roo Code kept what it covers
//	                  since 2026 and removed it before. Up to 2025 they have no time: they get that of what was shown before
//	api_req_started   a step: tokens, cost as the program counts it, reason and text of a failure. deleted_api_reqs
//	                  and subagent_usage are steps too, and so is the cost of condense_context. For Roo Code's
//	                  OpenAI models, and Cline's providers openai and litellm, tokensIn includes the cached ones
//	metrics           in api messages: usage of a session of the command line; of a task only if nothing shown counts
//	errors, condense_context, checkpoints, truncation   noted
//	other shown       the same as the messages. If only these are left, they become messages
//
// cwd is taken from taskHistory.json beside tasks (../../state), history_item.json or
// <id>.json, else from what the program told the model.
//
// # Evidence
//
// No real folder was available: fixture-tested. Shapes as in the source of
// https://github.com/cline/cline (src/core/storage/disk.ts,
// src/shared/ExtensionMessage.ts) and https://github.com/RooCodeInc/Roo-Code
// (src/core/task-persistence), checked on 2026-11-21; those of sessions/ as public
// readers of them agree.
package cline
