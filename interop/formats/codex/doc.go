// Package codex reads and writes the sessions of OpenAI's Codex: CLI, Desktop
// and IDE.
//
// # Where
//
// Under $CODEX_HOME, or ~/.codex:
//
//	sessions/YYYY/MM/DD/rollout-<YYYY-MM-DDTHH-MM-SS>-<thread>.jsonl
//	archived_sessions/rollout-….jsonl
//	session_index.jsonl
//
// A rollout is one thread; thread is its UUID, day and time are those of its
// creation, even if it was resumed later. Rollouts that have not been used for a
// while are compressed to rollout-….jsonl.zst and the plain file is removed; if both
// exist, the plain one counts. Package interop unpacks them.
//
// # Lines
//
// JSON Lines, only ever appended to. Since September 2025:
//
//	{"timestamp":"2026-04-28T15:33:30.274Z","type":T,"payload":{…}}
//
// (newer versions add "ordinal"). Before that, up to about version 0.30, a line was
// the bare item, without a time, after a first line with the meta and with
// {"record_type":"state"} lines in between:
//
//	{"id":"…","timestamp":"…","instructions":null,"git":{…}}
//	{"type":"message","role":"user","content":[…]}
//
// What each T becomes:
//
//	session_meta   the session (created): id, timestamp, cwd, originator, cli_version, source, model_provider,
//	               forked_from_id, parent_thread_id, source.subagent.thread_spawn.parent_thread_id,
//	               git{commit_hash, branch, repository_url}; the whole as noted. Only the first one is the thread's
//	               own (see Forks); where it is repeated later with another git: changed
//	turn_context   changed, if model or cwd is new, and noted; nothing if it repeats the one before
//	response_item  said; see below
//	event_msg      noted, except for those below
//	compacted      compacted: message is the summary; replacement_history, the items that continue in place of everything before,
//	               is kept as Opaque. If the message is empty (compaction by the provider), the texts of the
//	               history are the summary
//	inter_agent_communication  said by another agent, if it has content that can be read
//	any other      noted, whole
//
// A response_item is what went to the model or came from it:
//
//	message        roles user, assistant; developer is a system message. content is a list of input_text, output_text,
//	               input_image (image_url: data: or https:), input_file. User text that Codex inserted (AGENTS.md,
//	               <environment_context>, <turn_aborted>, any <two_words>…</two_words> envelope) is synthetic
//	reasoning      summary and content as text; the item itself as Raw, if it has encrypted_content. With neither
//	               (versions that wrote empty ones): no event
//	function_call, custom_tool_call, local_shell_call, tool_search_call
//	               a call; arguments is JSON in a string, input is text
//	…_output       a result. output is a string, a list like content, or {"content":…,"success":…}. A string that is
//	               {"output":…,"metadata":{"exit_code":…}} and nothing else is parsed. A line "Process exited with
//	               code N" or "Exit code: N" near the top says whether it failed
//	web_search_call, image_generation_call
//	               run by the provider: a call and its result, with an ID of our own if the item has none
//	agent_message  said by another agent
//	any other      noted, whole
//
// Consecutive items of the model are one message (they have the same Message.ID), up
// to a tool's result or a user message.
//
// An event_msg is what was sent to the screen. Most repeat an item (user_message,
// agent_message, agent_reasoning) and are only noted, so that nothing is said twice.
// Those that say more:
//
//	token_count    a step with usage. info is null if only rate limits changed, and the same total_token_usage comes
//	               repeatedly: last_token_usage counts only if the total differs from the one before.
//	               input_tokens includes cached_input_tokens, output_tokens includes reasoning_output_tokens
//	exec_command_end, patch_apply_end, mcp_tool_call_end, dynamic_tool_call_response, collab_agent_spawn_end
//	               a tool event: state, and as Meta everything but the output, which is in the call's result. It failed if
//	               exit_code is not 0, success is false, status failed or declined, result Err or isError
//	sub_agent_activity (started)  a tool event that names the child
//	turn_aborted, error, stream_error  a step
//	thread_name_updated  titled. Codex also names threads itself, and does not record who did
//	thread_rolled_back   rewound, to before the last num_turns prompts
//
// A session_index.jsonl line is {"id":…,"thread_name":…,"updated_at":…}, the newest
// last: a title for a session that has none in its rollout.
//
// # Forks
//
// A forked rollout, and that of a sub-agent that was given its parent's history,
// begins with its own session_meta, then replays the parent's lines, including its
// session_meta, with new timestamps, and then continues. Nothing marks the end of the
// replay, and it may leave out some kinds of line. So records have keys that are the
// same in both files: a hash of the events they make and of their position, and their
// number among equals there. The position is the turn_id, if there is one; in earlier
// versions, the thread that the family began with and a hash of everything typed up
// to that point. The payload of an event holds nothing that a replay changes: no
// time, no thread.
//
// # Ordinals
//
// A rollout whose session_meta has history_mode paginated counts its lines from 0 in
// ordinal; Codex reads no such rollout whose last line has none. In it, an event_msg
// item_completed reports each message and call to the screen; if its item is a call,
// it becomes a tool event here, else it is noted. token_usage_record, world_state and
// thread_settings_applied are noted.
//
// # Writing
//
// A session's ID is kept if it is a UUID; otherwise a UUID is derived from it. The
// file is in the folder of the day on which the session began, in UTC. It begins with
// a session_meta that names the model_provider of config.toml, because Codex refuses
// a thread without one and does not continue a thread under a different one. No
// turn_context is written, because it would set an approval policy; Codex continues
// with the model and the policy of its settings. What was read from Codex is written
// unchanged, ordinals included. Otherwise:
//
//	user, steer    a message with input_text and input_image, and user_message for the screen. Each prompt begins a
//	               turn: task_started, task_complete at its end
//	assistant      agent_message, then a message for each text. Reasoning is shown (agent_reasoning); the model gets
//	               none that is not its provider's own
//	calls          of shells, for reading, searching and listing: exec_command. Writing and editing: apply_patch, with
//	               patch_apply_end for the screen. To-do lists: update_plan. An agent that was started and is
//	               written too: spawn_agent and sub_agent_activity. Others as text of the assistant, call and result
//	results        function_call_output or custom_tool_call_output. A failed command begins with its exit code. A call
//	               without a result stays without one: Codex answers it with "aborted"
//	compacted      where what it does not cover begins, so replacement_history is only the summary; in a file that has
//	               that part already, together with that part
//	usage          token_count, each request once
//	title          a line of session_index.jsonl
//	fork, child    forked_from_id; source.subagent.thread_spawn and parent_thread_id
//	system         left out: Codex makes its own
//
// What is new in a session is appended as Codex would: with ordinals if the file has
// them (and items for the screen), bare if its items are bare; a rewind over whole
// turns is thread_rolled_back. Codex locks a thread that it has open with flock on
// thread-writer-locks/<thread>.lock, and so does this package.
//
// # Evidence
//
// Checked on 2026-11-21: real rollouts of versions 0.39.0 (codex_vscode, September
// 2025) and 0.126.0-alpha.8 (Codex Desktop, April 2026); what is written and how in
// codex-rs/protocol/src/{protocol,models}.rs and
// codex-rs/rollout/src/{policy,recorder,compression,session_index,ordinal,list}.rs of
// https://github.com/openai/codex; the first generation, forks, compaction and
// sub-agents only by that source and by reports about such files.
//
// Codex 0.169.0 opened and continued rollouts written here, with a server in place of
// the model: what it sent to the model and to the screen was compared with the
// session. It read names from session_index.jsonl for legacy threads that were new to
// it, showed user_message, agent_message, agent_reasoning, patch_apply_end and, with
// ordinals, CommandExecution, and not exec_command_end nor thread_name_updated.
//
// Not supported: a second file of one thread (rollout-…-<thread>_<window>.jsonl) is
// read as a session of its own.
//
// # Before June 2025
//
// The first Codex, in TypeScript, rewrote a session each time as one JSON document,
// indented by two, without a final line feed:
//
//	sessions/rollout-<YYYY-MM-DD>-<session>.json, later sessions/<session>.json
//	{"session":{"timestamp":…,"id":…,"instructions":…,"responseId":…},"items":[…]}
//
// The items are those of the first generation of lines. This is the format codex-old,
// see [Old]; timestamp is the time of the last write. (Checked on
// codex-cli/src/utils/storage/save-rollout.ts of the program, 2026-11-21; tested on
// made-up files.)
package codex
