// Package atif reads and writes ATIF, the Agent Trajectory Interchange Format:
// what one run of an agent did, in one JSON document, as the Harbor framework,
// its agents and tools for evaluation and training exchange it.
//
// # Where
//
// There is no usual place: the user names the files. In a folder, every .json file
// that names a version of the format ("schema_version":"ATIF-v1.…") in its first 64
// KB is one. Harbor calls them trajectory.json, and trajectory.cont-1.json for a
// continuation.
//
// # Documents
//
//	{"schema_version","session_id","trajectory_id","agent","steps","notes","final_metrics","continued_trajectory_ref","extra","subagent_trajectories"}
//
// Versions 1.0 to 1.7, which only ever added members, are read alike, and so are
// later versions with the same members. A document is read step by step (see
// [interop.OpenDocument]), so a step that changed is amended. Python's NaN and
// Infinity, which logprobs can have, are read as text.
//
//	trajectory_id (1.7), else session_id   the session's ID; without both the file's name and a hash
//	agent                                  {name, version, model_name, tool_definitions, extra}: who answers; all of it becomes the config
//	steps                                  see below
//	final_metrics                          {total_prompt_tokens, total_completion_tokens, total_cached_tokens, total_cost_usd,
//	                                       total_steps, extra}: what the steps do not account for becomes a step of its own
//	continued_trajectory_ref, notes        noted
//	subagent_trajectories (1.7)            sessions that a step of this one started
//
// # Steps
//
//	{"step_id","timestamp","source","model_name","reasoning_effort","message","reasoning_content","tool_calls","observation","metrics","is_copied_context","llm_call_count","extra"}
//
//	source         user; system; agent: by the assistant. Any other is noted
//	message        a string, or since 1.6 a list of {"type":"text","text"} and {"type":"image","source":{"media_type","path"}}.
//	               An image is read if it is below the folder of the document and is one by its name and bytes
//	tool_calls     {tool_call_id, function_name, arguments, extra}: calls
//	observation    {"results":[{source_call_id, content, subagent_trajectory_ref, extra}]}: results. One without a call belongs to
//	               the only call, if there is exactly one. One that refers to another trajectory makes a tool event with that
//	               session; extra.is_error says that the tool failed
//	metrics        {prompt_tokens, completion_tokens, cached_tokens, cost_usd, prompt_token_ids, completion_token_ids, logprobs,
//	               extra}: usage. prompt_tokens includes cached_tokens and extra.cache_creation_input_tokens;
//	               completion_tokens includes extra.reasoning_tokens (or reasoning_output_tokens)
//	is_copied_context   it was copied from another trajectory, and its metrics count there
//	llm_call_count      0: synthetic, because no model was asked
//	extra.context_management   of a system step with type compaction and boundary replace (1.7): compacted
//
// What is listed here and has no place in the session goes into the message's Meta.
//
// # Writing
//
// ID.trajectory.json, a document of version 1.7; images in the folder images. Results
// are in the step that has their call, as validators require. What was rewound is
// left out. Everything else (title, folder, steering, how an answer ended) is in
// extra.skein and is read from there. Sub-agents are documents of their own, to which
// the call's result refers by name. Writing back appends to a document's steps and
// updates final_metrics; nothing else in it changes.
//
// # Evidence
//
// The RFC (harbor-framework/harbor, rfcs/0001-trajectory-format.md, version 1.7 of
// April 2026), as its changelog, tables and the models derived from it are
// published, checked on 2026-11-21; fixture-tested. What is written is checked
// against the rules of the reference implementation's validator, as a test
// here has them; the validator itself has not been run.
package atif
